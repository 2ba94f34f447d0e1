import numpy as np
from palladion.learn.statement import Statement, random


def classes(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 8, count * 16).astype(np.int32)


EXERCISE = Statement(
    title="A histogram",
    kind="write",
    target="triton/h100",
    function="count",
    inputs=lambda: [(classes(count), random((8,), count, np.int32)) for count in (4, 1, 6)],
    reference=lambda x, start: start + np.bincount(x, minlength=8).astype(np.int32),
    hints=(
        "Two of the 16 numbers may be of the same class: that too is an access to the same memory.",
        "With triton as plgpu: plgpu.atomic_add(counts_ref, (x_ref[...],), ones) adds ones[k] at x_ref[k], for each k.",
    ),
)
