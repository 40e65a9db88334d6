#!/bin/sh
# ein plan of programs over relations: the TRA paper's tables; what --format=tra, ia and --derivation write; what is refused.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE

want 0 python3 "$root/tests/algebra/papers.py" "$EIN"
for n in 1 4 6; do
  for f in 01_matmul 02_attention 06_loops 10_convolution; do
    want 0 "$EIN" plan "$root/samples/$f.ein" -n $n --format=tra --roundtrip -o x.tra
    want 0 "$EIN" plan x.tra
    [ $n = 1 ] && continue
    want 0 "$EIN" plan "$root/samples/$f.ein" -n $n --format=ia --roundtrip -o x.ia
    want 0 "$EIN" plan x.ia
    want 0 "$EIN" plan "$root/samples/$f.ein" -n $n --derivation
    shows 'as in Table 1'
  done
done

# Each of these texts is run by the evaluator of its language, with the program's answers.
cat >whole.ein <<'END_OF_PROGRAM'
input X[i:10,j:6] : f64
input w[j:6] : f64
S[i] = sum[j] X[i,j] * w[j]
P[i] = S[i] - max[r] S[r]
repeat t < 3 { state a[i:10] = P[i]
  m = max[i] a[i]
  next a[i] = a[i] + 2 * a[(i + 1) % 10] }
output S, a
output best = argmax[i] (if i == 7 then 9 else P[i])
END_OF_PROGRAM
ins='X=randint:lo=-9:hi=9:seed=7 w=iota'
want 0 "$EIN" run whole.ein $ins -o all=whole/
for n in 1 2 3 4 6; do
  for text in tra ia task; do
    want 0 "$EIN" plan whole.ein -n $n --format=$text -o x.$text
    want 0 "$EIN" check x.$text
    to=
    [ $text = task ] && [ $n = 1 ] && to=--flags=-O0
    want 0 "$EIN" run x.$text $ins $to -o all=text/
    for out in whole/*; do
      cmp -s "$out" "text/${out#whole/}" || wrong "x.$text of $n sites has another ${out#whole/}"
    done
  done
done
want 2 "$EIN" run x.ia w=iota
says "input X is not given"
want 0 "$EIN" run x.ia $ins --target=c --flags=-O0 -o all=text/
for out in whole/*; do
  cmp -s "$out" "text/${out#whole/}" || wrong "x.ia as C has another ${out#whole/}"
done
want 0 "$EIN" plan whole.ein -n 6 -o x.plan
want 0 "$EIN" run whole.ein $ins --plan=x.plan --target=c --flags=-O0 -o all=text/ --roundtrip
for out in whole/*; do
  cmp -s "$out" "text/${out#whole/}" || wrong "whole.ein by x.plan has another ${out#whole/}"
done
want 2 "$EIN" run whole.ein $ins -n 4 --plan=x.plan
says "is a plan for 6 sites"
want 2 "$EIN" run x.ia $ins -n 4
says "itself says on how many sites it runs"
want 2 "$EIN" run x.tra $ins --target=c
says "does not say where its relations are"
want 2 "$EIN" bench x.task
says "is for 6 sites"
printf 'input E[v:1000] : f64\ninput t[s:8] : i64\noutput A[s] = E[t[s]]\n' >data.ein
for target in c eval; do
  want 0 "$EIN" run data.ein -n 4 E=iota t=iota --target=$target
  shows "5.0"
done

# Parts of argmax: NaN before all numbers, of equals the first, whatever is cut.
cat >arg.ein <<'END_OF_PROGRAM'
input x[i:13,j:9] : f32
input y[i:13] : i64
output k[i] = argmax[j] x[i,j]
output l[j] = argmin[i] x[i,j]
output most = argmax[i] y[i]
output least = argmin[i] (if y[i] == 3 then 1.0 / 0.0 - 1.0 / 0.0 else f64(y[i]))
output pair = argmax[(i j)] x[i,j]
END_OF_PROGRAM
for n in 2 3 4 6 9; do
  args="x=randint:lo=-4:hi=4:seed=$n y=randint:lo=-9:hi=9:seed=$n"
  want 0 "$EIN" run arg.ein $args
  cp out want.txt
  for costs in bytes eindecomp; do
    want 0 "$EIN" run arg.ein $args -n $n --costs=$costs --target=c --flags=-O0
    cmp -s out want.txt || wrong "argmax on $n sites by $costs is another"
  done
done
printf 'input x[i:8] : f64\ninput k[i:8] : i64\nassert x[7] > 3\noutput y[i] = x[i] + x[k[i]]\n' >fails.ein
want 1 "$EIN" run fails.ein -n 4 x=ones k=iota --target=c --flags=-O0
says "fails.ein"
printf 'input x[i:8] : f64\nm[i] = x[i] * 2\nassert max[i] m[i] > 30\noutput y[i] = m[i] - sum[j] m[j]\n' >fails.ein
want 1 "$EIN" run fails.ein -n 4 x=iota --target=c --flags=-O0
says "max[i] m[i] > 30"
want 2 "$EIN" build x.task -o x
says "x.task is for 6 sites"
want 2 "$EIN" plan x.task
says "x.task is what each of 6 sites does"
want 2 "$EIN" build x.tra -o x
says "does not say where its relations are"
want 0 "$EIN" verify x.ia --flags=-O0
want 2 "$EIN" graph x.ia
says "past the graph"
want 0 "$EIN" build x.ia --stop=task -o again.task
want 0 "$EIN" run again.task $ins
want 0 "$EIN" build x.ia --stop=ia -o again.ia
cmp -s x.ia again.ia || wrong "what is read of x.ia is not what is printed"
want 0 "$EIN" check x.plan
want 2 "$EIN" run x.plan
says "ein plan x.ein --plan=x.plan"
printf 'plan 2\n' >bad.plan
want 1 "$EIN" check bad.plan

# Places that are asked for are told with the rule.
printf 'input E[v:100000, d:4] : f32\ninput t[s:32] : i64\noutput A[s,d] = E[t[s], d]\n' >asked.ein
want 0 "$EIN" plan asked.ein -n 4 --derivation
shows 'gather by request'

# The rules lead to the plan, and then as much is received as the plan says.
for n in 2 4; do
  want 0 "$EIN" plan "$root/samples/02_attention.ein" -n $n --derivation
  grep -q 'do not lead' out && wrong "attention on $n sites is not derived: $(cat out)"
  tail -n 1 out | grep -o '[0-9.]* [kM]*B$' >derived
  want 0 "$EIN" plan "$root/samples/02_attention.ein" -n $n
  grep -q "received  *$(cat derived) in all" out || wrong "the derivation ends with $(cat derived) received: $(cat out)"
done
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 4 --format=json
python3 -c 'import json; print(json.load(open("out"))["bytes"])' >bytes
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 4 --format=ia -o x.ia
want 0 "$EIN" plan x.ia --format=json
python3 -c 'import json; print(json.load(open("out"))["bytes"])' | cmp - bytes || wrong "the relations move what the plan does not"

printf 'ia 1\nmesh 2\ninput %%0 A {i:2} [8/i] : f32 at 0\nbroadcast %%1 A {i:2} [8/i] : f32 at 0 of %%0\noutput A [8] = %%1\n' >bad.ia
want 1 "$EIN" plan bad.ia
says "this is a shuffle"
printf 'tra 2\n' >bad.tra
want 1 "$EIN" plan bad.tra
says "bad.tra:1"
printf 'ia 1\nmesh 2\ninput %%0 A {i:2} [8/i] : f32 at 0\noutput A [9] = %%0\n' >bad.ia
want 1 "$EIN" plan bad.ia
says "bad.ia:4:1"
want 4 "$EIN" plan none.ia
want 0 "$EIN" plan x.ia --roundtrip
for words in --pin=A:i=2 --plan=x.plan --machine=m.json --costs=bytes --memory=1GB --planner=sqrt --against=sqrt --derivation --threads=2; do
  want 2 "$EIN" plan x.ia "$words"
  says "${words%%=*} is for programs, not for x.ia"
done
want 2 "$EIN" plan "$root/samples/02_attention.ein" --format=tra
want 2 "$EIN" plan x.ia -n 4

# By the EinDecomp paper's cost: on a mesh of prime factors, and what moves there is what the plan says.
for n in 6 16 210 65536; do
  want 0 "$EIN" plan "$root/samples/01_matmul.ein" -n $n --costs=eindecomp --format=json
  sed -n 's/^  "bytes": //p' out | tr -d , >bytes
  want 0 "$EIN" plan "$root/samples/01_matmul.ein" -n $n --costs=eindecomp --format=ia --roundtrip -o x.ia
  want 0 "$EIN" plan x.ia --format=json
  sed -n 's/^  "bytes": //p' out | tr -d , | cmp - bytes || wrong "on $n sites the relations move what the plan does not"
done
[ "$(sed -n 2p x.ia)" = "mesh 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2" ] || wrong "the mesh of 65536 sites is $(sed -n 2p x.ia)"
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 4 --costs=eindecomp --format=task --roundtrip
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 4 --costs=eindecomp --derivation
shows 'as in Table 1'

# Blocks of every element type, drawn numbers and comparisons: relations give what the program gives.
cat >types.ein <<'EIN'
input A[i:8,k:6] : i8
input B[k:6,j:8] : u8
input C[i:8,j:8] : bf16
input D[i:8,j:8] : f16
Q[i,j:8] = sum[k] i32(A[i,k]) * i32(B[k,j])
output R[j] = max[i] C[i,j]
output S[i,j] = C[i,j] + bf16(Q[i,j])
output U[i] = sum[j] D[i,j]
output V[i] = uniform[i](7) + f32(Q[i,0])
output M[i:8] = max[j] B[0,j] + u8(i)
output N[j:8] = min[i] A[i,0] * i8(j)
output K[i] = argmax[j] C[i,j]
output L[i] = permutation[i:8](3)
output O[i,j] = C[i,j] != D[i,j] or f32(C[i,j]) <= f32(D[i,j])
EIN
want 0 "$EIN" plan types.ein -n 4 --format=ia --roundtrip -o types.ia
want 0 "$EIN" run types.ein A=iota B=iota C=iota D=iota
grep -v : out >program
want 0 "$EIN" run types.ia A=iota B=iota C=iota D=iota
grep -v : out | cmp - program || wrong "relations give other values"
finish
