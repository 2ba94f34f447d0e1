from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The same line, in the other block",
    kind="find",
    target="h100",
    function="racing",
    kernel="differences",
    inputs=lambda: [(random((2, 16, 64)),)],
    hints=(
        "Which one of the lines reads the memory of the other block?",
        "Between the two meetings each block runs B to E as it likes. What may the other one be doing during C?",
    ),
)
