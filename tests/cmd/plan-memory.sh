#!/bin/sh
# suite: ci
# Plans under limits of memory: a larger limit never finds a worse plan, and the least that is found can be had; of a step of training, of
# attention, and of random graphs of products. What parts have room for is stated in the plan, and in all that is made of it.
. "$(dirname "$0")/common"
turn 0
root=$(cd "$here/../.." && pwd)
command -v python3 >/dev/null || exit 77
searches=0
search() { # SCRIPT WORD...: of tests/plan; every other one, as EIN_TURN says
  mine $((searches += 1)) 2 || return 0
  script=$1
  shift
  want 0 python3 "$root/tests/plan/$script.py" "$EIN" "$@"
}

search limits --limits 4 --random 4 --sites 6 \
  "$root/tests/shape/known/zero.ein" "$root/samples/02_attention.ein"

# A product finds room in hardly more than a site's part of its tensors, by panels, however it is shaped; and is right in it.
search lean --sites 3,4,6 --dtypes f64 --most 1.05 500x32000x500 4000x500x4000 1009x757x1327 8192x8192x16
search lean --sites 4,6 --dtypes i64 --most 1.1 --run 61x97x45
# What is done with the sum, element by element, takes no second buffer: the sum is made where the output lies.
search lean --sites 3,7 --dtypes i64 --most 1.1 --run --after 'max(0, {} * {} - c[j])' 61x97x45
search lean --sites 4,6 --dtypes f32 --most 1.1 --after 'max(0, {} + c[j])' 512x512x512
# Sums of f16 are made in f32: panels of a label of the result need no room for them.
search lean --sites 4,6 --dtypes f16 --most 1.1 512x512x512 4000x500x4000
search lean --sites 4 --dtypes f16 --most 1.2 --run --of "randint:lo=-3:hi=4:seed=1" 48x64x32

search lean --sites 12 --dtypes f16 --most 1.1 4000x500x4000
# Nor does it move more than the best grid that fits.
search grids
search grids --sites 6,9 --limits 1.3,1.75,2.1 1009x757x1327 4096x4096x4096
# Small ones on many sites: parts come in slices of less than 64 KiB, and an operand that is there as a whole, in slices too.
search grids --sites 16,18 --limits 1.75 1000x1000x1000 1009x757x1327

# Nor than any plan with pins: to cut the batch, all homes must change at once.
search pinned batch --limits 6

# Where 36 sites have blocks of nine sizes, none takes more than the limit, and the plan need not be another.
search grids --sites 36 --limits 1.05 4000x500x4000

# Parts in f16 are in f32. Each slice that is reduced becomes f16, or what else is made of it, before the next comes.
search grids --dtype f16 --sites 6 --limits 1.1,1.5 4000x4000x4000
# Here an operand and the parts must both come in panels.
search grids --dtype f16 --sites 8,16 --limits 1.1,1.5 4000x4000x4000
cat >half.ein <<'!'
input A[i:48, k:64], B[k:64, j:40], c[j:40], R[i:48, j:40] : f16
S[i,j] = sum[k] A[i,k] * B[k,j]
output C[i,j] = max(0, S[i,j] + c[j]) - R[i,j]
!
few="A=randint:lo=-3:hi=4:seed=1 B=randint:lo=-3:hi=4:seed=2 c=randint:lo=-3:hi=4:seed=3 R=randint:lo=-3:hi=4:seed=4"
# shellcheck disable=SC2086
want 0 "$EIN" run half.ein $few -o C=one.npy
for cuts in 'j k:i=8' 'k i:j=5' 'k k:i=3'; do
  printf 'plan 1\nsites 6\nmesh 2 3\nvertex S axes %s\npanels S %s\n' "${cuts%:*}" "${cuts#*:}" >half.plan
  for target in c eval; do
    # shellcheck disable=SC2086
    want 0 "$EIN" run half.ein --plan=half.plan --target=$target $few -o C=many.npy
    cmp one.npy many.npy || wrong "$cuts: other values by $target when slices become f16 one by one"
  done
  "$EIN" plan half.ein --plan=half.plan --format=task >half.task || wrong "$cuts: no tasks"
  n=$(grep -c '^  stage .*f16(%' half.task)
  [ "$n" = "${cuts##*=}" ] || wrong "$cuts: $n kernels make f16, and not ${cuts##*=}"
done

# Such a plan runs: B and the parts come in panels of j, A as a whole.
cat >both.ein <<'!'
input A[i:120, k:122], B[k:122, j:118] : f16
output C[i,j] = sum[k] A[i,k] * B[k,j]
!
few="A=randint:lo=-3:hi=4:seed=1 B=randint:lo=-3:hi=4:seed=2"
want 0 "$EIN" plan both.ein -n 8 --memory=14038B -o both.plan --certificate both.json
grep -q '^vertex C axes .*k' both.plan && grep -q '^panels C [ij]=' both.plan || wrong "not both come in panels: $(cat both.plan)"
want 0 python3 "$root/share/check_plan.py" both.json
# shellcheck disable=SC2086
"$EIN" run both.ein $few -o C=one.npy && "$EIN" run both.ein --plan=both.plan $few -o C=many.npy || wrong "both.plan does not run"
cmp one.npy many.npy || wrong "operands and parts in panels give another product"

# B has not the label of the panels: if it exceeds the room it comes in slices, so a site packs less. The bytes and the result are the same.
cat >whole.ein <<'!'
input A[i:240, k:180], B[k:180, j:300] : i64
output C[i,j] = sum[k] A[i,k] * B[k,j]
!
want 0 "$EIN" run whole.ein A=iota B=iota -o C=one.npy
for room in 16384 65536; do
  printf 'plan 1\nsites 16\nmesh 2 2 2 2\nvertex C axes i j j k\npanels C i=24\nroom %s\n' $room >whole.plan
  want 0 "$EIN" plan whole.ein --plan=whole.plan --certificate whole.$room.json
  want 0 python3 "$root/share/check_plan.py" whole.$room.json
  sed -n 's/.* memory  checked: \([0-9]*\) .*/\1/p' out >memory.$room
  "$EIN" run whole.ein --plan=whole.plan -v A=iota B=iota -o C=many.npy 2>err || wrong "a room of $room: $(cat err)"
  sed -n 's/.* sites received \([0-9]*\) bytes.*/\1/p' err >bytes.$room
  cmp -s one.npy many.npy || wrong "with a room of $room the product is another"
done
cmp -s bytes.16384 bytes.65536 || wrong "in slices $(cat bytes.16384) bytes move, at once $(cat bytes.65536)"
[ "$(cat memory.16384)" -lt "$(cat memory.65536)" ] || wrong "in slices it takes $(cat memory.16384) bytes, at once $(cat memory.65536)"

# A gradient whose parts are 512 MB on 8 sites: at once they take 8 times a share, in rounds hardly more than a share.
cat >grad.ein <<'!'
input X[b:65536, a:4096], G[b:65536, c:4096] : f32
output W[a,c] = sum[b] X[b,a] * G[b,c]
!
printf 'plan 1\nsites 8\nmesh 2 2 2\nvertex W axes b b b\nhome W a a a\nhome X b b b\nhome G b b b\n' >grad.plan
(cat grad.plan && echo 'room 1048576') >little.plan
memory() { "$EIN" plan grad.ein --format=json "$@" | tr -d ' \n' | sed 's/.*"memory":{"bytes":\([0-9]*\).*/\1/'; }
once=$(memory --plan=grad.plan)
rounds=$(memory --plan=little.plan)
[ "$rounds" -lt "$once" ] || wrong "in rounds it takes $rounds bytes, at once $once"
want 0 "$EIN" plan grad.ein --plan=little.plan
shows ' of what is reduced, at most 1.0 MB arrive at once'
for form in ia task; do
  want 0 "$EIN" plan grad.ein --plan=little.plan --format=$form --roundtrip -o grad.$form
  grep -q '^room 1048576$' grad.$form || wrong "no room in grad.$form"
done
want 0 "$EIN" build grad.ia --stop=task -o again.task
cmp -s grad.task again.task || wrong "the Ia gives other tasks than the plan"
want 0 "$EIN" plan grad.ein --plan=little.plan --certificate c.json --roundtrip -o again.plan
grep -q '^room 1048576$' again.plan || wrong "the written plan has no room"
want 0 python3 "$root/share/check_plan.py" c.json
shows "memory  checked: $rounds "
want 0 "$EIN" build grad.ein --plan=little.plan -n 8 --target=mpi --lib -o lib/ --flags=-O0
grep -rq 'ein_staged, 1048576};' lib || wrong "the tables have another room"

# A limit between the two: the plan stays, and has as much room as the limit allows.
limit=$(((once + rounds) / 2))
want 0 "$EIN" plan grad.ein --plan=grad.plan --memory=${limit}B -o fits.plan
room=$(sed -n 's/^room //p' fits.plan)
[ -n "$room" ] && [ "$(memory --plan=fits.plan)" -le $limit ] || wrong "with room $room the plan takes $(memory --plan=fits.plan) of $limit bytes"
sed "s/^room .*/room $((room * 2))/" fits.plan >more.plan
[ "$(memory --plan=more.plan)" -gt $limit ] || wrong "there was room for $((room * 2)) bytes"
for bad in 'room 0' 'room 67108865' 'room' 'room 5 6' 'room 1
room 1'; do
  (cat grad.plan && echo "$bad") >bad.plan
  want 1 "$EIN" plan grad.ein --plan=bad.plan
done
finish
