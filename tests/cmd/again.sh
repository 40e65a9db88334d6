#!/bin/sh
# suite: ci
# Large values are not stored for their readers if these can make them again from little, row by row (task/passes/again.c), or can join the kernel that has
# them: attention's softmax and its gradient.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 2

program() { # HEADS LINE...: attention of 160 places, its gradients, and more lines
  printf 'use attention\ndim H = %s, S = 160, D = 8\ninput Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D], W[h:H,s:S,e:D] : f32\n' "$1"
  cat <<'END'
Y[h,s,e] = causal[s,t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 0.25)
loss = sum[h,s,e] Y[h,s,e] * W[h,s,e]
output Y
output dQ[h,s,d] = grad(loss, Q[h,s,d])
output dK[h,t,d] = grad(loss, K[h,t,d])
output dV[h,t,e] = grad(loss, V[h,t,e])
END
  shift
  [ $# = 0 ] || printf '%s\n' "$@"
}

tasks() { # KERNELS STORED FILE WORD...: so many kernels, and values of 160 x 160 in memory
  kernels=$1 stored=$2
  shift 2
  want 0 "$EIN" build "$@" --stop=task
  [ "$(grep -c '^kernel' out)" = "$kernels" ] || wrong "wanted $kernels kernels: $(cat out): $line"
  [ "$(grep -c '^buffer.* work .*160, 160\]' out)" = "$stored" ] || wrong "wanted $stored stored: $(cat out): $line"
}

# Few heads: a kernel for the queries' gradient and one for that of keys and values, each with scores of its own. Many heads: one kernel has all of a head's.
# A device never keeps a head's.
program 2 >few.ein
program 8 >many.ein
tasks 3 0 few.ein
tasks 2 0 many.ein
tasks 3 0 many.ein --target=cuda
want 0 "$EIN" build few.ein --stop=task --roundtrip
want 0 "$EIN" verify few.ein
want 0 "$EIN" verify many.ein

# The bits are the same for any number of threads.
for n in 1 2 3; do
  want 0 "$EIN" run many.ein --target=c --threads $n Q=randn:seed=1 K=randn:seed=2 V=randn:seed=3 W=randn:seed=4 -o all=t$n.safetensors
done
cmp -s t1.safetensors t2.safetensors && cmp -s t1.safetensors t3.safetensors || wrong "other bits on other threads"

# A value stays where somebody else wants it, where a row is short, or where it is no larger than what it is made of.
program 8 'output Z[h,s,e] = sum[t] (sum[u] V[h,u,e] * exp(sum[d] Q[h,t,d] * K[h,u,d])) * softmax[t](sum[d] Q[h,s,d] * K[h,t,d])' >more.ein
want 0 "$EIN" verify more.ein
sed 's/S = 160/S = 40/' many.ein >short.ein
want 0 "$EIN" verify short.ein
sed 's/D = 8/D = 160/' few.ein >wide.ein
tasks 4 2 wide.ein
want 0 "$EIN" verify wide.ein

# In a repeat, and of several sites.
cat >steps.ein <<'END'
use attention
dim H = 8, S = 160, D = 8
input Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D] : f32
repeat n < 3 {
  state q[h,s,d] = Q[h,s,d]
  state k[h,t,d] = K[h,t,d]
  loss = sum[h,s,e] causal[s,t,d](q[h,s,d], k[h,t,d], V[h,t,e], 0.25)^2
  next q[h,s,d] = q[h,s,d] - 0.01 * grad(loss, q[h,s,d])
  next k[h,t,d] = k[h,t,d] - 0.01 * grad(loss, k[h,t,d])
}
output q
output k
END
want 0 "$EIN" verify steps.ein
want 0 "$EIN" build steps.ein --stop=task
[ "$(grep -c '^buffer.* work .*160, 160\]' out)" = 0 ] || wrong "stored in a repeat: $(cat out)"
want 0 "$EIN" run many.ein -n 2 --target=c Q=randn:seed=1 K=randn:seed=2 V=randn:seed=3 W=randn:seed=4 -o all=n2.safetensors
finish
