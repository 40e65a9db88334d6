#!/bin/sh
# What a plan is called: where equations are cut as a rule of thumb cuts them, and where there is one product of matrices, by its grid; in no other
# case. Names and the order of declarations play no part.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)

called() { # NAME FILE OPTION...: the strategy line; no name: there is none
  name=$1
  shift
  want 0 "$EIN" plan "$@"
  got=$(sed -n 's/^  strategy              //p' out)
  [ "$got" = "$name" ] || wrong "$*: it is called \"$got\", wanted \"$name\""
}

product() { # I J K
  printf 'input A[i:%s,k:%s] : f32\ninput B[k:%s,j:%s] : f32\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n' "$1" "$3" "$3" "$2" >p.ein
  printf 'input B[p:%s,q:%s] : f32\ninput A[r:%s,p:%s] : f32\nZ[r,q] = sum[p] B[p,q] * A[r,p]\noutput Z\n' "$3" "$2" "$1" "$3" >q.ein
}
product 4096 4096 64
called 'a product on a grid of 4 x 4, operands in whole panels: 2-D, as SUMMA' p.ein -n 16
called 'a product on a grid of 4 x 4, operands in whole panels: 2-D, as SUMMA' q.ein -n 16
product 4096 4096 4096
called 'a product on a grid of 2 x 2 x 2, the last along what is summed: 3-D' p.ein -n 8
called 'a product on a grid of 4 x 4 x 2, the last along what is summed: 2.5-D' p.ein -n 32 --pin C:i=4,j=4,k=2
product 65536 16 16
called 'a product along one label: 1-D' p.ein -n 8
product 16 16 65536
called 'a product along one label that is summed: 1-D' q.ein -n 8
called '' p.ein -n 1

known="$root/tests/shape/known"
called 'data parallel: the cuts of the planner data' "$known/data_training.ein" -n 8
called 'tensor parallel, as Megatron: the cuts of the planner megatron' "$known/tensor_training.ein" -n 8
sed 's/\<b\>/zz/g' "$known/data_training.ein" >named.ein
called 'data parallel: the cuts of the planner data' named.ein -n 8

# A plan that is none of them has no name; nor has one that another planner made, whose name the header has.
called '' "$root/samples/02_attention.ein" -n 16
called '' "$known/stencil.ein" -n 8
printf 'input x[t:4096,c:64] : f32\noutput y[t:4096,c] = sum[u:4096 where u <= t] x[u,c]\n' >scan.ein
called '' scan.ein -n 8
sed 's/^input/param/' scan.ein >weights.ein
called 'tensor parallel, as Megatron: the cuts of the planner megatron' weights.ein -n 8
called '' "$known/data_training.ein" -n 8 --planner=data

# The page and the data say so too.
want 0 "$EIN" plan "$known/data_training.ein" -n 8 --format=html
shows 'It is data parallel: the cuts of the planner data.'
want 0 "$EIN" plan "$known/data_training.ein" -n 8 --format=json
shows '"strategy": "data parallel: the cuts of the planner data"'
want 0 "$EIN" plan "$known/stencil.ein" -n 8 --format=json
shows '"strategy": null'

# What is an average and what a maximum is said; and of two tensors that most hangs on what else they could be.
want 0 "$EIN" plan "$root/samples/02_attention.ein" -n 8
shows 'a site on average'
shows '; at most'
shows 'runner-up'
shows 'next best for QH'
finish
