import ml_dtypes
import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Rounded once, or eight times",
    kind="mend",
    target="v5e",
    function="product",
    inputs=lambda: [
        (random((m, 1024), m).astype(ml_dtypes.bfloat16), random((1024, n), n).astype(ml_dtypes.bfloat16))
        for m, n in ((128, 256), (256, 128))
    ],
    reference=lambda x, y: (x.astype(np.float32) @ y.astype(np.float32)).astype(ml_dtypes.bfloat16),
    rtol=1 / 128,
    atol=1e-2,
    seeds=1,
    hints=(
        "How often is an element of the result rounded to 8 bits on its way?",
        "The first step clears `acc`, every step adds to it, and the last one writes the result.",
        "The last step is pl.num_programs(2) - 1.",
    ),
)
