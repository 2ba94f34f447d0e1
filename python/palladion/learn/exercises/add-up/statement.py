import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A sum that programs share",
    kind="mend",
    target="triton/h100",
    function="add_up",
    inputs=lambda: [(random((count * 16,), count, np.int32), random((1,), 1, np.int32)) for count in (4, 2, 7)],
    reference=lambda x, start: start + np.sum(x),
    hints=(
        "Read, add and write have to be one operation on memory.",
        "from jax.experimental.pallas import triton as plgpu has plgpu.atomic_add(ref, index, value).",
    ),
)
