import numpy as np
from palladion.learn.statement import Statement, random


def logarithms(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    largest = wide.max(axis=1)
    return (largest + np.log(np.exp(wide - largest[:, None]).sum(axis=1))).astype(np.float32)


EXERCISE = Statement(
    title="Infinity on the way",
    kind="mend",
    target="triton/h100",
    function="log_sum",
    inputs=lambda: [(random((32, 64)) * 100,), (random((16, 128), 1) - 200,), (random((16, 32), 2) + 500,)],
    reference=logarithms,
    rtol=1e-5,
    atol=1e-4,
    seeds=2,
    hints=(
        "Which m keeps every exponential at most one, and one of them exactly one?",
        "The largest number of each row: jnp.max(value, axis=1). What was taken off is added in the end.",
    ),
)
