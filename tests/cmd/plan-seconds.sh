#!/bin/sh
# suite: ci
# ein plan for the sites of a machine: another program works out the same seconds, site by site; sample machines have plans on all of their
# sites; memory is a limit; and what is refused.
. "$(dirname "$0")/common"
turn 1
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE

# Three levels, with parts that are no powers of two.
cat >m.json <<'!'
{"format": "ein machine 1", "name": "three levels", "site": {"level": "gpu", "bytes": 100000000},
 "levels": [
   {"name": "core", "parts": 1, "operations_per_second": {"f64": {"multiply_add": {"value": 5e10, "median": 4e10, "worst": 3e10}}}},
   {"name": "gpu", "parts": 100, "memories": [{"name": "near", "read_bytes_per_second": 1e13}, {"name": "memory", "read_bytes_per_second": 1e12}],
    "operations_per_second": {"f32": {"multiply_add": 1e13, "add_max": 2e12}, "i64": {"multiply_add": 1e12}}},
   {"name": "board", "parts": 3, "link": {"latency_seconds": 1e-6, "bytes_per_second": 2e11}},
   {"name": "node", "parts": 4, "link": {"latency_seconds": 2e-6, "bytes_per_second": 1e11}},
   {"name": "hall", "parts": 8, "link": {"latency_seconds": 1e-5, "bytes_per_second": 3e10}}]}
!
mkdir json
cat >stencil.ein <<'!'
input X[x:96, y:64] : f32
A[i:96, j:64] = X[i, j - 1] ?? 0 + X[i, j + 2] ?? 0 + X[i - 1, j] ?? 0
output B[i:48, j:64] = max[k:3] A[2 * i + k, j - 1] ?? 0
!
for p in 3 12 96; do
  want 0 "$EIN" plan stencil.ein -n $p --machine m.json --format=json -o "json/stencil.$p"
  want 0 "$EIN" plan stencil.ein -n $p --machine m.json --costs=bytes --format=json -o "json/stencil.$p.bytes"
done
k=0
for name in 01_matmul 02_attention 04_domains 05_gather_scatter 06_loops 08_groups 12_kmeans; do
  k=$((k + 1))
  [ $name = 02_attention ] || mine $k 3 || continue
  for p in 2 3 8 12 24 96; do
    want 0 "$EIN" plan "$root/samples/$name.ein" -n $p --machine m.json --format=json --against=sqrt,data -o "json/$name.$p"
    want 0 "$EIN" plan "$root/samples/$name.ein" -n $p --machine m.json --costs=bytes --format=json -o "json/$name.$p.bytes"
  done
done
check() { # CODE MACHINE PLAN...
  command -v python3 >/dev/null || return 0
  code=$1
  shift
  want "$code" python3 "$root/tests/plan/seconds.py" "$@"
}
# Products in panels: what hides behind kernels, and what comes from some sites only.
cat >product.ein <<'!'
input A[i:768, k:1536], B[k:1536, j:384] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
!
in_panels() { # NAME PANELS SITES MESH AXES HOMES [OPTION]
  printf 'plan 1\nsites %s\nmesh %s\nvertex C axes %s\n%bpanels C %s\n' "$3" "$4" "$5" "$6" "$2" >"$1.plan"
  want 0 "$EIN" plan product.ein --plan="$1.plan" --machine m.json --format=json ${7:+"$7"} -o "json/$1"
}
for panels in k=2 k=12 k=48 i=4 j=8; do
  in_panels "grid.$panels" $panels 12 '3 4' 'j i' 'home C j i\nhome A k i\nhome B j k\n'
  in_panels "rows.$panels" $panels 24 '2 3 4' 'i i i' 'home C i i i\nhome A i i i\nhome B j j j\n'
done
in_panels short k=12 3 3 i 'home C i\nhome A i\nhome B k\n' --memory=3.2MB
want 0 grep -A1 '"apart": \[' json/short
grep -q '^ *1$' out || wrong "where memory is short the next panel of B does not come while one is in use: $(cat out)"
check 0 m.json json/*
sed 's/"count": 48/"count": 24/' json/grid.k=48 >changed
check 1 m.json changed
sed 's/"kernel_seconds": /"kernel_seconds": 9/' json/02_attention.8 >changed
check 1 m.json changed
sed 's/1e-5/2e-5/' m.json >other.json
check 1 other.json json/02_attention.96
sed 's/2e11/1e10/' m.json >other.json
check 1 other.json json/02_attention.8

# Sample machines: a plan on all sites of each.
sample() { # NAME SITES
  want 0 "$EIN" plan "$root/samples/02_attention.ein" -n "$2" --machine "$root/samples/machines/$1.json" --format=json -o "plan.$1"
  check 0 "$root/samples/machines/$1.json" "plan.$1"
  want 0 "$EIN" plan "$root/samples/02_attention.ein" -n "$2" --machine "$root/samples/machines/$1.json"
  shows "no plan on such a mesh is faster"
  want 1 "$EIN" plan "$root/samples/02_attention.ein" -n $(($2 + 1)) --machine "$root/samples/machines/$1.json"
  says "has $2 sites, and $(($2 + 1)) are needed"
}
sample laptop 8
sample cluster_16 16
sample h100_8x4 32
sample server_8_gpus 8
sample sites_1024 1024
sample sites_65536 65536

# What counts: seconds where a machine is said, or $EIN_MACHINE and --costs=seconds; bytes else.
plan() { "$EIN" plan "$root/samples/02_attention.ein" -n 8 "$@"; }
want 0 plan --machine m.json
shows "  time  "
cp out seconds
want 0 env EIN_MACHINE=m.json "$EIN" plan "$root/samples/02_attention.ein" -n 8 --costs=seconds
cmp -s out seconds || wrong "EIN_MACHINE with --costs=seconds is not --machine"
want 0 plan
cp out bytes
grep -q "  time  " out && wrong "without a machine there are seconds"
want 0 env EIN_MACHINE=m.json "$EIN" plan "$root/samples/02_attention.ein" -n 8
cmp -s out bytes || wrong "EIN_MACHINE alone makes another plan"
want 0 plan --machine m.json --costs=bytes
shows "  time  "
grep received out >a
grep received bytes >b
cmp -s a b || wrong "by bytes a machine changes what moves"

# The page says the same: seconds, what memory they take, and what else could be, by what counts.
for machine in m.json "$root/samples/machines/sites_1024.json"; do
  name=$(basename "$machine" .json)
  want 0 "$EIN" plan "$root/samples/12_kmeans.ein" -n 8 --machine "$machine" --format=html -o "$name.html"
  want 0 "$EIN" plan "$root/samples/12_kmeans.ein" -n 8 --machine "$machine" --format=json -o "$name.plan.json"
  [ -z "$(command -v python3)" ] || want 0 python3 "$root/tests/plan/page.py" "$name.html" "$name.plan.json"
done
[ -z "$(command -v python3)" ] || want 1 python3 "$root/tests/plan/page.py" m.html sites_1024.plan.json
want 0 plan --machine m.json --format=html --against=sqrt
cp out page
want 0 grep -A3 'class="lead"' page
shows 'us on three levels'
shows 'no plan on such a mesh '
grep -q 'moves less than' page && wrong "by seconds the page speaks of bytes"
want 0 cat page
shows '<dt>time of a run</dt>'
shows '<dt>memory of a site</dt>'
shows ', of 100.0 MB, at '
shows ' times as long</li>'
shows '<th scope="col">time</th>'

# Memory: as little as there must be, and no less. On one site all is known.
want 0 "$EIN" plan "$root/tests/plan/bytes_loop.ein" -n 1 --costs=bytes --format=json -o one.json
grep -q '"bytes": 20008,' one.json || wrong "A, b, both outputs, the turns, the state and its sum, ten turns of the stack: 16384 + 256 + 296 + 256 + 256 + 2560"
want 0 plan --memory=100kB
shows "kB a site at most, of 100.0 kB"
cmp -s out bytes && wrong "a limit changes nothing"
want 0 plan --memory=0.0001GiB
shows "a site at most, of 107.4 kB"
want 0 plan --machine m.json --memory=120000
shows "of 120.0 kB"
want 0 plan --machine m.json --costs=bytes
shows "of 100.0 MB"
want 1 plan --memory=60kB
says "no plan was found in which a site has no more than 60.0 kB (60000 bytes); the least that was found is"
least=$(sed 's/.*found is [0-9.]* kB (\([0-9]*\) bytes).*/\1/' err)
want 0 plan --memory="$least"
want 1 plan --memory=$((least - 1))
says "; none has less than "
sed 's/100000000}/50000}/' m.json >little.json
want 1 plan --machine little.json
says "no more than 50.0 kB"

for same in 100kB "100 kB" "100  KB" "0.1 MB" 100000B "100000 bytes" 97.65625KiB 97.65625Ki; do
  want 0 plan --memory="$same"
  shows "kB a site at most, of 100.0 kB"
done

# What is refused; and at once where no plan can have so little.
for bad in 0 -1 GB 1e3 24Gb 0.5 24GBB nan; do
  want 2 plan --memory=$bad
  says "--memory $bad: expected bytes, as 24GB or 512MiB"
done
for bad in 10G "10 G" 10g 0G; do
  want 2 plan --memory="$bad"
done
want 2 plan --memory="10 G"
says "--memory 10 G: expected 10GB, of powers of 1000, or 10GiB, of 1024"
want 2 plan --memory=1.5k
says "--memory 1.5k: expected 1.5kB, of powers of 1000, or 1.5KiB, of 1024"
want 2 plan --costs=seconds
says "expected a machine file"
want 0 plan --costs=eindecomp --machine m.json
shows "  time  "
want 2 plan --costs=eindecomp --memory=1GB
want 4 plan --machine none.json
says "cannot read none.json"
sed 's/"parts": 3/"part": 3/' m.json >bad.json
want 1 plan --machine bad.json
says 'bad.json:6:'
says 'there is no member "part"'
sed '6s/, "link".*/},/' m.json >bad.json
want 1 plan --machine bad.json
says "sites reach each other by one, and there is none"
sed 's/"f32": {"multiply_add": 1e13/"f16": {"multiply_add": 1e13/' m.json >bad.json
want 1 plan --machine bad.json
says "does not say how fast a gpu computes QH in f32"
sed 's/"latency_seconds": 1e-6, //' m.json >bad.json
want 1 plan --machine bad.json
says "latency_seconds of its link is needed"
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 7 --machine m.json
want 1 "$EIN" plan "$root/samples/02_attention.ein" -n 97 --machine m.json
says "three levels has 96 sites, and 97 are needed"
want 1 "$EIN" plan "$root/samples/02_attention.ein" -n 11 --machine m.json
says "11 sites do not fill the levels of three levels evenly: 3 in a board, 4 in a node, 8 in a hall"
finish
