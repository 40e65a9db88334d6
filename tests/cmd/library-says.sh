#!/bin/sh
# suite: ci
# What a library says of itself: axes by the labels that its program declares, and every function of its header in the manifest.
. "$(dirname "$0")/common"
cat >says.ein <<'END'
dim N
input X[n:N, d:8], W[8, k:4] : f32
param g[r:3] : f32
output Y[i:N, j:4] = sum[q] X[i,q] * W[q,j]
output Z[(a b)] = X[a,b]
repeat t < 3 {
  state h[u:3] : f32 = g[u]
  next h[v] = 2 * h[v]
  L[t, w] = h[w]
}
output h, L
END
want 0 "$EIN" build says.ein --lib --flags=-O0 -o lib/
for text in 'X; /* f32 [n: N, d: 8]' 'W; /* f32 [q: 8, k: 4]' 'g; /* f32 [r: 3]' 'Y; /* f32 [i: N, j: 4]' 'Z; /* f32 [(a b): 8 * N]' \
  'h; /* f32 [u: 3]' 'L; /* f32 [t: 3, w: 3]'; do
  grep -qF "$text" lib/says.h || wrong "the header does not say $text"
done
grep -q '{"n", "d"}' lib/says.c || wrong "messages name other labels than n and d"
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json, re
m = json.load(open("lib/says.json"))
labels = {x["name"]: x["labels"] for x in m["inputs"] + m["outputs"]}
assert labels["X"] == ["n", "d"] and labels["g"] == ["r"] and labels["h"] == ["u"], labels
header = re.sub(r"/\*.*?\*/", "", open("lib/says.h").read(), flags=re.S)
declared = set(re.findall(r"\b(says_[a-z_]+)\(", header)) | {"says_model"}
assert set(m["entry_points"].values()) == declared, (m["entry_points"], declared)'
fi

# Only points that predicates keep are operations; formulas over sizes count the others too.
for rows in 100 'N'; do
  [ "$rows" = N ] && echo 'dim N' >tri.ein || : >tri.ein
  cat >>tri.ein <<END
input A[i:$rows, j:$rows] : f32
input X[j:$rows] : f32
output Y[i] = sum[j where j <= i and (i + j) % 2 == 0] A[i,j] * X[j]
END
  want 0 "$EIN" build tri.ein --lib --flags=-O0 -o tri/
  [ "$rows" = N ] && flops='2 * (N * N)' || flops=$((2 * 50 * 51))
  grep -qF '"flops": "'"$flops" tri/tri.json || wrong "with $rows rows the manifest does not say $flops"
done
finish
