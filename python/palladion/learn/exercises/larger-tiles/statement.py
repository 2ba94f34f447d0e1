import ml_dtypes
import numpy as np
from palladion.learn.statement import Statement, random


def numbers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return random(shape, seed).astype(ml_dtypes.bfloat16)


EXERCISE = Statement(
    title="More work for each byte",
    kind="faster",
    target="v5e",
    function="product",
    inputs=lambda: [(numbers((size, 256), 0), numbers((256, size), 1)) for size in (1024, 512)],
    reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
    rtol=1e-3,
    atol=1e-3,
    faster=1.5,
    vmem=3 << 20,
    seeds=1,
    hints=(
        "How many bytes does the grid fetch in all? `x` stays along a row of tiles, and `y` does not.",
        "With tiles twice as large each, `y` is fetched half as often.",
        "Results are float32, and held twice: 512 by 512 of them are 1 MiB.",
    ),
)
