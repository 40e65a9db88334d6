#!/bin/sh
# suite: ci
# Attention and its gradients store no matrix of queries by keys, however it is written: by softmax, by hand, by
# logsumexp, without a maximum, by sigmoids, by a map; with and without a mask; with the axes of scores in any order.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 1

spell() { # POINTS: programs NAME.ein for sums over these points
  p=$1
  printf 'O[h,s,e] = sum[%s] softmax[%s](Z[h,s,t]) * V[h,t,e]\n' "$p" "$p" >softmax
  printf 'm[h,s] = stop_gradient(max[%s] Z[h,s,t])\nP[h,s,t] = exp(Z[h,s,t] - m[h,s])\nd[h,s] = sum[%s] P[h,s,t]\n' "$p" "$p" >hand
  printf 'O[h,s,e] = sum[%s] P[h,s,t] / d[h,s] * V[h,t,e]\n' "$p" | cat hand - >inside
  printf 'O[h,s,e] = (sum[%s] P[h,s,t] * V[h,t,e]) / d[h,s]\n' "$p" | cat hand - >outside
  sed '/^m/d; s/ - m.h,s.//' outside >bare
  printf 'l[h,s] = logsumexp[%s] Z[h,s,t]\nO[h,s,e] = sum[%s] exp(Z[h,s,t] - l[h,s]) * V[h,t,e]\n' "$p" "$p" >lse
  printf 'O[h,s,e] = sum[%s] sigmoid(Z[h,s,t]) * V[h,t,e]\n' "$p" >sigmoid
  printf 'P[h,s,t] = sigmoid(Z[h,s,t])\nd[h,s] = sum[%s] P[h,s,t]\nO[h,s,e] = sum[%s] P[h,s,t] / d[h,s] * V[h,t,e]\n' "$p" "$p" >shares
  printf 'O[h,s,e] = sum[%s] relu(Z[h,s,t]) * V[h,t,e]\n' "$p" >relu
}

program() { # FILE
  cat - "$1" <<'END'
dim H = 8, S = 160, D = 8
input Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D], W[h:H,s:S,e:D] : f32
Z[h,s,t] = 0.25 * sum[d] Q[h,s,d] * K[h,t,d]
END
  cat <<'END'
loss = sum[h,s,e] O[h,s,e] * W[h,s,e]
output O
output dQ[h,s,d] = grad(loss, Q[h,s,d])
output dK[h,t,d] = grad(loss, K[h,t,d])
output dV[h,t,e] = grad(loss, V[h,t,e])
END
}

stores_none() { # WHAT: $one.ein
  want 0 "$EIN" build $one.ein --stop=task
  [ "$(grep -c '^buffer.* work .*160, .*160' out)" = 0 ] || wrong "$1 stores a matrix: $(cat out)"
}

for points in 't where t <= s' t; do
  spell "$points"
  for one in softmax inside outside bare lse sigmoid shares relu; do
    program $one >$one.ein
    stores_none "$one over $points"
    want 0 "$EIN" verify $one.ein
  done
done

# another order of all axes but those of inputs and outputs
spell 't where t <= s'
for order in s,t,h t,s,h t,h,s h,t,s s,h,t; do
  for one in softmax inside lse shares; do
    program $one | sed "s/\\([ZP]\\)\\[h,s,t\\]/\\1[$order]/g" >$one.ein
    stores_none "$one in the order $order"
  done
  want 0 "$EIN" verify inside.ein
done
finish
