#!/bin/sh
# suite: ci
# ein verify tells of a def whose stated adjoint is another than its body's, and fails for none.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

echo 'def twice(x) = 2 * x
  adjoint(dy) = 2 * dy
def square(x) = x * x adjoint(dy) = 3 * x * dy
param w[i:3] : f64 = i + 1
output g[i] = grad(sum[i] square(twice(w[i])), w[i])' >wrong.ein
want 0 "$EIN" verify wrong.ein --flags=-O0
shows "twice        the same"
shows "square       ANOTHER: g[0] is 12.0, by the body 8.0 (wrong.ein:3)"

# Without a gradient nothing of it gets into the graph.
sed 's/grad(sum\[i\] \(.*\), w.*/\1/' wrong.ein >none.ein
sed 's/ *adjoint(.*//' none.ein >body.ein
"$EIN" build none.ein --stop=graph | sed 's/@.*//' >with
"$EIN" build body.ein --stop=graph | sed 's/@.*//' >without
cmp -s with without || wrong "a stated adjoint changes a graph without gradients"

# What only such an adjoint names is used: a param, a size, an equation. What shares a name with a parameter is not.
cat >named.ein <<'END'
param h : f64 = 5
dim N = 3
t = N + 1
def f(x, s) {
  y = exp(x)
  y
} adjoint(dy) {
  k = dy * h
  (k * t * s, 0)
}
input x[n:3] : f64 = n
s = 2
output y[n] = f(x[n], 1)
END
want 0 "$EIN" check named.ein
says "s is never used"
[ "$(grep -c 'W001' err)" = 1 ] || wrong "more is unused than s: $(grep W001 err)"

# In the prompt, and over a module.
echo 'def f(x) = x * x adjoint(dy) = 5 * dy' >m.ein
printf 'use "m.ein"\nparam w : f64 = 3\noutput g = grad(f(w), w)\n# expect: g = 5\n' >user.ein
want 0 "$EIN" run user.ein --expect --target=eval
printf 'def h(x) = x * x adjoint(dy) = 6 * dy\nz = 3.0\ny = h(z)\ngrad(y, z)\n' | "$EIN" repl - >out 2>err
shows "6.0"
finish
