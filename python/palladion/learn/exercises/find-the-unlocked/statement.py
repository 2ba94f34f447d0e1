import numpy as np
from palladion.learn.statement import Statement

EXERCISE = Statement(
    title="One line outside of the lock",
    kind="find",
    target="triton/h100",
    function="racing",
    kernel="withdraw",
    inputs=lambda: [(np.array([3, 5, 2, 4], np.int32), np.zeros(1, np.int32), np.full(1, 20, np.int32))],
    hints=(
        "Which lines stand between the two exchanges of the lock, and which stand behind?",
        "Atomic operations do not race with each other. What else does a line read?",
        "Behind the lock, line D reads the account. Who may be writing it then?",
    ),
)
