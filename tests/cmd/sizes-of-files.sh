#!/bin/sh
# suite: ci
# Files tell sizes: an axis of N elements, and one of 2*N + 1, if N has no other value; in ein run, in a built program, at the prompt.
. "$(dirname "$0")/common"

cat >make.ein <<'END'
output off[p:6] : i64 = 2 * p
output v[k:10] : f64 = k
output m[i:4, j:7] : f32 = i + j
END
want 0 "$EIN" run make.ein -o off=off.npy -o v=v.npy -o m=m.npy

# Rows of a sparse matrix by their ends: B and the number of elements come from files.
cat >rows.ein <<'END'
dim B, E
input off[p:B+1] : i64
input v[k:E] : f64
output s[b:B] = sum[k where off[b+0] <= k and k < off[b+1]] v[k]
END
want 0 "$EIN" run rows.ein off=off.npy v=v.npy
shows '   1.0   5.0   9.0  13.0  17.0'
want 0 "$EIN" build rows.ein --flags=-O0 -o rows
want 0 ./rows --help
shows 'off            i64 [p:B+1]'
want 0 ./rows off=off.npy v=v.npy
shows '   1.0   5.0   9.0  13.0  17.0'
want 0 "$EIN" plan rows.ein off=off.npy v=v.npy

# Other forms: a product, a difference, an axis whose other size is known by then, in any order.
cat >forms.ein <<'END'
dim N, M
input m[i:2*N, j:M+N+1] : f32
output n[i:N, j:M] = m[2*i, j+0]
END
for run in "$EIN run forms.ein" ./forms; do
  [ "$run" = ./forms ] && want 0 "$EIN" build forms.ein --flags=-O0 -o forms
  # shellcheck disable=SC2086
  [ "$run" = ./forms ] || { want 0 $run m=m.npy && shows 'n[i:2, j:4] : f32'; }
done
want 0 ./forms m=m.npy -D M=4
shows 'n[i:2, j:4] : f32'

# What no size gives, and what another file gives otherwise.
sed -i 's/B+1/2*B+1/' rows.ein
want 1 "$EIN" run rows.ein off=off.npy v=v.npy
says 'axis 1 of off.npy is 6 long, but off says something else for each B'
want 0 "$EIN" build rows.ein --flags=-O0 -o rows
want 1 ./rows off=off.npy v=v.npy
says 'axis 1 of off.npy is 6 long, but input off wants something else for each B'
cat >rows.ein <<'END'
dim B
input off[p:7-B] : i64
input v[k:B] : f64
output s = sum[k] v[k] + sum[p] off[p]
END
want 1 "$EIN" run rows.ein off=off.npy v=v.npy
says 'axis 1 of v.npy is 10 long, but v says 1'
says 'B is 1 by axis 1 of off.npy'

# Reductions of tuples over a size that is not known when the program is built: in as many steps as it may need.
cat >best.ein <<'END'
dim N
monoid best((v, at), (w, to)) =
    (max(v, w), if w > v or (w == v and to < at) then to else at) identity (-1000, 100000)
input x[i:3, j:N] : i64 = (j * (j + i)) % 997
v[i], at[i] = best[j](x[i,j], j)
last[i:3], _a[i] = best[j where j % 8 == 7 - i](j, x[i,j])
output v, at, last
output right[i] = v[i] == max(max[j] x[i,j], -1000) and at[i] == ((argmax[j] x[i,j]) ?? 100000)
END
want 0 "$EIN" build best.ein --flags=-O0 -o best
for n in 0 1 7 8 9 127 128 129 1000 1024 1025 9000; do
  want 0 "$EIN" run best.ein -D N=$n --target=eval
  cp out slow
  want 0 ./best -D N=$n
  cmp -s out slow || wrong "the best of $n are other ones in a built program"
  shows '  true  true  true'
done
finish
