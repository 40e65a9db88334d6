#!/bin/sh
# suite: ci
# Bytes that are no program: control characters, broken and hidden Unicode. What is refused is never sent to a
# terminal as it is.
. "$(dirname "$0")/common"

bad() { # WHAT-IS-SAID BYTES as printf writes them
  printf "$2" >x.ein
  refused 1 "$EIN" run x.ein
  says "$1"
  ! grep -q "$(printf '[\001-\010\013-\037\177]')" err || wrong "a control character reaches the terminal: $2"
  ! LC_ALL=C grep -q "$(printf '\342\200[\216\217\252-\256]\|\342\201[\246-\251]')" err || wrong "a hidden mark: $2"
  refused 1 "$EIN" fmt x.ein
  refused 1 "$EIN" check --diagnostics=text x.ein
  bounded "$EIN" check --diagnostics=json x.ein >out 2>err
  [ $? = 1 ] || wrong "no exit code 1 with JSON"
  ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\300\301\365-\377]')" out || wrong "a raw byte in JSON: $2"
}
bad "NUL" 'output Y = 1\0\n'
bad "NUL" 'output\0Y = 1\n'
bad "NUL" '# a\0b\noutput Y = 1\n'
bad "NUL" 'assert true, "a\0b"\n'
bad "carriage return" 'output Y = 1\routput Z = 2\r'
bad "carriage return" '# c\routput Y = 1\n'
bad "byte order mark" 'output \357\273\277Y = 1\n'
bad "byte order mark" '\357\273\277\357\273\277output Y = 1\n'
bad "UTF-8" '\377\376o\0u\0t\0'
bad "UTF-8" 'output \377 = 1\n'
bad "UTF-8" 'output Y\303 = 1\n'
bad "UTF-8" '# \377\noutput Y = 1\n'
bad "UTF-8" 'assert true, "\377"\n'
bad "UTF-8" 'output \301\201 = 1\n'
bad "UTF-8" 'output \300\200 = 1\n'
bad "UTF-8" 'output \340\200\257 = 1\n'
bad "UTF-8" 'output \360\200\200\257 = 1\n'
bad "UTF-8" 'output \355\240\200 = 1\n'
bad "UTF-8" 'output \355\240\275\355\270\200 = 1\n'
bad "UTF-8" 'output \364\220\200\200 = 1\n'
bad "UTF-8" 'output \365\200\200\200 = 1\n'
bad "UTF-8" 'output Y\342\202'
bad "direction of writing" 'output Y = 1 # \342\200\256 x\n'
bad "direction of writing" 'output Y\342\200\256 = 1\n'
bad "direction of writing" 'assert true, "\342\201\247x"\n'
bad "U+200B" 'output\342\200\213 Y = 1\n'
bad "U+200D" 'output Y\342\200\215 = 1\n'
bad "U+2028" 'output Y = 1\342\200\250output Z = 2\n'
bad "U+0085" 'output Y = 1\302\205output Z = 2\n'
bad "U+000B" 'output Y = 1\013output Z = 2\n'
bad "U+001B" 'output \033[31mY = 1\n'
bad "U+0007" '\007\noutput Y = 1\n'
bad "U+007F" 'output Y\177 = 1\n'
bad "U+009B" 'output Y\302\23331m = 1\n'
bad "normal form C" 'output e\314\201 = 1\n'
bad "normal form C" 'output \342\204\252 = 1\n'
bad "normal form C" 'output \341\204\200\341\205\241 = 1\n'
bad "no word" 'output \360\237\230\200 = 1\n'
bad "no word" 'output Y = \357\274\221\n'
bad "no word" 'output Y = \331\241\n'
bad "no operator" 'output Y = 3 \342\210\222 1\n'
bad "no word" 'output Y = 1 \\\n+ 2\n'
printf 'assert false, "\033[31mred"\noutput Y = 1\n' >x.ein
refused 1 "$EIN" run x.ein
says 'x1b[31mred'
for what in '\0' '\r' '\377' '\377+' '\314\201' '\033[' '\342\200\256'; do
  printf "$what" >piece
  for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do cat piece piece >more && mv more piece; done
  { printf 'output Y = '; cat piece; } >x.ein
  refused 1 "$EIN" check x.ein
  [ "$(wc -c <err)" -lt 100000 ] || wrong "complaints of $(wc -c <err) bytes"
done

good() { # what the output shows, bytes
  printf "$2" >x.ein
  accepted "$EIN" run x.ein
  shows "$1"
}
good "Z : i64 = 2" 'output Y = 1\r\noutput Z = 2\r\n'
good "= 3" 'output Y = 1 +\r\n 2\r\n'
good "= 1" '\357\273\277output Y = 1\n'
good "= 1" 'output Y = 1'
good "= 1" '#!/usr/bin/env ein\noutput Y = 1\n'
good "= 3" '\316\261 = 1\noutput Y = \316\261 + 2\n'
: >x.ein
accepted "$EIN" check x.ein
finish
