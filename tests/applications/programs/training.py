"""Data-parallel training as programs of mpi4py do it: gradients are summed over ranks.

Ranks hold unequal shards of the data, so that they join each sum at different times. Prints the
loss of some steps, and at the end a checksum of the weights that every rank has.

  training.py [STEPS]
"""

import sys

import numpy as np
from mpi4py import MPI

FEATURES, HIDDEN, SAMPLES, RATE = 16, 64, 3000, 0.05

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 40

# Rank 0 has the data; rank r gets a share in proportion to r + 1.
counts = np.array([SAMPLES * (r + 1) // (ranks * (ranks + 1) // 2) for r in range(ranks)])
counts[-1] += SAMPLES - counts.sum()
data = None
if rank == 0:
    random = np.random.default_rng(7)
    inputs = random.standard_normal((SAMPLES, FEATURES))
    data = np.column_stack([inputs, np.sin(inputs).sum(axis=1)])
shard = np.empty((counts[rank], FEATURES + 1))
columns = counts * (FEATURES + 1)
source = [data, columns, np.concatenate([[0], columns[:-1].cumsum()]), MPI.DOUBLE]
world.Scatterv(source, shard, root=0)
inputs, targets = shard[:, :-1], shard[:, -1]

settings = world.bcast({"rate": RATE} if rank == 0 else None, root=0)
first = np.random.default_rng(rank).standard_normal((FEATURES, HIDDEN)) * 0.1
second = np.random.default_rng(rank + 99).standard_normal(HIDDEN) * 0.1
for weights in (first, second):
    world.Bcast(weights, root=0)

size = first.size + second.size
for step in range(steps):
    active = np.tanh(inputs @ first)
    error = active @ second - targets
    # The gradient and the loss in one sum.
    local = np.empty(size + 1)
    back = np.outer(error, second) * (1 - active**2)
    local[: first.size] = (inputs.T @ back).ravel()
    local[first.size : size] = active.T @ error
    local[size] = (error**2).sum()
    total = np.empty_like(local)
    world.Allreduce(local, total)
    total /= SAMPLES
    first -= settings["rate"] * total[: first.size].reshape(first.shape)
    second -= settings["rate"] * total[first.size : size]
    if rank == 0 and step % 10 == 0:
        print(f"step {step} loss {total[size]:.12g}")

sums = world.gather(float(first.sum() + second.sum()), root=0)
if rank == 0:
    print(f"weights {sums[0]:.12g}, the same on all ranks: {len(set(sums)) == 1}")
