"""The rows, a file a group; GROUPS is the order in which they run."""
from peers.groups import (attention, batched, chains, contractions, distances, gemm, moves, nets, reductions, rows,
                          semiring, skinny, tiny)

GROUPS = [m.GROUP for m in (gemm, skinny, batched, contractions, semiring, distances, rows, moves, reductions, attention,
                            chains, nets, tiny)]
