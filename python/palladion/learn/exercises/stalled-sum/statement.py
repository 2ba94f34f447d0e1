import numpy as np
from palladion.learn.statement import Statement


def large(rows: int, columns: int) -> np.ndarray:
    """Whose partial sums are some thousands, and whose sums are some hundreds."""
    numbers = np.random.default_rng(columns).uniform(100, 200, (rows, columns))
    return (numbers * np.where(np.arange(columns) < columns // 2, 1, -1) + 0.25).astype(np.float16)


EXERCISE = Statement(
    title="Where adding one changes nothing",
    kind="mend",
    target="triton/h100",
    function="sums",
    inputs=lambda: [(large(16, 4096),), (large(32, 2048),)],
    reference=lambda x: x.astype(np.float64).sum(axis=1).astype(np.float16),
    rtol=2e-3,
    atol=0.5,
    seeds=2,
    hints=(
        "How large is the total on the way, and how far apart are two numbers of float16 there?",
        "part.astype(jnp.float32) has 24 bits; the result is rounded once, at the end.",
        "All of the way has to be wider: the parts, the total, and the sum over its columns.",
    ),
)
