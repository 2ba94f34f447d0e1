import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Tensor memory that is not there yet",
    kind="mend",
    target="b200",
    function="product",
    inputs=lambda: [(random((128, 64), 2, np.float16), random((64, 64), 3, np.float16))],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    hints=(
        "Two things are missing: who makes `done` complete, and who waits for it?",
        "A barrier that hands tensor memory over says so: plgpu.Barrier(orders_tensor_core=True).",
    ),
)
