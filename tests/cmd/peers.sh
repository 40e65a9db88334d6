#!/bin/sh
# suite: ci
# bench/peers.py: rows build and agree at tiny sizes with what peers there are, and some where there is none. It takes every
# sixth row, from row PEERS_FIRST (1) on, and in CI every fifteenth; peers-all takes all of them.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
TORCHINDUCTOR_CACHE_DIR=$work/cache/inductor
PYTHONDONTWRITEBYTECODE=1
export XDG_CACHE_HOME TORCHINDUCTOR_CACHE_DIR PYTHONDONTWRITEBYTECODE
cc=${CC:-cc}
peers=$here/../../bench/peers.py
command -v python3 >/dev/null || finish

want 0 python3 "$peers" "$EIN" --list --group gemm
shows "square_f32_256  jax numpy torch"
want 2 python3 "$peers" "$EIN" --group nothing
says "there is no group nothing; there are gemm"
want 2 python3 "$peers" "$EIN" --only 'nothing*'
want 2 python3 "$peers" "$EIN" --peers nobody

# Nothing installed: C is still there. And the roofline, of a machine that is made up.
echo '{"format": "ein machine 1", "site": {"level": "core"}, "levels": [{"name": "core", "parts": 1,
  "memories": [{"name": "memory", "read_bytes_per_second": 1e9}],
  "operations_per_second": {"f32": {"multiply_add": {"value": 1e9, "median": 9e8, "worst": 8e8}}}}]}' >m.json
mkdir none
for name in numpy scipy opt_einsum torch jax; do echo 'raise ImportError("hidden")' >none/$name.py; done
want 0 env PYTHONPATH="$work/none" python3 "$peers" "$EIN" --cc "$cc" --small --rounds 1 --group gemm semiring rows --json j.json --machine m.json \
  --only square_f32_256 max_plus_512 softmax
shows "left out: numpy (hidden)"
shows "nothing to compare with"
python3 -c '
import json
b = json.load(open("j.json"))
assert b["format"] == "ein peers 1" and [r["row"] for r in b["rows"]] == ["square_f32_256", "max_plus_512", "softmax"], b
assert all(r["ours"] > 0 and not r["broken"] for r in b["rows"]) and list(b["rows"][1]["peers"]) == ["c"], b
assert [(p["part"], p["met"]) for p in b["parts"]] == [(n, None) for n in ("gemm", "beside C", "beside PyTorch", "rows")], b
gemm, max_plus, softmax = (r.get("roof") for r in b["rows"])
assert gemm["by"] == "operations" and abs(gemm["seconds"] - b["rows"][0]["sizes"]["N"] ** 3 * 2e-9) < 1e-12, gemm
assert max_plus is None and softmax["by"] == "bytes" and softmax["reached"] > 0, b' ||
  wrong "the numbers in JSON"

# An answer that is wrong, and a program that is refused.
cat >liar <<END
#!/bin/sh
for word; do case \$word in */max_plus_512.ein) sed 's/max\[k\]/min[k]/' "\$word" >new && mv new "\$word" ;; esac; done
case "\$*" in *min_plus_512.ein*) echo "not today"; exit 1 ;; esac
exec "$EIN" "\$@"
END
chmod +x liar
want 2 python3 "$peers" ./liar --cc "$cc" --small --rounds 1 --peers c --only max_plus_512 --markdown
shows "**disagrees** with c"
want 2 python3 "$peers" ./liar --cc "$cc" --small --rounds 1 --peers c --only min_plus_512
shows "does not build"
says "not today"

# Rows of all kinds; torch.compile takes long.
want 0 python3 "$peers" "$EIN" --list
every=${EIN_TURN:+15}
rows=$(sed -n 's/^  \([^ ]*\) .*/\1/p' out |
  awk -v first="${PEERS_FIRST:-${EIN_TURN:-1}}" -v every="${every:-6}" '!seen[$1]++ && n++ % every == (first - 1) % every')
[ "$(echo "$rows" | wc -l)" -ge 8 ] || wrong "the rows that are taken: $rows"
# shellcheck disable=SC2086
want 0 python3 "$peers" "$EIN" --cc "$cc" --small --rounds 1 --peers numpy scipy opt_einsum torch jax c openblas --only $rows
[ "$code" = "$got" ] || grep -E "disagrees|does not build" out
grep -E " fails: " out && wrong "a peer that is there cannot do its row"
finish
