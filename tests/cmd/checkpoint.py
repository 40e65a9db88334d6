#!/usr/bin/env python3
"""Makes small checkpoints with LLaMA's tensor names, with only the standard library.

checkpoint.py FOLDER [LAYERS HEADS HEAD MODEL HIDDEN WORDS] makes
    FOLDER/model/    two shards of bf16 and their index
    FOLDER/one.npz   the same tensors as f32, stored, some with the first axis fastest
    FOLDER/NAME.npy  the value of each param of params.ein, in the program's order, as f32
"""
import json
import os
import random
import struct
import sys
import zipfile

FOLDER = sys.argv[1]
L, H, A, D, F, V = [int(x) for x in sys.argv[2:]] or [2, 2, 3, 4, 5, 7]
random.seed(21)


def bf16(x):
    return struct.unpack("<I", struct.pack("<f", x))[0] >> 16


def widened(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def tensor(*shape):
    n = 1
    for size in shape:
        n *= size
    return list(shape), [bf16(random.uniform(-1, 1)) for _ in range(n)]


def at(t, *place):
    i = 0
    for size, k in zip(t[0], place):
        i = i * size + k
    return t[1][i]


def safetensors(path, tensors, dtype="BF16", code="H"):
    head, at_byte, size = {}, 0, struct.calcsize(code)
    for name, (shape, values) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at_byte, at_byte + size * len(values)]}
        at_byte += size * len(values)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            f.write(struct.pack("<%d%s" % (len(values), code), *values))


def npy(shape, bits, fortran=False):
    if fortran:
        rows, columns = shape
        bits = [bits[i * columns + k] for k in range(columns) for i in range(rows)]
    head = "{'descr': '<f4', 'fortran_order': %s, 'shape': (%s), }" % (fortran, "".join("%d, " % s for s in shape))
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(bits), *map(widened, bits))


def layer(k):
    t = "model.layers.%d." % k
    return {t + "self_attn.q_proj.weight": tensor(H * A, D), t + "self_attn.o_proj.weight": tensor(D, H * A),
            t + "mlp.up_proj.weight": tensor(F, D)}


os.makedirs(FOLDER + "/model", exist_ok=True)
shards = [{"model.embed_tokens.weight": tensor(V, D)}, {"model.norm.weight": tensor(D), "lm_head.weight": tensor(V, D)}]
for k in range(L):
    shards[k * 2 // L].update(layer(k))
names = {}
for i, shard in enumerate(shards):
    file = "model-%05d-of-00002.safetensors" % (i + 1)
    safetensors(FOLDER + "/model/" + file, shard)
    names.update({name: file for name in shard})
with open(FOLDER + "/model/model.safetensors.index.json", "w") as f:
    json.dump({"metadata": {"total_size": 0}, "weight_map": names}, f)

every = {**shards[0], **shards[1]}
with zipfile.ZipFile(FOLDER + "/one.npz", "w") as z:
    for name, (shape, bits) in every.items():
        z.writestr(name + ".npy", npy(shape, bits, len(shape) == 2))


def put(name, shape, bits):
    with open("%s/%s.npy" % (FOLDER, name), "wb") as f:
        f.write(npy(shape, bits))


def of(k, name):
    return every["model.layers.%d.%s.weight" % (k, name)]


put("embed", [V, D], every["model.embed_tokens.weight"][1])
put("norm", [D], every["model.norm.weight"][1])
put("wq", [L, H, A, D], [at(of(l, "self_attn.q_proj"), h * A + a, d) for l in range(L) for h in range(H) for a in range(A) for d in range(D)])
put("wo", [H, L, A, D], [at(of(l, "self_attn.o_proj"), d, h * A + a) for h in range(H) for l in range(L) for a in range(A) for d in range(D)])
put("up", [D, L, F], [at(of(l, "mlp.up_proj"), f, d) for d in range(D) for l in range(L) for f in range(F)])
put("one", [A, D, H], [at(of(1, "self_attn.q_proj"), h * A + a, d) for a in range(A) for d in range(D) for h in range(H)])
