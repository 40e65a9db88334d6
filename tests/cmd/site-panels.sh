#!/bin/sh
# suite: ci
# Equations in panels of a label: a sample of the programs of tests/run, with every equation in panels of some label,
# still meets its expectations on 2, 3, 4 or 7 sites, and moves as much as without panels. Products of uneven sizes,
# with panels of each label, compiled and over MPI; the memory of a site; texts; error messages.
. "$(dirname "$0")/common"
turn 2
root=$(cd "$here/../.." && pwd)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
every=${EIN_TEST_EVERY:-24} # of the programs

i=0 ran=0
for f in "$root"/tests/run/*.ein; do
  i=$((i + 1))
  [ $((i % every)) = 3 ] || continue
  case $((i / every % 4)) in 0) n=2 ;; 1) n=3 ;; 2) n=4 ;; *) n=7 ;; esac
  grep -q 'expect-error' "$f" && continue
  "$EIN" plan "$f" -n $n --format=json >plan.json 2>err || continue
  "$EIN" plan "$f" -n $n -o found.plan
  python3 "$here/site_panels.py" $i "$(grep -x 'orders by moves' found.plan)" <plan.json >x.plan || wrong "no plan in panels for $(basename "$f")"
  "$EIN" run "$f" --expect -n $n --plan=x.plan --target=eval -v >out 2>err || {
    grep -qE 'is not given, and has no default|is made by a C function' err || wrong "$(basename "$f") in panels on $n sites: $(grep -m 1 error err)"
    continue
  }
  ran=$((ran + 1))
  grep -q "the plan's sites receive $(sed -n 's/^# //p' x.plan) bytes" err || wrong "$(basename "$f") on $n sites: $(grep receive err), planned were $(tail -n 1 x.plan)"
done
[ $ran -ge $((270 / every - 4)) ] || wrong "only $ran programs ran"

cat >mm.ein <<'E'
input A[i:61, k:97] : i64
input B[k:97, j:45] : i64
output C[i,j] = sum[k] A[i,k] * B[k,j]
output most[i] = max[j] C[i,j]
E
"$EIN" run mm.ein A=iota B=iota -o C=C1.npy -o most=most1.npy || wrong "no answer on one site"
p=0
for x in k=3 k=48 i=4 j=5; do
  p=$((p + 1))
  for n in 4 7; do
    [ $((p % 2)) = 0 ] && [ $n = 7 ] && continue
    printf 'plan 1\nsites %s\npanels C %s\npanels most j=3\n' $n $x >x.plan
    "$EIN" plan mm.ein -n $n --plan=x.plan --format=ia --roundtrip >x.ia || wrong "the relations in panels of $x do not read back"
    grep -q "panels $(echo $x | tr = :)" x.ia || wrong "the relations do not say $x"
    rm -f C.npy most.npy
    how='--target=c --flags=-O0'
    [ $x = k=48 ] && how=--target=eval # so many kernels take a compiler long
    # shellcheck disable=SC2086
    "$EIN" run mm.ein -n $n --plan=x.plan $how A=iota B=iota -o C=C.npy -o most=most.npy || wrong "no answer on $n sites by panels $x"
    cmp C.npy C1.npy && cmp most.npy most1.npy || wrong "other answers on $n sites by panels $x"
  done
done
rm -f C.npy most.npy
(mpi_ready) && {
  mpi_ready
  printf 'plan 1\nsites 4\npanels C k=5\npanels most j=3\n' >x.plan
  mpirun -n 4 "$EIN" run mm.ein --plan=x.plan --flags=-O0 A=iota B=iota -o C=C.npy -o most=most.npy || wrong "no answer over MPI"
  cmp C.npy C1.npy && cmp most.npy most1.npy || wrong "other answers over MPI"
}

# of f16 the panels are added up in f32, and rounded once; twice the same bits
cat >half.ein <<'E'
input A[i:32, k:96] : f16
input B[k:96, j:32] : f16
output C[i,j] = sum[k] A[i,k] * B[k,j]
E
printf 'plan 1\nsites 4\nmesh 2 2\nvertex C axes i j\npanels C k=4\n' >half.plan
"$EIN" run half.ein --target=c --flags=-O0 A=randn:seed=1 B=randn:seed=2 -o C=h1.npy || wrong "no halves on one site"
"$EIN" run half.ein --target=c --flags=-O0 -n 4 --plan=half.plan A=randn:seed=1 B=randn:seed=2 -o C=h4.npy || wrong "no halves on four"
"$EIN" run half.ein --target=c --flags=-O0 -n 4 --plan=half.plan --threads=1 A=randn:seed=1 B=randn:seed=2 -o C=again.npy || wrong "no halves again"
cmp h4.npy again.npy || wrong "a second run has other bits"
python3 - <<'E' || wrong "sums of halves in panels are off"
import struct
def read(p):
    b = open(p, "rb").read()
    return [x[0] for x in struct.iter_unpack("<e", b[10 + struct.unpack("<H", b[8:10])[0]:])]
a, b = read("h1.npy"), read("h4.npy")
assert len(a) == 1024 and all(abs(x - y) <= 2e-3 * max(1, abs(x)) for x, y in zip(a, b))
E

# two panels of an operand, and not all of it, are there at once: the next one comes while one is worked on; where memory is short, one
printf 'plan 1\nsites 4\nmesh 2 2\nvertex C axes i j\nhome A i k\nhome B k j\nhome C i j\n' >whole.plan
cat >big.ein <<'E'
input A[i:256, k:256] : f64
input B[k:256, j:256] : f64
output C[i,j] = sum[k] A[i,k] * B[k,j]
E
(cat whole.plan && echo 'panels C k=16') >x.plan
"$EIN" plan big.ein --plan=whole.plan | grep -q 'memory  *1.2 MB a site' || wrong "without panels: $("$EIN" plan big.ein --plan=whole.plan | grep memory)"
"$EIN" plan big.ein --plan=x.plan | grep -q 'memory  *491.5 kB a site' || wrong "in panels: $("$EIN" plan big.ein --plan=x.plan | grep memory)"
"$EIN" plan big.ein --plan=x.plan --memory=445kB | grep -q 'memory  *442.4 kB a site' || wrong "with little memory: $("$EIN" plan big.ein --plan=x.plan --memory=445kB 2>&1 | grep memory)"
"$EIN" plan big.ein --plan=x.plan --format=task | awk '/^move/ {n++} /^kernel/ {if (n != (k < 15 ? 2*k + 4 : 32)) bad = 1; k++} END {exit bad || k != 16}' ||
  wrong "panels do not come one ahead of the kernel: $("$EIN" plan big.ein --plan=x.plan --format=task | grep -E '^(move|kernel)' | cut -c1-30)"
"$EIN" plan big.ein --plan=x.plan | grep -q 'i=2 j=2 in 16 panels of k' || wrong "the plan does not tell its panels"
"$EIN" plan big.ein --plan=x.plan --certificate c.json -o again.plan || wrong "no certificate"
grep -q '^panels C k=16$' again.plan || wrong "the written plan has no panels"
python3 "$root/share/check_plan.py" c.json >out || wrong "the certificate of panels: $(head -3 out)"

# panels that the planner chooses, to keep a limit
cat >square.ein <<'E'
input A[i:4096, k:4096] : f64
input B[k:4096, j:4096] : f64
output C[i,j] = sum[k] A[i,k] * B[k,j]
E
for n in 4 6 12; do
  least=$((3 * 4096 * 4096 * 8 / n * 5 / 4))
  want 0 "$EIN" plan square.ein -n $n --memory=$least
  shows ' panels of '
done
want 0 "$EIN" plan square.ein -n 12 --memory=40MB --roundtrip -o square.plan
want 1 "$EIN" plan square.ein -n 12 --memory=33.5MB
says 'none has less than 33.6 MB'
cat >chain.ein <<'E'
input A[i:60, j:90] : i64
input B[j:90, k:50] : i64
input C[k:50, l:70] : i64
AB[i,k] = sum[j] A[i,j] * B[j,k]
output Y[i,l] = sum[k] AB[i,k] * C[k,l]
E
"$EIN" run chain.ein A=iota B=iota C=iota -o Y=Y1.npy || wrong "no chain on one site"
for n in 3 4; do
  limit=$((n == 3 ? 66 : 50))kB
  want 0 "$EIN" plan chain.ein -n $n --memory=$limit
  shows ' panels of '
  "$EIN" run chain.ein -n $n --memory=$limit A=iota B=iota C=iota -o Y=Y.npy || wrong "no chain under a limit on $n sites"
  cmp Y.npy Y1.npy || wrong "another chain under a limit on $n sites"
done

complains() { # LINE WANTED
  printf 'plan 1\nsites 4\n%s\n' "$1" >x.plan
  "$EIN" plan half.ein --plan=x.plan >out 2>err && wrong "taken: $1"
  grep -q "$2" err || wrong "of \`$1\`: $(head -1 err)"
}
complains 'panels C k=1' 'E908.*a number of panels is from 2 to 256'
complains 'panels C k=4 i=2' 'E930.*C is done in panels of one label'
complains 'panels C z=4' 'E931.*C has no label z'
complains 'panels C k=97' 'E931.*k of C has no room for 97 panels'
complains 'panels A k=4' 'E931.*no tensor that is computed is called A'
finish
