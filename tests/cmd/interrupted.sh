#!/bin/sh
# suite: ci
# What a signal finds is taken along: nothing is left in the user's place, nor where temporary files go; and nohup is respected.
. "$(dirname "$0")/common"

mkdir tmp place
TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache
export TMPDIR XDG_CACHE_HOME
cat >slow <<'END'
#!/bin/sh
case "$*" in *-dM*) exec cc "$@" ;; esac
touch "$STARTED"
exec sleep 60
END
chmod +x slow

left() { find "$work/place" "$work/tmp" "$work/cache" -mindepth 1 2>/dev/null | grep -e ein-; }

ended() { # SIGNAL COMMAND...: it begins to compile, and is ended by the signal
  signal=$1
  shift
  STARTED=$work/started.$signal
  export STARTED
  rm -f "$STARTED"
  # a job in the background ignores SIGINT, and under nohup SIGHUP: here they are as at a terminal
  python3 - "$signal" "$STARTED" "$@" <<'END' || wrong "$signal: $*"
import os, signal, subprocess, sys, time
number, started, words = getattr(signal, "SIG" + sys.argv[1]), sys.argv[2], sys.argv[3:]
p = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)])
until = time.time() + 30
while not os.path.exists(started) and time.time() < until and p.poll() is None:
    time.sleep(0.02)
time.sleep(0.1)
p.send_signal(number)
sys.exit(0 if p.wait(timeout=30) == -number else 1)
END
  left && wrong "$signal leaves that: $*"
}

command -v python3 >/dev/null || exit 77
for signal in INT TERM HUP; do
  ended $signal "$EIN" build sum.ein -o place/sum --cc ./slow
  ended $signal "$EIN" run mat.ein --target=c --cc ./slow
  ended $signal "$EIN" build sum.ein --lib -o place/lib --cc ./slow
done

# ---- what will take hours says so before it begins
echo 'output S = sum[i:2^40] i' >long.ein
want 124 timeout 3 "$EIN" run long.ein
says "about 10 hours"
want 124 timeout 6 "$EIN" run long.ein --target=c --flags=-O0 --threads 1
says "minutes"
want 124 timeout 3 "$EIN" run long.ein --target=eval
says "about 10 hours; without --target=eval it is faster"
want 124 timeout 3 "$EIN" verify long.ein
says "about 10 hours; with smaller sizes it is faster"
want 0 "$EIN" run sum.ein -D N=1000 X=ones -o Y=place/y.npy
silent

want 0 "$EIN" build mat.ein -o place/mat --flags=-O0
want 0 ./place/mat
left && wrong "a build leaves that"

finish
