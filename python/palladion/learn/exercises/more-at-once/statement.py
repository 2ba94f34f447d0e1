import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Room for one",
    kind="faster",
    target="h100",
    function="exponentials",
    inputs=lambda: [(random((blocks * 512, 64), blocks),) for blocks in (16, 3)],
    chip={"chip.cores": "4"},
    reference=lambda x: np.exp(x),
    rtol=1e-4,
    atol=1e-5,
    faster=1.5,
    seeds=2,
    hints=(
        "How many tiles of a block are in use at once, and for how many is there room?",
        "With one tile a copy overwrites what was read before; plgpu.commit_smem() belongs between the two.",
    ),
)
