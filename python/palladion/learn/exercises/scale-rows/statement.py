from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Rows times factors",
    kind="write",
    target="triton/h100",
    function="scale",
    inputs=lambda: [(random(shape), random((shape[0], 1), 1)) for shape in ((32, 64), (16, 96), (64, 32))],
    reference=lambda x, factors: x * factors,
    hints=(
        "The grid has as many programs as there are blocks: x.shape[0] // ROWS of them along the first axis.",
        "An index map returns numbers of blocks, not of elements: lambda i, j: (i, j).",
        "All programs of one row of blocks see the same block of `factors`: its index map ignores j.",
    ),
)
