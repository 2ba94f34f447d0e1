import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The tensor core is still reading",
    kind="mend",
    target="h100",
    function="product",
    inputs=lambda: [(random((64, k), k, np.float16), random((k, 64), 1, np.float16)) for k in (192, 64)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    hints=(
        "What does the copy of the next step overwrite, and who may be reading it?",
        "plgpu.wgmma_wait(1) leaves one under way: with one slot, which one is that?",
    ),
)
