#!/usr/bin/env python3
"""Writes the program of LLaMA's first token (prefill; Experiment 4 of "EinDecomp", Bourgeois et al.), with weights in f16:
each layer has tensors of its own, so a device that cannot hold all layers pages them. With --turns the layers are turns
of a `repeat`, and a weight is one tensor for all of them.

    python3 samples/papers/llama_prefill.py LAYERS A HEADS D F TOKENS BATCH VOCABULARY [--turns] >prefill.ein
    ein plan prefill.ein --target=cuda --memory=40GB

7B: 32 4096 32 128 11008; 65B: 80 8192 64 128 22016."""
import sys

WEIGHTS = """
param WQ{n}[{all}a:A,g:G,d:D], WK{n}[{all}a:A,g:G,d:D], WV{n}[{all}a:A,g:G,d:D] : f16
param WO{n}[{all}g:G,d:D,a:A] : f16
param W1_{n}[{all}a:A,f:F], W3_{n}[{all}a:A,f:F] : f16
param W2_{n}[{all}f:F,a:A] : f16"""

LAYER = """
N{n}[b,s,a] = rmsnorm[a]({x}[b,s,a], 1, 1e-5)
Q{n}[b,s,g,d] = rope_half[d](sum[a] N{n}[b,s,a] * WQ{n}[{at}a,g,d], s, 10000)
K{n}[b,s,g,d] = rope_half[d](sum[a] N{n}[b,s,a] * WK{n}[{at}a,g,d], s, 10000)
V{n}[b,s,g,d] = sum[a] N{n}[b,s,a] * WV{n}[{at}a,g,d]
O{n}[b,s,g,e] = causal[s,t,d](Q{n}[b,s,g,d], K{n}[b,t,g,d], V{n}[b,t,g,e], 1 / sqrt(D))
Y{n}[b,s,a] = {x}[b,s,a] + sum[g,e] O{n}[b,s,g,e] * WO{n}[{at}g,e,a]
M{n}[b,s,a] = rmsnorm[a](Y{n}[b,s,a], 1, 1e-5)
H{n}[b,s,f] = swiglu[a](M{n}[b,s,a], W1_{n}[{at}a,f], W3_{n}[{at}a,f])
{to}[b,s,a] = Y{n}[b,s,a] + sum[f] H{n}[b,s,f] * W2_{n}[{at}f,a]"""


def main(layers, a, heads, d, f, tokens, batch, words, turns):
    print(f"use nn\nuse attention\ndim B = {batch}, S = {tokens}, A = {a}, G = {heads}, D = {d}, F = {f}, WORDS = {words}")
    print("input X0[b:B,s:S,a:A] : f16\nparam U[a:A,v:WORDS] : f16")
    last = "X" if turns else f"X{layers}"
    if turns:
        print(WEIGHTS.format(n="", all=f"l:{layers},"))
        print(f"repeat l < {layers} {{\n  state X[b:B,s:S,a:A] : f16 = X0[b,s,a]"
              + LAYER.format(n="", at="l,", x="X", to="next X").replace("\n", "\n  ") + "\n}")
    else:
        for k in range(1, layers + 1):
            print(WEIGHTS.format(n=k, all="") + LAYER.format(n=k, at="", x=f"X{k - 1}", to=f"X{k}"))
    print(f"\noutput logits[b,v] = sum[a] {last}[b,S-1,a] * U[a,v]")


if __name__ == "__main__":
    sizes = [w for w in sys.argv[1:] if w != "--turns"]
    if len(sizes) != 8 or len(sys.argv) > 10:
        sys.exit(__doc__)
    main(*map(int, sizes), turns="--turns" in sys.argv)
