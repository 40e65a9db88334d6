#!/bin/sh
# suite: ci
# The emulation of a device (tests/cuda) reports mistakes that are planted in kernels, and in texts that ein emitted.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 3
command -v g++ >/dev/null || { echo 'skipped: there is no g++'; exit 77; }
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

plant() { # NUMBER CODE WORDS
  want 0 g++ -std=gnu++17 -O1 -include "$root/tests/cuda/emulate.h" -DPLANT="$1" -x c++ "$root/tests/cuda/finds.cu" -o planted
  want "$2" ./planted
  [ -z "$3" ] || says "$3"
}
plant 0 0 ''
plant 1 97 "kernel planted, block 0, thread 32: two threads and no barrier between, one of them stores: part[0]"
plant 2 97 "block 2, thread 63: out of range of a buffer: buffer[192]"
plant 3 97 "block 0, thread 63: out of range of a shared array: part[64]"
plant 4 97 "a barrier that only some threads come to"
plant 5 97 "block 0, thread 32: a shared element that nobody has stored to is read: rest[32]"
under_way='kernel copied, block 0, thread 0: a shared element is accessed while a copy to it is under way: part'
plant 10 97 "$under_way[2]"
plant 11 97 "$under_way[2]"
plant 12 97 "two threads and no barrier between, one of them stores: part["
plant 13 97 "thread 0: a shared element that nobody has stored to is read: part[2]"
plant 14 97 "thread 1: a shared element is accessed while a copy to it is under way: part[0]"
plant 15 97 "a wide access that begins at no multiple of its bytes"
plant 16 97 "$under_way[0]"
plant 6 97 "block 0, thread 1: two threads of one launch, one of them stores: buffer[0]"

# In emitted texts, which sed changes before they are compiled.
cp "$root/tests/run/matmul.ein" .
changed() { # CODE SED WORDS [PROGRAM]
  EIN_EMULATE_SED=$2 want "$1" "$EIN" verify --target=cuda --cc="$root/tests/cuda/cc" --flags="-O0 -DPLANT=$planted" ${4:-matmul.ein}
  planted=$((planted + 1))
  [ -z "$3" ] || says "$3"
}
planted=1
changed 0 's/a/a/' ''
changed 97 's/point < 15/point < 16/' 'kernel program_k_Z, block 0, thread 15: out of range of a buffer'
changed 97 's/point < 12/point < 13/' 'kernel program_k_X, block 0, thread 12: out of range of a buffer'
changed 97 's/k < 4; k++/k < 5; k++/' 'out of range of a buffer'
changed 1 's/point < 20/point < 19/' ''

# Tiles of a product, and rows: without barriers, with wrong ends, with two threads that store instead of one.
cat >tiles.ein <<'END'
input X[i:70,k:50] : i64
input Y[k:50,j:90] : i64
output Z[i,j] = sum[k] X[i,k] * Y[k,j]
output best[j] = max[i,k] (X[i,k] - Y[k,j])
output most[i] = max[k] X[i,k]
# run: X=iota Y=iota
END
want 0 "$EIN" build tiles.ein --target=cuda --stop=loop
shows 'tiles of 64 i by 64 j, 16 k of each side shared at once, 16 by 16 threads'
shows 'a block of 32 threads for each point, along k'
changed 0 's/a/a/' '' tiles.ein
changed 97 's/__syncthreads();//' 'a shared element that nobody has stored to is read: lanes[32]' tiles.ein
changed 97 '0,/__syncthreads();/s///' 'a shared element that nobody has stored to is read: lanes[32]' tiles.ein
changed 97 ':a;N;$!ba;s/__syncthreads();\n  }/  }/' 'no barrier between' tiles.ein
changed 97 's/< 70/< 71/' 'out of range of a buffer' tiles.ein
changed 97 's/< 50/< 51/' 'out of range of a buffer' tiles.ein
changed 97 's/thread == 0/thread <= 1/' 'two threads of one launch' tiles.ein
changed 97 's/thread < 4/thread < 5/' 'shared' tiles.ein

# Copies in the background: not awaited, or awaited too late, or with no barrier behind; the half that is in use.
cat >halves.ein <<'END'
input X[i:70,k:72], Y[k:72,j:80] : f16
output Z[i,j] = sum[k] f32(X[i,k]) * f32(Y[k,j])
# run: X=iota Y=iota
END
changed 0 's/a/a/' '' halves.ein
changed 97 's/EIN_COPY_AWAIT(2);//' 'a shared element is accessed while a copy to it is under way: rows[0]' halves.ein
changed 97 's/EIN_COPY_AWAIT(2)/EIN_COPY_AWAIT(3)/' 'a shared element is accessed while a copy to it is under way: rows[0]' halves.ein
changed 97 's/__syncthreads();//' 'a shared element that nobody has stored to is read: lanes[72]' halves.ein
changed 97 's/(f_2 + 1) % 4/(f_2 + 2) % 4/' 'a shared element is accessed while a copy to it is under way: rows[2560]' halves.ein
changed 97 's/(f_2 + 1) % 4/f_2 % 4/' 'a shared element that nobody has stored to is read: rows[7680]' halves.ein

# More shared memory than a block has unasked: less than its arrays take is asked for; or they lie in each other.
cat >large.ein <<'END'
input X[r:120, i:66, k:16], Y[r:120, k:16, j:66] : f16
output Z[r,i,j] = sum[k] f32(X[r,i,k]) * f32(Y[r,k,j])
# run: X=iota Y=iota
END
changed 97 's/program_k_Z, 54272/program_k_Z, 54271/' 'a shared array beyond what the launch has asked for: lanes[20480]' large.ein
changed 97 's/16896, 20480)/16896, 20464)/' 'a shared array that lies in another one, or at no multiple of 16 bytes: lanes[20464]' large.ein

# What warps tell each other of a matrix that they hold: all threads come to it; and what follows is in the next part of shared memory.
cp "$root/tests/cuda/attention_in_warps.ein" "$root/tests/cuda/attention_of_heads.ein" .
changed 97 's/EIN_MATRIX_HELD/if (thread < 200) &/' 'a barrier that only some threads come to' attention_in_warps.ein
changed 97 's/EIN_ACROSS(/thread > 9 ? 0 : EIN_ACROSS(/' 'a barrier that only some threads come to' attention_in_warps.ein
changed 1 's/EIN_ACROSS(.*);/0.0f;/' '' attention_in_warps.ein
want 0 "$EIN" build attention_of_heads.ein --target=cuda --stop=loop
[ "$(grep -c 'matrix units, of rows and pieces in registers' out)" = 2 ] || wrong "not all heads are held: $line"
changed 97 's/deep < 96/deep < 104/' 'out of range of a buffer: buffer[9600]' attention_of_heads.ein
changed 97 '0,/__syncthreads();/s///' 'causal_rows, block 0, thread 0: two threads and no barrier between' attention_in_warps.ein
finish
