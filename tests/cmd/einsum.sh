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

want 2 "$EIN" einsum "ij,jk" A.npy B.npy
says '->'
want 2 "$EIN" einsum "...i->i" A.npy
says '`...`'
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
says "label i is 2"
want 2 "$EIN" einsum "ij,jk->ik" A.npy iota
says "-D k=8"
want 2 "$EIN" einsum
finish
