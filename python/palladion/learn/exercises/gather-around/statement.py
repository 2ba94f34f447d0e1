import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Everyone has everything",
    kind="write",
    target="v5e",
    function="gather",
    inputs=lambda: [(random((devices, 8, 128), devices),) for devices in (4, 3)],
    reference=lambda x: np.broadcast_to(x, (len(x), *x.shape)),
    ring=True,
    needs={"dma_start": "a remote copy"},
    hints=(
        "The part of the device that is `step` to the left: jax.lax.rem(me + devices - step, devices).",
        "Source here and destination there are o_ref.at[part]: a part has the same place on every device.",
        "copy.wait() waits for what has left, and for what comes; that is another part than the one sent.",
        "A copy that describes the part to come, with its semaphore, can wait for it: .wait_recv().",
    ),
)
