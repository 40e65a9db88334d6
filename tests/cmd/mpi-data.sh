#!/bin/sh
# suite: ci
# What many processes read and write, in a program that was built for them and in ein run: each its blocks, of every kind of file; files are those
# that one process writes, to the bit, and no process has a whole tensor.
. "$(dirname "$0")/common"
turn 1
mpi_builds
nothing_left() { # FILE...
  for f; do [ ! -e "$f" ] || wrong "$f is there: $line"; done
  [ -z "$(find . -name '.ein*')" ] || wrong "a file that is not whole is left: $line"
}

# ---- kinds of files: what one process reads from a plain .npy many read from all others
cat >kinds.ein <<'END'
input A[i:61,k:50] : f32
input B[k:50,j:41] : f16
input M[i:61] : bool
input W : f64
input E[e:3] : i64
input G[i:61,k:50] : f32
output C[i,j] : f32 = sum[k] A[i,k]*B[k,j]
output H[j,k] : f16 = B[k,j]
output L[i,k] : bool = M[i] and A[i,k] > 0
output S : f64 = W * (sum[i,k] A[i,k])
output K[e] : i64 = 2*E[e]
output D[i,k] = G[i,k] + A[i,k]
END
cat >give.ein <<'END'
input A[i:61,k:50] : f32
input B[k:50,j:41] : f16
input M[i:61] : bool
input W : f64
input E[e:3] : i64
output A_[i,k] = A[i,k]
output B_[k,j] = B[k,j]
output M_[i] = M[i]
output W_ = W
output E_[e] = E[e]
END
want 0 "$EIN" run give.ein A=randint:lo=-5:hi=5:seed=1 B=randint:lo=-3:hi=3:seed=2 M=randint:lo=0:hi=1:seed=3 W=const:0.5 E=iota -o all=. \
  -o M_=m.safetensors:mask -o W_=w.raw
cat >turn.py <<'END'
import struct, zipfile
def npy(name, descr, fortran, shape, data):
    h = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, fortran, shape)
    open(name, 'wb').write(b'\x93NUMPY\x01\0' + struct.pack('<H', len(h)) + h.encode() + data)
def data(name):
    b = open(name, 'rb').read()
    return b[10 + struct.unpack('<H', b[8:10])[0]:]
a, b = struct.unpack('<3050f', data('A_.npy')), struct.unpack('<2050e', data('B_.npy'))
npy('a.npy', '>f4', True, (61, 50), struct.pack('>3050f', *(a[i * 50 + k] for k in range(50) for i in range(61))))
npy('b.npy', '<f2', True, (50, 41), struct.pack('<2050e', *(b[k * 41 + j] for j in range(41) for k in range(50))))
with zipfile.ZipFile('e.npz', 'w') as z: # stored
    z.write('E_.npy', 'e.npy')
    z.write('A_.npy', 'a.npy')
bad = bytearray(open('e.npz', 'rb').read())
bad[bad.index(data('E_.npy')) + 8] ^= 2 # its second number
open('damaged.npz', 'wb').write(bad)
END
want 0 python3 turn.py
given='A=a.npy B=b.npy M=m.safetensors:mask W=w.raw E=e.npz:e G=uniform:seed=5'
want 0 "$EIN" run kinds.ein A=A_.npy B=B_.npy M=m.safetensors W=0.5 E=iota G=uniform:seed=5 -o all=one/ -o all=one.safetensors -o C=one/C.raw
want 0 "$EIN" build kinds.ein --target=mpi -n 2,3,4,7 --flags=-O1 -o kinds
for n in 2 3 4 7; do
  for way in ./kinds "$EIN run --flags=-O0 kinds.ein"; do
    # shellcheck disable=SC2086
    want 0 ranks $n $way $given -o all=many/ -o all=many.safetensors -o C=many/C.raw
    for f in one/*; do
      cmp -s "$f" "many/${f#one/}" || wrong "$n processes of $way: $f differs"
    done
    cmp -s one.safetensors many.safetensors || wrong "$n processes of $way: one.safetensors differs"
    rm -r many many.safetensors
  done
done
for way in ./kinds "$EIN run --flags=-O0 kinds.ein"; do
  # shellcheck disable=SC2086
  want 0 ranks 3 $way $given -o C=c.npy -o D=/dev/null
  shows 'S : f64'
  cmp -s c.npy one/C.npy || wrong "c.npy differs"
  [ "$(grep -c '^[CD]' out)" = 0 ] || wrong "what is written is shown, too"
  rm c.npy
done

# ---- a default that hangs on an input; numbers that are rounded, said once
cat >hangs.ein <<'END'
input X[i:61] : f32
input W[i:61] : f32 = 2*X[60-i]
output Y[i] = W[i] + 3*X[i]
END
# ---- defaults of all kinds: of one equation by blocks, of more as a whole; uneven blocks, and empty ones
cat >usual.ein <<'END'
input A[i:61,k:50] : f32 = 1.0*floor(9*uniform[i,k](3))
input B[k:50,j:41] : f16 = if k < j then 0.5*k else 1.0
input M[i:61] : bool = i % 3 == 1
input E[e:3] : i64 = 7*e
input W : f64 = 0.25
input N[i:61] : f32 = sum[k] A[i,k]
input F[i:61] : f32 = max[q:9] (1.0*((i*q) % 17))
output C[i,j] : f32 = sum[k] A[i,k]*B[k,j]
output L[i,k] : bool = M[i] and A[i,k] > 0
output K[e] : i64 = 2*E[e]
output S : f64 = W * (sum[i] F[i])
output D[i] = N[i] + F[i]
END
want 0 "$EIN" run --target=eval usual.ein -o all=one/
for n in 2 3 4 7; do
  want 0 ranks $n "$EIN" run --flags=-O0 usual.ein -o all=many/
  for f in C L K S D; do
    cmp -s one/$f.npy many/$f.npy || wrong "$n processes: $f, of defaults, differs"
  done
  rm -r many
done
echo 'input X[i:61] : f64
output Y[i] = X[i] + 0.1' >wide.ein
want 0 "$EIN" run hangs.ein X=iota -o one.npy
want 0 ranks 4 "$EIN" run --flags=-O0 hangs.ein X=iota -o y.npy
cmp -s one.npy y.npy || wrong "a default that depends on an input differs"
want 0 "$EIN" run wide.ein X=iota -o x.npy
want 0 ranks 4 "$EIN" run --flags=-O0 hangs.ein X=x.npy -o y.npy
once 'warning: input X is f32, and x.npy, which is f64, is rounded'

# ---- outputs under a checkpoint's names: parts of axes that are counted, joined and transposed are at several processes
cat >stored.ein <<'END'
dim L = 3, H = 4, A = 6, D = 5
input q[l:L,h:H,a:A,d:D] : f32 = 1000*l + 100*h + 10*a + d
output r[l,h,a,d] to "layers.{l+1}.q"[(a h), d] = q[l,h,a,d]
output t[l,h,a,d] : f16 to "t.{h}"[d, (l a)] = q[l,h,a,d] / 7
output u[l,h,a,d] to "u.{d}.{l}" = 2 * q[l,h,a,d]
output v[a,h] to "v"[h,a] = sum[l,d] q[l,h,a,d]
output w = sum[l,h,a,d] q[l,h,a,d]
END
want 0 "$EIN" run stored.ein -o all=one.safetensors
want 0 "$EIN" run stored.ein -o r=some.safetensors:mine -o t=some.safetensors
for n in 2 3 4 6; do
  rm -f many.safetensors
  want 0 ranks $n "$EIN" run --flags=-O0 stored.ein -o all=many.safetensors -v
  once ' u is written to many.safetensors'
  cmp -s one.safetensors many.safetensors || wrong "$n processes write another checkpoint"
done
want 0 ranks 4 "$EIN" run --flags=-O0 stored.ein -o r=many.safetensors:mine -o t=many.safetensors
cmp -s some.safetensors many.safetensors || wrong "a name of the command line beside those of the program differs"
printf 'output a[i:8] to "x" = i\noutput b[i:8] to "x" = i\n' >named-twice.ein
want 2 ranks 2 "$EIN" run --flags=-O0 named-twice.ein -o all=twice.safetensors
once 'two tensors called x'
nothing_left twice.safetensors

# ---- what goes wrong, once, with one code; no output is left
head -c 5000 a.npy >short.npy
rest='B=b.npy M=m.safetensors W=w.raw G=ones'
for way in ./kinds "$EIN run --flags=-O0 kinds.ein"; do
  # shellcheck disable=SC2086
  {
    want 1 ranks 3 $way A=a.npy $rest E=damaged.npz:e -o all=bad/
    once 'checksum'
    nothing_left bad/C.npy
    want 1 ranks 3 $way A=short.npy $rest E=iota -o all=bad/
    once 'short.npy: its header says'
    nothing_left bad/C.npy
    want 4 ranks 3 $way A=ones $rest E=iota -o C=bad/C.npy -o D=nowhere/D.npy
    once 'nowhere'
    nothing_left bad/C.npy
  }
done

# ---- no process has a whole tensor: of each, 49 MB, a quarter; and what one process cannot write nobody leaves
cat >large.ein <<'END'
dim N = 3501
input A[i:N,j:N] : f32
input B[i:N,j:N] : f32
output C[i,j] = A[i,j] + B[i,j]
output R[j] = max[i] A[i,j]
END
cat >sparse.py <<'END'
import struct
n = 3501
for name, fortran in (('a.npy', True), ('b.npy', False)):
    h = "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, %d), }\n" % (fortran, n, n)
    with open(name, 'wb') as f:
        f.write(b'\x93NUMPY\x01\0' + struct.pack('<H', len(h)) + h.encode())
        f.truncate(f.tell() + 4 * n * n)
END
cat >peak.py <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
open('peak.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write('%d\n' % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
END
python3 sparse.py
want 0 "$EIN" build large.ein --target=mpi -n 4 --flags=-O1 -o large
cat >full.sh <<'END'
[ "$OMPI_COMM_WORLD_RANK" != 2 ] || ulimit -f 60000
exec "$@"
END
sed 's/^input B.*/& = 1.0*((i + 3*j) % 17)/' large.ein >usual-large.ein
for way in ./large "$EIN run --flags=-O1 large.ein" "$EIN run --flags=-O1 usual-large.ein"; do
  b=B=b.npy
  case $way in *usual*) b= ;; esac
  # shellcheck disable=SC2086
  want 0 ranks 4 python3 peak.py $way A=a.npy $b -o C=c.npy -o R=r.npy
  most=$(sort -n peak.[0-3] | tail -1)
  [ "$(cat peak.[0-3] | wc -l)" = 4 ] && [ "$most" -lt 80000 ] || wrong "a process of $way has $most KB, for three quarters of 49 MB"
  [ "$(wc -c <c.npy)" = $((128 + 4 * 3501 * 3501)) ] || wrong "c.npy has another size"
  rm c.npy
  # shellcheck disable=SC2086
  want 4 ranks 4 sh full.sh $way A=a.npy $b -o C=c.npy -o R=r2.npy
  once 'c.npy: writing failed: the file is larger than the system allows'
  nothing_left c.npy r2.npy
done
finish
