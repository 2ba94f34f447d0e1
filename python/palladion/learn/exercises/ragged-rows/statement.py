import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="What lies beside the array",
    kind="mend",
    target="triton/h100",
    function="largest",
    inputs=lambda: [(random((32, 50)) - 5,), (random((16, 64), 1),), (random((16, 33), 2) * 1e36 - 1e37,)],
    reference=lambda x: np.max(x, axis=1),
    hints=(
        "Numbers of the columns of a block: jax.lax.broadcasted_iota(jnp.int32, (ROWS, COLUMNS), 1).",
        "plgpu.load(x_ref, mask=column < x.shape[1], other=...): which number never wins against a real one?",
    ),
)
