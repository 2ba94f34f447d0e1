from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A buffer that is still going out",
    kind="find",
    target="v5e",
    function="racing",
    kernel="negate",
    inputs=lambda: [(random((32, 128)),)],
    hints=(
        "Which buffer does step 2 write, and which copy began in step 0?",
        "A copy that is under way accesses memory on behalf of the line that started it.",
        "The wait for the copy of two steps before comes too late. For which line?",
    ),
)
