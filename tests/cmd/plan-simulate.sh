#!/bin/sh
# suite: ci
# ein plan --simulate: its report as text and JSON; that it moves what the plan moves; and what is refused.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE
server=$root/samples/machines/server_8_gpus.json
plan() { "$EIN" plan "$root/samples/02_attention.ein" -n 8 "$@"; }

want 0 plan --machine "$server" --simulate
silent
for text in simulated "times the plan's sum" "one operation after the other" "busiest link" "what the time depends on" "more, shorter"; do shows "$text"; done
cp out first
want 0 plan --machine "$server" --simulate
cmp -s out first || wrong "it differs the second time"
want 0 plan --machine "$server"
grep -q simulated out && wrong "it simulates though nobody asks"
sed '/^simulated/,$d' first | sed '$d' | cmp -s - out || wrong "it changes the plan"

# It begins at 0, goes on without gaps, and ends with the run; sites receive what the
# program over relations moves; bounds are bounds.
if command -v python3 >/dev/null; then
  cat >look.py <<'!'
import json, sys
p = json.load(open(sys.argv[1]))
s = p["simulated"]
at = 0
for step in s["path"]:
    assert abs(step["begins"] - at) <= 1e-9 * s["seconds"], step
    at = step["begins"] + step["seconds"]
assert s["turns_cut"] or abs(at - s["seconds"]) <= 1e-9 * s["seconds"], at
assert s["chain_seconds"] <= s["seconds"] * (1 + 1e-9) and s["kernel_seconds"] <= s["seconds"] * (1 + 1e-9)
assert s["seconds"] <= s["sequence_seconds"] * (1 + 1e-9)
moved = json.load(open(sys.argv[2]))["bytes"]
assert s["received_bytes"] == moved, (s["received_bytes"], moved)
assert 0 <= s["waiting"] <= s["idle"] + 1e-9 and 0 <= s["idle"] <= 1
!
  for name in 01_matmul 04_domains 06_loops 08_groups 10_convolution 12_kmeans 02_attention; do
    for n in 1 2 3 8 12 16; do
      want 0 "$EIN" plan "$root/samples/$name.ein" -n $n --machine "$root/samples/machines/sites_1024.json" --simulate --format=json -o $name.json
      want 0 "$EIN" plan "$root/samples/$name.ein" -n $n --machine "$root/samples/machines/sites_1024.json" --format=ia -o $name.ia
      want 0 "$EIN" plan $name.ia --format=json
      cp out moves.json
      want 0 python3 look.py $name.json moves.json
    done
  done
  sed 's/"received_bytes": /"received_bytes": 1/' 02_attention.json >changed.json
  want 1 python3 look.py changed.json moves.json
fi

want 0 "$EIN" plan "$root/samples/06_loops.ein" -n 4 --machine "$server" --simulate
shows "three turns were simulated"
shows "the number of turns depends on data"
want 0 plan --machine "$server" --costs=bytes --simulate
shows "times the plan's sum"

plan --machine "$server" --simulate --format=json >simulated.json
want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" simulated.json

# Places that are requested take three exchanges in the plan as in the simulation: where latency is all, both take the same time.
cat >gather.ein <<'!'
input Long[v:100000, d:4] : f32
input t[s:96] : i64
output A[s,d] = Long[t[s], d]
!
for n in 4 8 96; do
  printf 'plan 1\nsites %d\nmesh %d\nvertex A axes s\nhome Long 1\nhome t s\n' $n $n >gather.plan
  want 0 "$EIN" plan gather.ein --plan=gather.plan --machine "$root/samples/machines/sites_1024.json" --simulate --format=json -o gather.json
  want 0 python3 -c 'import json, sys
p = json.load(open("gather.json"))
assert p["bytes"] > 0 and 0.99 < p["simulated"]["seconds"] / p["seconds"] < 1.01, (p["simulated"]["seconds"], p["seconds"])'
done

# If no site is ever idle, the idle time is 0, however sums of seconds are rounded.
for n in 1 2 3 4 8; do
  want 0 "$EIN" plan "$root/samples/12_kmeans.ein" -n $n --machine "$server" --simulate --format=json -o busy.json
  want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" busy.json
done

# The page has it too.
for n in 4 8; do
  want 0 "$EIN" plan "$root/samples/06_loops.ein" -n $n --machine "$server" --simulate --format=html -o page.html
  want 0 "$EIN" plan "$root/samples/06_loops.ein" -n $n --machine "$server" --simulate --format=json -o page.json
  want 0 python3 "$root/tests/plan/page.py" page.html page.json
  want 0 grep -c 'three turns were simulated' page.html
done
want 0 plan --machine "$server" --costs=eindecomp --simulate --format=html
shows "what the time depends on"

plan --machine "$server" --costs=eindecomp --simulate --format=json >simulated.json
want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-partition-1.json" simulated.json
want 0 plan --machine "$server" --costs=eindecomp --simulate
shows "times the plan's sum"

want 2 plan --simulate
says "--simulate: expected the machine file"
want 2 plan --costs=eindecomp --simulate
says "expected the machine file"
want 2 "$EIN" plan "$root/samples/02_attention.ein" --simulate
says "-n says for how many"
want 2 plan --machine "$server" --simulate --format=ia
says "--format=ia has no place for it"
want 2 plan --machine "$server" --simulate --derivation
says "--derivation has no place for it"
want 1 "$EIN" plan "$root/samples/02_attention.ein" -n 9 --machine "$server" --simulate
says "has 8 sites, and 9 are needed"
sed 's/"parts": 128/"parts": 256/' "$root/samples/machines/sites_65536.json" >large.json
want 1 "$EIN" plan "$root/samples/01_matmul.ein" -n 131072 --machine large.json --simulate
says "131072 sites are too many to simulate: 65536 at most"

# Panels: a kernel begins with its first, and the next one comes meanwhile if memory has room for both. Of a panel of i, every site that has some of A
# sends as much as of the others. A panel of j comes from one of four sites, whose link carries all of it, to the three others. As much moves.
cat >product.ein <<'!'
input A[i:4096, k:4096], B[k:4096, j:4096] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
!
printf 'plan 1\nsites 4\nmesh 2 2\nvertex C axes i j\nhome C i j\nhome A i k\nhome B k j\n' >grid.plan
printf 'plan 1\nsites 4\nmesh 4\nvertex C axes i\nhome C i\nhome A i\nhome B j\n' >rows.plan
took() { # PLAN [PANELS [OPTION]]: nanoseconds
  (cat "$1.plan" && echo "${2:+panels C $2}") >x.plan
  "$EIN" plan product.ein --plan=x.plan --machine "$root/samples/machines/p100_4.json" --simulate --format=json ${3:+"$3"} >x.json
  grep -q "\"received_bytes\": $(sed -n 's/^ *"bytes": \([0-9]*\),.*/\1/p' x.json | head -n 1)," x.json || wrong "other bytes in panels $2 of $1"
  sed -n '/"simulated"/,$ s/^    "seconds": \([^,]*\),/\1/p' x.json | head -n 1 | awk '{printf "%.0f", $1 * 1e9}'
}
for panels in k=2 k=8 i=8 j=8; do # the plan's own seconds tell the same
  for mesh in grid rows; do
    got=$(took $mesh $panels)
    sum=$(sed -n 's/^  "seconds": \([^,]*\),/\1/p' x.json | awk '{printf "%.0f", $1 * 1e9}')
    [ $((got * 20)) -ge $((sum * 19)) ] && [ $((got * 20)) -le $((sum * 21)) ] || wrong "$mesh in panels $panels: $sum ns, and simulated $got ns"
  done
done
slower() { # LESS MORE WHAT
  [ "$1" -lt "$2" ] || wrong "$3: $1 ns, and $2 ns"
}
at_once=$(took grid)
eight=$(took grid i=8)
slower $((eight * 100)) $((at_once * 85)) 'nothing of a move hides behind the panels of a product'
slower "$eight" "$(took grid i=2)" 'of two panels more hides than of eight'
slower "$(took grid k=8)" "$(took grid k=8 --memory=70MB)" 'where memory has room for one panel it is as fast as with two'
slower $(($(took rows) * 2)) "$(took rows j=8)" 'a site sends a panel to three as fast as four send their own'
"$EIN" plan product.ein --plan=x.plan --machine "$root/samples/machines/p100_4.json" --simulate >out
shows ', panel 2 of 8'

# A triangle in each of many blocks: each site adds as many numbers as the triangle has points, and multiplies its rows.
cat >triangles.ein <<'!'
input X[b:512, s:4096] : f32
output Y[b,s] = sum[t where t <= s] X[b,s] * X[b,t]
!
printf 'plan 1\nsites 512\nmesh 512\nvertex Y axes b\nhome Y b\nhome X b\n' >triangles.plan
want 0 "$EIN" plan triangles.ein --plan=triangles.plan --format=json
shows "\"site_operations\": $((4096 * 4097 / 2 + 4096))"

# What the busiest site computes is counted point by point, in the report and in the simulation.
command -v python3 >/dev/null || finish
want 0 python3 "$root/tests/plan/busiest.py" "$EIN" --programs 16 --seed "${EIN_TURN:-1}"
finish
