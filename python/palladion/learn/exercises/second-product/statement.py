import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A load that is overtaken",
    kind="mend",
    target="b200",
    function="both",
    inputs=lambda: [(random((128, 64), 2, np.float16), random((64, 64), 3, np.float16))],
    reference=lambda x, y: np.stack([x.astype(np.float32) @ y.astype(np.float32)] * 2),
    rtol=1e-3,
    atol=1e-3,
    hints=(
        "When has plgpu.async_load_tmem read its source?",
        "The second product may begin when the load has ended.",
    ),
)
