#!/bin/sh
# suite: ci
# ein plan --target=cuda: the bytes over the bus, the memory and the least memory are those of a run, on the stand-ins, with limits of all kinds; the JSON has
# its schema. CUDA_EVERY=1 goes through all programs of tests/run.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 2
look_alikes
on="--target=cuda --flags=-O0"

plan() { # LIMIT or '', WORD...: the plan's figures
  limit=$1
  shift
  # shellcheck disable=SC2086
  want 0 "$EIN" plan "$@" --target=cuda ${limit:+--memory=$limit} --format=json -o plan.json
  # shellcheck disable=SC2046
  set -- $(python3 - <<'PY'
import json
d = json.load(open("plan.json"))["device"]
assert d["whole_bytes"] >= d["bytes"] and (d["spills"] or not d["moves"])
if d["spills"]:
    for kind in "in", "out":
        assert sum(m["bytes"] for m in d["moves"] if m["kind"] == kind) == d["bytes_" + kind]
print(d["whole_bytes"], d["least_bytes"], d["bytes_in"], d["bytes_out"], int(d["one_turn"]), int(d["spills"]))
PY
)
  whole=$1 least=$2 in=$3 out=$4 a_turn=$5 spills=$6
}
early= # of a repeat that data may end, a plan counts all turns that there may be, and a run may copy less
ran() { # LIMIT LOOKS, WORD...: a run agrees, which looks at faults once, or more often; these are 24 bytes, and a value
  limit=$1 looks=$2
  shift 2
  # shellcheck disable=SC2086
  EIN_CUDA_MEMORY=$limit want 0 "$EIN" run "$@" $on -v
  went=$(sed -n 's/.*; \([0-9]*\) bytes went there, \([0-9]*\) came back$/\1/p' err) came=$(sed -n 's/.* went there, \([0-9]*\) came back$/\1/p' err)
  grep -q 'did not fit' err && did=1 || did=0
  [ "$did" = "$spills" ] || wrong "with $limit bytes, planned to spill $spills, ran $did: $line"
  [ "$went" = "$in" ] || { [ "$early" ] && [ "$went" -lt "$in" ]; } || wrong "with $limit bytes, planned $in bytes to the device, ran $went: $line"
  more=$((came - out))
  [ "$more" = 24 ] || { [ "$looks" = more ] && [ "$more" -gt 24 ]; } || { [ "$early" ] && [ "$more" -lt 24 ]; } || wrong "with $limit bytes, planned $out bytes from the device, ran $came: $line"
}
agrees() { # WORD...
  grep -qE 'until|assert|repeat|monoid' "$1" && looks=more || looks=once
  "$EIN" run "$@" >out 2>err || return 0 # data is wrong
  plan '' "$@"
  [ "$a_turn" = 0 ] || return 0 # data tells the rest
  all=$whole few=$least
  ran "$all" $looks "$@"
  EIN_CUDA_MEMORY=$((few - 1)) "$EIN" run "$@" --target=cuda --flags=-O0 >out 2>err
  if grep -q 'no memory on the device' err; then
    says "the run takes at least $few bytes there"
    # shellcheck disable=SC2086
    want 1 "$EIN" plan "$@" --target=cuda --memory=$((few - 1))
    says "$((few - 1)) bytes of the device's memory are too few: a run takes at least $few, for "
  fi
  [ "$few" -lt "$all" ] || return 0
  if grep -q until "$1"; then early=yes; fi
  for limit in $few $(((few + all) / 2)) $((all - 1)); do
    plan "$limit" "$@"
    ran "$limit" $looks "$@"
  done
  early=
}

cat >chain.ein <<'END2'
dim N = 32
input A[i:N,j:N] : f32 = f32((3 * i + 5 * j) % 7 - 3)
input B[i:N,j:N] : f32 = f32((i + 2 * j) % 5 - 2)
input C[i:N,j:N] : f32
D[i,j] = sum[k] A[i,k] * B[k,j]
E[i,j] = sum[k] D[k,i] * C[k,j]
F[i,j] = sum[k] A[i,k] * E[j,k]
output Y[i,j] = F[i,j] + D[i,j]
output Z[j,i] = E[i,j] - F[i,j]
END2
agrees chain.ein C=randint:lo=0:hi=3:seed=1
agrees chain.ein C=randint:lo=0:hi=3:seed=1 A=iota
# Repeats: how often the inner one turns is known from the outer one; states are exchanged. U is not copied.
cat >turns.ein <<'END2'
dim N = 24, T = 3
input X[i:N,j:N] : i64 = (i * 7 + j * 3) % 10
input M[i:N,j:N] : i64
input U[i:N,j:N] : i64
W[i,j] = M[i,j] * X[j,i] + 1
repeat t < 2 * T {
  state S[i:N,j:N] = X[i,j]
  state R[i:N,j:N] = M[j,i]
  repeat u < t {
    state V[i:N,j:N] = S[i,j] + W[j,i]
    next V[i,j] = (V[j,i] + M[i,j]) % 1000
  }
  next S[i,j] = R[i,j] + V[i,j] % 7
  next R[i,j] = (sum[k] S[i,k] * M[k,j]) % 11
}
output S
output Q[i,j] = R[i,j] + W[i,j]
END2
agrees turns.ein M=iota U=iota
# How many turns were made goes over the bus where data decide that, and it is read.
agrees "$root/tests/run/until_stop.ein"
agrees "$root/tests/run/states_rotate.ein"
agrees "$root/tests/run/label_of_finished_loop.ein"
agrees "$root/tests/run/monoid_range.ein"

# Several sites: what each one's device holds, and what crosses its bus, moves included. A run looks at faults once, as no
# index is from data.
sites_agree() { # LIMIT or '', LOOKS, SITES, WORD...
  limit=$1 looks=$2 n=$3
  shift 3
  # shellcheck disable=SC2086
  want 0 "$EIN" plan "$@" --target=cuda -n $n ${limit:+--memory=$limit} --format=json -o sites.json
  # shellcheck disable=SC2086
  want 0 "$EIN" run "$@" $on -n $n ${limit:+--memory=$limit} -v
  cp err told
  want 0 python3 - "$looks" "$limit" <<'PY'
import json, re, sys
plan, ran = {}, {}
for g in json.load(open("sites.json"))["devices"]:
    d = g["device"]
    assert d["limit_bytes"] == (int(sys.argv[2]) if sys.argv[2] else None) and d["spills"] == (d["bytes"] < d["whole_bytes"])
    assert g["moved_in"] <= d["bytes_in"] and g["moved_out"] <= d["bytes_out"], g
    for site in g["sites"]:
        plan[site] = d["spills"], d["bytes_in"], d["bytes_out"]
for line in open("told"):
    m = re.search(r": site (\d+), on its device: (.*)", line)
    n = m and re.search(r"; (\d+) bytes went there, (\d+) came back", m[2])
    if n:
        ran[int(m[1])] = [False, int(n[1]), int(n[2])]
    elif m and "did not fit" in m[2]:
        ran[int(m[1])][0] = True
assert len(plan) > 1 and plan.keys() == ran.keys(), (plan, ran)
for site, (spills, came, went) in plan.items():
    more = ran[site][2] - went
    assert (spills, came) == tuple(ran[site][:2]), (site, plan[site], ran[site])
    assert more == 24 or sys.argv[1] == "more" and more > 24, (site, plan[site], ran[site])
devices = [g["device"] for g in json.load(open("sites.json"))["devices"]]
print(sum(x[0] for x in plan.values()), max(d["least_bytes"] for d in devices), max(d["whole_bytes"] for d in devices))
PY
  read -r spilling least whole <out
}
on_sites() { # LOOKS, SITES, WORD...
  mine $((looks_at += 1)) 3 || return 0
  sites_agree '' "$@"
  [ "$spilling" = 0 ] || wrong "$spilling sites spill without a limit: $line"
  few=$least all=$whole
  for limit in $(((few + all) / 2)) $((all - 1)); do
    sites_agree $limit "$@"
  done
}
moves_program 200
looks_at=0
on_sites once 4 chain.ein C=randint:lo=0:hi=3:seed=1
on_sites once 3 turns.ein M=iota U=iota
on_sites once 2 moves.ein
sites_agree 24000 once 4 moves.ein # which no plan keeps
[ "$spilling" -gt 0 ] || wrong "no device has spilled: $line"
want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-placing-1.json" sites.json
want 0 "$EIN" plan moves.ein --target=cuda -n 4 --costs=eindecomp --format=json -o paper.json
want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-partition-1.json" paper.json
want 0 "$EIN" plan moves.ein --target=cuda -n 4 --memory=24kB
shows 'of 24.0 kB, at '
shows '; devices keep tensors on the host'
shows 'device of site'
shows 'on the device of site'
shows 'tensor  '
want 0 "$EIN" plan chain.ein --target=cuda -n 4
[ "$(grep -c 'on the device of' out)" = 0 ] || wrong 'a plan that fits tells what spills'
want 1 "$EIN" plan moves.ein --target=cuda -n 2 --memory=8kB
says 'site 0: 8000 bytes of the device'"'"'s memory are too few: a run takes at least '
want 2 "$EIN" plan moves.ein --target=cuda -n 4 --format=html
says '--format=html has no place for several devices'
want 2 "$EIN" plan moves.ein --target=cuda -n 512
says 'a plan tells what is on 256 devices at most'
# What is fetched at indices from data depends on these.
cat >places.ein <<'END2'
dim V = 500, S = 9
input E[v:V] : f64 = f64(v)
input tok[s:S] : i32 = i32((s * s) % V)
output Y[s] = E[tok[s]]
END2
want 0 "$EIN" plan places.ein --target=cuda -n 2
shows 'What sites fetch at places that data decide is not counted.'

# Texts.
want 0 "$EIN" plan chain.ein --target=cuda --memory=26kB --machine "$root/samples/machines/p100_4.json"
shows 'device memory         26.0 kB of 26.0 kB, with tensors kept on the host; '
shows 'least device memory   24.8 kB (24832 bytes), for Z (line 9)'
shows 'by the link of '
shows 'comes  goes  on the device at steps'
want 0 "$EIN" plan chain.ein --target=cuda
shows 'with all tensors there'
want 0 "$EIN" plan chain.ein --target=cuda --memory=26kB --format=json -o spills.json
want 0 "$EIN" plan chain.ein --target=cuda --machine "$root/samples/machines/p100_4.json" --format=json -o fits.json
want 0 "$EIN" plan chain.ein --format=json -o host.json
want 0 python3 "$root/tests/plan/schema.py" "$root/docs/schema/ein-plan-1.json" spills.json fits.json host.json plan.json
want 0 "$EIN" plan chain.ein --target=cuda --memory=26kB --format=html -o spills.html
want 0 "$EIN" plan turns.ein --target=cuda --format=html -o fits.html
want 0 python3 "$root/tests/plan/page.py" spills.html fits.html
grep -q 'it comes from the host' spills.html || wrong 'the page does not tell what comes'
want 2 "$EIN" plan chain.ein --format=html
want 1 "$EIN" plan chain.ein --memory=16kB
want 2 "$EIN" plan chain.ein --target=mpi
says 'a plan is of what is compiled'

# Other programs.
at=0 looked=0
for file in "$root"/tests/run/*.ein; do
  at=$((at + 1))
  [ $(((at + ${EIN_TURN:-0}) % ${CUDA_EVERY:-120})) = 0 ] || continue
  grep -qE '^extern def| extern "|fails|out_of' "$file" && continue
  case $file in *streamed* | */scan_ends.ein | */attention_masks.ein | *fails* | *out_of*) continue ;; esac
  cp "$file" .
  for data in $(sed -n '1,3s/^# args: //p' "$file" | tr ' ' '\n' | sed -n 's/.*=\(.*\..*\)$/\1/p'); do
    [ -e "$root/tests/run/${data%%:*}" ] && mkdir -p "$(dirname "$data")" && cp "$root/tests/run/${data%%:*}" "$(dirname "$data")"
  done
  # shellcheck disable=SC2046
  agrees "${file##*/}" $(sed -n '1,3s/^# args: //p' "$file")
  looked=$((looked + 1))
done
[ $looked -gt 0 ] || wrong 'no program was looked at'
finish
