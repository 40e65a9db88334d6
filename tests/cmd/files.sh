#!/bin/sh
# Written outputs can be read as inputs; impossible files are refused, and no partial file stays.
. "$(dirname "$0")/common"

leftovers() {
  for f in .ein-*; do [ ! -e "$f" ] || wrong "left behind: $f"; done
}

want 0 "$EIN" run mat.ein -o Z=z.npy
silent
[ ! -s out ] || wrong "an output with -o is printed as well"
echo 'dim M, N
input X[m:M, n:N] : f32
output Y[n, m] = X[m, n]' >back.ein
want 0 "$EIN" run back.ein X=z.npy
shows "Y[n:3, m:4] : f32"
shows "2.0  12.0  22.0  32.0"
want 0 "$EIN" run back.ein X=z.npy -o y.npy
want 0 "$EIN" run back.ein X=y.npy -o all=w.safetensors
want 0 "$EIN" run back.ein X=w.safetensors:Y -o Y=y.raw
want 0 "$EIN" run back.ein X=y.raw -D M=3 -D N=4 -o Y=folder.npy
cmp -s folder.npy z.npy || wrong "raw and safetensors do not give z.npy back"
want 0 "$EIN" run sum.ein X=iota -D N=5 -o all=dir/
[ -f dir/Y.npy ] && [ -f dir/S.npy ] || wrong "all=dir/ has not written both"
want 0 "$EIN" run sum.ein X=dir/Y.npy
shows "Y[i:5] : f32"
shows "S : f32 = 20.0"
want 0 "$EIN" run sum.ein X=iota -D N=5 -o Y=two.safetensors -o S=two.safetensors:s
want 0 "$EIN" run sum.ein X=two.safetensors:Y
want 2 "$EIN" run sum.ein X=iota -D N=5 -o Y=same.npy -o S=same.npy
want 2 "$EIN" run sum.ein X=iota -D N=5 -o Sum=s.npy
says "the program has no output Sum; "
want 2 "$EIN" run sum.ein X=iota -D N=5 -o y.npy
says "which output"
want 2 "$EIN" run sum.ein X=iota -D N=5 -o y.safetensors
says "-o all=y.safetensors"
want 0 "$EIN" run sum.ein X=iota -D N=5 -o all=y.safetensors
want 0 "$EIN" run sum.ein X=y.safetensors:Y

# shapes that disagree
want 1 "$EIN" run sum.ein X=z.npy
says "z.npy has 2 axes, but X is declared with 1"
echo 'dim N = 8
input X[i:N] : f32
output Y = sum[i] X[i]' >fixed.ein
want 1 "$EIN" run fixed.ein X=dir/Y.npy
says "fixed.ein:2:"
want 0 "$EIN" run fixed.ein X=dir/Y.npy -D N=5
want 1 "$EIN" run sum.ein X=dir/Y.npy -D N=6
says "-D N=6"
echo junk >junk.npy
want 1 "$EIN" run sum.ein X=junk.npy

# params from one file; one that is not there is named
echo 'param W[i:2], V[i:2] : f32
output S = sum[i] W[i] * V[i]' >net.ein
echo 'output W[i:2] : f32 = i + 1
output V[i:2] : f32 = 10' >init.ein
want 0 "$EIN" run init.ein -o all=w.safetensors
want 0 "$EIN" run net.ein --params w.safetensors
shows "S : f32 = 30.0"
want 0 "$EIN" run net.ein --params w.safetensors V=ones
shows "S : f32 = 3.0"
want 0 "$EIN" run init.ein -o W=w.safetensors -o V=v.npy
want 1 "$EIN" run net.ein --params w.safetensors
says "no tensor called V"
want 4 "$EIN" run sum.ein X=iota -D N=1000000000000
says "the limit here"

# what is no file to read
mkfifo pipe.npy pipe.ein
mkdir folder.ein fold.npy
want 4 timeout 10 "$EIN" run sum.ein X=pipe.npy
want 4 "$EIN" run sum.ein X=fold.npy
want 4 timeout 10 "$EIN" run pipe.ein
says "not a regular file"
want 4 "$EIN" check folder.ein
says "directory"
want 4 "$EIN" run mat.ein -o Z=fold.npy
want 4 "$EIN" run mat.ein -o Z=pipe.npy
want 4 "$EIN" run mat.ein -o Z=nowhere/z.npy
says "nowhere"
want 4 "$EIN" run mat.ein -o Z=/proc/z.npy
want 4 "$EIN" graph mat.ein -o /proc/z.txt
want 4 "$EIN" graph mat.ein -o nowhere/z.txt
if [ -d /sys ]; then # takes no file from anybody, root included
  want 4 "$EIN" graph mat.ein -o /sys/z.txt
  says "cannot write /sys/z.txt: "
  ! grep -q "No such file" err || wrong "a folder that is closed is told to be missing"
fi
if [ "$(id -u)" != 0 ]; then
  mkdir closed && chmod 555 closed
  want 4 "$EIN" run mat.ein -o Z=closed/z.npy
fi

# a link to a file that is not there yet is followed, whatever writes; one that leads nowhere is refused, and stays
mkdir to
want 0 "$EIN" build mat.ein -o prog --flags=-O0
link() { # FILE COMMAND...
  rm -rf to/* "$1"
  ln -sf far.npy to/near.npy
  ln -s to/near.npy "$1"
  file=$1
  shift
  want 0 "$@"
  [ -L "$file" ] && [ -L to/near.npy ] && [ -f to/far.npy ] || wrong "a link is replaced: $*"
}
link l.npy "$EIN" run mat.ein -o Z=l.npy
link l.npy ./prog -o Z=l.npy
link l.npy "$EIN" graph mat.ein -o l.npy
link l.npy "$EIN" build mat.ein --emit=c -o l.npy
link l.npy "$EIN" build mat.ein -o l.npy --flags=-O0
rm -f around.npy l.npy
ln -s around.npy around.npy
ln -s nowhere/z.npy l.npy
for to in around.npy l.npy; do
  want 4 "$EIN" run mat.ein -o Z=$to
  says "$to"
  want 4 ./prog -o Z=$to
  want 4 "$EIN" graph mat.ein -o $to
  says "$to"
  want 4 "$EIN" build mat.ein -o $to --flags=-O0
  [ -L $to ] || wrong "$to is no link any more"
done

# all outputs in a file that holds one
for to in all.npz all.npy all.raw; do
  want 2 "$EIN" run mat.ein -o all=$to
  says "all outputs go to a folder, all=all/, or into one file, all=all.safetensors"
  want 2 ./prog -o all=$to
  says "all outputs go to a folder, all=all/, or into one file, all=all.safetensors"
  [ ! -e $to ] || wrong "$to is there"
done
want 0 "$EIN" run mat.ein -o all=all.npz/
want 0 "$EIN" run mat.ein -o all=all.npz
[ -f all.npz/Z.npy ] || wrong "a folder of that name is none"

# a disk that is full, as far as a process may fill it: the old file stays
cp z.npy old.npy
echo 'output B[i:100000] = i' >big.ein
want 4 sh -c "ulimit -f 8; '$EIN' run big.ein -o B=old.npy"
cmp -s old.npy z.npy || wrong "the old file is not what it was"
want 4 sh -c "ulimit -f 0; '$EIN' graph mat.ein -o small.txt"
[ ! -e small.txt ] || wrong "small.txt is there"
if [ -c /dev/full ]; then
  want 4 sh -c "'$EIN' --help >/dev/full"
  says "standard output"
  want 4 sh -c "'$EIN' run mat.ein >/dev/full"
fi
want 4 sh -c "'$EIN' --help >&-"
leftovers
# Words that are no NAME=SOURCE.
echo 'input X[i:3], Y[i:3]
output Z[i] = X[i] + Y[i]' >two.ein
want 2 "$EIN" run two.ein two.ein
says 'two.ein is given twice, and is one program'
want 2 "$EIN" run two.ein other.ein
says 'other.ein: one program at a time, and two.ein is one'
want 2 "$EIN" run two.ein X=ones y.npy
says 'y.npy: an input is given as NAME=SOURCE, as in Y=y.npy'
want 2 "$EIN" run two.ein X:x.npy
says 'X=x.npy'
# A wider file in a narrower input is told of where digits are lost, and so is a number beside f64 data.
echo 'output T[i:3] : f64 = (i + 1) / 10
output H[i:3] : f64 = i / 2' >wide.ein
want 0 "$EIN" run wide.ein -o all=./
echo 'input X[i:3] : f32
output Y[i] = X[i]' >narrow.ein
want 0 "$EIN" run narrow.ein X=T.npy
says 'warning: input X is f32, and 3 of the 3 numbers of T.npy, which is f64, are rounded; declared as f64 it keeps them'
want 0 "$EIN" run narrow.ein X=H.npy
silent
want 0 "$EIN" run narrow.ein X=const:0.1
silent
echo 'input X[i:3] : f64
input dt
output Y[i] = X[i] * dt' >dt.ein
want 0 "$EIN" run dt.ein X=T.npy dt=0.2
says 'warning: input dt is f32, and 0.2 is rounded'
want 0 "$EIN" run dt.ein X=T.npy dt=0.25
silent
finish
