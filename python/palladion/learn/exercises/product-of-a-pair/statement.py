import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="One product of two blocks",
    kind="mend",
    target="b200",
    function="product",
    inputs=lambda: [(random((256, 64), seed, np.float16), random((64, 128), 9, np.float16)) for seed in (2, 3)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    needs={"tcgen05_mma": "plgpu.tcgen05_mma"},
    hints=(
        "Block 1 starts no product. How does it know that its rows are there?",
        "A commit with a collective axis arrives at `done` of both blocks.",
        "Each block has to wait for its own `done`.",
    ),
)
