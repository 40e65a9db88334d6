#!/bin/sh
# suite: ci
# ein verify -n: a plan for several sites beside eval; texts of such plans beside the evaluators of their languages.
. "$(dirname "$0")/common"
O=--flags=-O0

cat >mm.ein <<'END'
dim N = 8, M = 5
input A[i:N,k:M] : f32
input B[k:M,j:N] : f32
param scale : f32 = 0.5
C[i,j] = sum[k] A[i,k] * B[k,j]
P[i,j] = softmax[j](scale * C[i,j])
output S[i] = P[i,i]
output above = sum[i,j where C[i,j] > 0] 1
END
for n in 1 2 4 7; do
  want 0 "$EIN" verify mm.ein -n $n $O
  shows '    S            f32  abs'
  shows '    above        i64  equal'
done
want 0 "$EIN" verify mm.ein -n 4 --pin C:i=2,j=2 -D N=16 --threads 2 $O
want 0 "$EIN" verify mm.ein -n 4 --planner=data --deterministic $O

# A fault of one site is found: the compiler adds it to a kernel of the third.
cat >faulty.sh <<'END'
#!/bin/sh
for x; do
  case $x in *.c) sed -i 's/^\( *\)\(S\[[^]]*\] = \)/\1\2EIN_FAULT + /' "$x" ;; esac
done
exec ${CC:-cc} -DEIN_FAULT=0.01f "$@"
END
chmod +x faulty.sh
want 1 "$EIN" verify mm.ein -n 4 --cc=./faulty.sh $O
shows 'WRONG at 8 of 8: S[0] is'

# Failures are the same in both.
cat >index.ein <<'END'
input A[i:8] : f32 = i
input p[i:8] : i64 = i * 2
output C[i] = A[p[i]]
END
want 0 "$EIN" verify index.ein -n 2 $O
shows 'both fail: site 1: index 1 of A, read for C: 8 is out of range'
want 0 "$EIN" build index.ein -n 2 --stop=ia -o index.ia
want 0 "$EIN" verify index.ia $O 'p=[0,2,4,6,8,10,12,14]'
shows 'both fail: site 1: index 1 of A'
want 0 "$EIN" verify index.ein -n 2 $O p=3
shows '    C            f32  abs 0'

# Texts: relations that are placed, tasks and loops of several sites. Inputs get numbers, because a text has no defaults.
for text in ia task loop; do
  want 0 "$EIN" build mm.ein -n 4 --stop=$text -o mm.$text
  want 0 "$EIN" verify mm.$text $O
  shows '    above        i64  equal'
done
want 2 "$EIN" verify mm.ia -n 4
says 'itself says on how many sites it runs'
want 0 "$EIN" build mm.ein -n 4 --stop=tra -o mm.tra
want 2 "$EIN" verify mm.tra $O
says 'mm.tra does not say where its relations are'

# Tasks and loops of one site: their evaluator runs defaults too, and what was split for threads; sizes may come from inputs.
cat >one.ein <<'END'
dim N
input A[i:N, k:12] : i64 = i - 2 * k
input far : i64 = 149990
input X[z:150000] : i32 = (7 * z) % 1001
output B[i] = sum[k where k <= i] A[i,k]
output at = (argmin[z where z > far] X[z]) ?? -1
repeat t < 3 {
  state u[i:N] = B[i]
  next u[i] = u[i] + A[i,t]
}
output u
END
for text in task loop; do
  want 0 "$EIN" build one.ein --stop=$text -o one.$text
  want 0 "$EIN" verify one.$text $O -D N=9
  shows '    B            i64  equal'
  shows '    at           i64  equal'
  shows '    u            i64  equal'
  want 0 "$EIN" verify one.$text $O -D N=9 far=17
  shows '    at           i64  equal'
  want 0 "$EIN" run one.$text --target=eval -D N=2 X=ones
  shows 'at : i64 = 149991'
done
printf 'input X[i:8] : i64 = i\noutput Y[i] = X[i] + 1\n' >plus.ein
want 0 "$EIN" build plus.ein --stop=loop -o plus.loop
want 0 "$EIN" verify plus.loop $O
sed -i '/^kernel/,$s/ + 1)/ + 2)/' plus.loop # the tasks in it stay, and say what is right
want 1 "$EIN" verify plus.loop $O
shows 'WRONG'
want 2 "$EIN" verify mm.ein -n 0
finish
