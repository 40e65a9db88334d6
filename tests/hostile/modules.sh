#!/bin/sh
# `use` of what is no module of the project: outside, links, cycles, chains, devices; and a broken standard library.
. "$(dirname "$0")/common"

: >ein.root
mkdir sub
uses() { # CODES PATH
  printf 'use "%s"\noutput Y = 1\n' "$2" >sub/u.ein
  refused "$1" timeout 20 "$EIN" check sub/u.ein
}
for path in ../../x.ein /etc/passwd /dev/zero /dev/stdin /dev/null /dev/fd/0 /proc/self/mem /proc/self/environ / /// \
  .. ../.. '' . u.ein ./././u.ein ../sub/u.ein http://x/y '~/.x' '$(touch owned)' '`touch owned`' '|touch owned' \
  'a;touch owned' -x "$(long 5000 a)" "$(long 3000 a/)" "$(long 2000 ../)etc/passwd" "$(printf '..\300\257x')"; do
  uses 1 "$path"
done
[ ! -e owned ] && [ ! -e sub/owned ] || wrong "a shell has seen a module's name"
printf 'use "a\nb.ein"\n' >sub/u.ein
refused 1 "$EIN" check sub/u.ein
ln -s /dev/zero sub/zero.ein
ln -s loop.ein sub/loop.ein
ln -s /etc/passwd sub/out.ein
ln -s / sub/top
mkfifo sub/fifo.ein
ln -s fifo.ein sub/fifo2.ein
mkdir sub/folder.ein
for path in zero.ein loop.ein out.ein top/etc/passwd fifo.ein fifo2.ein folder.ein fifo.ein/x; do uses 1 $path; done

awk 'BEGIN { for (k = 0; k < 1500; k++) {
  print "use \"c" k + 1 ".ein\"" >("c" k ".ein"); close("c" k ".ein")
  print "def w" k "(x) = x" >("w" k ".ein"); close("w" k ".ein")
  print "use \"w" k ".ein\"" >"wide.ein"
  print "use \"w1.ein\"\nuse \"./sub/../w1.ein\"" >"same.ein"
  print "use \"missing" k ".ein\"\nuse missing" k >"missing.ein" }
  for (k = 0; k < 60; k++) {
    print "use \"d" k + 1 ".ein\"\nuse \"d" k + 2 ".ein\"\nuse \"./d" k + 1 ".ein\"" >("d" k ".ein"); close("d" k ".ein") } }'
: >d60.ein
: >d61.ein
refused 1 "$EIN" check c0.ein
says "chains of at most 200"
refused 1 "$EIN" check wide.ein
says "at most 1000"
refused 1 "$EIN" check missing.ein
accepted "$EIN" check same.ein
accepted "$EIN" check d0.ein
echo 'use "c0.ein"' >c1500.ein
refused 1 "$EIN" check c1400.ein
for k in 1 2 3; do
  { echo 'def x(a) = a'; head -c 15000000 /dev/zero | tr '\0' '#'; } >big$k.ein
done
printf 'use "big1.ein"\n' >u.ein
accepted "$EIN" check u.ein
head -c 20000000 /dev/zero | tr '\0' '#' >big1.ein
refused 1 "$EIN" check u.ein
rm big?.ein

# The program itself
echo 'output Y = 1' >y.ein
refused 4 "$EIN" check ''
refused 4 "$EIN" check sub
refused 4 "$EIN" check sub/fifo.ein
refused 4 "$EIN" check /dev/zero
refused 4 sh -c '"$1" check - <.' sh "$EIN"
refused 4 sh -c '"$1" check - </dev/zero' sh "$EIN"
mkdir gone
refused 4 sh -c 'cd gone && rmdir ../gone && exec "$1" check y.ein' sh "$EIN"

# Where the standard library should be
for at in /dev/null relative "$(long 5000 a)" y.ein "$(printf '\377')"; do refused 4 env EIN_STDLIB="$at" "$EIN" run y.ein; done
mkdir std
mkfifo std/prelude.ein
refused 4 timeout 20 env EIN_STDLIB=std "$EIN" run y.ein
rm std/prelude.ein
mkdir std/prelude.ein
refused 4 env EIN_STDLIB=std "$EIN" run y.ein
rmdir std/prelude.ein
ln -s ../w1.ein std/prelude.ein
accepted env EIN_STDLIB=std "$EIN" run y.ein
rm std/prelude.ein
ln -s ../nothing.ein std/prelude.ein
refused 4 env EIN_STDLIB=std "$EIN" run y.ein
rm std/prelude.ein
echo 'output X = ' >std/prelude.ein
refused 1 env EIN_STDLIB=std "$EIN" run y.ein
accepted env -u HOME -u PATH -u TERM "$EIN" run y.ein
accepted env EIN_STDLIB= "$EIN" run y.ein
cp y.ein sub/u.ein
finish
