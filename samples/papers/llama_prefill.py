#!/usr/bin/env python3
"""Writes the program of LLaMA's first token (prefill; Experiment 4 of "EinDecomp", Bourgeois et al.), with weights in f16:
each layer has tensors of its own, so a device that cannot hold all layers pages them.

    python3 samples/papers/llama_prefill.py LAYERS A HEADS D F TOKENS BATCH VOCABULARY >prefill.ein
    ein plan prefill.ein --target=cuda --memory=40GB

7B: 32 4096 32 128 11008; 65B: 80 8192 64 128 22016."""
import sys

LAYER = """
param WQ{l}[a:A,g:G,d:D], WK{l}[a:A,g:G,d:D], WV{l}[a:A,g:G,d:D] : f16
param WO{l}[g:G,d:D,a:A] : f16
param W1_{l}[a:A,f:F], W3_{l}[a:A,f:F] : f16
param W2_{l}[f:F,a:A] : f16
N{l}[b,s,a] = rmsnorm[a]({x}[b,s,a], 1, 1e-5)
Q{l}[b,s,g,d] = rope_half[d](sum[a] N{l}[b,s,a] * WQ{l}[a,g,d], s, 10000)
K{l}[b,s,g,d] = rope_half[d](sum[a] N{l}[b,s,a] * WK{l}[a,g,d], s, 10000)
V{l}[b,s,g,d] = sum[a] N{l}[b,s,a] * WV{l}[a,g,d]
O{l}[b,s,g,e] = causal[s,t,d](Q{l}[b,s,g,d], K{l}[b,t,g,d], V{l}[b,t,g,e], 1 / sqrt(D))
Y{l}[b,s,a] = {x}[b,s,a] + sum[g,e] O{l}[b,s,g,e] * WO{l}[g,e,a]
M{l}[b,s,a] = rmsnorm[a](Y{l}[b,s,a], 1, 1e-5)
H{l}[b,s,f] = swiglu[a](M{l}[b,s,a], W1_{l}[a,f], W3_{l}[a,f])
X{l}[b,s,a] = Y{l}[b,s,a] + sum[f] H{l}[b,s,f] * W2_{l}[f,a]"""


def main(layers, a, heads, d, f, tokens, batch, words):
    print(f"use nn\nuse attention\ndim B = {batch}, S = {tokens}, A = {a}, G = {heads}, D = {d}, F = {f}, V = {words}")
    print("input X0[b:B,s:S,a:A] : f16\nparam U[a:A,v:V] : f16")
    for k in range(1, layers + 1):
        print(LAYER.format(l=k, x=f"X{k - 1}"))
    print(f"\noutput logits[b,v] = sum[a] X{layers}[b,S-1,a] * U[a,v]")


if __name__ == "__main__":
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    main(*map(int, sys.argv[1:]))
