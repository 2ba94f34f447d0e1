import numpy as np
from palladion.learn.statement import Statement


def operands(m: int, inner: int, n: int) -> tuple[np.ndarray, ...]:
    numbers = np.random.default_rng(m + n)
    integers = [numbers.integers(-127, 128, shape).astype(np.int8) for shape in ((m, inner), (inner, n))]
    scales = [numbers.uniform(0.01, 0.1, shape).astype(np.float32) for shape in ((m, 1), (1, n))]
    return integers[0], scales[0], integers[1], scales[1]


def scaled(x: np.ndarray, x_scales: np.ndarray, y: np.ndarray, y_scales: np.ndarray) -> np.ndarray:
    return (x.astype(np.int32) @ y.astype(np.int32)).astype(np.float32) * x_scales * y_scales


EXERCISE = Statement(
    title="Eight bits and a scale",
    kind="write",
    target="v5e",
    function="product",
    inputs=lambda: [operands(128, 256, 256), operands(256, 128, 128)],
    reference=scaled,
    rtol=1e-5,
    atol=1e-4,
    seeds=1,
    hints=(
        "Which type has jnp.dot of two int8, unless preferred_element_type says otherwise?",
        "The sum is exact in int32. Then it is one conversion to float32, and two multiplications.",
        "Scales of rows are a column, scales of columns a row: both are spread over the block by themselves.",
    ),
)
