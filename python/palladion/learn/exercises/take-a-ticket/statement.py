import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The order of coming",
    kind="mend",
    target="triton/h100",
    function="double",
    inputs=lambda: [(random((rows, 16), rows), np.zeros(1, np.int32)) for rows in (4, 8)],
    reference=lambda x, counter: [counter + x.shape[0], x * 2],
    needs={"atomic_rmw": "plgpu.atomic_add"},
    hints=(
        "Program 3 may come first. Which row does it read then, and which row does it write?",
        "What depends on the ticket has to depend on it alone.",
    ),
)
