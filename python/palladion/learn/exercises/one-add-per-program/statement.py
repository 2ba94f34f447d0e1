import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A queue at one address",
    kind="faster",
    target="triton/h100",
    function="total",
    inputs=lambda: [(random((count * 1024,), count, np.int32), random((1,), 1, np.int32)) for count in (4, 2)],
    reference=lambda x, start: start + np.sum(x, dtype=np.int32),
    faster=2.0,
    seeds=4,
    hints=(
        "How many atomic operations does a program do, and how many does it need?",
        "jnp.sum(x_ref[...]) adds up within the program, without any shared memory of yours.",
    ),
)
