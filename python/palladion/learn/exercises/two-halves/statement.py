import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A number in two halves",
    kind="write",
    target="v5e",
    function="product",
    inputs=lambda: [(random((64, k), k), random((k, 128), 1)) for k in (128, 256)],
    reference=lambda x, y: (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float32),
    rtol=1e-4,
    atol=1e-3,
    seeds=1,
    multiplies="bfloat16",
    hints=(
        "What is left is a difference of float32: x - high.astype(jnp.float32).",
        "Three products: high by high, high by low, low by high. Why not the fourth?",
        "Each half has 8 bits, so the fourth is some 2**-16 of the first, as small as what the halves leave out.",
    ),
)
