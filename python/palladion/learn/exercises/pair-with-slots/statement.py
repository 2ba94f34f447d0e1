import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Slots for two",
    kind="faster",
    target="b200",
    function="product",
    inputs=lambda: [(random((256, k), k, np.float16), random((k, 128), 1, np.float16)) for k in (512, 192)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-2,
    atol=1e-2,
    faster=1.4,
    seeds=2,
    hints=(
        "As in `overlap-products`: begin the loads of the first SLOTS steps before the loop.",
        "plgpu.Barrier(num_arrivals=2, num_barriers=SLOTS), and full.at[slot] in copies and waits.",
        "A slot may be filled again when this block has waited for done.at[slot]: the product has read both halves.",
    ),
)
