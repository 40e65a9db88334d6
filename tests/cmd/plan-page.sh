#!/bin/sh
# suite: ci
# ein plan for many sites as a page, a picture, and data with a schema: every sample, on several numbers of sites; of samples, every fourth
# one where EIN_TURN is a number.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
python=$(command -v python3)
dot=$(command -v dot)

sizes() { # NAME
  [ "$1" = 13_symbolic_sizes ] && echo "-D N=24"
}

pages=
k=0
for file in "$root"/samples/*.ein "$root"/tests/plan/sites_loop.ein "$root"/tests/plan/sites_reads.ein "$root"/tests/plan/bytes_ring.ein; do
  name=$(basename "$file" .ein)
  k=$((k + 1))
  [ "$name" = 02_attention ] || mine $k 4 || continue
  for p in 1 2 6 16 64; do
    # shellcheck disable=SC2046
    want 0 "$EIN" plan "$file" -n $p $(sizes "$name") --format=html -o "$name.$p.html"
    # shellcheck disable=SC2046
    want 0 "$EIN" plan "$file" -n $p $(sizes "$name") --format=json --against=sqrt,data -o "$name.$p.json"
    pages="$pages $name.$p.html $name.$p.json"
  done
  # shellcheck disable=SC2046
  want 0 "$EIN" plan "$file" -n 12 $(sizes "$name") --format=json --costs=ia --against=sqrt,data -o "$name.ia.json"
  # shellcheck disable=SC2046
  want 0 "$EIN" plan "$file" -n 6 $(sizes "$name") --format=html --costs=eindecomp -o "$name.elements.html"
  # shellcheck disable=SC2046
  want 0 "$EIN" plan "$file" -n 6 $(sizes "$name") --format=json --costs=eindecomp --against=all -o "$name.partition"
  pages="$pages $name.elements.html"
  # shellcheck disable=SC2046
  want 0 "$EIN" plan "$file" -n 6 $(sizes "$name") --format=dot -o "$name.dot"
  want 0 "$EIN" plan "$file" -n 6 $(sizes "$name") --format=svg -o "$name.svg"
  if command -v python3 >/dev/null; then want 0 python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$name.svg"; fi
  [ -z "$dot" ] || want 0 "$dot" -Tplain "$name.dot" -o "$name.plain"
done

if [ -n "$python" ]; then
  # shellcheck disable=SC2086
  want 0 "$python" "$root/tests/plan/page.py" $pages
  want 0 "$python" "$root/tests/plan/moves.py" ./*.json
  want 0 "$python" "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" ./*.json
  want 0 "$python" "$root/tests/plan/schema.py" "$root/docs/schema/ein-partition-1.json" ./*.partition

  # What checks can fail.
  sed 's/<\/section>/<\/div>/' 02_attention.16.html >broken.html
  want 1 "$python" "$root/tests/plan/page.py" broken.html
  sed 's/(8192)/(8193)/' 02_attention.16.html >sums.html
  want 1 "$python" "$root/tests/plan/page.py" sums.html 02_attention.16.json
  sed 's/"sites": 16/"sites": "16"/' 02_attention.16.json >changed.json
  want 1 "$python" "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" changed.json
  sed 's/"received": 49152/"received": 49153/' 02_attention.16.json >changed.json
  want 1 "$python" "$root/tests/plan/moves.py" changed.json
  sed 's/"brought_elements": 0/"brought_elements": 1/' 02_attention.ia.json >changed.json
  want 1 "$python" "$root/tests/plan/moves.py" changed.json
fi

# The same for the same.
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 16 --format=html -o again.html
cmp -s again.html 02_attention.16.html || wrong "the page differs the second time"

# What a program says is escaped; sites that are too many for pictures are said to be.
mkdir 'a&<b>"'
printf 'input A[i:64] : f32\noutput Y[i] = if A[i] < 1 and A[i] > 0 then A[i] else 2.0\n' >'a&<b>"/x.ein'
want 0 "$EIN" plan 'a&<b>"/x.ein' -n 4 --format=html -o escaped.html
[ -z "$python" ] || want 0 "$python" "$root/tests/plan/page.py" escaped.html
want 0 cat escaped.html
shows 'a&amp;&lt;b&gt;&quot;/x.ein'
shows 'A[i] &lt; 1'
want 0 "$EIN" plan 'a&<b>"/x.ein' -n 4 --format=dot -o escaped.dot
[ -z "$dot" ] || want 0 "$dot" -Tplain escaped.dot -o escaped.plain
for p in 100 1024 4096; do
  want 0 "$EIN" plan "$root/samples/02_attention.ein" -n $p --format=html -o many.$p.html
  [ -z "$python" ] || want 0 "$python" "$root/tests/plan/page.py" many.$p.html
done
want 0 cat many.4096.html
shows 'not worked out for more than 1024 sites'

# The runner-up: in words, and none where there is no other choice or a rule of thumb plans.
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 16
shows '  runner-up             '
shows 'it would move'
want 0 "$EIN" plan "$root/tests/plan/sites_layer.ein" -n 64 --against=all
awk 'length > 120' out | grep . && wrong "a line is longer than 120 characters"
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 16 --planner=sqrt
shows 'a rule of thumb has no second choice'
want 0 "$EIN" plan 'a&<b>"/x.ein' -n 4
shows 'can be cut in no other way'

want 2 "$EIN" plan 'a&<b>"/x.ein' --format=html
says "--format=html is for plans for many sites"
want 2 "$EIN" plan 'a&<b>"/x.ein' -n 4 --format=pdf
want 2 "$EIN" bench 'a&<b>"/x.ein' --format=html
finish
