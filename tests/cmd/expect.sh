#!/bin/sh
# ein run --expect: what comments say about outputs, and what is said when they are wrong.
. "$(dirname "$0")/common"

cat >good.ein <<'END'
# run: -D N=4 X=iota
dim N
input X[i:N] : f32
# expect: Y = [0, 2,
#              4, 6]
output Y[i] = 2 * X[i]
# expect: S = 6
# expect: max(Y) = 6
# expect: mean(Y) ~ 3
# expect: T ~ [0, 0.333333, 0.666667, 1]
output S = sum[i] X[i]
output T[i] = X[i] / 3
# expect: Q[1,1] = 1
# expect: sum(Q) = 4
# expect: shape(Q) = [4, 4]
output Q[i:4,j:4] = if i == j then 1 else 0
# expect: B = [true, false, false, false]
output B[i] = X[i] < 1
# expect: W = [nan, inf]
output W[i:2] = if i == 0 then nan else inf
END
want 0 "$EIN" run --expect good.ein
silent
want 0 "$EIN" run --expect --roundtrip good.ein
want 1 "$EIN" run --expect good.ein -D N=3

try() { # TEXT-OF-EXPECTATION WHAT-IS-SAID
  printf 'output Z[i:2] : f32 = i + 0.5\n# expect: %s\n' "$1" >try.ein
  want 1 "$EIN" run --expect try.ein
  says "try.ein:2:"
  says "$2"
}
try 'Z = [0.5, 2.5]' 'Z[1] is 1.5, expected 2.5'
try 'Z = [1, 2]' 'and 1 more differ'
try 'Z ~ [0.5, 1.51]' 'Z[1] is 1.5'
try 'Z = [0.5]' 'shape'
try 'Z = [0.5, 1.5, 2.5]' 'shape'
try 'Z = [[0.5, 1.5]]' 'shape'
try 'Z = 3' 'shape'
try 'Z = [0.5, x]' 'no number'
try 'sum(Z) = 3' 'sum(Z) is 2.0'
try 'shape(Z) = [3]' '[2]'
try 'Z[2] = 1' 'no such element'
try 'Y = 3' 'no output'
try 'Z' 'missing'

want 2 "$EIN" run --expect mat.ein
says "no \`# expect:\` line"
printf 'input X[i:2] : f32 = 1\nassert (sum[i] X[i]) > 5, "too small"\noutput Y = X[0]\n# expect-error: too small\n' >fails.ein
want 0 "$EIN" run --expect fails.ein
silent
printf 'output Y = 1\n# expect-error: too small\n' >fails.ein
want 1 "$EIN" run --expect fails.ein
says "must fail"
printf 'assert false, "other"\noutput Y = 1\n# expect-error: too small\n' >fails.ein
want 1 "$EIN" run --expect fails.ein
says "does not say"

# What looks like an expectation and is none is said.
cat >nearly.ein <<'END'
output y = 3
# expect: y = 3
# expect y = 4
# Expected: sum(y) ~ 4
# expect little of y
END
want 0 "$EIN" run --expect nearly.ein
says "nearly.ein:3: warning: this comment is not read as an expectation: write \`# expect: y = 4\`"
says "nearly.ein:4: warning"
says "\`# expect: sum(y) ~ 4\`"
[ "$(wc -l <err)" -eq 2 ] || wrong "more is said than two warnings"

# Words of the command line stand over those of the comment, but not over each other.
printf '# run: -D N=2 X=iota\ndim N\ninput X[i:N] : i64\noutput S = sum[i] X[i]\n# expect: S = 3\n' >over.ein
want 0 "$EIN" run --expect over.ein -D N=3
want 2 "$EIN" run --expect over.ein -D N=3 -D N=4
says "N is given twice: -D N=3 and -D N=4"
want 2 "$EIN" run over.ein X=iota -D N=3 X=ones
says "X is given twice: X=iota and X=ones"
finish
