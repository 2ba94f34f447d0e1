import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="To the right neighbour",
    kind="write",
    target="v5e",
    function="pass_right",
    inputs=lambda: [(random((devices, 8, 128), devices),) for devices in (4, 3)],
    reference=lambda x: np.roll(x, 1, axis=0),
    ring=True,
    hints=(
        "A remainder wraps around: behind the last device comes device 0. jax.lax.axis_size has the number of devices.",
        "Both semaphores are to be waited for: the source may not be reused, nor the result read, before.",
        "copy.wait_send() waits for `sent`, copy.wait_recv() for `received`, copy.wait() for both.",
    ),
)
