import numpy as np
from palladion.learn.statement import Statement, random


def updated(x: np.ndarray, lock: np.ndarray, start: np.ndarray) -> list[np.ndarray]:
    parts = x.reshape(-1, 16).sum(axis=1)
    return [lock, np.array([start[0] + parts.sum(), max(start[1], parts.max())], np.int32)]


EXERCISE = Statement(
    title="A lock that two hold",
    kind="mend",
    target="triton/h100",
    function="record",
    inputs=lambda: [
        (random((count * 16,), count, np.int32), np.zeros((), np.int32), random((2,), 1, np.int32)) for count in (3, 5)
    ],
    reference=updated,
    needs={"while": "a loop that asks for the lock"},
    hints=(
        "Two programs look, both see 0, both write 1, and both are inside.",
        "plgpu.atomic_xchg(lock_ref, (), 1) writes 1 and returns what was there: 0 for one program alone.",
        "With plgpu.atomic_add each look would change the lock: the check takes such a wait for a LIVELOCK.",
        "Giving it back has to be atomic too: a plain write is not ordered with the next program's exchange.",
    ),
)
