#!/bin/sh
# ein fmt: to stdout, in place, or only looking.
. "$(dirname "$0")/common"

printf 'output   Z[ i : 3 ]=i+1  # a comment\n' >ugly.ein
want 0 "$EIN" fmt ugly.ein
cp out pretty.ein
shows "# a comment"
want 0 "$EIN" fmt pretty.ein
cmp -s out pretty.ein || wrong "formatting twice changes something"
want 0 "$EIN" fmt - <ugly.ein
cmp -s out pretty.ein || wrong "standard input is formatted otherwise"
want 1 "$EIN" fmt --check ugly.ein pretty.ein
shows "ugly.ein"
! grep -q pretty out || wrong "a formatted file is listed"
chmod 640 ugly.ein
ln -s ugly.ein link.ein
want 0 "$EIN" fmt --write link.ein pretty.ein
cmp -s ugly.ein pretty.ein || wrong "--write has not written"
[ -L link.ein ] || wrong "--write has replaced a link"
[ "$(stat -c %a ugly.ein)" = 640 ] || wrong "--write has changed the mode"
want 0 "$EIN" fmt --check ugly.ein pretty.ein
printf 'output Z[i = \n' >broken.ein
cp broken.ein before
want 1 "$EIN" fmt --write broken.ein
cmp -s broken.ein before || wrong "a broken program is written"
want 2 "$EIN" fmt --check --write ugly.ein

# What is no program is said once.
want 0 "$EIN" build pretty.ein --stop=graph -o text.graph
want 1 "$EIN" fmt text.graph
says "the text of an EinGraph"
says "1 error"
want 0 "$EIN" check text.graph
head -c 10000 "$EIN" >program
want 1 "$EIN" fmt program
says "machine code"
says "1 error"
finish
