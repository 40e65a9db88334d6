#!/bin/sh
# suite: ci
# ein plan --certificate, and its checker, which works bytes, memory and bound out anew, and sees what is false.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
command -v python3 >/dev/null || exit 77
checker() { python3 "$root/share/check_plan.py" "$@"; }

cat >product.ein <<'!'
input A[i:48, k:96] : f32
input B[k:96, j:24] : f32
H[i,j] = max(sum[k] A[i,k] * B[k,j], 0)
output C[i] = sum[j] H[i,j]
!
for n in 1 4 6; do
  want 0 "$EIN" plan product.ein -n $n --certificate c$n.json
  want 0 checker --strict c$n.json
  want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-certificate-1.json" c$n.json
  checker --strict c$n.json >out
  for what in form bytes memory bound; do grep -q "$what *checked" out || wrong "$n sites: $what is not checked"; done
done

# Files that are no certificates are said to be none, and the others are checked all the same. No size in tasks takes for ever.
: >empty.json
echo hello >text.json
echo '[{"schema": "ein certificate 1"}]' >list.json
printf '\364\005\377' >bytes.json
awk 'BEGIN { for (k = 0; k < 100000; k++) printf "[" }' >deep.json
"$EIN" plan product.ein -n 4 --format=json >plan.json
for f in empty text list bytes deep plan; do
  want 1 checker $f.json c4.json
  shows "$f.json: certificate WRONG: this file is not a certificate"
  shows "c4.json: memory  checked"
done
want 1 checker missing.json c4.json
shows "missing.json: certificate WRONG: cannot be read: No such file or directory"
shows "c4.json: memory  checked"
for power in '9**9**9' '9<<9999999999'; do
  sed "s/\\(buffer %[0-9]* [a-z]* [^[]*\\[\\)48/\\1$power/" c1.json >power.json
  grep -qF "$power" power.json || wrong "no size was spoiled"
  want 1 checker power.json
done

# What it cannot check it says, and that is no error unless it is asked for.
want 0 "$EIN" plan product.ein -n 4 --pin H:i=4 --certificate pinned.json
want 0 checker pinned.json
shows "bound   not checked: pins"
want 2 checker --strict pinned.json
want 0 "$EIN" plan "$root/samples/10_convolution.ein" -n 4 --certificate windows.json
want 0 checker windows.json
shows "bytes   checked"
shows "bound   not checked"
want 0 "$EIN" plan "$root/tests/run/gather_rows.ein" -n 4 --certificate asked.json
want 0 checker asked.json
shows "bytes   checked" && shows " that are requested at most"
want 0 checker --most 10 c6.json
shows "too large to search here"

# What is least by seconds or by elements is held against that, and no bytes; a stack of a repeat is called as the table has it.
printf 'input X[i:7] : f64\noutput m[i] = X[i] * 2\n' >still.ein
printf 'input X[i:8,k:8], Y[k:8,j:8] : i8\noutput m[i,j] = min[k] min(X[i,k], Y[k,j])\n' >little.ein
printf 'input x[t:4] : f64\nrepeat i < 4 {\n  state h = 0.0\n  next h = tanh(h + x[i])\n}\nloss = h * h\noutput g[t] = grad(loss, x[t])\n' >back.ein
k=0
for words in "still.ein -n 4 --machine $root/samples/machines/cluster_16.json" "little.ein -n 2 --costs=ia" "back.ein -n 2" "back.ein -n 4"; do
  mine $((k += 1)) 2 || continue
  # shellcheck disable=SC2086
  want 0 "$EIN" plan $words --certificate measure.json
  want 0 checker measure.json
done

# If the space is larger, the checker says that only ein claims the bound.
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 4 --certificate large.json
want 0 checker --most 1000 large.json
shows "contains no proof of the bound; only ein claims that no plan moves less than"

# What predicates leave out is counted as ein counts it; schemas and the checker hold for other programs too.
k=0
for f in tests/run/band_matrix tests/run/scatter_add samples/12_kmeans stdlib/examples/attention_causal; do
  mine $((k += 1)) 2 || continue
  want 0 "$EIN" plan "$root/$f.ein" -n 4 --certificate other.json
  want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-certificate-1.json" other.json
  want 0 checker --most 1000 other.json
done

# Also sound: results called like a reducer, two tensors of one name, predicates that leave few points, an index with
# an extern function, an offset with a comma, parts that predicates leave no point.
k=0
for f in tests/run/argmax_of_many:6 tests/run/grad:6 samples/06_loops:6 tests/run/extern:6 tests/run/grad_attention_rows:4 tests/run/edit_distance:8; do
  mine $((k += 1)) 2 || continue
  want 0 "$EIN" plan "$root/${f%:*}.ein" -n "${f#*:}" --certificate other.json
  want 0 checker --most 1000 other.json
done
"$EIN" plan "$root/tests/run/band_matrix.ein" -n 4 --certificate other.json >out
sed 's/"values":/"valued":/' other.json >changed.json
want 1 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-certificate-1.json" changed.json

# Windows, and what moves in a repeat, are counted in the tasks: with other bytes, or if it turns as often as it does not, they are refused.
printf 'input X[i:64] : f32\nrepeat t < 5 {\n  state s[i:64] = X[i]\n  next s[i] = (s[(i - 1) %% 64] + s[(i + 1) %% 64]) * 0.5\n}\noutput Y[i] = s[i]\n' >turns.ein
want 0 "$EIN" plan turns.ein -n 4 --certificate turns.json
want 0 checker turns.json
shows "bytes   checked"
sed 's/: i64 = 5 to/: i64 = 4 to/' turns.json >fewer.json
cmp -s turns.json fewer.json && wrong "the repeat turns as before"
want 1 checker fewer.json
shows "what the tasks move"

python3 - >state.json <<'!' # a state has no cuts of its own
import json
c = json.load(open("turns.json"))
next(v for v in c["plan"]["vertices"] if v["equation"].startswith("state "))["labels"][0]["count"] = 2
print(json.dumps(c))
!
want 1 checker state.json
shows "the cut of s"

# What is false is refused: bytes, memory, cuts, homes, edges, extents, the mesh, tasks.
want 0 "$EIN" plan product.ein -n 12 --certificate c12.json
for n in 6 12; do mine $((n / 6)) 2 && want 0 python3 "$root/tests/plan/spoil.py" c$n.json; done
want 0 "$EIN" plan product.ein -n 6 --format=json -o plan.json
want 1 checker plan.json
want 2 "$EIN" plan product.ein --certificate c.json
want 2 "$EIN" plan product.ein -n 4 --costs=eindecomp --certificate c.json
finish
