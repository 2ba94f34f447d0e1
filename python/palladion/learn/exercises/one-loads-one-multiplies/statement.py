import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A slot that the tensor core still reads",
    kind="mend",
    target="h100",
    function="product",
    inputs=lambda: [(random((64, k), k, np.float16), random((k, 64), 1, np.float16)) for k in (320, 128, 1024)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    seeds=8,
    hints=(
        "Who reads the slot last: the thread that multiplies, or the tensor core?",
        "plgpu.wgmma has returned before the operands are read: what has to stand between it and the arrival?",
    ),
)
