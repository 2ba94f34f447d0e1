import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A neighbour that has gone",
    kind="mend",
    target="h100",
    function="add_both",
    inputs=lambda: [(random((2, rows, 64), rows),) for rows in (64, 128)],
    reference=lambda x: np.stack([x[0] * 2 + x[1] * 2] * 2),
    needs={"barrier_wait": "plgpu.barrier_wait", "cluster_ref": "plgpu.cluster_ref"},
    hints=(
        "Each block arrives at `written` behind its write, and waits for it before it reads from the other.",
        "A block that is done early takes its shared memory with it. Who may still be reading it?",
        "Arrive at `read` behind the read, and wait for it before the end.",
    ),
)
