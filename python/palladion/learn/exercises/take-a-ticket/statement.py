import numpy as np
from palladion.learn.statement import Statement, random

PROGRAMS = 4


def doubled(x: np.ndarray, counter: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    done = rows.copy()
    done[counter[0] : counter[0] + PROGRAMS] = x[counter[0] : counter[0] + PROGRAMS] * 2
    return [counter + PROGRAMS, done]


EXERCISE = Statement(
    title="The order of coming",
    kind="mend",
    target="triton/h100",
    function="double",
    inputs=lambda: [
        (random((rows, 16), rows), np.full(1, first, np.int32), random((rows, 16), 1))
        for rows, first in ((4, 0), (8, 3))
    ],
    reference=doubled,
    needs={"atomic_rmw": "plgpu.atomic_add"},
    hints=(
        "Program 3 may come first. Which row does it read then, and which row does it write?",
        "What depends on the ticket has to depend on it alone.",
    ),
)
