#!/bin/sh
# suite: ci
# Plans for several sites on devices, on the stand-ins (tests/cuda/standin): in one process and under mpirun, on one device and on several. Results and
# bytes received equal the evaluator's, everything is released, and if a site fails all end.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 3
look_alikes
unset LD_LIBRARY_PATH # a C compiler and mpirun do without them
on_devices() { LD_LIBRARY_PATH=$standin "$@"; }
on="--target=cuda --flags=-O0" # of the code around the kernels, which takes longest to compile

given_back() {
  grep -v 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' "$EIN_STANDIN_REPORT" >left && wrong "not all is given back: $(cat left): $line"
  rm -f "$EIN_STANDIN_REPORT"
}

moves_program 600
# Halos in each turn, with wrap-around; an end that all sites learn.
cat >turns.ein <<'END'
dim N = 40
input start[i:N,j:N] : i64 = (i * 7 + j * 3) % 10
repeat t < 9 until total > 60000 {
  state X[i:N,j:N] = start[i,j]
  next X[i,j] = X[(i+1) % N,j] + (X[i,j-1] ?? 1) - X[i,j] // 2
  state total : i64 = 0
  next total = sum[i,j] X[i,j]
}
output X
output total
END
# Fetches at places from data, of several points, and along one more label.
cat >places.ein <<'END'
dim V = 50, D = 6, S = 91
input E[v:V,d:D] : f64 = f64(v * 10 + d)
input L[d:D,v:V] : f32 = f32(d * 100 + v)
input tok[s:S] : i32 = i32((s * s) % V)
output Y[s,d] = E[tok[s],d]
output Z[s,d] = L[d,tok[s]]
output n = sum[s,d] E[tok[s],d]
END
k=0
for f in moves turns places; do
  want 0 "$EIN" run $f.ein -o all=$f-eval/
  for n in 2 3 4; do
    for devices in 1 2; do
      [ $n$devices = 31 ] || [ $n$devices = 41 ] && continue
      mine $((k += 1)) 2 || continue
      line="$f on $n sites, $devices devices"
      EIN_STANDIN=devices=$devices on_devices "$EIN" run $f.ein $on -n $n -v -o all=$f-$n/ >out 2>err || wrong "$line: $(grep -m 1 -E 'error|emulation' err)"
      diff -r $f-eval $f-$n || wrong "$line: other values than the evaluator's"
      "$EIN" run $f.ein -n $n --target=eval -v >out 2>told
      plan=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' told)
      got=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
      [ "$got" = "$plan" ] || wrong "$line: received $got bytes, the evaluator $plan"
      [ "$got" -gt 0 ] || wrong "$line: nothing was received"
      # Each site says what crosses its bus; together it is what the driver has seen.
      crossed=$(sed -n 's/.*: site [0-9]*, on its device: .*; \([0-9]*\) bytes went there, \([0-9]*\) came back$/\1 \2/p' err |
        awk '{ up += $1; down += $2 } END { print NR, up, down }')
      seen=$(sed -n "s/.* waits; \([0-9]*\) bytes up, \([0-9]*\) down; .*/$n \1 \2/p" "$EIN_STANDIN_REPORT")
      [ "$crossed" = "$seen" ] || wrong "$line: sites, bytes to devices and back are $crossed, and the driver has seen $seen"
      given_back
    done
  done
done

# A site that gets no device or host memory, or whose kernel fails: all sites end, and everything is released.
at=0
i=0
for what in alloc launch; do
  for k in 1 2 3 5 8 13 21 34; do
    mine $((at += 1)) 2 || continue
    line="$what=$k"
    EIN_STANDIN=devices=2,$what=$k timeout 60 env LD_LIBRARY_PATH="$standin" "$EIN" run moves.ein $on -n 3 >out 2>err
    code=$?
    [ $code = 4 ] || [ $code = 0 ] || wrong "$line: exit code $code: $(cat err)"
    [ $code = 4 ] && i=$((i + 1)) && { grep -qE 'site [0-2]: (no memory|CUDA: )' err || wrong "$line: $(cat err)"; }
    given_back
  done
done
enough $i 10 || wrong "only $i runs failed"

# Faults that only one site meets.
cat >range.ein <<'END'
input X[i:12] : i64 = i
input at[i:12] : i64 = if i == 11 then 99 else i
output Y[i:12] = sum[j where j <= i] X[j] + i
output Z[i] = Y[at[i]]
END
line="an index out of range"
on_devices "$EIN" run range.ein $on -n 3 >out 2>err
[ $? = 1 ] && grep -q '99 is out of range\|it is out of range' err || wrong "$line: $(cat err)"
given_back

# As programs, under mpirun.
mpi_builds
[ "$failed" = 0 ] || finish
line="under mpirun"
EIN_STANDIN=devices=2 LD_LIBRARY_PATH=$standin timeout 120 mpirun -n 3 "$EIN" run turns.ein $on -v -o all=mpi/ >out 2>err || wrong "$line: $(cat err)"
diff -r turns-eval mpi || wrong "$line: other values than the evaluator's"
grep -q '3 processes on a machine with 2 devices: they share them' err || wrong "$line: $(cat err)"
# The first process says of each site what it has asked of its device; in one process it is the same.
sed -n 's/.*\(site [0-9]*, on its device: \).*\(; [0-9]* bytes went there.*\)/\1\2/p' err >by-process
EIN_STANDIN=devices=2 on_devices "$EIN" run turns.ein $on -n 3 -v -o all=once/ >out 2>err || wrong "$line: $(cat err)"
sed -n 's/.*\(site [0-9]*, on its device: \).*\(; [0-9]* bytes went there.*\)/\1\2/p' err >by-site
[ "$(grep -c bytes by-process)" = 3 ] && diff by-process by-site || wrong "$line: other bytes over the bus than in one process"
given_back
line="processors and devices mixed"
for mixed in '--target=cuda .' '. --target=cuda'; do
  first=${mixed% *} second=${mixed#* }
  LD_LIBRARY_PATH=$standin timeout 60 mpirun -n 1 "$EIN" run turns.ein ${first#.} -o all=mixed/ : -n 1 "$EIN" run turns.ein ${second#.} -o all=mixed/ >out 2>err
  [ $? = 2 ] && grep -q 'process 1 runs with.* --target=cuda, and the first process with.*: all run on devices, or none' err || wrong "$line: $(cat err)"
done
[ -z "$(ls mixed 2>/dev/null)" ] || wrong "$line: there are results: $(ls mixed)"
want 0 env LD_LIBRARY_PATH="$standin" "$EIN" build moves.ein $on -n 2,3 -o prog
for n in 2 3; do
  line="a program for $n"
  EIN_STANDIN=devices=2 LD_LIBRARY_PATH=$standin timeout 120 mpirun -n $n ./prog -o all=built-$n/ >out 2>err || wrong "$line: $(cat err)"
  diff -r moves-eval built-$n || wrong "$line: other values than the evaluator's"
  given_back
done
EIN_STANDIN=no-device LD_LIBRARY_PATH=$standin timeout 60 mpirun -n 2 ./prog >out 2>err && wrong "a run without a device"
grep -q 'no CUDA device' err || wrong "without a device: $(cat err)"
want 0 env LD_LIBRARY_PATH="$standin" "$EIN" build moves.ein $on -n 2 --lib -o lib
[ -f lib/moves_2.c ] && [ -f lib/moves_mpi.h ] || wrong "the library lacks files: $(ls lib)"
want 2 "$EIN" build moves.ein --target=cuda -n 2 --emit=cuda
says '--emit is for one site'
finish
