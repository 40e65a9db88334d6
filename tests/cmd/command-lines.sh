#!/bin/sh
# suite: ci
# The commands in the gallery and in the comments of samples run as they are written, from the folder that holds
# samples/.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE
ln -s "$root/samples" samples
mkdir -p docs/gallery

# In a comment, what a command shows may follow behind two spaces or more.
{
  grep -h -o '`ein [a-z]* [^`]*\.ein[^`]*`\|^    ein .*' "$root/docs/gallery.md"
  grep -h '^#     *ein \|^#     *build/ein ' "$root"/samples/*.ein "$root"/samples/*/*.ein | sed 's/^#  *//; s/   *.*//'
  grep -h -o '^# `ein [a-z]* [^`]*`' "$root"/samples/*/*.ein | sed 's/^# //'
} | tr -d '`' | sed 's/^ *//; s/^build\/ein/ein/' | grep '^ein [a-z]* samples/' >lines
n=$(wc -l <lines)
[ "$n" -ge 40 ] || wrong "only $n commands were found"

k=0
while read -r line; do
  mine $((k += 1)) 4 || continue
  # shellcheck disable=SC2086
  "$EIN" ${line#ein } </dev/null >out 2>err || wrong "$line: $(grep -m 1 error err)"
done <lines
finish
