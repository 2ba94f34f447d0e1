import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Four blocks that look at each other",
    kind="write",
    target="h100",
    function="largest",
    inputs=lambda: [(random((4, columns), columns) - 5,) for columns in (128, 256)],
    reference=lambda x: np.broadcast_to(np.max(x, axis=0), x.shape),
    needs={"barrier_wait": "plgpu.barrier_wait", "cluster_ref": "plgpu.cluster_ref"},
    hints=(
        "All have to have written before one reads, and all have to have read before one ends.",
        "for other in range(BLOCKS): jnp.maximum of what was found and of that block's row.",
    ),
)
