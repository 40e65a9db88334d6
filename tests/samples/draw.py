"""Random numbers as section 14 of docs/language.md defines them, written from that text alone."""
import math

import numpy as np

WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(counter, seed):
    """Philox4x32-10: four words for each counter, which is four arrays of words."""
    c = np.broadcast_arrays(*[np.atleast_1d(np.asarray(x, np.uint64)) for x in counter])
    k, l = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> HALF ^ c[1] ^ np.uint64(k), b & WORD, a >> HALF ^ c[3] ^ np.uint64(l), a & WORD]
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return c


def at_places(shape, seed, stream):
    return philox((np.arange(math.prod(shape)), 0, 0, stream), seed)


def uniform(seed, *shape):
    return (at_places(shape, seed, 0)[0] >> np.uint64(8)).astype(float).reshape(shape) / 2**24


def normal(seed, *shape):
    w = at_places(shape, seed, 1)
    u = (((w[0] << HALF | w[1]) >> np.uint64(11)) + np.uint64(1)).astype(float) / 2**53
    v = (w[2] << HALF | w[3]).astype(float) / 2**64
    return (np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)).astype(np.float32).astype(float).reshape(shape)


def permutation(seed, n):
    bits = max(1, (n - 1).bit_length())
    left, right = bits // 2, bits - bits // 2

    def mixed(half, turn, width):
        return philox((half, n & 0xFFFFFFFF, n >> 32, 3 + 256 * turn), seed)[0] & np.uint64(2**width - 1)

    x = np.arange(n, dtype=np.uint64)
    out = np.full(n, n, np.uint64)
    while (out >= n).any():
        l, r = x >> np.uint64(right), x & np.uint64(2**right - 1)
        for turn in range(0, 12, 2):
            l = l ^ mixed(r, turn, left)
            r = r ^ mixed(l, turn + 1, right)
        x = l << np.uint64(right) | r
        out = np.where(out < n, out, x)
    return out.astype(int)


def he(seed, i, o):
    return normal(seed, i, o) * np.sqrt(2 / i)


def glorot(seed, i, o):
    return normal(seed, i, o) * np.sqrt(2 / (i + o))
