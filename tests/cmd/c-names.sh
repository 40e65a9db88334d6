#!/bin/sh
# suite: ci
# Names that C, its library, the runtime or the emitted text uses. Whatever has such a name, the C compiles without
# warnings, and its results equal those of the same program with other names. Tensors, labels and sizes; in texts of
# loops, registers and variables.
. "$(dirname "$0")/common"
source=$(dirname "$EIN")/../runtime
[ -d "$source" ] || source=$(dirname "$0")/../../runtime

# ---- what preprocessors would put in the place of a name, here, with these headers
cc=${CC:-gcc}
printf '#define EIN_STATIC\n#include "ein_run.h"\n' >all.c
$cc -dM -E -I "$source" all.c >macros || wrong "no macros to be seen: $cc -dM"
sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\) .*/\1/p' macros | grep -v '^EIN_\|^ein_' | sort -u >names
[ "$(wc -l <names)" -gt 50 ] || wrong "only $(wc -l <names) macros are seen"
sed 's/.*/input & : f32/' names >macros.ein
echo "output everything = $(paste -sd+ names | sed 's/+/ + /g')" >>macros.ein
want 0 "$EIN" build macros.ein --emit=c -o macros.c
$cc -std=gnu99 -Wall -Wextra -Werror -fsyntax-only -I "$source" macros.c 2>said || wrong "a macro is a tensor's name: $(head -3 said)"

# ---- one program, with its names dealt anew
hostile='ctx env chunk worker dense at S chunk_at A A_0 A_1 A_0_2 n n_2 acc acc_2 l l_2 f t k X_0 size body plan chunk_2 ein_at ein_run
memcpy fabsf expf int64_t uint8_t float16_t NAN INFINITY linux data stride scratch turn step'
program() { # program NAME...: eight tensors, four labels, two sizes
  cat <<END2
dim ${13} = 37, ${14} = 70
input $1[$9:${13},${10}:${14}] : f32
input $2[${10}:${14},${11}:23] : f32
input $3[$9:${13}] : i64
input $4[$9:${13}] : f64
output $5[$9,${11}] = sum[${10}] $1[$9,${10}] * $2[${10},${11}]
output $6[$9] = max[${11}] $5[$9,${11}] + (if $3[$9] > 3 then 1.0 else f32($9))
output $7[$9:${13}] = sum[${12}:${13} where ${12} <= $9] $4[${12}] * 2
output $8[$9,${10}] = exp($1[$9,${10}] - (max[${10}] $1[$9,${10}]))
END2
}
given() { echo "$1=fill $2=fill:t=1 $3=randint:lo=0:hi=7:seed=2 $4=fill:t=3"; }
plain="p1 p2 p3 p4 q1 q2 q3 q4 i1 i2 i3 i4 N1 N2"
program $plain >plain.ein
want 0 "$EIN" run plain.ein $(given $plain) --target=c --flags=-O1 -o all=wanted/
deal() { echo $hostile | tr ' ' '\n' | awk -v seed="$1" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort | cut -f2 | head -14 | tr '\n' ' '; }
for seed in 1 2 3 4 5 6; do
  names=$(deal $seed)
  program $names >dealt.ein
  want 0 "$EIN" run dealt.ein $(given $names) --target=c --flags=-O1 -o all=got$seed/
  set -- $names
  for pair in q1:$5 q2:$6 q3:$7 q4:$8; do
    cmp -s wanted/${pair%:*}.npy got$seed/${pair#*:}.npy || wrong "seed $seed: ${pair#*:} is not as ${pair%:*} was ($names)"
  done
done

# ---- registers, arrays and variables of a text of loops
want 0 "$EIN" build plain.ein --stop=loop -o plain.loop
for name in ctx chunk worker dense at memcpy fabsf expf ein_max_f32 ein_exp_f32 int64_t NAN linux A_0; do
  for what in acc p1 i1 softmax; do
    sed "/^kernel/,\$ s/\\b$what\\b/$name/g" plain.loop >hostile.loop
    cmp -s plain.loop hostile.loop && continue
    "$EIN" check hostile.loop >/dev/null 2>&1 || continue # two things have the name
    want 0 "$EIN" build hostile.loop --emit=c -o hostile.c
    $cc -std=gnu99 -fsyntax-only -I "$source" hostile.c 2>said || wrong "$what is called $name: $(head -3 said)"
  done
done

finish
