"""A loss of Rax on padded lists, compiled by JAX: ``rax_losses.py ARRAYS LOSS THREADS``; see ``peers.py``.

XLA's threads follow the cores a process may use, so that is what is set.
"""

import os
import sys
import time

arrays, name, threads = sys.argv[1:]
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import rax  # noqa: E402

given = np.load(arrays)
scores, labels, mask = (jnp.asarray(given[part]) for part in ("scores", "labels", "mask"))
if name == "approx_t12n of ndcg_metric":
    metric = rax.approx_t12n(rax.ndcg_metric, temperature=0.1)
    loss = lambda *of, **where: -metric(*of, **where)  # noqa: E731
else:
    loss = getattr(rax, name)
step = jax.jit(jax.value_and_grad(lambda scores: loss(scores, labels, where=mask)))

for _ in sys.stdin:
    begin = time.perf_counter()
    jax.block_until_ready(step(scores))
    print(time.perf_counter() - begin, flush=True)
