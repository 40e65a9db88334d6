#!/bin/sh
# suite: ci
# ein verify: agreement, disagreement, and failures that must be the same.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
O=--flags=-O0

want 0 "$EIN" verify sum.ein -D N=5 X=iota $O
shows "abs 0"
want 0 "$EIN" verify sum.ein -D N=5 $O
want 2 "$EIN" verify sum.ein $O
want 0 "$EIN" verify mat.ein $O --flags=-O2 --threads 2
[ "$(grep -c 'cc -O' out)" = 2 ] || wrong "two sets of flags are two runs"
second=
for c in clang clang-19 gcc; do command -v $c >/dev/null && second=$c; done
[ -z "$second" ] || want 0 "$EIN" verify mat.ein $O --cc="cc, $second"
want 4 "$EIN" verify mat.ein $O --cc=no-such-compiler
want 2 "$EIN" verify

# Numbers that any other order of adding changes: a bound of 0 is too strict, one of 1 is not.
echo 'input X[i:1000] : f32
output S = sum[i] X[i] * X[i] / 3
# verify: 1
# run: X=randn:seed=3' >near.ein
want 0 "$EIN" verify near.ein $O
# An f64 that comes from an f32 is as good as an f32.
echo 'input X[i:100000] : f32
S = sum[i] X[i] * X[i] / 3
output A = f64(S) / 7
repeat t < 3 {
  state w = 1.0
  next w = w + f64(S)
}
output w
# run: X=randn:seed=3' >wide.ein
want 0 "$EIN" verify wide.ein --flags=-O2
echo '# verify: often' >>near.ein
want 1 "$EIN" verify near.ein $O
says "near.ein:5"

echo 'input P[i:3] : i64 = i + 2
input X[i:3] : f32 = i
output Y[i] = X[P[i]]
# expect-error: out of range' >gather.ein
want 0 "$EIN" verify gather.ein $O
shows "both fail"
want 0 "$EIN" verify gather.ein P=iota $O
echo 'input X[i:3] : f32 = i
assert all[i] (X[i] < 2), "small"
output Y[i] = X[i]' >claim.ein
want 0 "$EIN" verify claim.ein $O
shows "both fail"
echo 'output' >broken.ein
want 1 "$EIN" verify broken.ein $O
says "the file ends behind this"

# Arithmetic that is wrong is found out: the runtime's own, with one number of its generator spoiled.
cat >spoils.sh <<'END'
#!/bin/sh
for word; do [ ! -e "${word%/*.c}/ein_run.h" ] || sed -i 's/0xD2511F53u/0xD2511F55u/' "${word%/*}/ein_run.h"; done
exec ${CC:-cc} "$@"
END
chmod +x spoils.sh
echo 'output U[i:9] = uniform[i](7)' >random.ein
want 0 "$EIN" verify random.ein $O
want 1 "$EIN" verify random.ein --cc=./spoils.sh "$O -DEIN_SPOILED"
shows "WRONG at 9 of 9: U[0]"
shows "the bound is 0.0001 of the largest magnitude"
# Names of any width stand in one column.
echo 'input X[i:3] : f32 = i
output 出力[i] = X[i]
output αβγ[i] = 2 * X[i]
output a_name_that_is_long[i] = 3 * X[i]' >names.ein
want 0 "$EIN" verify names.ein
shows '    出力                f32  abs 0'
shows '    αβγ                 f32  abs 0'
shows '    a_name_that_is_long f32  abs 0'
# What is left where large things cancel is as good as its operands, not as its own size says; so in loops.
cat >residual.ein <<'END'
input M[i:60,j:60], rhs[i:60] : f64
A[i,j] = (sum[k] M[i,k] * M[j,k]) / 60 + if i == j then 1.0 else 0.0
repeat t < 100 until rr < 1e-26 {
  state x[i:60] : f64 = 0
  state r[i:60] : f64 = rhs[i]
  state p[i:60] : f64 = rhs[i]
  rr = sum[i] r[i] * r[i]
  q[i] = sum[j] A[i,j] * p[j]
  alpha = rr / sum[i] p[i] * q[i]
  s[i] = r[i] - alpha * q[i]
  beta = (sum[i] s[i] * s[i]) / rr
  next x[i] = x[i] + alpha * p[i]
  next r[i] = s[i]
  next p[i] = s[i] + beta * p[i]
}
output res[i] = rhs[i] - (sum[j] A[i,j] * x[j])
output norm = sqrt(sum[i] res[i] * res[i])
output left = sqrt(sum[i] r[i] * r[i])
END
want 0 "$EIN" verify residual.ein --flags=-O2
# What labels, sines and sizes went into is as good as these are.
cat >there_and_back.ein <<'END'
dim N = 200
x[n:N] : f64 = sin(2 * pi * 5 * n / N) + 0.5 * cos(2 * pi * 20 * n / N)
re[k:N] = sum[n] x[n] * cos(2 * pi * k * n / N)
im[k:N] = -(sum[n] x[n] * sin(2 * pi * k * n / N))
output off = max[n] abs(x[n] - (sum[k] (re[k] * cos(2 * pi * k * n / N) - im[k] * sin(2 * pi * k * n / N))) / N)
output wrong = max[n] abs(x[n] - (sum[k] (re[k] * cos(2 * pi * k * n / N) + im[k] * sin(2 * pi * k * n / N))) / N)
END
want 0 "$EIN" verify there_and_back.ein --flags=-O2
# A bound that the program says is the bound.
{ cat residual.ein; echo "# verify: 1e-12"; } >bounded.ein
want 1 "$EIN" verify bounded.ein --flags=-O2
shows "WRONG"
# A factor that is taken out of a sum: right by one order of the two, which is said.
cat >order.ein <<'END'
input X[i:2] : f32 = 1e-30
input B[l:4] : f32 = 3e38
output Y[i] = sum[l] X[i] * B[l]
END
want 0 "$EIN" verify order.ein --flags=-O1
shows "2 of 2 over- or underflow in one order of the sum, and not in the other"

# What depends on how it is rounded is not judged; everything else is, whatever stands beside it.
cat >faulty.sh <<'END'
#!/bin/sh
for word; do case $word in *.c) sed -i "$FAULT" "$word" ;; esac; done
exec ${CC:-cc} "$@"
END
chmod +x faulty.sh
cat >unstable.ein <<'END'
input x[i:64], y[i:64] : f32
input w[i:4] : f32 = i
output d = 1 / ((sum[i] x[i]) - (sum[i] x[i] * 1.1) + (sum[i] x[i] / 10))
output k[i] = argmax[j] (x[i] * y[j] + x[i] * (1 - y[j]))
output m[i] = argmax[j] (y[j] * x[i])
output s[i] = 3 * y[i] / 7
output n = 1 / (sum[i] w[i] - 6)
# run: x=uniform:seed=1 y=uniform:seed=2
END
cat >elimination.ein <<'END'
input A[i:20,j:20] : f32
repeat t < 20 {
  state M[i:20,j:20] = A[i,j]
  next M[i,j] = if i > t then M[i,j] - M[i,t] / M[t,t] * M[t,j] else M[i,j]
}
output M
END
want 0 "$EIN" verify unstable.ein --flags=-O1
shows "not judged at 1 of 1: d is"
grep -q "not judged at [0-9]* of 64: k" out || wrong "near equals are judged"
[ "$(grep -c 'not judged' out)" = 2 ] || wrong "others are not judged either"
want 0 "$EIN" verify elimination.ein --flags=-O1
faulty() { # FILE FAULT NAME
  FAULT=$2 want 1 "$EIN" verify "$1" --cc=./faulty.sh "--flags=-O1 -DFAULT_$3"
  grep -q "WRONG at [0-9]* of [0-9]*: $3" out || wrong "$3 passes, with a fault"
}
faulty unstable.ein 's|) / 7.0f|) / 7.002f|' s
faulty unstable.ein 's/!(v <= v_2)/!(v >= v_2)/' m
faulty elimination.ein 's|-(v_2 / v_3)|-(1.001f * v_2 / v_3)|' M

# Conditions of labels alone, which a merged label would decide.
want 0 "$EIN" verify "$here/../run/or_else_stencil.ein" --flags=-O0
finish
