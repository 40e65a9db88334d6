#!/bin/sh
# suite: ci
# Progress of a long run: a line after two seconds on a terminal, or with --progress, compiled and in the evaluator.
# The line disappears at the end and goes nowhere else. Results are the same.
. "$(dirname "$0")/common"
turn 0

cat >long.ein <<'END'
dim T, N = 8
repeat t < T {
  state w[i:N] : f64 = i
  state loss : f64 = 0
  next w[i] = w[i] - 0.001 * (w[i] - 3)
  next loss = sum[i] (w[i] - 3)^2
}
output loss, w
END
sed 's/T {/T until loss < 0 {/' long.ein >until.ein
sed 's|loss = sum|loss = loss / 2 + sum|' long.ein >placed.ein # its state lies where the output will

sed '/loss/d; s/^}/  loss = sum[i] (w[i] - 3)^2\n  curve[t] = loss\n  twice[t] = 2 * loss\n}\noutput w, twice\noutput last = curve[T-1]/' long.ein >stacked.ein

turns_for() { # TARGET: how many take about 3 s here
  n=2000
  "$EIN" run long.ein --target="$1" -D T=$n >/dev/null 2>&1 # compiled before it is timed
  while :; do
    from=$(date +%s%N)
    "$EIN" run long.ein --target="$1" -D T=$n >/dev/null 2>&1
    took=$((($(date +%s%N) - from) / 1000000))
    [ $took -gt 400 ] && break
    n=$((n * 5))
  done
  echo $((n * 2800 / took))
}

long_run() { # TARGET PROGRAM: what it says
  n=$(turns_for "$1")
  for more in 1 3; do # a machine that was busy before may be quick now
    want 0 "$EIN" run "$2" --target="$1" -D T=$((n * more)) --progress
    grep -q turn err && break
  done
  [ "$(tail -c 4 err | od -An -c | tr -d ' ')" = '\r033[K' ] || wrong "$1: the line is left at the end"
  tr '\r' '\n' <err >lines
}

long_run c placed.ein
grep -qE 'turn [0-9,]+ of [0-9,]+, loss [0-9.e+-]+, [0-9]+ s left$' lines || wrong "compiled: no progress line with a turn: $(head -c 300 err)"
cp out told
want 0 "$EIN" run placed.ein --target=c -D T=$((n * more))
silent
cmp -s out told || wrong "a different result with progress reports"
# Of several sites the first one tells, in one process and over MPI.
n=$(turns_for c)
told_by_one() { # COMMAND...
  for more in 1 3 9; do # the plan may be quicker than one site
    want 0 "$@" -D T=$((n * more)) --progress
    grep -q turn err && break
  done
  tr '\r' '\n' <err | grep -qE 'turn [0-9,]+ of [0-9,]+, loss [0-9.e+-]+, [0-9]+ s left$' || wrong "no line of a turn: $*: $(head -c 300 err)"
}
told_by_one timeout 100 "$EIN" run long.ein -n 2 --target=c
if (mpi_ready) >/dev/null; then
  mpi_ready
  told_by_one timeout 100 mpirun -n 2 "$EIN" run long.ein --target=mpi
fi
long_run eval until.ein
grep -qE 'turn [0-9,]+ of at most [0-9,]+, loss [0-9.e+-]+, [0-9]+ s left at most$' lines || wrong "evaluated: no progress line with a turn: $(head -c 300 err)"
want 0 "$EIN" run long.ein --target=eval -D T=10 --progress
silent
sed 's/output loss, w/output w/' long.ein >unneeded.ein
want 0 "$EIN" run unneeded.ein --target=c -D T=10 --progress --watch loss
says '--watch loss: compiled code does not store it; it does if it is f32 or f64 and an output'
want 2 "$EIN" run long.ein -D T=10 --watch w
says "--watch w: no repeat has a state or a stack w of one float a turn; there is loss"

# Without a state `loss`, the first stack of one float a turn tells what it got last, or the one that is asked for. It
# falls, since w goes from 0..7 to 3.
falls() { # NAME FROM: the first value that is told is less than FROM, and the last is least
  tr '\r' '\n' <err | sed -n "s/.*turn [0-9,]* of [0-9,]*, $1 \([0-9.e+-]*\), .*/\1/p" >seen
  [ -s seen ] || wrong "no value of $1: $(head -c 300 err)"
  awk -v most="$2" '$1 + 0 > most + 0 { bad = 1 } { most = $1 } END { exit bad }' seen || wrong "$1 does not fall: $(cat seen)"
}
for target in c eval; do
  n=$(turns_for $target)
  for name in curve twice; do
    for more in 1 3 9; do
      want 0 "$EIN" run stacked.ein --target=$target -D T=$((n * more)) --progress $([ $name = curve ] || echo --watch $name)
      grep -q turn err && break
    done
    falls $name $([ $name = curve ] && echo 44 || echo 88)
  done
done
want 2 "$EIN" run stacked.ein -D T=10 --watch loss
says "--watch loss: no repeat has a state or a stack loss of one float a turn; there is curve, twice"
finish
