#!/usr/bin/env python3
"""A checkpoint in the shape and with the names of LLaMA 7B, in bf16, and a run on it: bench/checkpoint.py build/ein [--layers 32] [--keep FOLDER]

Writes the checkpoint (two shards and their index, 13.5 GB with 32 layers) of random numbers to a temporary folder, or to FOLDER, runs checkpoint.ein on it
(16 tokens at once, two more with a cache), and reports its seconds and its peak resident memory: in all, and without the pages of files. Needs NumPy, and
Linux for memory. Stops the run if less than 2 GB of memory are left."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import numpy

from einlib import HERE

WORDS, MODEL, HEADS, HEAD, HIDDEN = 32000, 4096, 32, 128, 11008
TILE = 1 << 24  # numbers that are drawn; tensors repeat them, each from a place of its own


def shapes(layers):
    """The tensors of each shard, by name."""
    shards = [{"model.embed_tokens.weight": (WORDS, MODEL)}, {"model.norm.weight": (MODEL,), "lm_head.weight": (WORDS, MODEL)}]
    for k in range(layers):
        of = {"input_layernorm": (MODEL,), "self_attn.q_proj": (HEADS * HEAD, MODEL), "self_attn.k_proj": (HEADS * HEAD, MODEL),
              "self_attn.v_proj": (HEADS * HEAD, MODEL), "self_attn.o_proj": (MODEL, HEADS * HEAD), "post_attention_layernorm": (MODEL,),
              "mlp.gate_proj": (HIDDEN, MODEL), "mlp.up_proj": (HIDDEN, MODEL), "mlp.down_proj": (MODEL, HIDDEN)}
        shards[k * 2 // layers].update({f"model.layers.{k}.{name}.weight": shape for name, shape in of.items()})
    return shards


def write(folder, layers):
    draw = numpy.random.default_rng(1)
    tile = ((draw.standard_normal(TILE, dtype=numpy.float32) * 0.03).view(numpy.uint32) + 0x8000 >> 16).astype(numpy.uint16)
    one = numpy.uint16(0x3F80)
    names = {}
    for i, shard in enumerate(shapes(layers)):
        file, head, at = f"model-{i + 1:05d}-of-00002.safetensors", {}, 0
        for name, shape in shard.items():
            size = 2 * int(numpy.prod(shape))
            head[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
            at += size
            names[name] = file
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(folder, file), "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text)
            for shape in shard.values():
                left = int(numpy.prod(shape))
                if len(shape) == 1:
                    f.write(numpy.full(left, one).tobytes())
                    continue
                while left:
                    start = int(draw.integers(0, TILE // 16))
                    part = tile[start:start + left]
                    f.write(part.data)
                    left -= len(part)
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {}, "weight_map": names}, f)


def memory(path, word):
    with open(path) as f:
        return next((int(line.split()[1]) * 1024 for line in f if line.startswith(word + ":")), 0)


def run(ein, folder):
    """Returns the exit code, the seconds, and the peaks."""
    start, peak, own = time.perf_counter(), 0, 0
    child = subprocess.Popen([ein, "run", os.path.join(HERE, "checkpoint.ein"), "--params", folder, "-D", f"H={HEADS}"])
    while child.poll() is None:
        try:
            peak = max(peak, memory(f"/proc/{child.pid}/status", "VmHWM"))
            own = max(own, memory(f"/proc/{child.pid}/status", "RssAnon"))
        except FileNotFoundError:  # it has just ended
            break
        if memory("/proc/meminfo", "MemAvailable") < 2e9:
            child.kill()
            print("stopped: the machine has too little memory")
        time.sleep(0.1)
    return child.wait(), time.perf_counter() - start, peak, own


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ein")
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--keep")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = options.keep
            os.makedirs(folder, exist_ok=True)
        write(folder, options.layers)
        code, seconds, peak, own = run(os.path.abspath(options.ein), folder)
    print(f"exit code {code}, {seconds:.1f} s, peak {peak / 1e9:.2f} GB, {own / 1e9:.2f} GB of it not pages of files")
    return code


if __name__ == "__main__":
    sys.exit(main())
