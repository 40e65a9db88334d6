"""The rows, with a file for each group. They run in the order of GROUPS."""
from peers.groups import (attention, batched, chains, contractions, distances, gemm, moves, nets, reductions, rows,
                          semiring, skinny, tiny)

GROUPS = [m.GROUP for m in (gemm, skinny, batched, contractions, semiring, distances, rows, moves, reductions, attention,
                            chains, nets, tiny)]
