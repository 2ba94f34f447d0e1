import numpy as np
from palladion.learn.statement import Statement, random


def sums(x: np.ndarray, done: np.ndarray) -> list[np.ndarray]:
    parts = x.reshape(-1, 16).sum(axis=1).astype(np.int32)
    return [done + len(parts), parts, np.sum(parts, keepdims=True, dtype=np.int32)]


EXERCISE = Statement(
    title="The last one adds up",
    kind="mend",
    target="triton/h100",
    function="total",
    inputs=lambda: [(random((count * 16,), count, np.int32), np.zeros(1, np.int32)) for count in (4, 2, 8)],
    reference=sums,
    hints=(
        "Counting says that a program has written. Has it, when it counts?",
        "A sum is written by one lane of the program, and the parts are read by other lanes.",
        "Write, plgpu.debug_barrier(), count.",
    ),
)
