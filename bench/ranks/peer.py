#!/usr/bin/env python3
"""A peer of bench/ranks.py: peer.py torch|jax FOLDER CASE [small]. Reads lines from the pipe FOLDER/to.RANK and
answers in FOLDER/from, like ours.c. The answer to `first` has general information, the answer to `step` the
seconds."""
import json
import os
import re
import sys
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import CASES  # noqa: E402

RANKS = 4
TRIES = 5  # steps of each sharding; the fastest counts


def serve(folder, rank, first, step):
    with open(os.path.join(folder, f"to.{rank}"),
              encoding="utf-8") as to, open(os.path.join(folder, "from" if rank == 0 else os.devnull), "w",
                                            encoding="utf-8") as out:
        for line in to:
            print(json.dumps({"first": first, "step": step}[line.strip()]()), file=out, flush=True)


def save(folder, results):
    for name, x in results.items():
        numpy.save(os.path.join(folder, name + ".npy"), numpy.asarray(x))


# ---- PyTorch: DistributedDataParallel over gloo, a process a rank --------------------------------------------------


class Torch:
    def __init__(self, folder, inputs, rank):
        import torch
        from torch.nn.parallel import DistributedDataParallel
        self.torch, self.wrap, self.folder, self.rank = torch, DistributedDataParallel, folder, rank
        torch.set_num_threads(1)
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS)
        own = slice(len(inputs["X"]) * rank // RANKS, len(inputs["X"]) * (rank + 1) // RANKS)
        self.x, self.y = (torch.from_numpy(inputs[name][own].copy()) for name in "XY")
        self.weights = {name: inputs[name] for name in ("W1", "W2")}

    def model(self):
        torch = self.torch

        class Classifier(torch.nn.Module):
            def __init__(self, weights):
                super().__init__()
                self.W1, self.W2 = (torch.nn.Parameter(torch.from_numpy(weights[name].copy())) for name in ("W1", "W2"))

            def forward(self, x):
                return torch.relu(x @ self.W1) @ self.W2

        self.ddp = self.wrap(Classifier(self.weights), gradient_as_bucket_view=True)
        self.rule = torch.optim.SGD(self.ddp.parameters(), lr=0.1)

    def one(self):
        self.rule.zero_grad()
        entropy = self.torch.nn.functional.binary_cross_entropy_with_logits
        loss = entropy(self.ddp(self.x), self.y, reduction="sum") / len(self.x)
        loss.backward()
        self.rule.step()

    def counted(self):
        """Returns the bytes of all buckets reduced in a step, counted by a hook on a separate model."""
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
        seen = []

        def hook(state, bucket):
            seen.append(bucket.buffer().nbytes)
            return allreduce_hook(state, bucket)

        self.model()
        self.ddp.register_comm_hook(None, hook)
        self.one()
        return sum(seen)

    def first(self):
        held = self.counted()
        self.model()
        self.one()
        if self.rank == 0:
            save(self.folder, {name + "_next": w.detach().numpy() for name, w in self.ddp.module.named_parameters()})
        return {"bytes": 2 * (RANKS - 1) * held, "how": "the batch"}

    def step(self):
        self.torch.distributed.barrier()
        begun = time.perf_counter()
        self.one()
        took = self.torch.tensor(time.perf_counter() - begun)
        self.torch.distributed.all_reduce(took, op=self.torch.distributed.ReduceOp.MAX)
        return took.item()


def torch_main(folder, inputs):
    """Forks the ranks, and waits for them."""
    ranks = []
    for rank in range(RANKS):
        pid = os.fork()
        if not pid:
            t = Torch(folder, inputs, rank)
            serve(folder, rank, t.first, t.step)
            t.torch.distributed.destroy_process_group()
            os._exit(0)
        ranks.append(pid)
    return max(os.waitstatus_to_exitcode(os.wait()[1]) != 0 for _ in ranks)


# ---- JAX: one process, four devices of the host --------------------------------------------------------------------

SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "f64": 8}
MOVES = {"all-reduce": lambda n, g: 2 * n * (g - 1) / g, "all-gather": lambda n, g: n * (g - 1) / g,
         "reduce-scatter": lambda n, g: n * (g - 1),
         "all-to-all": lambda n, g: n * (g - 1) / g, "collective-permute": lambda n, g: n}


def moved(hlo):
    """Returns the bytes that all devices receive in the collectives of the compiled program, as ring algorithms."""
    total = 0
    for line in hlo.splitlines():
        m = re.search(r"= (.*?) (%s)(-start)?\(" % "|".join(MOVES), line)
        if not m:
            continue
        n = sum(SIZES[d] * int(numpy.prod([int(x) for x in extents.split(",") if x], initial=1))
                for d, extents in re.findall(r"(\w+)\[([\d,]*)\]", m[1]) if d in SIZES)
        listed = re.search(r"replica_groups=\{\{([\d,]+)\}", line)
        dense = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
        group = len(listed[1].split(",")) if listed else int(dense[2]) if dense else RANKS
        total += MOVES[m[2]](n, group) * RANKS
    return int(total)


class Jax:
    def __init__(self, folder, inputs, shardings):
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={RANKS} --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        self.jax, self.folder, self.inputs, self.shardings = jax, folder, inputs, shardings
        self.mesh = jax.sharding.Mesh(numpy.array(jax.devices()).reshape(2, 2), ("p", "q"))

    def place(self, *axes):
        return self.jax.sharding.NamedSharding(self.mesh, self.jax.sharding.PartitionSpec(*axes))

    def bind(self, how):
        """Compiles the step and places its arguments; each step donates the weights to the next."""
        jax = self.jax
        step, places, results = self.shardings[how](jax, self.mesh, self.place)
        fed = [k for k, name in enumerate(self.inputs) if name + "_next" in results]
        self.args = {name: jax.device_put(x, places[name]) for name, x in self.inputs.items()}
        self.run = jax.jit(step, in_shardings=tuple(places[name] for name in self.inputs), out_shardings=results,
                           donate_argnums=fed).lower(*self.args.values()).compile()

    def one(self):
        results = self.jax.block_until_ready(self.run(*self.args.values()))
        for name, x in results.items():
            if name.removesuffix("_next") in self.args:
                self.args[name.removesuffix("_next")] = x
        return results

    def step(self):
        begun = time.perf_counter()
        self.one()
        return time.perf_counter() - begun

    def first(self):
        took = {}
        for how in self.shardings:
            self.bind(how)
            self.one()
            took[how] = min(self.step() for _ in range(TRIES))
        best = min(took, key=took.get)
        self.bind(best)
        save(self.folder, self.one())
        return {"bytes": moved(self.run.as_text()), "how": best, "tried": took}


def main():
    peer, folder, name = sys.argv[1:4]
    case = next(c for c in CASES if c.name == name)
    inputs = case.inputs(case.small if sys.argv[4:] == ["small"] else case.sizes)
    if peer == "torch":
        return torch_main(folder, inputs)
    j = Jax(folder, inputs, case.jax)
    serve(folder, 0, j.first, j.step)
    return 0


if __name__ == "__main__":
    sys.exit(main())
