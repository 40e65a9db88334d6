#!/bin/sh
# suite: ci
# Params by their names in a checkpoint: the same bits as with the same tensors given one by one, whatever the order
# and grouping of axes, from shards, one file, an archive, and on ranks. Names and shapes determine sizes; each
# mistake is named.
. "$(dirname "$0")/common"

command -v python3 >/dev/null || {
  echo "no python3: not tested"
  exit 77
}
python3 "$here/checkpoint.py" .
cat >net.ein <<'END'
dim L, H, A = 3, D, F, V
param embed[v:V,d:D] : bf16 from "model.embed_tokens.weight"
param wq[l:L,h:H,a:A,d:D] : bf16 from "model.layers.{l}.self_attn.q_proj.weight"[(h a), d]
param wo[h:H,l:L,a:A,d:D] : f32 from "model.layers.{l}.self_attn.o_proj.weight"[d, (h a)]
param up[d:D,l:L,f:F] : bf16 from "model.layers.{l}.mlp.up_proj.weight"[f,d]
param norm[D] : f64 from "model.norm.weight"
param one[a:A,d:D,h:H] : f32 from "model.layers.1.self_attn.q_proj.weight"[(h a), d]
output e[v,d] = embed[v,d]
output n[d] = norm[d]
output q[l,h,a,d] = wq[l,h,a,d]
output o[h,l,a,d] = wo[h,l,a,d]
output u[d,l,f] = up[d,l,f]
output w[a,d,h] = one[a,d,h]
output s = sum[l,h,a,d,f] f32(wq[l,h,a,d]) * wo[h,l,a,d] * up[d,l,f]
END
inputs="embed=embed.npy wq=wq.npy wo=wo.npy up=up.npy norm=norm.npy one=one.npy"
want 0 "$EIN" fmt --check net.ein
for target in c eval; do
  # shellcheck disable=SC2086
  want 0 "$EIN" run net.ein --target=$target $inputs -o all=given.safetensors
  for path in model model/model.safetensors.index.json one.npz; do
    want 0 "$EIN" run net.ein --target=$target --params $path -o all=read.safetensors
    silent
    cmp -s given.safetensors read.safetensors || wrong "$path by $target: not the tensors that were given"
  done
done
python3 "$here/checkpoint.py" large 3 1 34 65 40 2 # beyond the tiles in which axes are transposed
cd large || exit 1
# shellcheck disable=SC2086
want 0 "$EIN" run ../net.ein --target=c -D A=34 $inputs -o all=given.safetensors
for path in model one.npz; do
  want 0 "$EIN" run ../net.ein --target=c -D A=34 --params $path -o all=read.safetensors
  cmp -s given.safetensors read.safetensors || wrong "$path of larger tensors: differs from the given params"
done
cd ..
want 0 "$EIN" run net.ein --params model -o all=given.safetensors
want 0 "$EIN" run net.ein --params model wq=ones -o all=read.safetensors
cmp -s given.safetensors read.safetensors && wrong "wq=ones does not win"
want 0 "$EIN" verify net.ein --params model

# Shards without an index: all of them, or none that a number of tensors is taken from.
cp -r model shards && rm shards/*.json
want 0 "$EIN" run net.ein --params shards -o all=read.safetensors
cmp -s given.safetensors read.safetensors || wrong "shards without an index: not the tensors of the index"
rm shards/model-00002-of-00002.safetensors
cat >layers.ein <<'END'
dim L, H, A = 3, D
param wq[l:L,h:H,a:A,d:D] : bf16 from "model.layers.{l}.self_attn.q_proj.weight"[(h a), d]
output s[l] = sum[h,a,d] f32(wq[l,h,a,d])
END
for path in shards shards/model-00001-of-00002.safetensors; do
  for command in run params; do
    want 1 "$EIN" $command layers.ein --params $path
    says "--params $path: it lacks the shard shards/model-00002-of-00002.safetensors, so how many tensors"
  done
  want 0 "$EIN" run layers.ein --params $path -D L=1
done

# on ranks each reads its own blocks, cut within a stored axis too
if command -v mpirun >/dev/null && "$EIN" doctor | grep -q '^mpirun ein run *[^n]'; then
  mpi_ready
  # shellcheck disable=SC2086
  want 0 env -u EIN_TARGET "$EIN" run --np 2 net.ein $inputs -o all=given.safetensors
  want 0 env -u EIN_TARGET "$EIN" run --np 2 net.ein --params model -o all=read.safetensors
  cmp -s given.safetensors read.safetensors || wrong "on two ranks: not the tensors that were given"
fi

# what lies as the program has it is not copied
want 0 "$EIN" run net.ein --params model -v
says "embed is model:model.embed_tokens.weight where it lies"
says "wq is read from model:"

# sizes
want 0 "$EIN" run net.ein --params model
shows "q[l:2, h:2, a:3, d:4] : bf16"
want 1 "$EIN" run net.ein --params model -D L=3
says "net.ein:3:7: param wq: model has no tensor called model.layers.2.self_attn.q_proj.weight; did you mean"
want 0 "$EIN" run net.ein --params model -D L=1
shows "q[l:1, h:2, a:3, d:4] : bf16"
want 1 "$EIN" run net.ein --params model -D D=5
says "expected model.embed_tokens.weight of shape [7, 5], found [7, 4] in model/model-00001-of-00002.safetensors"
want 1 "$EIN" run net.ein --params model -D A=4
says "expected model.layers.0.self_attn.q_proj.weight of shape [1 * 4, 4], found [6, 4]"
want 1 "$EIN" run net.ein --params model -D H=3
says "of shape [3 * 3, 4], found [6, 4]"

# the table: what is bound, what is not and why, and what nobody reads; also what no size is known of
want 0 "$EIN" params net.ein --params model
shows "embed  [7, 4] bf16        model.embed_tokens.weight                 [7, 4] bf16        1  as it lies"
shows "wq     [2, 2, 3, 4] bf16  model.layers.{l}.self_attn.q_proj.weight  [6, 4] bf16        2  bound"
shows "1 of the 9 tensors of model is read by no param:"
shows "  lm_head.weight [7, 4]"
want 1 "$EIN" params net.ein --params model -D H=3 -D L=3
shows "up     [4, 3, 5] bf16     model.layers.{l}.mlp.up_proj.weight       [5, 4] bf16        3  missing"
shows "up: model has no tensor called model.layers.2.mlp.up_proj.weight; did you mean"
shows "one: expected model.layers.1.self_attn.q_proj.weight of shape [3 * 3, 4], found [6, 4] in model/model-00002-of-00002.safetensors"
want 1 "$EIN" params net.ein --params model -D H=3 --format=json
python3 -c "
import json
t = json.load(open('out'))
assert t['format'] == 'ein params 1' and t['unread'] == ['lm_head.weight'], t
assert [p['state'] for p in t['params']] == ['as it lies', 'does not fit', 'does not fit', 'bound', 'bound', 'does not fit'], t
" || wrong "the table as JSON"
printf 'dim N, M\nparam w[i:N,j:N,k:N] from "model.embed_tokens.weight"[i, (j k)]\nparam v[i:3] from "no"\nparam u[i:M*M] from "lm_head.weight"\n' >open.ein
want 1 "$EIN" params open.ein --params model
shows "v: model has no tensor called no"
shows "size not known"
printf 'dim N, M\nparam w[i:N,j:M] from "model.norm.weight"[(i j)]\noutput r[i] = sum[j] w[i,j]\n' >pair.ein
want 1 "$EIN" params pair.ein --params model
shows "w      [?, ?] f32  model.norm.weight  [4] bf16        1  size not known"
want 2 "$EIN" run pair.ein --params model
want 0 "$EIN" params pair.ein --params model -D N=2
shows "w      [2, 2] f32  model.norm.weight  [4] bf16        1  bound"
want 2 "$EIN" params net.ein
says "which checkpoint?"
want 2 "$EIN" params --params model

# numbers from 1, and by a program of its own
cat >from1.ein <<'END'
dim L
param n[l:L,d:4] : bf16 from "layers.{l+1}.norm"
output y[l,d] = n[l,d]
END
printf 'output a[i:4] : bf16 = 1\noutput b[i:4] : bf16 = 2\n' >make.ein
want 0 "$EIN" run make.ein -o a=n.safetensors:layers.1.norm -o b=n.safetensors:layers.2.norm
want 0 "$EIN" run from1.ein --params n.safetensors
shows "y[l:2, d:4] : bf16"
want 0 "$EIN" run make.ein -o a=hole.safetensors:layers.1.norm -o b=hole.safetensors:layers.3.norm
want 1 "$EIN" run from1.ein --params hole.safetensors
says "no tensor called layers.2.norm"

# outputs under such names, and read back
cat >back.ein <<'END'
input q[l:2,h:2,a:3,d:4] : bf16 = l + 10 * h + 100 * a - d
output r[l,h,a,d] to "layers.{l+1}.q"[(a h), d] = q[l,h,a,d]
output t[l,h,a,d] to "t.{h}"[d, (l a)] = q[l,h,a,d]
output p[l,h,a,d] = q[l,h,a,d]
output u[l,a] to "u.{a}"[l] = q[l,0,a,0]
END
cat >forth.ein <<'END'
dim L, D
param r[l:L,h:2,a:3,d:D] : bf16 from "layers.{l+1}.q"[(a h), d]
param t[l:L,h:2,a:3,d:D] : bf16 from "t.{h}"[d, (l a)]
param p[l:L,h:2,a:3,d:D] : bf16
param u[l:L,a:3] : bf16 from "u.{a}"[l]
output same = all[l,h,a,d] (r[l,h,a,d] == p[l,h,a,d] and t[l,h,a,d] == p[l,h,a,d])
output columns = all[l,a] (u[l,a] == p[l,0,a,0])
END
want 0 "$EIN" run back.ein -o all=back.safetensors
silent
want 0 "$EIN" run forth.ein --params back.safetensors
shows "same : bool = true"
shows "columns : bool = true"
want 0 "$EIN" build back.ein --flags=-O0 -o back
says "warning: only ein run knows names in a checkpoint: the program writes r, not layers.{l+1}.q, and 2 more"
want 0 "$EIN" build forth.ein --flags=-O0 -o forth
says "the program reads r, not layers.{l+1}.q, and 2 more"
want 0 "$EIN" run back.ein -o r=r.safetensors:r
want 0 "$EIN" run make.ein -o a=r.safetensors:a
printf 'output a[i:2] to "x" = i\noutput b[i:2] to "x" = i\n' >twice.ein
want 2 "$EIN" run twice.ein -o all=twice.safetensors
says "two tensors called x"

# wider numbers than the program's are rounded, and that is said
printf 'param n[d:4] : bf16 from "x"\noutput y[d] = n[d]\n' >narrow.ein
printf 'output x[d:4] : f32 = 1.0 / (d + 3)\n' >thirds.ein
want 0 "$EIN" run thirds.ein -o x=x.safetensors
want 0 "$EIN" run narrow.ein --params x.safetensors
says "which is f32, are rounded"
printf 'param n[d:4] : i32 from "x"\noutput y[d] = n[d]\n' >whole.ein
want 1 "$EIN" run whole.ein --params x.safetensors

# files that are not as they should be
want 4 "$EIN" run net.ein --params nowhere.safetensors
want 2 "$EIN" run net.ein --params net.ein
says "--params wants"
mkdir empty
want 2 "$EIN" run net.ein --params empty
says "this folder has no .safetensors or .npz file"
cp -r model gone
rm gone/model-00002-of-00002.safetensors
want 4 "$EIN" run net.ein --params gone
says "the index names gone/model-00002-of-00002.safetensors, which is not there"
cp -r model stale
sed 's/lm_head/lm_tail/' model/model.safetensors.index.json >stale/model.safetensors.index.json
want 1 "$EIN" run net.ein --params stale
says "lm_tail.weight is in stale/model-00002-of-00002.safetensors, and it is not"
sed 's/model-00001/..\/model-00001/' model/model.safetensors.index.json >stale/model.safetensors.index.json
want 1 "$EIN" run net.ein --params stale
says "is no .safetensors beside it"
echo '{"weight_map": 3}' >stale/model.safetensors.index.json
want 1 "$EIN" run net.ein --params stale
says "no object \`weight_map\`"
mkdir both
cp model/model-00001-of-00002.safetensors both/a.safetensors
cp model/model-00001-of-00002.safetensors both/b.safetensors
want 1 "$EIN" run net.ein --params both
says "is in both/a.safetensors and in both/b.safetensors"
python3 -W ignore -c "
import zipfile
with zipfile.ZipFile('one.npz') as z, zipfile.ZipFile('twice.npz', 'w') as t:
    for name in z.namelist() + z.namelist()[:1]:
        t.writestr(name, z.read(name))
"
want 1 "$EIN" run net.ein --params twice.npz
says "twice.npz holds two tensors called model.embed_tokens.weight"
python3 -c "
import struct
head = b'{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}'
open('same.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + bytes(8))
head = b'{\"x\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]}}'
open('f8.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + bytes(4))
"
want 1 "$EIN" run narrow.ein --params same.safetensors
says "two tensors called x"
want 1 "$EIN" run narrow.ein --params f8.safetensors
says "x in f8.safetensors is of dtype F8_E4M3, which cannot be read"
rm both/b.safetensors
printf '\377\377\377\377\377\377\377\177{}' >both/b.safetensors
want 1 "$EIN" run net.ein --params both
says "its header claims 9223372036854775807 bytes"
head -c 400 model/model-00001-of-00002.safetensors >both/b.safetensors
want 1 "$EIN" run net.ein --params both

# a text of the graph has no names of a checkpoint: its params go by their own
printf 'param x[d:4] : f32 from "y"\noutput z[d] = x[d]\n' >text.ein
want 0 "$EIN" build text.ein --stop=graph -o text.graph
want 0 "$EIN" run text.graph --params x.safetensors
want 1 "$EIN" run text.ein --params x.safetensors
says "x.safetensors has no tensor called y"
finish
