#!/bin/sh
# suite: ci
# A halo that several reads or equations need alike moves once: plan, tasks and run agree on its bytes, with labels of any names and orders, around the
# end and in a loop; and the results are those of one site. Where the equations are cut differently, or read other places, each moves.
. "$(dirname "$0")/common"

bytes() { # PROGRAM SITES ARGS...: what the plan says that moves, what its moves over relations do, and what a run received
  program=$1 n=$2
  shift 2
  "$EIN" plan $program -n $n --costs=bytes "$@" --format=json >plan.json 2>err || wrong "no plan of $program on $n sites: $(cat err)"
  said=$(sed -n 's/^  "bytes": \([0-9]*\),*$/\1/p' plan.json)
  "$EIN" plan $program -n $n "$@" --format=ia -o plan.ia && "$EIN" plan plan.ia --format=json >moved.json
  moved=$(sed -n 's/^  "bytes": \([0-9]*\),*$/\1/p' moved.json)
  outs=$(sed -n 's/.*output \([a-z]\).*/\1/p' $program | sort -u)
  one="" many=""
  for o in $outs; do one="$one -o $o=one.$o.npy" many="$many -o $o=many.$o.npy"; done
  "$EIN" run $program u=iota $one 2>err || wrong "$program: $(cat err)"
  "$EIN" run $program -n $n "$@" -v u=iota $many 2>run.err || wrong "$program on $n sites: $(cat run.err)"
  ran=$(sed -n 's/.* sites received \([0-9]*\) bytes.*/\1/p' run.err)
  for o in $outs; do cmp -s one.$o.npy many.$o.npy || wrong "$program on $n sites $*: $o is another"; done
  [ "$said" = "$moved" ] && [ "$said" = "$ran" ] || wrong "$program on $n sites $*: the plan says $said, relations move $moved, a run $ran bytes"
}

alike() { # INDICES...: each equation reads u at these, in rows and columns of its own names; the first is alone in one.ein
  echo "input u[i:41, j:30] : i64" >one.ein
  cp one.ein all.ein
  k=0
  for equation; do
    k=$((k + 1))
    echo "output $equation" >>all.ein
    [ $k -gt 1 ] || echo "output $equation" >>one.ein
  done
  for n in 2 3 4; do
    bytes one.ein $n
    first=$said
    bytes all.ein $n
    [ "$first" -gt 0 ] && [ "$said" = "$first" ] || wrong "$* on $n sites: $said bytes, and $first for the first"
  done
}
alike 'a[i:41,j:30] = u[i-1,j+1] ?? 0 + u[i+1,j-1] ?? 0' 'b[i:41,j:30] = 3 * (u[i-1,j+1] ?? 0) - u[i+1,j-1] ?? 0'
alike 'a[i:41,j:30] = u[i-1,j-1] ?? 0 + u[i+1,j+1] ?? 0' 'b[y:30,x:41] = u[x+1,y+1] ?? 1 - u[x-1,y-1] ?? 2' 'c[s:41,t:30] = u[s-1,t-1] ?? 5'
alike 'a[i:41,j:30] = u[(i+1) % 41,(j+29) % 30] - u[(i+40) % 41,j]' 'b[j:30,k:41] = u[(k+1) % 41,(j+29) % 30] * u[(k+40) % 41,j]'

# What one equation brings, and another needs a part of.
row() { echo "u[i$1,j-1] ?? 0 + u[i$1,j] ?? 0 + u[i$1,j+1] ?? 0"; }
alike "a[i:41,j:30] = $(row -1) + $(row +1)" 'b[y:30,x:41] = u[x+1,y+1] ?? 1 - u[x-1,y] ?? 2'

# Windows of one equation that overlap move once: of a line the two places at each border, for both sides, or around the end for each site; of nine
# neighbours as much as of the same sum over two labels, though in any order and with a place spelled twice.
line() { # BORDERS_MORE EQUATION
  echo "input u[i:41] : i64" >line.ein
  echo "output $2" >>line.ein
  for n in 2 3 4; do
    bytes line.ein $n
    [ "$said" = $(((n - 1 + $1) * 4 * 8)) ] || wrong "$2 on $n sites: $said bytes"
  done
}
line 0 'a[i:41] = u[i+1] ?? 0 - u[i-2] ?? 3 + 2 * u[i-1] ?? 0 + u[i] - 5 * u[i+2] ?? 1'
line 0 'a[i:41] = u[i-2] ?? 3 + 2 * u[i-1] ?? 0 - u[i+1] ?? 0 - 5 * u[i+2] ?? 1'
line 1 'a[i:41] = u[(i+39) % 41] - 2 * u[(i-1) % 41] + u[i] * u[(i+40) % 41] + 3 * u[(i+1) % 41] - u[(i+2) % 41]'
echo 'input u[i:41, j:30] : i64' >sum.ein
cp sum.ein nine.ein
echo 'output a[i:39,j:28] = sum[p:3,q:3] (2*p + q + 1) * u[i+p,j+q]' >>sum.ein
echo 'output a[i:39,j:28] = 9 * u[i+2,j+2] + 2 * u[i+0,j+1] + 3 * u[i+0,j+2] + 3 * u[i+1,j+0] + u[i+0,j+0] + 6 * u[i+2,j+1] + 5 * u[i+2,j+0] + 4 * u[i+1,j+1] + 5 * u[i+1,j+2] - 2 * u[i+(1 + 1),j+2]' >>nine.ein
for n in 2 4; do
  bytes sum.ein $n
  first=$said
  cp one.a.npy sum.npy
  bytes nine.ein $n
  cmp -s one.a.npy sum.npy || wrong "nine neighbours are not their sum"
  [ "$said" = "$first" ] || wrong "nine neighbours on $n sites: $said bytes, and as a sum $first"
done

# Cut otherwise, or at other places: not alike.
cat >apart.ein <<'!'
input u[i:40, j:40] : i64
output a[i:40,j] = u[i+1,j] ?? 0
output b[x:40,y] = 2 * (u[x+1,y] ?? 0)
!
bytes apart.ein 4 --pin a:i=4 --pin b:x=4
both=$said
bytes apart.ein 4 --pin a:i=4 --pin b:x=2,y=2
[ "$said" -gt "$both" ] || wrong "cut in two ways they move $said bytes, cut alike $both"
sed 's/u\[x+1,y\]/u[x+2,y]/' apart.ein >other.ein
bytes other.ein 4 --pin a:i=4 --pin b:x=4
[ "$said" -gt "$both" ] || wrong "other places move $said bytes, the same $both"

# A step and what is left, turn by turn.
cat >loop.ein <<'!'
input u[i:64, j:32] : i64
repeat t < 5 {
  state v[i:64, j:32] = u[i,j]
  w[i:64,j:32] = v[i-1,j+1] ?? 0 + v[i+1,j-1] ?? 0
  next v[i,j] = w[i,j] % 1000
  l[t] = sum[a:64,b:32] ((v[a-1,b+1] ?? 0 - v[a+1,b-1] ?? 0) * w[a,b] % 7)
}
output v
output l
!
sed '/l\[t\]/d; /output l/d' loop.ein >step.ein
for n in 2 4; do
  bytes step.ein $n
  step=$said
  bytes loop.ein $n
  [ "$said" -le $((step + 5 * 8 * n * 2)) ] || wrong "with what is left $said bytes move, without $step on $n sites"
done
finish
