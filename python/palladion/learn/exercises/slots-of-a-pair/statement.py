import numpy as np
from palladion.learn.statement import Statement, random

# The last one has more steps than shared memory has room for slots of that width: no answer does without a wait.
EXERCISE = Statement(
    title="Free here, and not there",
    kind="mend",
    target="h100",
    function="add_number",
    inputs=lambda: [(random((steps * 16, columns), steps),) for steps, columns in ((5, 64), (2, 64), (16, 256))],
    reference=lambda x: np.stack([x, x + 1]),
    needs={"collective_copy": "a copy with collective_axes"},
    seeds=8,
    hints=(
        "Block 0 is done with a slot. Does it know how far block 1 is?",
        "plgpu.ClusterBarrier(collective_axes=..., num_barriers=...) completes when all blocks have arrived.",
        "Which of the two barriers speaks of both blocks: `full` or `empty`?",
    ),
)
