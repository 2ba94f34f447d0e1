from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A block that stays",
    kind="faster",
    target="v5e",
    function="scaled",
    inputs=lambda: [(random((256, 512)), random((8, 8, 512), 1)), (random((128, 256), 2), random((2, 8, 256), 3))],
    timed=lambda: (random((256, 512)), random((8, 8, 512), 1)),
    reference=lambda x, factors: x[None] * factors[:, :1, :],
    faster=1.3,
    seeds=1,
    hints=(
        "Write down which block of `x` the first four programs see.",
        "With the axes of the grid the other way round, `x` stays where it is while `factors` change.",
        "The index maps take the numbers of the axes in the order of the grid.",
    ),
)
