#!/bin/sh
# ein plan for many sites: another program works out the same costs for every sample and number of sites; plans are written and
# taken back; and what is refused.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
BY=--costs=eindecomp

mkdir json
for file in "$root"/samples/*.ein "$root"/tests/plan/sites_*.ein; do
  name=$(basename "$file" .ein)
  sizes=
  [ "$name" = 13_symbolic_sizes ] && sizes="-D N=24"
  for p in 1 2 3 5 8 12 16; do
    want 0 "$EIN" plan "$file" -n $p $BY --format=json --roundtrip --against=all $sizes -o "json/$name.$p"
  done
done
if command -v python3 >/dev/null; then
  want 0 python3 "$root/tests/plan/costs.py" json/*
  sed 's/"all": /"all": 9/' "json/02_attention.16" >changed
  want 1 python3 "$root/tests/plan/costs.py" changed
fi

cat >x.ein <<'!'
dim N = 8
input A[i:N, j:N] : f32
param W[j:N, k:N] : f32
Z[i,k] = sum[j] A[i,j] * W[j,k]
output Y[(i k)] = exp(Z[i,k])
!

# A plan is written, is short, and leaves nothing to choose.
want 0 "$EIN" plan x.ein -n 8 $BY -o x.plan
want 0 cat x.plan
shows "plan 1
sites 8"
want 0 "$EIN" plan x.ein -n 8 $BY --planner=sqrt
cp out sqrt
want 0 "$EIN" plan x.ein -n 8 $BY --planner=sqrt -o sqrt.plan
want 0 "$EIN" plan x.ein $BY --plan=sqrt.plan --planner=data
grep Z out >a
grep Z sqrt >b
cmp -s a b || wrong "the planner changes what the plan fixes"
want 0 "$EIN" plan x.ein -n 8 $BY --pin Z:j=4
shows "j=4"
want 0 "$EIN" plan x.ein -n 6 $BY --pin Z:j=3,i=1,k=2
shows "j=3"
want 0 "$EIN" plan x.ein -n 1000000 $BY
shows "512"
want 0 "$EIN" plan x.ein -n 2147483647 $BY

# An index alone may know of a dim that has no value: there is no plan, in any format.
printf 'dim N\ninput X[i:8] : f32\noutput Y[i:8] = X[i // N] ?? 0\n' >open.ein
for format in text json ia task; do
  want 2 "$EIN" plan open.ein -n 4 --format=$format
  says "Y is made of a dim that has no value yet; -D gives a dim its value"
  want 0 "$EIN" plan open.ein -n 4 --format=$format -D N=2
done

# What is read at data is not looked at site by site where there are very many.
cat >gather.ein <<'!'
input X[v:23, d:6] : f32
input t[s:23] : i64
output Y[s,d] = X[t[s], d]
!
want 0 "$EIN" plan gather.ein -n 2147483647
shows "Y receives places of X"

# Counts that suit no axes of a mesh, in no order of so many labels, are not tried in all orders.
{
  echo 'input A[a:4,b:4,c:4,d:4,e:4,f:4,g:4,h:4,i:4,j:4,k:4,l:4,m:4,n:4] : f32'
  echo 'output C[a,b,c,d,e,f,g,h,i,j,k,l,m,n] = A[a,b,c,d,e,f,g,h,i,j,k,l,m,n] * 2.0'
} >labels.ein
printf 'plan 1\nsites 32768\nmesh 2 2 2 2 2 2 2 2 2 2 2 2 2 4\nvertex C a=4 b=2 c=2 d=2 e=2 f=2 g=2 h=2 i=2 j=2 k=2 l=2 m=2 n=2\n' >labels.plan
want 0 "$EIN" plan labels.ein --plan=labels.plan $BY
shows "cut less by the mesh  C a=4"

# By bytes a plan says all of it, and is kept to the letter, whoever plans.
want 0 "$EIN" plan x.ein -n 8 --roundtrip -o place.plan
want 0 cat place.plan
shows "mesh 2 2 2"
shows "home W * j k"
want 0 "$EIN" plan x.ein --plan=place.plan --planner=data --against=all --roundtrip -o again.plan
cmp -s place.plan again.plan || wrong "a plan by axes does not come back"
cat >hand.plan <<'!'
plan 1
sites 8
mesh 2 3
# The first axis is idle.
vertex Z axes * k
home A i 2
!
want 2 "$EIN" plan x.ein --plan=hand.plan --plan=place.plan
says "--plan is given twice: hand.plan and place.plan"
want 0 "$EIN" plan x.ein --plan=hand.plan --roundtrip
shows "2 x 3, 2 sites idle"
grep -q "^Z .* k=3 " out || wrong "axes of a vertex"
grep -q "^A .* i=2 j=3 " out || wrong "the home of an input"
want 0 "$EIN" plan x.ein --plan=hand.plan --roundtrip -o hand2.plan
want 0 cat hand2.plan
shows "vertex Z axes * k"
shows "home A i j"
want 0 "$EIN" plan x.ein --plan=hand.plan $BY
shows "k=3"
want 1 "$EIN" plan x.ein --plan=hand.plan --pin Z:i=2
says "i of Z is to be cut into 1 block already"
want 1 "$EIN" plan x.ein --plan=hand.plan --pin Y:i=4
says "Y cannot be cut so along the axes of the plan's mesh, 2 x 3"
cat >turn.ein <<'!'
input B[i:16, j:16] : f32
repeat t < 3 {
  state x[i:16] : f32 = 1
  next x[i] = sum[j] B[i,j] * x[j]
}
output x
!
printf 'plan 1\nsites 4\nmesh 4\nvertex x axes *\nhome x i\n' >turn.plan
want 0 "$EIN" plan turn.ein --plan=turn.plan --roundtrip
printf 'plan 1\nsites 4\nmesh 4\nvertex x axes i\n' >turn.plan
want 1 "$EIN" plan turn.ein --plan=turn.plan
says "x is a state, which lies where its home is"
want 1 "$EIN" plan turn.ein -n 4 --pin x:i=4
says "x is a state, which lies where its home is, and is cut by no pin"
says "a plan's line \`home x\` says where it lies"
want 0 "$EIN" plan turn.ein -n 4 $BY --pin x:i=4

# With next to no work allowed there is a bound, and it is said.
want 0 "$EIN" plan "$root/tests/plan/sites_layer.ein" -n 4096 $BY --plan-budget 1e5
shows "no plan moves less than"

# By bytes: pins hold, whoever plans; the best is none above the others.
want 0 "$EIN" plan x.ein -n 8 --roundtrip --format=json --against=all --pin Z:j=2 -o bytes.json
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json
p = json.load(open("bytes.json"))
v = p["vertices"][0]
assert [x["count"] for x in v["labels"] if x["name"] == "j"] == [2], v
assert p["mesh"] == [2, 2, 2] and p["bound"] <= p["bytes"], p
assert p["bytes"] == sum(x["received"] for x in p["vertices"]) + sum(x["brought"] for x in p["tensors"]), p
assert len(p["against"]) == 7 and all(r["bytes"] >= p["bytes"] for r in p["against"] if "bytes" in r), p["against"]'
fi
want 0 "$EIN" plan x.ein -n 8 --planner=sqrt
shows "i=4 k=2"
want 0 "$EIN" plan x.ein -n 7
want 0 "$EIN" plan x.ein -n 1 --costs=bytes
shows "mesh                  1"
# What is proven under pins or a plan file is proven only for plans that keep to them.
given="with what is given, no plan"
for costs in bytes eindecomp; do
  want 0 "$EIN" plan x.ein -n 4 --costs=$costs
  shows "the least cost"
  grep -q "what is given" out && wrong "nothing is given"
  want 0 "$EIN" plan x.ein -n 4 --costs=$costs --pin Z:i=1,j=1,k=4
  shows "planned by exact: the least cost with what is given"
  shows "$given"
  want 0 "$EIN" plan x.ein -n 4 --costs=$costs --pin Z:i=1,j=1,k=4 --format=html
  shows "$given"
  want 0 "$EIN" plan x.ein -n 4 --costs=$costs --pin Z:i=1,j=1,k=4 -o given.plan
  want 0 "$EIN" plan x.ein --costs=$costs --plan=given.plan
  shows "$given"
done
want 1 "$EIN" check x.ein -n 4 --pin Z:i=1,j=1,k=4 --assert 'bytes<=1'
says "$given"
printf 'plan 1\nsites 4\nmesh 4\n' >mesh.plan
want 0 "$EIN" plan x.ein --plan=mesh.plan
shows "$given"

want 1 "$EIN" plan x.ein -n 4 --pin Z:i=3
says "Z cannot be cut so by a mesh of 4 sites: each of its axes cuts one label"
says "so the counts of a tensor multiply to a divisor of 4"
for pin in Z Z: Z:i Z=i Z:=4 ''; do
  want 1 "$EIN" plan x.ein -n 4 --pin "$pin"
  says "help: a pin is a tensor, and for some of its labels how many blocks: T:h=4,s=2; another tensor has a --pin of its own"
done

# By the TRA paper's cost: what is least, and what is received. C[i] = A[i,j] W[j] over 4 sites along i: W goes to all of them.
printf 'input A[i:64, j:64] : f32\nparam W[j:64] : f32\noutput C[i] = sum[j] A[i,j] * W[j]\n' >vector.ein
want 0 "$EIN" plan vector.ein -n 4 --costs=ia --pin C:i=4
shows "moved                 256 elements (256), as the TRA paper counts"
shows "received              768 B in all, 192 B a site"
shows "no plan on such a mesh costs less"
want 0 "$EIN" plan vector.ein -n 4 --costs=ia --derivation
tail -1 out >last
grep -q '256     768 B' last || wrong "the derivation does not end with the plan's cost: $(cat last)"

# Tensors of many labels. Six or seven, as in coupled cluster and in images: a plan that is proven. A graph whose plans
# counts alone do not tell apart, since one tensor is read twice, along different axes.
cat >ladder.ein <<'!'
input V[a:32, b:32, c:32, d:32], T[c:32, d:32, i:16, j:16] : f32
output R[a,b,i,j] = sum[c,d] V[a,b,c,d] * T[c,d,i,j]
!
want 0 "$EIN" plan ladder.ein -n 16
shows "received              6.3 MB in all"
shows "no plan on such a mesh moves less"
cat >images.ein <<'!'
input I[b:4, c:64, y:56, x:56] : f32
param W[o:64, c:64, u:3, v:3] : f32
T[b,o,y:56,x:56] = sum[c,u,v] (I[b,c,y + u - 1,x + v - 1] ?? 0) * W[o,c,u,v]
output S[b,o,y:28,x:28] = max(T[b,o,2*y,2*x], T[b,o,2*y + 1,2*x + 1])
!
want 0 "$EIN" plan images.ein -n 16
shows "no plan on such a mesh moves less"
cat >twice.ein <<'!'
input Y[k:32,l:32,c:128,d:128], T[a:128,b:128,i:32,j:32] : f32
X[m,b,e,j] = sum[n,f] Y[m,n,e,f] * T[f,b,j,n]
S[a,b,i,j] = sum[m,e] T[a,e,i,m] * X[m,b,e,j]
output R[a,b,i,j] = T[a,b,i,j] + S[a,b,i,j] - S[b,a,i,j] - S[a,b,j,i] + S[b,a,j,i]
!
want 0 "$EIN" plan twice.ein -n 8
shows "no plan on such a mesh moves less"
# Seventeen: a plan, but no bound.
cat >many.ein <<'!'
input A[a:2, b:2, c:2, d:2, e:2, f:2, g:2, h:2, i:2, j:2, k:2, l:2, m:2, n:2, o:2, p:2] : f32
param W[i:2, j:2, k:2, l:2, m:2, n:2, o:2, p:2, q:2] : f32
output B[a,b,c,d,e,f,g,h,q] = sum[i,j,k,l,m,n,o,p] A[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p] * W[i,j,k,l,m,n,o,p,q]
!
want 0 "$EIN" plan many.ein -n 16
shows "only the longest were looked at"
cat >many.ein <<'!'
input A[a:16, b:16, c:16, d:16, e:16, f:16, g:16, h:16, i:16, j:16] : f32
output B[a,c,e,g,i] = sum[b,d,f,h,j] A[a,b,c,d,e,f,g,h,i,j]
!
want 0 "$EIN" plan many.ein -n 65536
shows "no plan on such a mesh moves less"
want 0 "$EIN" plan many.ein -n 256 $BY
want 0 "$EIN" plan many.ein -n 65536 $BY
shows "only the longest were looked at"
want 0 "$EIN" plan many.ein -n 65536 $BY --pin B:b=1,d=1,f=1,h=1,j=1,a=16
shows "no plan moves less"
want 1 "$EIN" plan many.ein -n 65536 --pin B:a=2
says "B can be cut in more than 50000 ways on 65536 sites"
says "pin some of its labels"

# What is refused.
want 2 "$EIN" plan x.ein -n 0 $BY
says "-n 0: expected a number of sites, from 1 to 2147483647"
want 2 "$EIN" plan x.ein -n -4 $BY
want 2 "$EIN" plan x.ein -n 2147483648 $BY
want 2 "$EIN" plan x.ein -n four $BY
want 2 "$EIN" plan x.ein -n 4 --costs=pebbles
for measure in eindecomp ia bytes seconds; do says "$measure"; done
want 4 "$EIN" plan x.ein -n 4 --machine m.json
says "cannot read m.json"
want 2 "$EIN" plan x.ein -n 4 --threads 2
want 2 "$EIN" plan x.ein -n 4 $BY --planner=best
want 2 "$EIN" plan x.ein -n 4 $BY --against=sqrt,magatron
says "there is no planner magatron; did you mean megatron?"
for bad in "" , sqrt,,data all,data data,all; do
  want 2 "$EIN" plan x.ein -n 4 "--against=$bad"
  says "--against: expected planners with commas between, as sqrt,data; or all, alone"
done
want 0 "$EIN" plan x.ein -n 4 "--against=sqrt, data ,megatron"
shows "by megatron"
want 2 "$EIN" plan x.ein -n 4 "--against=sqrt data"
says "there is no planner sqrt data"
want 2 "$EIN" plan x.ein -n 4 $BY --plan-budget none

# Nothing that was asked for is passed over.
for words in --pin=Z:i=2 --costs=bytes --planner=sqrt --against=sqrt --plan-budget=9 --derivation --format=dot; do
  want 2 "$EIN" plan x.ein "$words"
  [ "$words" = --format=dot ] || words=${words%%=*}
  says "$words is for plans for many sites; -n says for how many"
done
for words in --pin=Z:i=2 --costs=bytes --planner=sqrt --plan-budget=9; do
  for command in "run x.ein" "build x.ein -o prog"; do
    want 2 "$EIN" $command "$words"
    says "${words%%=*} is for plans for many sites; -n says for how many"
  done
  want 2 "$EIN" check x.ein "$words"
  says "${words%%=*}: nothing is said of a plan"
done
# A plan itself says for how many sites it is.
echo 'output Y[i:12] = 2 * i' >y.ein
want 0 "$EIN" plan y.ein -n 3 -o y.plan
want 0 "$EIN" run y.ein --plan=y.plan -v
says "3 sites received"
want 0 "$EIN" build y.ein --plan=y.plan --stop=task
shows "mesh 3"
printf 'no plan\n' >no.plan
want 1 "$EIN" run x.ein --plan=no.plan
says "this is no plan"
want 2 "$EIN" check x.ein --plan=no.plan
says "--plan: nothing is said of a plan"
want 2 "$EIN" plan x.ein -o one.plan
says "-o one.plan is for plans for many sites"
want 0 "$EIN" plan x.ein -n 1 -o one.plan
want 0 "$EIN" plan x.ein --plan=one.plan
want 2 "$EIN" plan x.ein -n 4 --derivation --format=json
says "--derivation is written as text, not as json"
want 2 "$EIN" plan x.ein -n 4 --derivation --against=sqrt
says "not with --derivation"
for f in dot tra ia; do
  want 2 "$EIN" plan x.ein -n 4 --format=$f --against=sqrt
  says "text, json and html report other planners, and not in $f"
done
want 1 "$EIN" plan "$root/samples/02_attention.ein" -n 4 $BY --planner=eindecomp-tree
says "is read more than once, and eindecomp-tree is for forests"
want 2 "$EIN" plan "$root/samples/13_symbolic_sizes.ein" -n 4 $BY
want 1 "$EIN" plan x.ein -n 4 $BY --pin Q:i=2
says "no tensor that is computed is called Q"
says "help: there are Z, Y"
want 1 "$EIN" plan x.ein -n 4 $BY --pin W:j=2
says "inputs and params have no cuts of their own"
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:h=2
says "Z has no label h"
says "its labels are i, k, j"
want 1 "$EIN" plan x.ein -n 16 $BY --pin Z:i=9
says "i of Z cannot be cut into 9 blocks"
says "its extent is 8"
want 1 "$EIN" plan x.ein -n 4 $BY --pin Y:k=2
says "it stands inside of a group, whose first label alone is cut"
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:i=4,k=2
says "Z is cut into more blocks than there are sites, 4"
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:i=0
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:i
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:i=2,i=2
says "label i has its count already"
want 1 "$EIN" plan x.ein -n 4 $BY --pin Z:i=2 --pin Z:i=4
says "i of Z is to be cut into 2 blocks already"
want 4 "$EIN" plan x.ein -n 4 $BY --plan=none.plan
want 1 "$EIN" plan x.ein -n 4 $BY --plan=x.ein
says "this is no plan: its first line is \`plan 1\`"
printf 'plan 2\nsites 4\n' >later.plan
want 1 "$EIN" plan x.ein $BY --plan=later.plan
says "later.plan:1:6: error[E930]: expected \`plan 1\`: plans of another version are not read"
says "1 error"
want 2 "$EIN" plan x.ein -n 4 $BY --plan=x.plan
says "is a plan for 8 sites, and -n says 4"

refused() { # TEXT SAYS...: a plan file
  printf '%b' "$1" >bad.plan
  shift
  want 1 "$EIN" plan x.ein $BY --plan=bad.plan
  for text in "$@"; do says "$text"; done
}
refused 'plan 2\nsites 4\n' 'bad.plan:1'
refused 'plan 1\n' 'bad.plan:2' 'expected `sites` here'
refused 'plan 1\nsites 0\n' 'bad.plan:2'
refused 'plan 1\nsites 4 5\n' 'bad.plan:2' 'the end of the line'
refused 'plan 1\nsites 4\n# a remark\nedge Z i=2\n' 'bad.plan:4' 'expected `vertex` or `pin`'
refused 'plan 1\nsites 4\nvertex Z i=2\nvertex Z k=2\n' 'bad.plan:4' 'Z stands here twice'
refused 'plan 1\nsites 4\nvertex Z i=2 k\n' 'bad.plan:3'
refused 'plan 1\nsites 4\nvertex Z i=-2\n' 'bad.plan:3'
refused 'plan 1\nsites 4\nvertex Z i=2 k=4\n' 'bad.plan:3' 'more blocks than there are sites'
refused 'plan 1\nsites 4\nvertex %99 i=2\n' 'bad.plan:3' 'no tensor that is computed is called %99'
BY=--costs=bytes
refused 'plan 1\nsites 8\nmesh 2 8\n' 'bad.plan:3' 'the mesh has more than the 8 sites'
refused 'plan 1\nsites 8\nmesh 2 0\n' 'bad.plan:3' 'the size of an axis is from 1'
refused 'plan 1\nsites 8\nmesh 2 2\nmesh 2\n' 'bad.plan:4' 'the mesh stands here twice'
refused 'plan 1\nsites 8\nvertex Z axes i\n' 'bad.plan:3' 'stands before this one'
refused 'plan 1\nsites 8\nmesh 2 2\nvertex Z axes i\n' 'bad.plan:4' "expected a word for each of the mesh's axes: 2, and Z has 1"
refused 'plan 1\nsites 8\nmesh 2 2\nvertex Z axes i h\n' 'bad.plan:4' 'Z has no label h' 'its labels are i, k, j'
refused 'plan 1\nsites 8\nmesh 2 2\nvertex Z axes i 2\n' 'bad.plan:4' 'expected a label of Z, or `*`'
refused 'plan 1\nsites 16\nmesh 2 8\nvertex Z axes i i\n' 'bad.plan:4' 'i of Z cannot be cut into 16 blocks' 'its extent is 8'
refused 'plan 1\nsites 16\nmesh 2 8\nvertex Q axes * *\n' 'bad.plan:4' 'no tensor that is computed is called Q'
refused 'plan 1\nsites 16\nmesh 2 8\nhome Z i i\n' 'bad.plan:4' 'i of Z has no room for 16 blocks' 'it can be cut into 8'
refused 'plan 1\nsites 8\nmesh 8\nhome Z j\n' 'bad.plan:4' 'Z has no dimension j to cut' 'there are i, k; and * for none'
refused 'plan 1\nsites 8\nmesh 8\nhome W 3\n' 'bad.plan:4' 'W has no dimension 3 to cut'
refused 'plan 1\nsites 8\nmesh 8\nhome W 0\n' 'bad.plan:4' 'the number of a dimension is from 1'
refused 'plan 1\nsites 8\nmesh 8\nhome Q *\n' 'bad.plan:4' 'no tensor is called Q'
refused 'plan 1\nsites 8\nmesh 8\nhome A 1\nhome A 2\n' 'bad.plan:5' 'the home of A stands here twice'
# What is read at the turn of an outer repeat moves once in each of its turns: a row, to 4 sites, and 8 bytes to ask for it.
cat >outer.ein <<'END'
dim N = 64, T = 4, U = 10
input A[i:N,j:N] : i64 = i + j
repeat t < T {
  state S[i:N,j:N] = A[i,j]
  repeat u < U {
    state Q[i:N,j:N] = S[i,j]
    next Q[i,j] = (Q[i,j] + S[t,j]) % 1009
  }
  next S[i,j] = Q[i,j] + 1
}
output S
END
printf 'plan 1\nsites 4\nmesh 4\nhome S i\nhome Q i\nhome A i\nvertex Q.next axes i\n' >outer.plan
want 0 "$EIN" plan outer.ein --plan=outer.plan --format=json
shows '"bytes": 8320,'
want 0 "$EIN" run outer.ein
cp out one
want 0 "$EIN" run outer.ein --plan=outer.plan
cmp -s one out || wrong 'what is read at an outer turn is another on four sites'
# A row at a number: 7 sites ask for it, and get it.
cat >row.ein <<'END'
input A[i:64,j:64] : i64 = i * j
output S[i] = sum[j] A[i,j] * A[5,j]
END
printf 'plan 1\nsites 8\nmesh 8\nhome A i\nvertex S axes i\n' >row.plan
want 0 "$EIN" plan row.ein --plan=row.plan
shows 'read at numbers       S receives places of A, 3.6 kB at most; all of it would be 229.4 kB'
want 0 "$EIN" run row.ein
cp out one
want 0 "$EIN" run row.ein --plan=row.plan -v
says ': 8 sites received 3640 bytes'
cmp -s one out || wrong 'what is read at a number is another on eight sites'
finish
