import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Everyone writes, then everyone reads",
    kind="write",
    target="h100",
    function="swap",
    inputs=lambda: [(random((32, 64)),), (random((64, 32), 1),)],
    reference=lambda x: np.roll(x, x.shape[0] // 2, axis=0),
    needs={"barrier_wait": "plgpu.barrier_wait"},
    hints=(
        "Which rows does thread 0 write, and which rows does it read?",
        "An arrival does not wait: each thread arrives, and then waits.",
        "plgpu.Barrier(num_arrivals=2) completes when both have arrived.",
    ),
)
