import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A sum that stays in VMEM",
    kind="mend",
    target="v5e",
    function="total",
    inputs=lambda: [(random((rows, 128), rows),) for rows in (32, 8)],
    reference=lambda x: np.sum(x, axis=0, keepdims=True),
    rtol=1e-5,
    atol=1e-5,
    hints=(
        "Which program is the first to add to the block, and what does it add to?",
        "pl.program_id(0) is the number of the step, and pl.when(condition) runs a function under a condition.",
    ),
)
