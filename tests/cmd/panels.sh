#!/bin/sh
# suite: ci
# Packed contractions of many short labels: parts of one on both sides, of which the last is shorter, while tiles of lanes go over it
# too; lanes read along another label, all of which is in a block; squares whose next lines are fetched, or the next block's; what a block
# has at the next point of a label around, fetched between points of one reduced label, or of two; panels that are filled ahead, of
# several blocks of all labels; parts of a label where panels of all of it would be large; sums that go in blocks of two labels, along one of which lanes lie, by squares that are fetched; and
# blocks of long sums, of which the next one is fetched. Results have more than twice as many elements as
# what they lie across; where they have fewer, they are transposed (tests/run/results_transposed.ein).
. "$(dirname "$0")/common"
turn 1
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

cat >parts.ein <<'END'
input X[n:12, j:30, m:13, i:28] : f32
input Y[m:13, k:11, n:12, l:24] : f32
output Z[l,k,j,i] = sum[m,n] X[n,j,m,i] * Y[m,k,n,l]
END
cat >triangle.ein <<'END'
input X[n:200, i:190], Z[n:200, j:210] : f32
output A[i,j] = sum[n where i <= j] X[n,i] * Z[n,j]
output B[j,i] = max[n where 3 * i > j] (X[n,i] - Z[n,j])
END
cat >few.ein <<'END'
input X[n:200, i:190], Z[n:200, j:210] : f32
output A[i,j] = sum[n where i <= j and j < i + 9] X[n,i] * Z[n,j]
END
cat >across.ein <<'END'
input X[a:60, k:52, b:3, c:41] : f32
input Y[j:120, k:52] : f32
output Z[c,j,b,a] = sum[k] X[a,k,b,c] * Y[j,k]
END
cat >transposed.ein <<'END'
input X[c:9, a:40, b:17, k:52] : f32
input Y[k:52, j:107] : f32
output Z[c,j,b,a] = sum[k] X[c,a,b,k] * Y[k,j]
END
cat >filled.ein <<'END'
input A[i:261, k:530] : f64
input B[j:259, k:530] : f64
output C[j,i] = sum[k] A[i,k] * B[j,k]
END
cat >small.json <<'END'
{"format": "ein machine 1", "name": "small", "site": {"level": "core"},
 "levels": [{"name": "core", "parts": 1, "memories": [{"name": "L1", "bytes": 4096}, {"name": "L2", "bytes": 65536}]}],
 "prices": {"worth_threads_operations": 1000}}
END

cat >next.ein <<'END'
input X[a:21, p:40] : f32
input Y[s:13, r:13, q:40, p:40] : f32
output Z[s,q,r,a] = sum[p] X[a,p] * Y[s,r,q,p]
END
cat >lines.ein <<'END'
input X[b:111, k:42, i:60] : f32
input Y[b:111, j:33, k:42] : f32
output Z[b,i,j] = sum[k] X[b,k,i] * Y[b,j,k]
END
cat >walked.ein <<'END'
input X[k:40, i:52, l:14, m:12] : f32
input Y[l:14, j:341, m:12] : f32
output Z[k,j,i] = sum[l,m] X[k,i,l,m] * Y[l,j,m]
END

cat >ahead.ein <<'END'
input X[d:14, a:28, b:19, k:20, c:21] : f32
input Y[k:20, j:44] : f32
output Z[c,d,b,j,a] = sum[k] X[d,a,b,k,c] * Y[k,j]
END

cat >both.ein <<'END'
input X[l:70, i:20, k:45] : f32
input Y[j:18, k:45, l:70] : f32
output Z[j,i] = sum[k,l] X[l,i,k] * Y[j,k,l]
END
cat >squares.ein <<'END'
input X[l:70, i:88, k:72] : f32
input Y[j:40, k:72, l:70] : f32
output Z[j,i] = sum[k,l] X[l,i,k] * Y[j,k,l]
END
cat >thin.ein <<'END'
input X[l:152, k:148, i:152] : f32
input Y[k:148, j:148, l:152] : f32
output Z[j,i] = sum[k,l] X[l,k,i] * Y[k,j,l]
END

cat >heads.ein <<'END'
input X[s:67, d:1021] : f32
input W[d:1021, h:11, r:2, p:37] : f32
output Z[s,r,p,h] = sum[d] X[s,d] * W[d,h,r,p]
END

# Blocks go along the lines of a result that both sides write in turn; a panel of rows whose tiles would lie 4096 bytes apart is
# longer by a line; few lanes stay whole, so that tiles go over two labels; rows that many blocks read again are copied.
cat >order.ein <<'END'
input X[c:9, a:20, k:7, e:20] : f32
input Y[b:11, e:20, j:30, i:8] : f32
output Z[k,j,i,c,b,a] = sum[e] X[c,a,k,e] * Y[b,e,j,i]
END
cat >padded.ein <<'END'
input Q[h:2, s:256, d:16], K[h:2, t:1024, d:16], V[h:2, t:1024, d:64] : f32
T[h,s,t] = softmax[t](sum[d] Q[h,s,d] * K[h,t,d])
output O[h,s,d] = sum[t] T[h,s,t] * V[h,t,d]
END
cat >near.ein <<'END'
input X[p:21, q:12, b:12, h:64, a:12, c:2], Y[d:16, e:2, h:64, q:12, p:21] : f32
output Z[e,d,c,a,b,h] = sum[p,q] X[p,q,b,h,a,c] * Y[d,e,h,q,p]
END
cat >whole.ein <<'END'
input X[n:28, j:28, m:28, i:28], Y[m:28, k:28, n:28, l:28] : f32
output Z[l,k,j,i] = sum[m,n] X[n,j,m,i] * Y[m,k,n,l]
END
cat >again.ein <<'END'
input X[j:44, n:44, m:44, i:44], Y[m:44, k:44, l:44, n:44] : f32
output Z[l,k,j,i] = sum[m,n] X[j,n,m,i] * Y[m,k,l,n]
END

for p in parts heads across transposed next lines walked ahead both squares order; do
  want 0 "$EIN" build $p.ein --stop=loop
  case $p in
    parts) shows "by 32 i and j in lanes; panels of 24 l 3 k by 28 i 8 j by"
           shows ", all filled ahead" ;;
    heads) shows "by 11 h 19 r_p by" ;;
    across) shows "by 32 a 41 c by 52 k" ;;
    next) shows "fetch Y[min((i + 1), 12), r, min((first + 1), 39), next" ;;
    order) shows "by 32 a by 20 e, all filled ahead"
           shows "by 24 a by 20 e, all filled ahead" ;;
    ahead) shows "fetch X[next_3, row, next_2, k, from" ;;
    lines) shows "for part < 3"
           shows "fetch X[min((b + 1), 110), next" ;;
    walked) shows "fetch X_2[min((i + 1), 39), min(first" ;;
    both) shows "by 23 k 24 l" ;;
    squares) shows "fetch X[min(((block_2 + l_12) + 2), 69), (i_3 + (l_11 + a)), (block + from)]"
             shows "min(((block + from) + 15), 71)]" ;;
    transposed) shows "fetch X[min((" ;;
  esac
  want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
done
for wide in 0 1; do want 0 "$EIN" verify order.ein --flags="-O1 -DEIN_ONE_VERSION -DEIN_WIDE=$wide"; done
want 0 "$EIN" build triangle.ein --stop=loop
[ "$(grep -c 'how "tiles of' out)" -eq 4 ] || wrong "results that a predicate leaves out keep products out of panels: $(cat out)"
want 0 "$EIN" verify triangle.ein --flags="-O1 -march=native"
want 0 "$EIN" build few.ein --stop=loop
shows 'how "strips of'

# So do products over two labels that cannot be one, as a symmetric product of which half is made.
cat >halves.ein <<'END'
dim X, O, V, L
input A[x:X, a:V, i:O], B[x:X, i:O, a:V], e[i:O], f[a:V], t[l:L] : f64
output Z[l,x,y] = sum[i,a] exp((e[i] - f[a]) * t[l]) * B[x,i,a] * B[y,i,a]
output T[x,y] = sum[i,a where x <= y] A[x,a,i] * B[y,i,a]
END
want 0 "$EIN" build halves.ein --stop=loop
for name in Z_half T; do
  sed -n "/^kernel $name/,/^}/p" out | grep -q 'how.*panels of' || wrong "no panels for $name of halves"
done
fills='A=randint:lo=-4:hi=4:seed=4 B=randint:lo=-4:hi=4:seed=5 e=zeros f=zeros t=ones'
for sizes in '-D X=70 -D O=5 -D V=300 -D L=3' '-D X=19 -D O=0 -D V=9 -D L=2' '-D X=131 -D O=3 -D V=1 -D L=1'; do
  want 0 "$EIN" run halves.ein $sizes $fills --target=eval -o all=wanted/
  want 0 "$EIN" run halves.ein $sizes $fills --target=c --threads 2 --flags="-O1 -march=native" -o all=got/
  diff -r wanted got >diffs || wrong "halves $sizes: $(head -3 diffs)"
  rm -r wanted got
done

# Sizes that are the difference of two unknown ones are not taken for short.
cat >virtual.ein <<'END'
dim N, O, V = N - O
assert O <= N, "occupied"
input W[p:N, q:N, r:N], t[m:O, b:V] : f64
output Z[a:V, b, c:V] = W[a+O, b+O, c+O] - sum[m] t[m,b] * W[m+0, a+O, c+O]
END
want 0 "$EIN" build virtual.ein --stop=loop
shows "panels of 240 b by 240 c"
want 0 "$EIN" verify virtual.ein -D N=36 -D O=9 --flags="-O1 -march=native"
want 0 "$EIN" build whole.ein --stop=loop
shows "by 16 i and j in lanes"
want 0 "$EIN" build near.ein --stop=loop
[ "$(grep -c 'how "Z: tiles of 6 a by' out)" -eq 2 ] || wrong "each row of a large tensor is on a line of its own: $(grep how out)"
want 0 "$EIN" build again.ein --stop=loop
grep -q "rows where they lie" out && wrong "each block of lanes reads scattered rows"
want 0 "$EIN" build padded.ein --stop=loop
shows ", 1028, 5] written"
want 0 "$EIN" build filled.ein --machine small.json --stop=loop
shows ", all filled ahead"
want 0 "$EIN" verify filled.ein --machine small.json --threads 3 --flags="-O1 -march=native"
want 0 "$EIN" build thin.ein --stop=loop
shows "panels of 152 j by 160 i by 3 k l"
shows "for part < 8"
shows "fetch X["

# The lanes that a tile at the end has are a number, if the label's extent is; else they are counted.
cat >odd.ein <<'END'
dim N
input A[i:150, k:700] : f32
input B[k:700, j:211] : f32
input D[k:700, j:N] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
output E[i,j] = sum[k] A[i,k] * D[k,j]
END
want 0 "$EIN" build odd.ein --stop=loop
grep -qE 'min\([0-9]+, \(211 - j' out && wrong "lanes of 211 are counted at the end"
grep -qE 'min\([0-9]+, \(\$N - j' out || wrong "lanes of N are not counted at the end"
want 0 "$EIN" verify odd.ein -D N=131 --flags="-O1 -march=native"

# Results that no cache holds, of whose last axes a block has all, are collected in a line, which is streamed.
cat >streamed.ein <<'END'
dim A = 34000, C = 19, D = 13, K = 4
input X[a:A, k:K] : f32 = (a*3 + k) % 11 - 5
input Y[d:D, c:C, k:K] : f32 = (c*2 + d*7 + k*3) % 13 - 6
output Z[a,c,d] = sum[k] X[a,k] * Y[d,c,k]
END
want 0 "$EIN" build streamed.ein --stop=loop
shows "panels of"
shows "0, 0] = line[0] for 247 over 2"
want 0 "$EIN" verify streamed.ein --flags="-O1 -march=native"

# Where rows of such a result begin inside half lines, lanes are whole lines over the last labels of both sides; where they begin at
# half lines, they are not.
cat >joint.ein <<'END'
input X[e:9, x:10, k:16, a:20] : f32 = (3 * e + 5 * x + 2 * k + a) % 11 - 5
input W[g:29, k:16, y:14, b:12] : f32 = (2 * g + 3 * k + y + 5 * b) % 7 - 3
output Y[e,g,y,x,b,a] = sum[k] X[e,x,k,a] * W[g,k,y,b]
END
want 0 "$EIN" build joint.ein --stop=loop
shows "by lines of b and a, streamed by tiles"
want 0 "$EIN" verify joint.ein --flags="-O1 -march=native"
sed 's/a:20/a:24/' joint.ein >half.ein
want 0 "$EIN" build half.ein --stop=loop
grep -q "by lines of" out && wrong "rows that begin at half lines are streamed by lines of both sides"

# A NaN anywhere in a panel is noticed while it is filled: by lane where whole tiles of lanes are, or by element.
cat >nan.ein <<'END'
dim P, Q
input A[i:150, k:70], B[k:70, j:211] : f32
X[i,k] = if i * 70 + k == P then A[i,k] / 0 * 0 else A[i,k]
Y[k,j] = if k * 211 + j == Q then B[k,j] / 0 * 0 else B[k,j]
output C[i,j] = max[k] (X[i,k] + Y[k,j])
output nans = sum[i,j] if C[i,j] == C[i,j] then 0 else 1
END
want 0 "$EIN" build nan.ein -D P=0 -D Q=0 --stop=loop
shows "odds[l"
while read -r p q nans; do
  want 0 "$EIN" run nan.ein -D P="$p" -D Q="$q" --target=c --flags="-O1 -march=native" A=randn:seed=1 B=randn:seed=2
  shows "nans : i64 = $nans"
done <<'END'
99999 99999 0
99999 0 150
99999 14769 150
99999 7200 150
10499 99999 211
0 14769 360
END

# A border is a predicate, a choice, or a default: all are panels. So it is by position instead of tap. A predicate
# that leaves few points, or may do so by a size that is no label's, does not: loops keep them out. But they would test each lane, so it
# does if it depends on the lanes, as a pad of unknown size.
taps() { # taps ROWS COLUMNS TYPE SUM: a convolution in two dimensions
  cat <<END2
dim H$1, V$2
input X[b:2,c:6,h:H,v:V], K[o:16,c:6,r:3,s:3] : $3
X1[b,c,h,v] = if v == 7 and h == 5 then X[b,c,h,v] / 0 else X[b,c,h,v]
K1[o,c,r,s] = if o == 3 and c == 2 and r == 0 then K[o,c,r,s] / 0 else K[o,c,r,s]
output Y[b,o,h:H,v:V] = $4
output Z[b,o,h:H,v:V] = $(echo "$4" | sed 's/X\[/X1[/;s/K\[/K1[/')
END2
}
inside='0 <= h+r-1 and h+r-1 < H and 0 <= v+2*s-2 and v+2*s-2 < V'
product='X[b,c,h+r-1,v+2*s-2] * K[o,c,r,s]'
taps ' = 21' ' = 67' f32 "sum[c,r,s where $inside] $product" >where.ein
taps ' = 21' ' = 67' f64 "sum[c,r,s] (if $inside then $product else 0)" >if.ein
taps '' '' f32 "sum[c,r,s where $inside] $product" >open.ein
taps ' = 21' ' = 67' f32 "sum[c,r,s] (X[b,c,h+r-1,v+2*s-2] ?? 0) * K[o,c,r,s]" >default.ein
cat >position.ein <<'END'
input X[c:8,i:120], W[o:16,c:8,r:5] : f32
output Y[o,i:120] = sum[c,j where 0 <= j-i+2 and j-i+2 < 5] X[c,j] * W[o,c,j-i+2]
output Z[o,i:120] = sum[c,j] X[c,j] * (W[o,c,j-i+3] ?? 0)
END
cat >pad.ein <<'END'
dim P, H, V
input X[b:2,c:6,h:H,v:V], K[o:16,c:6,r:3,s:3] : f32
output Y[b,o,h:H,v:V] = sum[c,r,s where 0 <= h+r-P and h+r-P < H and 0 <= v+s-P and v+s-P < V] X[b,c,h+r-P,v+s-P] * K[o,c,r,s]
output Z[b,o,h:H+2*P-2,v:V+2*P-2] = sum[c,r,s] (X[b,c,h+r-P,v+s-P] ?? 0) * K[o,c,r,s]
END
cat >few.ein <<'END'
dim B
input X[c:8,j:80,i:80], W[o:16,c:8,j:80] : f32
output Y[o,i] = sum[c,j where j + 60 <= i] X[c,j,i] * W[o,c,j]
output Z[o,i] = sum[c,j where j <= o + B] X[c,j,i] * W[o,c,j]
END
for p in where if open default position pad few; do
  want 0 "$EIN" build $p.ein --stop=loop
  case $p in
    few) grep -q 'how.*panels of' out && wrong "panels where a predicate may leave few points" ;;
    *) for name in Y Z; do
         sed -n "/^kernel $name/,/^}/p" out | grep -q 'how.*panels of' || wrong "no panels for $name of $p"
       done ;;
  esac
  case $p in open) sizes="-D H=9 -D V=70" ;; pad) sizes="-D H=19 -D V=67 -D P=2" ;; few) sizes="-D B=3" ;; *) sizes= ;; esac
  fills="X=randint:lo=-4:hi=4:seed=5"
  case $p in few | position) fills="$fills W=randint:lo=-4:hi=4:seed=6" ;; *) fills="$fills K=randint:lo=-4:hi=4:seed=6" ;; esac
  want 0 "$EIN" run $p.ein $sizes $fills --target=eval -o all=wanted/
  want 0 "$EIN" run $p.ein $sizes $fills --target=c --threads 2 --flags="-O3 -march=native" -o all=got/
  diff -r wanted got >diffs || wrong "$p: $(head -3 diffs)"
  rm -r wanted got
done

# What is not finite is noticed in the panel that has it, also where panels are filled ahead: where the predicate excludes it, it is not
# added.
cat >infinite.ein <<'END'
dim O, P
input X[c:300,h:12,v:33], K[o:90,c:300,r:3,s:3] : f32
K1[o,c,r,s] = if o == O and c == P and r == 0 then K[o,c,r,s] / 0 else K[o,c,r,s]
output Y[o,h:12,v:33] = sum[c,r,s where 0 <= h+r-1 and h+r-1 < 12 and 0 <= v+s-1 and v+s-1 < 33] X[c,h+r-1,v+s-1] * K1[o,c,r,s]
output odd = sum[o,h:12,v:33] if Y[o,h,v] - Y[o,h,v] == 0 then 0 else 1
END
want 0 "$EIN" build infinite.ein -D O=0 -D P=0 --stop=loop
shows "those of rows filled ahead"
while read -r o p odd; do
  want 0 "$EIN" run infinite.ein -D O="$o" -D P="$p" --target=c --threads 2 --flags="-O1 -march=native" X=randint:lo=1:hi=4:seed=5 K=randint:lo=1:hi=4:seed=6
  shows "odd : i64 = $odd"
done <<'END'
0 0 363
89 299 363
20 52 363
99 0 0
END

# Zeros that a side has beyond a range, written so or kept so by an earlier stage, are left out if the other side is finite; else they
# make NaN. Not so where data say what is 0, or if what is chosen instead is no 0.
cat >zeros.ein <<'END'
dim J, C
input A[i:130,j:170], B[k:40,j:170] : f32
input Q[h:2,s:70,d:20], K[h:2,t:70,d:20], V[h:2,t:70,d:20] : f32
input n[i:130] : i64
B1[k,j] = if j == J and k == C then B[k,j] / 0 else B[k,j]
V1[h,t,d] = if t == J and d == C then V[h,t,d] / 0 else V[h,t,d]
L[i,j] = if j <= i then A[i,j] else 0
Z[h,s,t] = if t <= s then abs(sum[d] Q[h,s,d] * K[h,t,d]) else 0
output Y[i,k] = sum[j] L[i,j] * B1[k,j]
output W[i,k] = sum[j] (if i + 20 >= j and j + 40 >= i then A[i,j] else 0) * B1[k,j]
output O[h,s,d] = sum[t] (Z[h,s,t] - max[t] Z[h,s,t]) * V1[h,t,d]
output P[h,s,d] = sum[t] Z[h,s,t] * V1[h,t,d]
output D[i,k] = sum[j] (if j <= n[i] then A[i,j] else 0) * B1[k,j]
output E[i,k] = sum[j] (if j <= i then A[i,j] else 1) * B1[k,j]
END
want 0 "$EIN" build zeros.ein -D J=1 -D C=1 --stop=loop
for name in W P; do
  sed -n "/^kernel.* $name/,/^}/p" out | grep -q "how.* without their zeros" || wrong "$name adds its zeros"
done
for name in D E O; do
  sed -n "/^kernel $name/,/^}/p" out | grep -q "how.* without their zeros" && wrong "$name leaves out what is no zero"
done
fills="n=randint:lo=0:hi=169"
for name in A B Q K V; do fills="$fills $name=randint:lo=1:hi=4:seed=$((${#fills}))"; done
for at in '-D J=999 -D C=0' '-D J=0 -D C=3' '-D J=60 -D C=19' '-D J=169 -D C=39'; do
  want 0 "$EIN" run zeros.ein $at $fills --target=eval -o all=wanted/
  want 0 "$EIN" run zeros.ein $at $fills --target=c --threads 2 --flags="-O3 -march=native" -o all=got/
  diff -r wanted got >diffs || wrong "zeros $at: $(head -3 diffs)"
  rm -r wanted got
done

# A border in steps is compared without quotients, which lanes would make for each element: forwards, backwards, of other dtypes, and
# where the border is farther than the tensor goes.
for at in 'f32 3 -5' 'f32 -4 1' 'f64 4 -4' 'i32 4 900'; do
  set -- $at
  cat >stepped.ein <<END
input X[n:4,c:16,x:130], F[o:16,c:16,r:3] : $1
output Y[n,o,x:130] = sum[c,r where 0 <= x+$2*r+$3 and x+$2*r+$3 < 130] X[n,c,x+$2*r+$3] * F[o,c,r]
END
  want 0 "$EIN" build stepped.ein --stop=loop
  ! grep 'lanes\[.*= select' out | grep -q '//' || wrong "quotients in lanes: $at"
  want 0 "$EIN" verify stepped.ein --flags="-O1 -march=native"
done

# Lanes go along what is stored, whichever way the sum within a map has its labels, and not along a label shorter than they are, so
# that a map behind such a product is a kernel of its own.
cat >within.ein <<'END'
dim C = 32, N = 32
input x[b:2,i:C,y:N,x:N] : f32
input k[c:C,i:C,r:3,q:3], d[c:C] : f32
input G[b:2,c:C,y:N,x:N] : f32
output h[b,c,y:N,x:N] = relu(d[c] + sum[i,r,q where 0 <= y+r-1 and y+r-1 < N and 0 <= x+q-1 and x+q-1 < N] x[b,i,y+r-1,x+q-1] * k[c,i,r,q])
output w[c,i,r,q] = k[c,i,r,q] - 0.5 * sum[b,y,x] G[b,c,y,x] * (x[b,i,y+r-1,x+q-1] ?? 0)
END
cat >border.ein <<'END'
dim C = 32, N = 24
input x[b:2,i:C,y:N,x:N] : f32
input k[c:C,i:C,r:3,q:3] : f32
input G[b:2,c:C,y:N,x:N] : f32 = if b == 1 and c == 3 and y == 0 and x == 5 then inf else (c + 3*y + 5*x) % 7 - 3
output w[c,i,r,q] = k[c,i,r,q] - 0.5 * sum[b,y,x where 0 <= y+r-1 and y+r-1 < N and 0 <= x+q-1 and x+q-1 < N] G[b,c,y,x] * x[b,i,y+r-1,x+q-1]
END
want 0 "$EIN" build within.ein --stop=loop
shows ' c by 32 x in lanes'
shows ' by 32 c in lanes'
want 0 "$EIN" build border.ein --stop=loop
shows ' by 32 c in lanes'
for p in within border; do want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"; done
finish
