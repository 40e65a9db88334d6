#!/bin/sh
# suite: ci
# Memory accesses of kernels, counted by the emulation (tests/cuda/counts.h): tiles, rows, chains, scans, maps, what predicates admit. At least 90 % of the bytes in the 32-byte
# sectors moved are used, at most 5 % of the cycles of shared memory are conflicts, and at most 1.2 times the schedule's prediction is moved.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 2
command -v g++ >/dev/null || { echo 'skipped: there is no g++'; exit 77; }
XDG_CACHE_HOME=$work/cache
EIN_EMULATE_COUNTS=$work/counts
export XDG_CACHE_HOME EIN_EMULATE_COUNTS

looked=0
counted() { # PROGRAM [-O1]
  rm -f counts
  skipped=1
  mine $((looked += 1)) 2 || return
  skipped=
  want 0 "$EIN" verify --target=cuda --cc="$root/tests/cuda/cc" --flags="${2:--O0} -DEIN_EMULATE_COUNTED" "$1"
}
moves() { # KERNEL BYTES WANTED CONFLICTS: moved are at most so many; percent, at least and at most
  [ -z "$skipped" ] || return
  awk -v kernel="program_k_$1:" -v bytes="$2" -v wanted="${3:-90}" -v conflicts="${4:-5}" '
    $1 == kernel { found = 1; bad = $7 > bytes || $9 + 0 < wanted || $14 + 0 > conflicts; print }
    END { exit !found || bad }' counts >told || wrong "$1: expected $2 bytes, ${3:-90} %, ${4:-5} %: $(cat told)"
  [ -z "$EIN_TELL" ] || cat told
}

# Tiles: each side is read once for each 64 points of the other's label; in f64 too, and with integers; a side that lies along the sum, and one across it.
cat >tiles.ein <<'END'
input A[i:128, k:96], B[k:96, j:192], C[j:192, k:96] : f32
input D[i:64, k:40], E[j:64, k:40] : f64
output across[i,j] = sum[k] A[i,k] * B[k,j]
output along[i,j] = sum[k] A[i,k] * C[j,k]
output wide[i,j] = sum[k] D[i,k] * E[j,k]
output best[i,j] = min[k] (D[i,k] + E[j,k])
END
counted tiles.ein
product=$((4 * (3 * 128 * 96 + 2 * 96 * 192 + 128 * 192) * 12 / 10))
moves across $product
moves along $product
moves wide $((8 * (2 * 64 * 40 + 64 * 64) * 12 / 10))
moves best $((8 * (2 * 64 * 40 + 64 * 64) * 12 / 10))

# Products by matrix units, whose sides are copied to shared memory in the background.
cat >units.ein <<'END'
input A[i:128, k:96], B[k:96, j:128], C[j:128, k:96] : bf16
output units[i,j] = sum[k] f32(A[i,k]) * f32(B[k,j])
output units_2[i,j] = sum[k] f32(A[i,k]) * f32(C[j,k])
END
counted units.ein
moves units $(((2 * 2 * 2 * 128 * 96 + 4 * 128 * 128) * 12 / 10))
moves units_2 $(((2 * 2 * 2 * 128 * 96 + 4 * 128 * 128) * 12 / 10))

# The largest tiles, whose sides take more shared memory than a block has unasked.
cat >large.ein <<'END'
input A[r:120, i:66, k:48], B[r:120, k:48, j:72] : bf16
output large[r,i,j] = sum[k] f32(A[r,i,k]) * f32(B[r,k,j])
END
counted large.ein -O1
moves large $((120 * (2 * 48 * (66 + 72) + 4 * 66 * 72) * 12 / 10))

# Rows: each tensor is read or written once.
cat >rows.ein <<'END'
input X[n:64, k:512] : f32
input Z[n:64, k:96] : f64
input g[k:96], b[k:96] : f64
output soft[n,k] = softmax[k](X[n,k])
output norm[n,k] = layernorm[k](Z[n,k], g[k], b[k], 0.001)
output size[n] = logsumexp[k](X[n,k])
output total[n] = sum[k] X[n,k]
output best[n] = argmax[k] X[n,k]
END
counted rows.ein
moves soft $((4 * 2 * 64 * 512 * 12 / 10))
moves norm $((8 * (2 * 64 * 96 + 2 * 64 * 96) * 12 / 10))
moves size $((4 * (64 * 512 + 8 * 64) * 12 / 10)) 90
moves total $((4 * (64 * 512 + 8 * 64) * 12 / 10)) 90
moves best $((4 * (64 * 512 + 8 * 64) * 12 / 10)) 90

# Short rows: a warp has several, one behind the other; what they become is written in the same launch.
cat >short.ein <<'END'
input X[n:96, k:12], Y[n:70, k:10], g[k:12] : f32
input Z[b:6, n:32, k:24] : f64
output brief[n,k] = softmax[k](X[n,k])
output tens[n,k] = softmax[k](Y[n,k])
output scaled[n,k] = layernorm[k](X[n,k], g[k], g[k], 0.001)
output boxes[b,n,k] = Z[b,n,k] - max[k](Z[b,n,k])
END
counted short.ein
moves brief $((4 * 2 * 96 * 12 * 12 / 10))
moves tens $((4 * 2 * 70 * 10 * 12 / 10)) 83
moves scaled $((4 * (2 * 96 * 12 + 2 * 96 * 12) * 12 / 10))
moves boxes $((8 * 2 * 6 * 32 * 24 * 12 / 10))

# Rows of a product's result that are no whole groups of 16 bytes are written in pairs, not in gaps; rows that are no whole sectors cost a part of one.
cat >pairs.ein <<'END'
input A[i:64, k:96], B[k:96, j:70] : f32
input D[i:64, k:96], E[k:96, j:30] : f32
output pairs[i,j] = sum[k] A[i,k] * B[k,j]
output single[i,j] = sum[k] D[i,k] * E[k,j]
END
counted pairs.ein
moves pairs $((4 * (2 * 64 * 96 + 96 * 70 + 64 * 70) * 12 / 10)) 83
moves single $((4 * (64 * 96 + 96 * 30 + 64 * 30) * 12 / 10)) 83

# Rows of a product that are summed up and multiplied on: of 64 rows each has all that it sees read once, and what is along them is not in memory.
cat >chains.ein <<'END'
input Q[s:128, d:32], K[t:128, d:32], V[t:128, e:32] : f32
output full[s,e] = sum[t] softmax[t](sum[d] Q[s,d] * K[t,d]) * V[t,e]
output past[s,e] = sum[t where t <= s] softmax[t where t <= s](sum[d] V[s,d] * Q[t,d]) * K[t,e]
END
counted chains.ein
moves full $((4 * 32 * (128 + 2 * 2 * 128 + 128) * 12 / 10))
moves past $((4 * 32 * (128 + 2 * (64 + 128) + 128) * 12 / 10))

# The same of halves: 128 rows each. A thread has two neighbours of its rows and of its results, so a device's cache has the other half of what they move.
cat >halves.ein <<'END'
input Q[s:128, d:64], K[t:768, d:64], V[t:768, e:64] : bf16
output half[s,e] = sum[t] softmax[t](sum[d] Q[s,d] * K[t,d]) * V[t,e]
END
counted halves.ein
moves half $((2 * 64 * (3 * 768 + 2 * 2 * 128) * 12 / 10))

# Running sums: each point is read once and written once, along rows from either end, and across them; read twice where few are cut into parts.
cat >scans.ein <<'END'
input X[n:140, k:704] : f32
input Z[k:80, n:4224] : f64
input L[k:20480] : i32
output up[n,j:704] = sum[k where k <= j] X[n,k]
output down[n,j:704] = max[k where k > j] X[n,k]
output across[j:80,n] = sum[k where k < j] Z[k,n]
output cut[j:20480] = max[k where k <= j] L[k]
END
counted scans.ein
moves up $((4 * 2 * 140 * 704 * 12 / 10))
moves down $((4 * 2 * 140 * 704 * 12 / 10))
moves across $((8 * 2 * 80 * 4224 * 12 / 10))
moves cut $((4 * 20480 * 12 / 10))
moves cut_3 $((4 * 2 * 20480 * 12 / 10))

# Maps of what lies across their result; halves, of which a thread has eight; rows by number.
cat >transposed.ein <<'END'
input X[i:96, j:128] : f32
input Z[i:64, j:160] : f64
input H[i:128, j:128], K[j:128, i:128] : bf16
input at[i:96] : i64 = 0
output transposed[j,i] = X[i,j] + 1
output doubles[j,i] = Z[i,j]
output halves[j,i] = H[i,j] * K[j,i]
output both[i,j] = H[i,j] * H[i,j] + 1
output rows[i,j] = X[at[i],j]
END
counted transposed.ein
moves transposed $((4 * 2 * 96 * 128 * 12 / 10))
moves doubles $((8 * 2 * 64 * 160 * 12 / 10))
moves halves $((2 * 3 * 128 * 128 * 12 / 10))
moves both $((2 * 2 * 128 * 128 * 12 / 10))
moves rows $((4 * 2 * 96 * 128 * 12 / 10))

# Points that choose an output are read once, and each part's result is written once.
cat >bins.ein <<'END'
input B[i:8192] : i64
input L[i:4096] : i64
input X[i:8192] : f32
input F[j:4096, d:64] : f32
output bins[b:256] = sum[i where B[i] == b] X[i]
output segments[s:100, d] = sum[j where L[j] == s] F[j,d]
END
counted bins.ein
moves bins $(((12 * 8192 + 4 * 256 * 2) * 12 / 10))
moves segments $(((4 * 4096 * 64 + 2 * 32 * 4096 + 4 * 100 * 64 * 11) * 12 / 10)) 85

# The same with more outputs than a block has room for, or few points: what they choose comes once for each block.
cat >seek.ein <<'END'
input A[i:300] : i64 = (i * 37) % 200
input B[i:500] : i64 = (i * i) % 5000
input F[i:300, d:100] : f32
input G[i:500, d:32] : f64
output seek[s:200, d] = sum[i where A[i] == s] F[i,d]
output most[s:5000, d] = max[i where B[i] == s] G[i,d]
output places[s:200] = sum[i where A[i] == s] F[i,0]
END
counted seek.ein
moves seek $(((8 * 20 * 300 + 4 * 300 * 100 + 4 * 200 * 100) * 12 / 10))
moves most $(((8 * 313 * 500 + 8 * 500 * 32 + 8 * 5000 * 32) * 12 / 10))
moves places $(((8 * 300 + 32 * 300 + 4 * 200) * 12 / 10)) 25

# Points that predicates leave out are not read: bands around labels and data, remainders, rings; all of them are 1 MB.
cat >narrow.ein <<'END'
input y[t:512], z[t:512] : f32
input k[s:512] : i64 = (7 * s) % 512
input m[s:512] : i64 = s % 9
output band[s:512] = max[t where abs(t - s) <= 32] (y[t] + z[s])
output data[s:512] = max[t where abs(t - k[s]) <= 32] (y[t] * z[s])
output holes[s:512] = sum[t where (t - s) % 64 == 5] y[t]
output by_data[s:512] = sum[t where t % (50 + m[s]) == 5] y[t] * z[s]
output ring[s:512] = sum[t where (t - s) % 512 <= 32] y[t]
output either[s:512] = max[t where t == s or t == k[s]] y[t]
END
counted narrow.ein
for name in band data holes by_data ring either; do moves $name $((512 * 1200)) 1; done

# Maps; a sum across rows.
cat >maps.ein <<'END'
input X[n:64, k:96], V[n:64, k:96] : f32
output sum2[n,k] = X[n,k] * V[n,k] + 1
output column[k] = sum[n] X[n,k]
END
counted maps.ein
moves sum2 $((4 * 3 * 64 * 96 * 12 / 10))
moves column $((4 * 65 * 96 * 12 / 10))
finish
