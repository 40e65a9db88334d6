#!/bin/sh
# ein plan --certificate, and its checker, which works bytes, memory and bound out anew, and sees what is false.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
command -v python3 >/dev/null || exit 77
checker() { python3 "$root/share/check_plan.py" "$@"; }

cat >product.ein <<'!'
input A[i:48, k:96] : f32
input B[k:96, j:24] : f32
H[i,j] = max(sum[k] A[i,k] * B[k,j], 0)
output C[i] = sum[j] H[i,j]
!
for n in 1 4 6; do
  want 0 "$EIN" plan product.ein -n $n --certificate c$n.json
  want 0 checker --strict c$n.json
  for what in bytes memory bound; do grep -q "$what *checked" out || wrong "$n sites: $what is not checked"; done
done

# What it cannot check it says, and that is no error unless it is asked for.
want 0 "$EIN" plan product.ein -n 4 --pin H:i=4 --certificate pinned.json
want 0 checker pinned.json
shows "bound   not checked: pins"
want 2 checker --strict pinned.json
want 0 "$EIN" plan "$root/samples/10_convolution.ein" -n 4 --certificate windows.json
want 0 checker windows.json
shows "bytes   checked"
shows "bound   not checked"
want 0 checker --most 10 c6.json
shows "too large to be searched here"

# What is false is seen: a read's bytes, the sum, a buffer of the tasks, a bound above what is possible.
spoil() { # PYTHON WHAT
  python3 -c "
import json
c = json.load(open('c6.json'))
p = c['plan']
$1
json.dump(c, open('spoilt.json', 'w'))"
  want "$2" checker ${3:+--strict} spoilt.json
  grep -q "$4" out || wrong "$1 is not seen as $4"
}
spoil "p['bytes'] += 4" 1 '' 'bytes *WRONG'
spoil "p['tensors'][-1]['brought'] += 4; p['bytes'] += 4" 1 '' 'bytes *WRONG'
spoil "p['tensors'][-1]['home'][0] = -1" 1 '' 'bytes *WRONG'
spoil "p['vertices'][0]['axes'][0] = -1" 1 '' 'bytes *WRONG'
spoil "p['memory']['bytes'] -= 4" 1 '' 'memory *WRONG'
spoil "p['bound'] *= 1.01" 2 strict 'bound *not checked: .* is what was found here'
want 0 "$EIN" plan product.ein -n 6 --format=json -o plan.json
want 1 checker plan.json
want 2 "$EIN" plan product.ein --certificate c.json
want 2 "$EIN" plan product.ein -n 4 --costs=eindecomp --certificate c.json
finish
