import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A neighbour that is a step behind",
    kind="mend",
    target="v5e",
    function="total",
    inputs=lambda: [(random((devices, 8, 128), devices),) for devices in (4, 3)],
    reference=lambda x: np.broadcast_to(np.sum(x, axis=0), x.shape),
    ring=True,
    rtol=1e-4,
    atol=1e-4,
    hints=(
        "In step 1 a device writes the slot that its right neighbour sends from and reads in step 0.",
        "After a step, tell the left neighbour that the slot is free; before the next step, wait for the right one.",
        "There are as many signals as waits: none is needed after the last step but one.",
    ),
)
