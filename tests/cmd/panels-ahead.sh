#!/bin/sh
# suite: ci
# What is fetched ahead: rows of a panel that lie far apart, lanes' lines of it, and what tiles read at the next point of a label around
# them all.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

cat >rows.ein <<'END'
input X[i:520, k:1100] : f32
input Y[k:1100, j:300] : f32
output Z[i,j] = sum[k] X[i,k] * Y[k,j]
END
cat >lanes.ein <<'END'
input X[i:100, k:2800] : f32
input Y[k:2800, j:96] : f32
output Z[i,j] = sum[k] X[i,k] * Y[k,j]
END
cat >around.ein <<'END'
input X[b:270, i:17, k:63] : f32
input Y[b:270, k:63, j:17] : f32
output Z[b,i,j] = sum[k] X[b,i,k] * Y[b,k,j]
END

for p in rows lanes around; do
  want 0 "$EIN" build $p.ein --stop=loop
  case $p in
    rows) shows "fetch X[min((" ;; # too long for eval
    lanes) shows "fetch Y[min((" ;;
    around)
      shows "fetch X[min((b + 1), 269), "
      shows "fetch Y[min((b + 1), 269), " ;;
  esac
  [ $p = rows ] || want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
done
finish
