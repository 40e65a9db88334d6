#!/bin/sh
# Data files that lie: shapes that wrap, headers that are cut, types that are not there.
. "$(dirname "$0")/common"
MEGABYTES_MOST=${MEGABYTES_MOST:+600}

echo 'dim N
input X[i:N] : f32
output Y[i] = 2 * X[i]' >x.ein

byte() { printf "\\$(printf %03o "$1")"; }
npy() { # FILE HEADER BYTES-OF-DATA [LENGTH-SAID]
  n=${4:-$(printf "$2" | wc -c)}
  { printf '\223NUMPY\001\000'; byte $((n % 256)); byte $((n / 256)); printf "$2"; head -c "$3" /dev/zero; } >"$1"
}
lie() { # WHAT-IS-SAID, then npy's words
  said=$1
  shift
  npy x.npy "$@"
  refused 1 "$EIN" run x.ein X=x.npy
  says "$said"
}
d() { printf "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" "${2:-<f4}" "${3:-False}" "$1"; }
npy x.npy "$(d '(4,)')" 16
accepted "$EIN" run x.ein X=x.npy
npy x.npy "$(d '(0,)')" 0
accepted "$EIN" run x.ein X=x.npy
lie "too large" "$(d '(9223372036854775807,)')" 16
lie "past 2^63" "$(d '(9223372036854775808,)')" 16
lie "past 2^63" "$(d '(99999999999999999999999,)')" 16
lie "too large" "$(d '(4294967296, 4294967296)')" 16
lie "too large" "$(d '(4611686018427387905,)')" 4
lie "too large" "$(d '(4294967296, 4294967296, 0)')" 0
lie "an extent" "$(d '(-1,)')" 16
lie "bad" "$(d '(4.0,)')" 16
lie "bad" "$(d '(0x4,)')" 16
lie "tuple" "$(d '(4)')" 16
lie "the file holds 15" "$(d '(4,)')" 15
lie "the file holds 17" "$(d '(4,)')" 17
lie "the file holds" "$(d '(1000000000000,)')" 16
lie "ends before" "$(d '(4,)')" 0 60000
lie "bad" "" 0
lie "more than 64 axes" "$(d "($(long 65 '1, '))")" 4
lie "an extent" "$(d "$(long 10000 '(')")" 4
lie "unknown dtype '|O'; f8 f4 f2 i8 i4 i2 i1 u1 b1 can be read (it holds objects of Python, not numbers)" "$(d '(4,)' '|O')" 16
lie "it holds texts, not numbers" "$(d '(4,)' '<U4')" 64
lie "a complex tensor: save its .real and its .imag" "$(d '(1,)' '<c16')" 16
lie "(save it as i8)" "$(d '(4,)' '<u4')" 16
lie "unknown dtype" "$(d '(4,)' '<f9')" 16
lie "True or False" "$(d '(4,)' '<f4' Maybe)" 16
lie "bad" "{'descr': __import__('os').system('touch owned'), }" 16
lie "twice" "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,), }" 16
lie "2 axes" "$(d '(2, 2)')" 16
[ ! -e owned ] || wrong "a header was evaluated"
: >x.npy
refused 1 "$EIN" run x.ein X=x.npy
printf '\223NUMPY' >x.npy
refused 1 "$EIN" run x.ein X=x.npy
printf '\223NUMPY\002\000\377\377\377\377' >x.npy
refused 1 "$EIN" run x.ein X=x.npy
printf '\223NUMPY\011\000\001\000\000' >x.npy
refused 1 "$EIN" run x.ein X=x.npy
head -c 1000000 /dev/zero >x.npy
refused 1 "$EIN" run x.ein X=x.npy

st() { # WHAT-IS-SAID HEADER BYTES [the length's 8 bytes [:NAME]]
  n=$(printf '%s' "$2" | wc -c)
  { if [ -n "$4" ]; then printf "$4"; else byte $((n % 256)); byte $((n / 256 % 256)); byte $((n / 65536)); printf '\0\0\0\0\0'; fi
    printf '%s' "$2"; head -c "$3" /dev/zero; } >x.safetensors
  if [ -z "$1" ]; then accepted "$EIN" run x.ein X=x.safetensors; return; fi
  refused 1,2 "$EIN" run x.ein "X=x.safetensors$5"
  says "$1"
}
t() { printf '{"X":{"dtype":"%s","shape":%s,"data_offsets":%s}}' "${3:-F32}" "$1" "$2"; }
st '' "$(t '[4]' '[0,16]')" 16
st "natural number" "$(t '[-4]' '[0,16]')" 16
st "disagree" "$(t '[4]' '[0,99999]')" 16
st "rising" "$(t '[4]' '[16,0]')" 16
st "past 2^63" "$(t '[4]' '[18446744073709551600,0]')" 16
st "too large" "$(t '[4294967296,4294967296]' '[0,0]')" 0
st "too large" "$(t '[4611686018427387905]' '[0,4]')" 4
st "F8_E5M2" "$(t '[4]' '[0,16]' F8_E5M2)" 16
st "claims" "$(t '[4]' '[0,16]')" 16 '\0\0\0\0\0\0\0\200'
st "claims" "$(t '[4]' '[0,16]')" 16 '\377\377\377\377\377\377\377\377'
st "claims" "$(t '[4]' '[0,16]')" 16 '\377\340\365\005\0\0\0\0'
st "bad" "$(t '[4.5]' '[0,16]')" 16
st "axes" "$(t "[$(long 64 1,)1]" '[0,4]')" 4
st "bad" "$(long 60000 '[')" 16
st "bad" "{\"X\":$(long 60000 '{"X":')" 16
st "no tensor" "$(t '[4]' '[0,16]' | sed s/X/Z/)" 16 '' :X
st "two tensors" '{"X":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"X":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}' 16
st "bad" "$(printf '{"\377":1}')" 16
head -c 7 /dev/zero >x.safetensors
refused 1 "$EIN" run x.ein X=x.safetensors

head -c 100000 /dev/zero >x.npz
refused 1 "$EIN" run x.ein X=x.npz
{ head -c 100000 /dev/zero; printf 'PK\005\006\0\0\0\0\377\377\377\377\377\377\377\377\377\377\377\377\0\0'; } >x.npz
refused 1 "$EIN" run x.ein X=x.npz

# Large on paper only, or no file at all
for kind in npy npz safetensors raw; do
  truncate -s 1T large.$kind 2>/dev/null || continue
  refused 1,4 "$EIN" run x.ein -D N=4 X=large.$kind
done
truncate -s 1T large.ein 2>/dev/null && refused 4 "$EIN" check large.ein
rm -f large.*
npy x.npy "$(d '(4,)')" 16
rm -f p.npy
mkfifo p.npy p.safetensors p.npz p.raw
for kind in npy safetensors npz raw; do
  refused 4 timeout 20 "$EIN" run x.ein -D N=4 X=p.$kind
  ln -s /dev/zero z.$kind
  refused 4 timeout 20 "$EIN" run x.ein -D N=4 X=z.$kind
  mkdir m.$kind
  refused 4 timeout 20 "$EIN" run x.ein -D N=4 X=m.$kind
done
finish
