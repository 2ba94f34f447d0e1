from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Add one",
    kind="write",
    target="triton/h100",
    function="add_one",
    inputs=lambda: [(random(shape),) for shape in ((64,), (16, 32))],
    reference=lambda x: x + 1,
    hints=(
        "A ref is memory, and not an array: x_ref[...] is the array that is in it.",
        "`o_ref = ...` only gives another meaning to a name of Python. What is written goes to o_ref[...].",
    ),
)
