import numpy as np
from palladion.learn.statement import Statement, random


def numbers(count: int) -> np.ndarray:
    return np.random.default_rng(count).permutation(count).astype(np.int32)


EXERCISE = Statement(
    title="A number that programs share",
    kind="mend",
    target="triton/h100",
    function="largest",
    inputs=lambda: [(numbers(count * 16), random((1,), 1, np.int32)) for count in (4, 2, 7)],
    reference=lambda x, start: np.maximum(start, np.max(x)),
    hints=(
        "Read, compare and write have to be one operation on memory.",
        "Each atomic operation of jax.experimental.pallas.triton takes a ref, an index and a value.",
    ),
)
