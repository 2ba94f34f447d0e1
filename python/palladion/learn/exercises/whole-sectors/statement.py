from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="One eighth of what is read",
    kind="faster",
    target="triton/h100",
    function="double",
    inputs=lambda: [(random((2048, 64)),), (random((1024, 32), 1),)],
    reference=lambda x: x * 2,
    faster=1.5,
    seeds=1,
    hints=(
        "Which numbers lie beside x[0, 0] in memory: those of its row, or those of its column?",
        "As many numbers in a block as before, but in another shape: 32 rows of 32 columns, for one.",
    ),
)
