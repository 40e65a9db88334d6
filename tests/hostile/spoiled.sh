#!/bin/sh
# suite: ci
# Texts of graphs, tasks and loops with one number, name or sign changed: refused, or they run and touch nothing that is not their own.
# By hand: tests/hostile/spoil.py build/ein runtime --seed 7 --count 5000 --keep failed tests/run/*.ein samples/*.ein
. "$(dirname "$0")/common"

command -v python3 >/dev/null || exit 77
root=$here/../..
# Programs with C of their own are left out: nothing here compiles that, and the rest would not link.
spoil() { # WORD...
  for file in "$root"/tests/run/*.ein "$root"/samples/*.ein; do
    grep -q 'extern .* from "' "$file" || set -- "$@" "$file"
  done
  python3 "$here/spoil.py" "$EIN" "$root/runtime" "$@" >out 2>err || {
    cat out err
    wrong "a corrupted text was accepted, or did not run cleanly"
  }
}
spoil --count 300
spoil --count 50 --sites 3 --stops task,loop
cat >x.graph <<'END'
eingraph 1
input %0 X[4] : f32
vertex %1 Y[i:8] : f32 = %0[(i + 4)]
output Y = %1
END
want 1 "$EIN" check x.graph
says 'x.graph:3:1: error[E917]: vertex %1 Y: index 0 of %0, (i + 4), is not in [0, 4) where i = 0'
want 1 "$EIN" run x.graph X=ones
cat >x.graph <<'END'
eingraph 1
input %0 X[4] : f32
vertex %1 Y[i:8] : f32 = select(((i * 4611686018427387904) < 4), %0[i], 0.0:f32)
output Y = %1
END
want 1 "$EIN" check x.graph # 4 * 2^62 is 0 in 64 bits
says 'is not in [0, 4) where i = 4'
cat >x.ein <<'END'
dim N
input X[i:N] : f32
repeat t < 6 {
  state a[i:N] = X[i]
  h[t,i] = a[i]
  next a[i] = 2 * a[i]
}
output h
output F[(i j)] = X[i] * X[j]
END
want 0 "$EIN" build x.ein --stop=graph -o g.graph
sed 's/: i64 = 6 /: i64 = 7 /' g.graph >x.graph
want 1 "$EIN" check x.graph
says 'it is not proved to make no more turns than it says'
want 0 "$EIN" build x.ein --stop=task -o t.task
want 0 "$EIN" check t.task
sed 's/\[@t, i\]/[(@t + 1), i]/' t.task >x.task
want 1 "$EIN" check x.task
says 'index 0 of where it is put, (@t + 1), is not in [0, 6) where t = 5'
sed 's/stage \[\] : i64 = 6/stage [] : i64 = 7/' t.task >x.task
want 1 "$EIN" check x.task
says 'index 0 of where it is put, @t, is not in [0, 6) where t = 6'
sed 's/((i \* \$N) + j)/((i * $N) + i)/' t.task >x.task
want 0 "$EIN" check x.task
sed 's/((i \* \$N) + j)/((i * $N) + (2 * j))/' t.task >x.task
want 1 "$EIN" check x.task
says 'index 0 of where it is put'

# ---- loops: what is not proved is looked at as it runs, and said
printf 'input X[i:5] : f32\noutput Y[i] = 2 * X[i]\n' >y.ein
want 0 "$EIN" build y.ein --stop=loop -o y.loop
want 0 "$EIN" check y.loop
silent
loop() { # EDIT TEXT: the run fails, and says so
  sed "$1" y.loop >x.loop
  cmp -s x.loop y.loop && wrong "nothing was edited: $1"
  want 1 "$EIN" run x.loop X=ones --flags='-O1'
  says "x.loop: not proved to be in range, and looked at while it runs:"
  says "$2"
}
loop 's/for i < 5/for i < 9/' "index 1 of Y, in the loops of Y: 5 is out of range, its size is 5"
loop 's/Y\[i\] = /Y[(i - 1)] = /' "index 1 of Y, in the loops of Y: -1 is out of range, its size is 5"
loop 's/X\[i\]/X[(i + 1)]/' "index 1 of X, in the loops of Y: 5 is out of range, its size is 5"
loop 's/for i < 5/for i < 4 from (0 - 3)/' "where the loop over i begins, in the loops of Y: -3 is out of range"
loop 's/Y\[i\] = /Y[within(i, 9, 0)] = /; s/for i < 5/for i < 9/; /^kernel/i site 0 "x"' "index 1 of Y"

# ---- a mesh's tasks, and a label that C and texts have another use for
cat >mesh.task <<'END'
taskgraph 1
mesh 2
dim at0
buffer %0 input 0 X[4] : f32 low [0]
buffer %1 output 0 Y[4] : f32 low [0]
input X = %0
output Y = %1
kernel 0 Y outer 0 {
  stage Y[i:4] : f32 = %0[i] to %1[i]
}
END
want 2 "$EIN" build mesh.task --emit=c -o mesh.c
says "is for 2 sites"
printf 'dim N = 14\ninput X[i:N] : f32\noutput Y[i:N-1] = X[i+0] + X[i+1]\n' >halo.ein
for n in 2 3 4 6; do
  want 0 "$EIN" build halo.ein -n $n --stop=task -o halo.task
  want 0 "$EIN" check halo.task
done
task() { # EDIT TEXT
  sed "$1" halo.task >x.task
  cmp -s x.task halo.task && wrong "nothing was edited: $1"
  want 1 "$EIN" check x.task
  says "$2"
  want 1 "$EIN" run x.task X=ones --target=c
}
task 's/%2\[i\]/%2[(i + 9)]/' 'index 0 of %2, (i + 9), is not in [0, '
task '/stage Y/s/to %1\[i\]/to %1[(i + $at0)]/' 'index 0 of where it is put, (i + 1), is not in [0, 2) where i = 1, at site 2'
printf 'eingraph 1\nvertex %%0 Y[inf:2, nan:2] : f32 = f32((inf + nan))\noutput Y = %%0\n' >x.graph
want 0 "$EIN" run x.graph --target=c --flags=-O0
finish
