#!/bin/sh
# suite: ci
# Loops with border conditions are split into ranges without conditions. Results equal eval's to the bit: at sizes at
# which borders meet, cross, or cover everything; known in advance or at run time; by gcc and by clang.
. "$(dirname "$0")/common"
turn 0

program() { # program ROWS COLUMNS: sizes as they are declared
  cat <<END2
dim N$1, M$2
input X[i:N,j:M] : f32
output B[i,j] = (X[i-1,j] ?? 0) + (X[i+1,j] ?? 0) + (X[i,j-1] ?? 0) + (X[i,j+1] ?? 0) - 4*X[i,j]
output E[i:N,j:M] = if i == 0 or i == N-1 or j == 0 or j == M-1 then 1.0 else X[i-1,j-1] * X[i+1,j+1]
output C[i,j] = if j < i then X[i,j] else 2*X[i,M-1-j] + (X[i,j-i] ?? 7)
output F[i:N,j:M] = if j != 3 and 2 <= j and i > 1 then X[i,j-2] + X[i-2,j] else X[i,j]
output R[i:N,j:M] = if 0 <= 5 - j then (X[i,5-j] ?? -1.0) else X[i,j-6]
output W[i:N,j:M] = (X[i,j-2] ?? 1) * (X[i,j-1] ?? 2) + (X[i,j+2] ?? 3) + (X[i-2,j+1] ?? 4)
output S[i:N] = sum[j:M] (if 1 <= j and j < M-1 then X[i,j-1] * X[i,j+1] else 0)
END2
}
program '' '' >open.ein

# ---- the text: an inside without a question, and the border beside it
want 0 "$EIN" build open.ein --stop=loop -o open.loop
kernel() { sed -n "/^kernel $1 /,/^}/p" open.loop; }
for name in B E F R W; do
  kernel $name >text
  grep -q 'for j.* vector {' text && sed -n '/for j.* vector {/{n;/^ *let/n;p;}' text | grep "^ *${name}\[" | grep -qv 'select' || wrong "no loop of $name is without a question"
done
want 0 "$EIN" build open.loop --emit=c -o open.c
silent

# ---- the answers
compare() { # compare NAME FILE OPTIONS...
  name=$1 file=$2
  shift 2
  want 0 "$EIN" run $file X=randint:lo=-4:hi=4:seed=5 "$@" --target=eval -o all=wanted/
  for cc in gcc clang-19; do
    command -v $cc >/dev/null || continue
    for flags in -O1 "-O3 -march=native"; do
      [ "$cc $flags" = "clang-19 -O1" ] && continue
      want 0 "$EIN" run $file X=randint:lo=-4:hi=4:seed=5 "$@" --target=c --cc=$cc "--flags=$flags" -o all=got/
      diff -r wanted got >diffs || wrong "$name, $cc $flags: $(head -3 diffs)"
      rm -r got
    done
  done
  rm -r wanted
}
for sizes in '0 0' '1 1' '1 2' '2 1' '3 4' '5 63' '2 65' '7 66' '40 1100'; do
  set -- $sizes
  compare "$1 by $2, known when it runs" open.ein -D N=$1 -D M=$2
done
# Known columns: the inside is a few vectors and what covers the rest, with more and less left over.
for sizes in '2 65' '5 67' '66 100' '4 128' '3 131' '3 146' '5 1025'; do
  set -- $sizes
  program " = $1" " = $2" >known.ein
  compare "$1 by $2" known.ein
done

# Rings: their borders wrap around, and no point between them does.
rings() { # rings ROWS COLUMNS
  cat <<END2
dim N$1, M$2
input X[i:N,j:M] : f32
output T[i:N,j:M] = X[i,(j+1)%M] - X[i,(j+M-1)%M] * X[(i+N-1)%N,j]
output U[i:N,j:M] = X[i,(j+M-2)%M] + X[i,(j+3)%M]
END2
}
rings '' '' >rings.ein
want 0 "$EIN" build rings.ein --stop=loop -o rings.loop
for name in T U; do
  sed -n "/^kernel $name /,/^}/p" rings.loop | sed -n '/for j.* vector {/{n;p;}' >text
  grep -q "X\[i, ((j + j_[0-9]*) - 1)\]\|X\[i, ((j + j_[0-9]*) + 3)\]" text || wrong "$name: no loop between the borders"
  grep -q '% $M)' text && wrong "$name: a point between the borders wraps around: $(cat text)"
done
for sizes in '0 0' '1 1' '2 2' '1 3' '3 4' '5 63' '40 1100'; do
  set -- $sizes
  compare "rings, $1 by $2, known when it runs" rings.ein -D N=$1 -D M=$2
done
for sizes in '3 65' '2 2100'; do
  set -- $sizes
  rings " = $1" " = $2" >known.ein
  compare "rings, $1 by $2" known.ein
done

# A state in place changes what its next turn reads: nothing may be computed twice.
cat >place.ein <<'END'
dim N = 128, T = 3
input X[i:3,j:N] : f32
repeat t < T {
  state Z[i:3,j:N] = X[i,j] + 1
  next Z[i,j] = if 0 < j and j < N-1 then Z[i,j] * 2 + X[i,j-1] * X[i,j+1] else Z[i,j]
}
output Z
END
compare "in place" place.ein
finish
