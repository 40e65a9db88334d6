#!/bin/sh
# archive.sh MAP OUT ARCHIVE...: all of these as an archive of one object, which shows the names of MAP alone.
set -e
map=$1 out=$2
shift 2
keep=$(sed -n 's/.*global: \(.*\) local:.*/\1/p' "$map" | tr -d ';' | sed 's/[^ ][^ ]*/--keep-global-symbol=&/g')
rm -f "$out"
ld -r -o "$out.o" --whole-archive "$@"
set -f
objcopy --wildcard $keep "$out.o"
ar rcs "$out" "$out.o"
rm "$out.o"
