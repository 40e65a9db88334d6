#!/bin/sh
# suite: ci
# bench/peers.py: ours and each peer have processes of their own (bench/peers/apart.py), which may crash, are stopped while it is another's
# turn, and end with the one that began them, however that ends. The peers are made up.
. "$(dirname "$0")/common"
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$work/fake
export PYTHONDONTWRITEBYTECODE PYTHONPATH
cc=${CC:-cc}
peers=$here/../../bench/peers.py
command -v python3 >/dev/null || finish

mkdir fake
cat >fake/numpy.py <<END
import os, signal
with open("numpy.pid", "w") as f:
    f.write(str(os.getpid()))
__version__ = "of no use"
def ndarray(*words, **more):
    os.kill(os.getpid(), signal.SIGSEGV)
END
echo 'import os; os._exit(7)' >fake/opt_einsum.py
cat >liar <<END
#!/bin/sh
"$EIN" "\$@" || exit
case "\$*" in *logsumexp.ein*) ;; *) exit 0 ;; esac
echo '__attribute__((constructor)) static void crash(void) { __builtin_trap(); }' >crash.c
$cc -fPIC -c crash.c -o crash.o
for word; do [ -d "\$word" ] && ar r "\$word/liblogsumexp.a" crash.o; done
exit 0
END
chmod +x liar

# A library that crashes where it is loaded, one that does in each row, and a program of ours that does; the others go on.
want 2 python3 "$peers" ./liar --cc "$cc" --small --rounds 1 --peers numpy opt_einsum c --only softmax logsumexp layernorm tccg_01
shows "left out: opt_einsum (ended with exit code 7)"
shows "numpy of no use"
[ "$(grep -c 'c [0-9].*numpy fails: ended by SIGSEGV' out)" = 2 ] || wrong "a peer that crashes in two rows: $(cat out)"
[ "$(grep -c 'does not build or run' out)" = 1 ] || wrong "a program that crashes: $(cat out)"
says "logsumexp: ended by SIG"

# Who has its turn sees the others stopped; and nobody is left when the parent is killed.
[ "$(uname)" = Linux ] || finish
state() { sed 's/.*) //; s/ .*//' "/proc/$(cat "$1")/stat" 2>/dev/null; }
cat >sleeper <<END
#!/bin/sh
case \$1 in build) ;; *) exec "$EIN" "\$@" ;; esac
sed 's/.*) //; s/ .*//' "/proc/\$(cat numpy.pid)/stat" >seen
echo \$PPID >ours.pid
echo \$\$ >sleep.pid
mv seen state
exec sleep 60
END
chmod +x sleeper
rm numpy.pid
python3 "$peers" ./sleeper --cc "$cc" --small --rounds 1 --peers numpy --only softmax >out 2>err &
parent=$!
tries=0
while [ ! -e state ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
[ "$(cat state)" = T ] || wrong "the state of a peer outside its turn: $(cat state)"
[ "$(state ours.pid)" = S ] || wrong "ours is not there: $(state ours.pid)"
kill -9 $parent
tries=0
while [ "$(state numpy.pid | tr -d Z)$(state ours.pid | tr -d Z)" ] && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
[ $tries -lt 50 ] || wrong "what is left of a killed parent: $(state numpy.pid) $(state ours.pid)"
kill "$(cat sleep.pid)"
finish
