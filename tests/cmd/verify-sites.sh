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
for text in task loop; do
  want 0 "$EIN" build mm.ein --stop=$text -o one.$text
  want 2 "$EIN" verify one.$text
  says "one.$text is past the graph, and for one site"
done
want 2 "$EIN" verify mm.ein -n 0
finish
