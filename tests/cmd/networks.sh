#!/bin/sh
# suite: ci
# Networks of 300 and of 900 tensors, as one equation or in many: they are checked, ordered and planned in seconds, and where the order is cheap,
# computed. The limits of time are for slow machines: a quiet one takes a tenth.
. "$(dirname "$0")/common"
turn 3
command -v python3 >/dev/null || exit 77

soon() { # COMMAND...: its exit code is 0 within a minute
  want 0 timeout 60 "$@"
}

n=0
for network in "chain 900" "tree 900" "strip 300" "strip 900 300"; do
  mine $((n += 1)) 2 || continue
  want 0 python3 "$here/network.py" $network
  mv out x.ein
  soon "$EIN" check x.ein
  soon "$EIN" run x.ein --expect
  soon "$EIN" plan x.ein -n 16
  soon "$EIN" plan x.ein -n 16 --costs=eindecomp
  soon "$EIN" plan x.ein --roundtrip
done

want 0 python3 "$here/network.py" chain 900
sed 's/ : i64 = .*/ : i64/' out >x.ein
soon "$EIN" plan x.ein
shows "0, and 7.2 k operations on integers" # the least: 898 times a vector by a matrix, 8 each

want 0 python3 "$here/network.py" grid 900
mv out x.ein
soon "$EIN" check x.ein
soon "$EIN" plan x.ein -n 16
shows "Z.898"
soon "$EIN" plan x.ein -n 16 --costs=eindecomp
shows "only the longest were looked at"
soon "$EIN" plan x.ein
shows "T operations on integers" # a front of 30 labels: 870 times 2 * 2^32 points are 7.5 T

# By C, and against eval; of what is small enough.
want 0 python3 "$here/network.py" strip 80
mv out x.ein
soon "$EIN" run x.ein --expect --target=c --flags=-O0

# Many statements that read one tensor along other axes than they have: half as many take no longer.
cat >hub.py <<'!'
import resource, subprocess, sys
def seconds(n):
    lines = ["input X[i:64,j:64] : f32", "input A[i:64,j:64] : f32", "T0[i,j] = A[i,j]"]
    lines += [f"T{k}[i,j] = sqrt(T{k - 1}[i,j] + X[j,i])" for k in range(1, n)]
    open("hub.ein", "w").write("\n".join([*lines, f"output T{n}[i,j] = sqrt(T{n - 1}[i,j] + X[j,i])"]) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.argv[1], "plan", "hub.ein", "-n", "4"], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
few, many = (min(seconds(n) for _ in range(2)) for n in (2000, 4000))
print("soon" if few < 1.5 * many else f"2,000: {few} s, 4,000: {many} s")
!
want 0 python3 hub.py "$EIN"
shows "soon"

# Many labels in what is no product.
awk 'BEGIN {
  for (i = 0; i < 300; i++) printf "input T%d[a%d:2] : i64\n", i, i
  printf "output Z = sum["
  for (i = 0; i < 300; i++) printf "%sa%d", i ? "," : "", i
  printf "] exp(0.0"
  for (i = 0; i < 300; i++) printf " + T%d[a%d]", i, i
  printf ")\n" }' >x.ein
soon "$EIN" check x.ein
want 1 "$EIN" plan x.ein
says "Z has 300 labels, and is no product that can be computed by steps over fewer (x.ein:301)"
want 1 "$EIN" plan x.ein -n 4
says "Z has 300 labels, and is no product that can be computed by steps over fewer (x.ein:301)"

# And too many.
awk 'BEGIN {
  for (i = 0; i < 2048; i++) printf "input T%d[a%d:2] : i64\n", i, i
  printf "output Z = sum["
  for (i = 0; i < 2048; i++) printf "%sa%d", i ? "," : "", i
  printf "] 1"
  for (i = 0; i < 2048; i++) printf " * T%d[a%d]", i, i
  printf "\n" }' >x.ein
want 1 "$EIN" check x.ein
says "error[E095]: more than 2047 labels in one expression"

# Texts have the same bounds; and up to them, they are planned.
labels() { # NUMBER EXTENT: `a0:EXTENT, a1:EXTENT, ...`, or without extents
  awk -v n="$1" -v e="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%sa%d%s", i ? ", " : "", i, e == "" ? "" : ":" e }'
}
for n in 255 256; do
  printf 'eingraph 1\ninput %%0 X[%s] : i64\n' "$(labels $n | sed 's/a[0-9]*/1/g')"
  printf 'vertex %%1 Y[%s] : i64 = neg(%%0[%s])\n' "$(labels $n 1)" "$(labels $n)"
  printf 'vertex %%2 Z[%s] : i64 = neg(%%1[%s])\noutput Z = %%2\n' "$(labels $n 1)" "$(labels $n)"
done | awk '/^eingraph/ { n++ } { print >"rank" n ".graph" }'
soon "$EIN" plan rank1.graph -n 4
soon "$EIN" plan rank1.graph -n 4 --costs=eindecomp
want 1 "$EIN" check rank2.graph
says "a tensor has at most 255 dimensions"
says "an output has at most 255 labels"
for n in 4095 4096; do
  printf 'eingraph 1\nvertex %%0 Z[] : i64 = sum:i64[%s] 1\noutput Z = %%0\n' "$(labels $n 1)" >labels$n.graph
done
soon "$EIN" check labels4095.graph --roundtrip
want 1 "$EIN" check labels4096.graph
says "a vertex has at most 4095 labels"
finish
