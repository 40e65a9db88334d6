#!/bin/sh
# suite: ci
# Predicates bound loops and change no result: random ones, in C, in process and on three sites, and the evaluator. They
# must be told from each other: one that is off by one is noticed.
. "$(dirname "$0")/common"
turn 2
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/predicates.py" "$EIN" 0 3 || wrong "predicates differ"
python3 "$here/../random/predicates.py" "$EIN" 3 8 jit || wrong "predicates differ"

# A row that is kept ends where data say; at the largest number, one more is the smallest.
cat > last.ein <<'END'
dim N
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else s
input x[t:N] : i64 = (37 * t) % 23 - 5
def share[t](v) { m = max[t] v; e = m - v + 1; e * 2 - sum[t] e }
output o[s:N,t:N] = share[t where t <= k[s]](x[t]) ?? -1
output p[s:N,t:N] = share[t where t + 2 < k[s]](x[t]) ?? -1
output q[s:N,t:N] = share[t where k[s] - 2 <= t](x[t]) ?? -1
output r[s:N,t:N] = share[t where k[s] < 9 - t](x[t]) ?? -1
END
want 0 "$EIN" verify last.ein -D N=150
shows "q            i64  equal"
finish
