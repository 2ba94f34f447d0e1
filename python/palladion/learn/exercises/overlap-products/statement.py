import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Loads under the products",
    kind="faster",
    target="h100",
    function="product",
    inputs=lambda: [(random((64, k), k, np.float16), random((k, 64), 1, np.float16)) for k in (512, 192)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    faster=1.3,
    seeds=4,
    hints=(
        "Begin the loads of the first SLOTS steps before the loop.",
        "In step i, after wgmma_wait(0), the slot is free: begin the load of step i + SLOTS into it.",
        "Or let another thread load, as in one-loads-one-multiplies.",
    ),
)
