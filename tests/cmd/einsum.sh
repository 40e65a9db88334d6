#!/bin/sh
# ein einsum: one line for one equation.
. "$(dirname "$0")/common"

echo 'output A[i:2, j:3] : f32 = i + j
output B[j:3, k:2] : f32 = j - k
output Q[i:3, j:3] : i32 = i32(3 * i + j)' >make.ein
want 0 "$EIN" run make.ein -o all=./
want 0 "$EIN" einsum "ij,jk->ik" A=A.npy B=B.npy
silent
shows "Z[i:2, k:2] : f32"
shows "5.0  2.0"
shows "8.0  2.0"
want 0 "$EIN" einsum "ij,jk->ik" A.npy B.npy -o Z=z.npy
want 0 "$EIN" einsum " i j , j k -> i k " A.npy B.npy -o C=c.npy
cmp -s z.npy c.npy || wrong "blanks make a difference"
want 0 "$EIN" einsum "ii->i" Q.npy
shows "Z[i:3] : i32"
shows "0  4  8"
want 0 "$EIN" einsum "ii->" Q.npy
shows "Z : i64 = 12"
want 0 "$EIN" einsum "ij->ji" A.npy
want 0 "$EIN" einsum "AB,BC->AC" A=A.npy B=B.npy
shows "5.0  2.0"
want 0 "$EIN" einsum "ij,jk->ik" A=A.npy iota -D k=2
want 0 "$EIN" einsum "i,i->" iota iota -D i=4 --dtype=i64
shows "= 14"

# Letters of any script; those that mean something else in the language too.
want 0 "$EIN" einsum "αβ,βπ->πα" iota iota -D α=2 -D β=3 -D π=2
shows "Z[π_:2, α:2] : f32"
shows "13.0  40.0"
want 0 "$EIN" einsum "日Σ,Σ日" iota iota -D 日=2 -D Σ=3
shows "Z : f32 = 50.0"
want 2 "$EIN" einsum "e\xcc\x81->" A.npy
says "is none"

# No arrow: labels that stand once, by their codes.
want 0 "$EIN" einsum "ij,jk" A.npy B.npy -o I=i.npy
cmp -s z.npy i.npy || wrong "ij,jk is not ij,jk->ik"
want 0 "$EIN" einsum "ba" A.npy
shows "Z[a:3, b:2]"
want 0 "$EIN" einsum "aB" A.npy
shows "Z[B:3, a:2]"
want 0 "$EIN" einsum "ii" Q.npy
shows "Z : i64 = 12"

# An ellipsis: the last axes go together; a generator has all of them.
want 0 "$EIN" einsum "i...->...i" A.npy
shows "Z[d0:3, i:2]"
want 1 "$EIN" einsum "...,..." A.npy B.npy
says 'an axis of `...` is 2 by dimension 1 of A.npy, but 3 by dimension 1 of B.npy'
want 0 "$EIN" einsum "...j,...->..." A.npy ones
shows "Z[d0:2] : f32"
shows "3.0  6.0"
want 0 "$EIN" einsum "...ij,...jk->...ik" A.npy B.npy -o I=i.npy
cmp -s z.npy i.npy || wrong "an ellipsis without axes makes a difference"
want 2 "$EIN" einsum "...i->i" A.npy
says '`...` is 1 axis here, and the output has none'
want 2 "$EIN" einsum "i..." A.npy -D d0=2
says "no label d0"
want 2 "$EIN" einsum "i..->i" A.npy
says '`..` is no ellipsis'
want 2 "$EIN" einsum "...i...->i" A.npy
says 'a second `...`'

# An axis of length 1 goes with any, but not on a diagonal.
echo 'output R[r:1, j:3] : f32 = j
output C[i:2, r:1] : f32 = i + 1' >ones.ein
want 0 "$EIN" run ones.ein -o all=./
want 0 "$EIN" einsum "ij,ij->ij" C.npy R.npy
shows "Z[i:2, j:3]"
shows "0.0  2.0  4.0"
want 0 "$EIN" einsum "...,..." C.npy R.npy
shows "Z[d0:2, d1:3]"
want 0 "$EIN" einsum "ij,ij" C.npy R.npy
shows "Z : f32 = 9.0"
want 0 "$EIN" einsum "ij,ij" C.npy ones -D j=4
shows "Z : f32 = 12.0"
want 1 "$EIN" einsum "ii" R.npy
says "label i is 1 by dimension 1 of R.npy, but 3 by dimension 2 of R.npy"
want 1 "$EIN" einsum "ij,ij" A.npy Q.npy
says "label i is 2 by dimension 1 of A.npy, but 3 by dimension 1 of Q.npy"
want 1 "$EIN" einsum "ij->j" C.npy -D j=4
says "label j is 1 by dimension 2 of C.npy, but 4 by -D"

# It is run as other programs are.
want 0 "$EIN" einsum --target=c --threads 2 "ij,jk" A.npy B.npy -o I=i.npy
cmp -s z.npy i.npy || wrong "--target=c makes a difference"
want 0 "$EIN" einsum --target=eval "ij,jk" A.npy B.npy
want 2 "$EIN" einsum --target=gpu "ij,jk" A.npy B.npy
says "no target gpu"
want 2 "$EIN" einsum --threads 0 --target=c "ij,jk" A.npy B.npy
says "--threads"
want 2 "$EIN" einsum "ij->ik" A.npy
says "label k"
want 2 "$EIN" einsum "ij->ii" A.npy
says "twice"
want 2 "$EIN" einsum "i1->i" A.npy
want 2 "$EIN" einsum "ij,jk->ik" A.npy
says "2 operands, but 1 source is given"
want 1 "$EIN" einsum "ijk->i" A.npy
says "2 axes"
want 1 "$EIN" einsum "ij,ik->jk" A.npy B.npy
says "label i is 2 by dimension 1 of A.npy, but 3 by dimension 1 of B.npy"
want 2 "$EIN" einsum "ij,jk->ik" A.npy iota
says "-D k=8"
want 2 "$EIN" einsum
finish
