#!/bin/sh
# suite: ci
# A machine that does not help: full disks, folders that take nothing, closed streams, readers that leave, a locale
# with decimal commas.
. "$(dirname "$0")/common"

cat >y.ein <<'END'
input X[i:3] : f64 = 0.5 + i
output Y[i] = X[i] / 3
END
leftovers() {
  for f in .ein-* "$1"/.ein-*; do [ ! -e "$f" ] || wrong "left behind: $f"; done
}

# Devices are written to as they stand
accepted "$EIN" run y.ein -o /dev/null
silent
[ ! -s out ] || wrong "the output is printed as well"
accepted "$EIN" run y.ein -o Y=/dev/null
accepted "$EIN" run y.ein -o all=/dev/null
accepted "$EIN" graph y.ein -o /dev/null
accepted "$EIN" build y.ein --stop=graph -o /dev/null
accepted "$EIN" fmt y.ein -o /dev/null
accepted "$EIN" graph y.ein -o /dev/stdout
shows "eingraph"
ln -s /dev/null null.npy
accepted "$EIN" run y.ein -o null.npy
[ -L null.npy ] && [ -c /dev/null ] || wrong "/dev/null has changed"
if [ -c /dev/full ]; then
  refused 4 "$EIN" run y.ein -o /dev/full
  refused 4 "$EIN" graph y.ein -o /dev/full
  refused 4 sh -c '"$1" run y.ein >/dev/full' sh "$EIN"
  says "standard output"
  bounded sh -c '"$1" check nothing.ein 2>/dev/full' sh "$EIN"
  [ $? = 4 ] || wrong "stderr on a full disk"
  ln -s /dev/full full.npy
  refused 4 "$EIN" run y.ein -o full.npy
fi
mkdir folder.npy
refused 4 "$EIN" run y.ein -o folder.npy
refused 4 "$EIN" graph y.ein -o folder.npy
mkfifo pipe.npy
refused 4 timeout 20 "$EIN" run y.ein -o pipe.npy

# Full: a file may not grow, and a small file system where one may be made
accepted "$EIN" run y.ein -o old.npy
echo 'output Y[i:100000] = i' >big.ein
cp old.npy was.npy
refused 4 sh -c 'ulimit -f 8; exec "$1" run big.ein -o old.npy' sh "$EIN"
(ulimit -f 0 && exec "$EIN" run big.ein -o old.npy 2>/dev/null)
[ $? = 4 ] || wrong "no byte may be written"
(ulimit -f 0 && exec "$EIN" graph big.ein -o old.npy 2>/dev/null)
[ $? = 4 ] || wrong "no byte may be written, as text"
cmp -s old.npy was.npy || wrong "the old file is not what it was"
mkdir small
if unshare -rm true 2>/dev/null && unshare -rm mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
  refused 4 unshare -rm sh -c 'mount -t tmpfs -o size=64k tmpfs small && "$1" run y.ein -o small/y.npy &&
    { "$1" run big.ein -o small/y.npy; code=$?; ls -A small; cmp small/y.npy was.npy && exit $code; }' sh "$EIN"
  says "full"
  [ "$(cat out)" = y.npy ] || wrong "left on the full disk: $(cat out)"
fi
mkdir closed
chmod 555 closed
if [ "$(id -u)" != 0 ]; then
  refused 4 "$EIN" run y.ein -o closed/y.npy
  refused 4 "$EIN" graph y.ein -o closed/y.txt
elif unshare -rm true 2>/dev/null && unshare -rm mount -t tmpfs -o ro tmpfs closed 2>/dev/null; then
  refused 4 unshare -rm sh -c 'mount -t tmpfs -o ro tmpfs closed; exec "$1" run y.ein -o closed/y.npy' sh "$EIN"
fi
refused 4 "$EIN" run y.ein -o /proc/y.npy
leftovers closed

# Little memory: a message
if [ -n "$MEGABYTES_MOST" ]; then
  echo 'output Y[i:100000000] : f64 = i' >large.ein
  refused 4 sh -c 'ulimit -v 200000; exec "$1" run large.ein' sh "$EIN"
  refused 4 sh -c 'ulimit -v 200000; exec "$1" run large.ein -o large.npy' sh "$EIN"
  awk 'BEGIN { print "input X0[i:4] : f32 = i"; for (k = 1; k < 60000; k++) printf "X%d[i] = X%d[i] + 1\n", k, k - 1
               print "output Y[i] = X9[i]" }' >many.ein
  refused 4 sh -c 'ulimit -v 60000; exec "$1" check many.ein' sh "$EIN"
  says "memory"
fi

# Streams: closed, or with nobody at the other end
accepted sh -c '"$1" run y.ein <&-' sh "$EIN"
refused 4 sh -c '"$1" run y.ein >&-' sh "$EIN"
accepted sh -c '"$1" run y.ein 2>&-' sh "$EIN"
accepted sh -c '"$1" run y.ein -o three.npy <&- 2>&-' sh "$EIN"
bounded sh -c '"$1" run y.ein -o four.npy <&- >&- 2>&-' sh "$EIN"
[ $? = 0 ] || wrong "all streams closed"
cmp -s three.npy four.npy || wrong "a closed stream became a file"
bounded sh -c '"$1" check nothing.ein <&- >&- 2>&-' sh "$EIN"
[ $? = 4 ] || wrong "with all streams closed, there is no program"
accepted sh -c '"$1" check - <&-' sh "$EIN"
awk 'BEGIN { print "input X0[i:4] : f32 = i"; for (k = 1; k < 20000; k++) printf "X%d[i] = X%d[i] + 1\n", k, k - 1
             print "output Y[i] = X19999[i]" }' >many.ein
{ bounded "$EIN" graph many.ein 2>err; echo $? >code; } | head -c 100 >out
[ "$(cat code)" = 0 ] && [ ! -s err ] || wrong "a reader that leaves: $(cat code) $(head -n 1 err)"
awk 'BEGIN { for (k = 0; k < 100000; k++) print "Y" k " = Q" k }' >wrong.ein
{ { bounded "$EIN" check wrong.ein 2>&1 >&3; echo $? >code; } | head -c 100 >out; } 3>/dev/null
[ "$(cat code)" = 1 ] || wrong "a reader of complaints that leaves: $(cat code)"

# The environment
for setting in TERM=dumb TERM= NO_COLOR= LANG=xx_YY LC_ALL=nonsense TZ=:/nowhere MALLOC_PERTURB_=165 POSIXLY_CORRECT=1; do
  accepted env "$setting" "$EIN" run y.ein
  shows "0.833333"
done
accepted env -i "$EIN" run y.ein
shows "0.833333"
mkdir locales
if localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 2>/dev/null; then
  accepted env LOCPATH="$(pwd)/locales" LC_ALL=de_DE.UTF-8 "$EIN" run y.ein
  shows "0.833333"
  accepted env LOCPATH="$(pwd)/locales" LC_ALL=de_DE.UTF-8 "$EIN" graph y.ein --roundtrip
  shows "0.5"
else
  echo "machine.sh: no locale with a decimal comma can be made here, so none is tried"
fi
finish
