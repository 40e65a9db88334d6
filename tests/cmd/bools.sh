#!/bin/sh
# suite: ci
# Products of bools, in every spelling and with either side first: a caller's bool may be any byte, so panels test each element once
# and are 0 or 1; tiles then neither branch nor compare, which compilers turn into masks or do not vectorise.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

# bools NAME SEED ROWS COLUMNS: a file of bools whose bytes are anything.
bools() {
  python3 - "$@" <<'END'
import sys
name, seed, rows, columns = sys.argv[1], *map(int, sys.argv[2:])
head = "{'descr': '|b1', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
head += " " * (63 - (10 + len(head)) % 64) + "\n"
x = [(k * k * 7 + k * seed) % 251 for k in range(rows * columns)]
data = bytes(v if v > 200 else 0 for v in x)
open(name, "wb").write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data)
END
}
bools A.npy 11 150 140
bools B.npy 29 140 211

targets=c
"$EIN" doctor | grep -q 'Clang in process' && targets="c jit"
n=0
while read -r reducer body; do
  n=$((n + 1))
  {
    echo "input A[i:150, j:140], B[j:140, k:211] : bool"
    echo "output C[i,k] = $reducer[j] ($body)"
  } >p$n.ein
  want 0 "$EIN" build p$n.ein --stop=loop
  shows "; panels of"
  sed -n '/ held {/,/ }/p' out >tile
  grep -q '[AB]\[' tile && wrong "the tile of $body reads A or B"
  want 0 "$EIN" build p$n.ein --emit=c -o p$n.c
  sed -n '/EIN_HELD/,/^ *}$/p' p$n.c >tile
  [ -s tile ] || wrong "$body has no tile"
  grep -qE '&&|\|\||!|==' tile && wrong "the tile of $body compares"
  grep -q '\^ 1' tile && wrong "the tile of $body complements at each point"
  want 0 "$EIN" run p$n.ein --target=eval A=A.npy B=B.npy -o C=eval.npy
  for target in $targets; do
    want 0 "$EIN" run p$n.ein --target=$target A=A.npy B=B.npy -o C=$target.npy
    cmp -s eval.npy $target.npy || wrong "$body: $target differs from eval"
  done
done <<'END'
any A[i,j] and B[j,k]
any B[j,k] and A[i,j]
any A[i,j] and not B[j,k]
all A[i,j] or B[j,k]
all not A[i,j] or B[j,k]
any A[i,j] == B[j,k]
any B[j,k] == A[i,j]
all A[i,j] != B[j,k]
END
finish
