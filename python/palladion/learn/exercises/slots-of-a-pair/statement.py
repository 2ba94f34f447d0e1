import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Free here, and not there",
    kind="mend",
    target="h100",
    function="add_number",
    inputs=lambda: [(random((steps * 16, 64), steps),) for steps in (5, 2)],
    reference=lambda x: np.stack([x, x + 1]),
    needs={"copy_gmem_to_smem": "plgpu.copy_gmem_to_smem"},
    seeds=8,
    hints=(
        "Block 0 is done with a slot. Does it know how far block 1 is?",
        "plgpu.ClusterBarrier(collective_axes=..., num_barriers=...) completes when all blocks have arrived.",
        "Which of the two barriers speaks of both blocks: `full` or `empty`?",
    ),
)
