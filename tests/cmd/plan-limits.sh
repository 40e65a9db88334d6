#!/bin/sh
# ein check holds plans to limits: of the command line, and of lines of the program, on one scale and by one plan.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
A=$root/samples/02_attention.ein

# What ein plan finds is kept to, to the byte; one byte less is not.
want 0 "$EIN" plan "$A" -n 16 --format=json
memory=$(tr -d ' \n' <out | sed 's/.*"memory":{"bytes":\([0-9]*\).*/\1/')
bytes=$(tr -d ' \n' <out | sed 's/.*"mesh":\[[0-9,]*\],"bytes":\([0-9]*\).*/\1/')
want 0 "$EIN" check "$A" -n 16 --assert "bytes<=$bytes, memory<=$memory"
want 0 "$EIN" check "$A" -n 16 --assert "bytes == $bytes" --assert "bytes>=${bytes}B"
want 1 "$EIN" check "$A" -n 16 --assert "bytes<$bytes"
says "does not hold on 16 sites"
says "most is for"
want 1 "$EIN" check "$A" -n 16 --assert 'memory<=24GB, bytes<=1kB'
says "no plan on such a mesh moves less"
want 1 "$EIN" check "$A" -n 16 --assert 'memory<=1kB'
says "no plan was found in which a site has no more than 1.0 kB"
says "this takes most of it"

# As ein plan with the same options: a pin, a machine.
want 1 "$EIN" check "$A" -n 16 --pin QH:h=4,s=4 --assert "bytes<=$bytes"
want 0 "$EIN" check "$A" -n 8 --machine "$root/samples/machines/server_8_gpus.json" --assert 'time<=1ms'
want 1 "$EIN" check "$A" -n 8 --machine "$root/samples/machines/server_8_gpus.json" --assert 'time<=1ns'
says "takes most"

# Lines of the program, each for its own sites; as JSON; of a graph's text only the command line's.
sed 's/^dim /dim P = 4, /' "$A" >x.ein
echo 'assert on P sites: bytes <= 1 kB, memory <= 1 GB' >>x.ein
want 1 "$EIN" check x.ein
says "bytes <= 1.0 kB does not hold on 4 sites"
want 0 "$EIN" check x.ein -D P=1
want 1 "$EIN" check x.ein --diagnostics=json
shows '"E932"'
want 0 "$EIN" run x.ein
want 0 "$EIN" build "$A" --stop=graph -o x.graph
want 1 "$EIN" check x.graph -n 16 --assert 'bytes<=1kB'
says "most is for"

# Mistakes.
want 2 "$EIN" check "$A" --assert 'bytes<=1kB'
says "-n says for how many"
want 2 "$EIN" check "$A" -n 16
says "--assert says what it must keep to"
want 2 "$EIN" check "$A" -n 16 --assert 'time<=1s'
says "a machine file"
want 2 "$EIN" check "$A" -n 16 --costs=eindecomp --assert 'bytes<=1kB'
want 1 "$EIN" check "$A" -n 16 --assert 'byte<=1kB'
says 'did you mean `bytes`'
want 1 "$EIN" check "$A" -n 16 --assert 'memory<=24G'
says "24GiB, of 1024"
for bad in '' 'bytes' 'bytes=3' 'bytes<=x' 'bytes<=1kB;' 'bytes<=1kB,' 'bytes<=1e999' 'bytes<=1m' 'time<=1' 'operations<=1GB'; do
  want 1 "$EIN" check "$A" -n 16 --machine "$root/samples/machines/server_8_gpus.json" --assert "$bad"
  says "E114"
done
finish
