#!/bin/sh
# suite: ci
# ein plan --target=cuda: the bytes over the bus, the memory and the least memory are those of a run, on the stand-ins, with limits of all kinds; the JSON has
# its schema. CUDA_EVERY=1 goes through all programs of tests/run.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
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
ran() { # LIMIT LOOKS, WORD...: a run agrees, which looks at faults once, or more often; these are 24 bytes, and a value
  limit=$1 looks=$2
  shift 2
  # shellcheck disable=SC2086
  EIN_CUDA_MEMORY=$limit want 0 "$EIN" run "$@" $on -v
  went=$(sed -n 's/.*; \([0-9]*\) bytes went there, \([0-9]*\) came back$/\1/p' err) came=$(sed -n 's/.* went there, \([0-9]*\) came back$/\1/p' err)
  grep -q 'did not fit' err && did=1 || did=0
  [ "$did" = "$spills" ] || wrong "with $limit bytes, planned to spill $spills, ran $did: $line"
  [ "$went" = "$in" ] || wrong "with $limit bytes, planned $in bytes to the device, ran $went: $line"
  more=$((came - out))
  [ "$more" = 24 ] || { [ "$looks" = more ] && [ "$more" -gt 24 ]; } || wrong "with $limit bytes, planned $out bytes from the device, ran $came: $line"
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
  for limit in $few $(((few + all) / 2)) $((all - 1)); do
    plan "$limit" "$@"
    ran "$limit" $looks "$@"
  done
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
agrees "$root/tests/run/label_of_finished_loop.ein"
agrees "$root/tests/run/monoid_range.ein"

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
want 2 "$EIN" plan chain.ein --target=cuda -n 4
says '--target=cuda is for the plan of one device'
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
