#!/bin/sh
# suite: ci
# The cache keeps only complete entries, outputs keep the modes of the files that they replace, and failures of the
# machine are reported as such.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
O=--flags=-O0

# ---- a file of the cache that is cut, longer, or changed in one place is noticed and made again
run() { want 0 "$EIN" run mat.ein --target=c $O; }
run
cp out wanted
entry=$(ls cache/ein/*)
size=$(wc -c <"$entry")
whole() {
  cmp -s out wanted || wrong "$1: other outputs"
  says "is damaged: compiled anew"
  run
  silent
}
cp "$entry" good
for n in 0 1 100 4096 $((size / 2)) $((size - 1)) $((size - 41)); do
  head -c $n good >"$entry"
  run
  whole "cut to $n bytes"
done
{ cat good; echo; } >"$entry"
run
whole "with a byte more"
for at in 1000 5000 $((size - 60)); do
  { head -c $at good; printf '\377\001\377'; tail -c +$((at + 4)) good; } >"$entry"
  run
  whole "changed at $at"
done
[ "$(ls -a cache/ein | wc -l)" = 3 ] || wrong "the cache has more than one file"

# ---- modes
want 0 "$EIN" build mat.ein -o prog $O
[ -x prog ] || wrong "a program cannot be run"
chmod 750 prog
want 0 "$EIN" build mat.ein -o prog $O
[ "$(stat -c %a prog)" = 750 ] || wrong "a program has lost its mode: $(stat -c %a prog)"
for what in "graph mat.ein -o kept" "build mat.ein --stop=graph -o kept" "build mat.ein --emit=c -o kept" "run mat.ein -o Z=kept.npy"; do
  file=kept
  case $what in *npy) file=kept.npy ;; esac
  : >$file
  chmod 640 $file
  want 0 "$EIN" $what
  [ "$(stat -c %a $file)" = 640 ] || wrong "$what: the mode is $(stat -c %a $file)"
done
want 0 ./prog -o Z=kept.npy
[ "$(stat -c %a kept.npy)" = 640 ] || wrong "a program's output: the mode is $(stat -c %a kept.npy)"

# ---- a program is not replaced by what is made of it
cp mat.ein same.ein && ln -s same.ein link.ein
for what in "graph same.ein -o same.ein" "build same.ein -o ./same.ein" "plan link.ein -o same.ein" "run same.ein -o Z=link.ein"; do
  want 2 "$EIN" $what
  says "would replace the program"
  cmp -s mat.ein same.ein || wrong "$what has replaced its program"
done
want 0 "$EIN" fmt same.ein -o same.ein

# ---- leave is the file's to give: one that is read-only stays, one in a closed folder is written
nobody() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  command -v setpriv >/dev/null && nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
  chmod 777 .
  chmod 755 "$work"
fi
mkdir shut
echo old >locked.npy && echo old >shut/open
chmod 444 locked.npy && chmod 666 shut/open && chmod 555 shut
[ "$(id -u)" != 0 ] || chown 65534 locked.npy
if ! nobody test -w locked.npy && nobody test -x "$EIN"; then
  unset XDG_CACHE_HOME
  chmod 777 .
  for what in "graph mat.ein -o locked.npy" "build mat.ein --emit=c -o locked.npy" "build mat.ein -o locked.npy $O" "run mat.ein -o Z=locked.npy"; do
    want 4 nobody "$EIN" $what
    says "locked.npy"
    [ "$(cat locked.npy)" = old ] || wrong "$what has written a file that is read-only"
  done
  want 0 nobody "$EIN" build mat.ein --stop=graph -o shut/open
  grep -q eingraph shut/open || wrong "a file that may be written is not, for its folder may not"
  XDG_CACHE_HOME=$work/cache
fi

# ---- what the machine lacks is not what ein wrote
mkdir bin
cat >bin/nold <<'END'
#!/bin/sh
case "$*" in *-dM*) exec cc "$@" ;; esac
echo "collect2: fatal error: cannot find 'ld'" >&2
exit 1
END
cat >bin/full <<'END'
#!/bin/sh
case "$*" in *-dM* | *"/dev/null"*) exec cc "$@" ;; esac
echo "/usr/bin/ld: final link failed: No space left on device" >&2
exit 1
END
cat >bin/killed <<'END'
#!/bin/sh
case "$*" in *-dM*) exec cc "$@" ;; esac
kill -9 $$
END
cat >bin/refuses <<'END'
#!/bin/sh
case "$*" in *-dM* | *"/dev/null"*) exec cc "$@" ;; esac
echo "x.c:1: error: no" >&2
exit 1
END
chmod +x bin/*
want 4 "$EIN" build mat.ein -o other --cc bin/nold
says "the C compiler does not work here, on an empty file either"
want 4 "$EIN" build mat.ein -o other --flags=-no-such-flag
says "the C compiler does not work here, on an empty file either"
want 4 "$EIN" build mat.ein -o other --cc bin/full
says "there is no room for what the C compiler makes"
want 4 "$EIN" build mat.ein -o other --cc bin/killed
says "the C compiler did not come to an end"
want 4 "$EIN" build mat.ein -o other --cc bin/refuses
says "the C compiler did not take what ein wrote"
[ ! -e other ] || wrong "a failed build left something"
finish
