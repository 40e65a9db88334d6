#!/bin/sh
# suite: ci
# Checkpoints: from what --checkpoint saves of a repeat between two turns, --resume gets the same bits as an uninterrupted run, whenever the run is killed;
# in the evaluator and compiled. Checkpoints of other runs are refused, with the reason. KILLS: how often a run is killed (5). PROGRAMS: for how many
# programs of tests/run every turn is tried (3).
. "$(dirname "$0")/common"
: "${KILLS:=5}" "${PROGRAMS:=3}"

# States of several types: updated in place, read in another order, or removed by passes; a stack, an inner repeat, random numbers by turn.
cat >train.ein <<'END'
dim T = 400, N = 64, D = 32, B = 8
input X[n:N, d:D] : f32 = normal[n,d](1)
param W[d:D] : f32 = 0.1 * normal[d](2)
truth[n] = sum[d] X[n,d] * cos(d)
repeat t < T until loss > 1e6 {
  state w[d:D] = W[d]
  state m[d:D] : f32 = 0 * W[d]
  state reversed[d:D] = W[d]
  state seen[n:N] = false
  state made = 0
  state loss : f64 = 0
  state unread[d:D] = W[d]
  order[n:N] = permutation[n](7 + t)
  at[b:B] = order[b + 0]
  e[b] = (sum[d] X[at[b],d] ?? 0 * w[d]) - truth[at[b]] ?? 0
  g[d] = sum[b] e[b] * X[at[b],d] ?? 0
  l = mean[b] e[b]^2
  history[t] = l
  repeat u < 3 {
    state q = l
    next q = q * 0.5 + made
  }
  next m[d] = 0.9 * m[d] + g[d]
  next w[d] = w[d] - 0.005 * (0.9 * m[d] + g[d])
  next reversed[d] = reversed[D-1-d] + w[d] * 0.001
  next seen[n] = seen[n] or any[b] (at[b] == n)
  next made = made + 1
  next loss = f64(l) + q * 1e-9
  next unread[d] = g[d]
}
output w, reversed, seen, made, loss, history, t
END

names() { # FOLDER: what is in it, in one line
  (cd "$1" && echo $(ls -A))
}

for target in eval c; do
  want 0 "$EIN" run train.ein --target=$target -o all=whole.safetensors
  want 0 "$EIN" run train.ein --target=$target -o all=kept.safetensors --checkpoint d-$target --every 90
  cmp -s whole.safetensors kept.safetensors || wrong "$target: a different result with checkpoints"
  [ "$(names d-$target)" = "turn-000270.safetensors turn-000360.safetensors" ] || wrong "$target: there is $(names d-$target)"
  want 0 "$EIN" run train.ein --target=$target -o all=again.safetensors --resume d-$target -v
  says "train.ein: goes on behind turn 360, from d-$target/turn-000360.safetensors"
  cmp -s whole.safetensors again.safetensors || wrong "$target: a different result after a resume"
  rm d-$target/turn-000360.safetensors
  want 0 "$EIN" run train.ein --target=$target -o all=again.safetensors --resume d-$target --checkpoint d-$target --every 100
  cmp -s whole.safetensors again.safetensors || wrong "$target: a different result after a resume with checkpoints"
  [ "$(names d-$target)" = "turn-000300.safetensors turn-000400.safetensors" ] || wrong "$target: at its end there is $(names d-$target)"
  want 0 "$EIN" run train.ein --target=$target -o all=again.safetensors --resume d-$target # it was over
  cmp -s whole.safetensors again.safetensors || wrong "$target: a different result after the last turn"
done
[ "$target" = c ] || wrong "the loop over targets is over too soon"
want 1 "$EIN" run train.ein --target=eval --resume d-c
says "d-c/turn-000400.safetensors is of a run of compiled code, and this is one with --target=eval: they have other bits"
want 1 "$EIN" run train.ein --target=c --resume d-eval
says "turn-000400.safetensors is of a run with --target=eval, and this is one of compiled code"

# Killed at any moment, and again.
long="-D T=20000 --target=c -o all=killed.safetensors"
want 0 "$EIN" run train.ein -D T=20000 --target=c -o all=whole.safetensors
killed=0
go_on=
while [ $killed -lt "$KILLS" ]; do
  "$EIN" run train.ein $long --checkpoint k --every 50 $go_on 2>err >out &
  pid=$!
  sleep "0.$(awk -v n="$killed" -v p=$$ 'BEGIN {srand(p + n); printf "%03d", 20 + 400 * rand()}')"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  killed=$((killed + 1))
  ls k/turn-*.safetensors >/dev/null 2>&1 && go_on="--resume k" || go_on=
done
want 0 "$EIN" run train.ein $long --checkpoint k --every 50 $go_on
cmp -s whole.safetensors killed.safetensors || wrong "a different result of a run that was killed $killed times"
[ "$(names k)" = "turn-019950.safetensors turn-020000.safetensors" ] || wrong "behind a run that was killed there is $(names k)"

# Every turn of other programs with repeats.
tried=0
for f in "$here"/../run/repeat*.ein "$here"/../run/state*.ein "$here"/../run/loop*.ein; do
  [ -f "$f" ] && [ $tried -lt "$PROGRAMS" ] || continue
  words=$(sed -n 's/^# *run: *//p' "$f" | tr '\n' ' ')
  rm -rf p
  "$EIN" run "$f" $words -o all=whole.safetensors >/dev/null 2>&1 || continue
  "$EIN" run "$f" $words --checkpoint p --every 1 >/dev/null 2>&1 || continue
  [ -n "$(names p)" ] || continue
  tried=$((tried + 1))
  for file in $(ls -r p); do
    want 0 "$EIN" run "$f" $words --resume p -o all=again.safetensors
    cmp -s whole.safetensors again.safetensors || wrong "a different result of $f from $file"
    rm "p/$file"
  done
done
[ $tried -ge "$PROGRAMS" ] || wrong "of tests/run there were $tried programs alone"

# A run can be extended if nothing depends on the number of turns.
sed 's/^output.*/output w, t/; /history/d' train.ein >short.ein
want 0 "$EIN" run short.ein -D T=100 --checkpoint s --every 50
want 0 "$EIN" run short.ein -D T=150 --resume s -o all=longer.safetensors
want 0 "$EIN" run short.ein -D T=150 -o all=whole.safetensors
cmp -s whole.safetensors longer.safetensors || wrong "a different result of a run with more turns"

# A checkpoint that cannot be written: the run ends, no part of a file is left, and the checkpoints before stay whole.
cp -r s full
want 4 sh -c "ulimit -f 1; '$EIN' run short.ein -D T=150 --resume full --checkpoint full --every 50"
says "full/.turn.safetensors: writing failed: the file is larger than the system allows"
[ "$(names full)" = "$(names s)" ] || wrong "where a checkpoint could not be written there is $(names full)"
want 0 "$EIN" run short.ein -D T=150 --resume full -o all=longer.safetensors
cmp -s whole.safetensors longer.safetensors || wrong "a different result after a checkpoint that could not be written"

# Checkpoints of other runs.
want 1 "$EIN" run short.ein -D T=60 --resume s
says "s/turn-000100.safetensors has made 100 turns, and here there are 60 at most"
want 1 "$EIN" run short.ein -D D=16 --resume s
says "s/turn-000100.safetensors is of a run with other sizes, or of another program: there w is f32[32], here f32[16]"
want 1 "$EIN" run train.ein --resume s
says "s/turn-000100.safetensors has no history, which this program's repeat takes from turn to turn"
sed 's/0.005/0.006/' short.ein >other.ein
want 1 "$EIN" run other.ein --resume s
says "s/turn-000100.safetensors is of another program: its repeat has other equations than the one of other.ein"
want 0 "$EIN" run short.ein -D T=50 --checkpoint s-c --every 50 --target=c
want 1 "$EIN" run other.ein --resume s-c --target=c
says "its repeat has other equations"
sed 's/^param/\n# moved, with another beginning\nparam/; s/0.1 \* normal/0.2 * normal/' short.ein >moved.ein
want 0 "$EIN" run moved.ein --resume s

# Incomplete and missing checkpoints.
cp -r s h
head -c 700 s/turn-000100.safetensors >h/turn-000100.safetensors
want 0 "$EIN" run short.ein -D T=150 --resume h -o all=longer.safetensors
says "a checkpoint is not whole: h/turn-000100.safetensors"
says "the one before it is taken, of turn 50"
cmp -s whole.safetensors longer.safetensors || wrong "a different result from the checkpoint before the last"
head -c 100 s/turn-000050.safetensors >h/turn-000050.safetensors
want 4 "$EIN" run short.ein -D T=150 --resume h
says "there is no whole checkpoint in h: h/turn-000050.safetensors"
# One byte of a checkpoint has changed, anywhere in its elements.
flip() { # FILE PLACE
  was=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
  printf "$(printf '\\%03o' $((was ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
size=$(wc -c <s/turn-000100.safetensors)
head=$(($(od -An -tu8 -N 8 s/turn-000100.safetensors) + 8))
tried=0
for at in $(seq $head 29 $((size - 1))) $((size - 1)); do
  cp s/* h
  flip h/turn-000100.safetensors $at
  want 0 "$EIN" run short.ein -D T=150 --resume h -o all=longer.safetensors
  says "a checkpoint is not whole: h/turn-000100.safetensors has changed since it was written"
  says "the one before it is taken, of turn 50"
  cmp -s whole.safetensors longer.safetensors || wrong "another result after a resume from before byte $at changed"
  tried=$((tried + 1))
done
[ $tried -gt 10 ] || wrong "$tried bytes were changed"
flip h/turn-000050.safetensors $((size - 1))
want 4 "$EIN" run short.ein -D T=150 --resume h
says "there is no whole checkpoint in h: h/turn-000050.safetensors has changed since it was written"
cp s/* h # as Ein wrote them once: nothing has this name
LC_ALL=C sed -i 's/"ein.checksum"/"ein.checkwas"/' h/*
flip h/turn-000100.safetensors $((size - 1))
want 0 "$EIN" run short.ein -D T=150 --resume h -o all=other.safetensors -v
says "goes on behind turn 100, from h/turn-000100.safetensors"

mkdir empty
want 2 "$EIN" run short.ein --resume empty
says "--resume empty: there is no checkpoint in it, which would be called turn-000050.safetensors or so"
want 4 "$EIN" run short.ein --resume nowhere
says "--resume nowhere: No such file or directory"
want 2 "$EIN" run short.ein --resume short.ein
says "--resume short.ein: that is a file, not the folder that --checkpoint wrote to"
want 2 "$EIN" run short.ein --checkpoint s --every 50
says "--checkpoint s: a run has been kept there up to turn 100; --resume s goes on with it, and a new run wants a folder of its own"

# Options that exclude each other, and programs without anything to save.
want 2 "$EIN" run short.ein --checkpoint new
says "--checkpoint new: how often? --every 50 writes after every 50 turns"
want 2 "$EIN" run short.ein --every 5
says "--every 5: of what? --checkpoint DIR says where to"
want 2 "$EIN" run short.ein --checkpoint new --every 0
says "--every 0: expected a number of turns, 1 or more"
want 2 "$EIN" run short.ein --checkpoint new --every 5 -n 2 --target=c
says "--checkpoint keeps what a process has, and -n runs all sites in one"
echo 'output y = 1' >none.ein
want 2 "$EIN" run none.ein --checkpoint new --every 5
says "--checkpoint: none.ein has no repeat: there is nothing between turns to be kept"
{ cat short.ein; printf 'repeat v < 3 {\n  state z = 1\n  next z = z + v\n}\noutput z\n'; } >two.ein
want 2 "$EIN" run two.ein --checkpoint new --every 5
says "two.ein has 2 repeats one behind the other, and one can be kept"
[ ! -e new ] || wrong "a folder was made for a run that was refused"
finish
