import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="One load for two blocks",
    kind="faster",
    target="h100",
    function="both",
    inputs=lambda: [(random((steps * 32, 64), steps),) for steps in (4, 1)],
    reference=lambda x: np.stack([x, x * 2]),
    fewer_bytes=1.9,
    needs={"collective_copy": "a copy with collective_axes"},
    seeds=8,
    hints=(
        "All blocks of the axis call the collective copy, with the same rows.",
        "The next copy writes into the memory of both: who has to have read before?",
        "After plgpu.commit_smem() each block arrives at `read` and waits for it.",
    ),
)
