from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Blocks that are visited once",
    kind="mend",
    target="v5e",
    function="product",
    inputs=lambda: [(random((m, k), m), random((k, n), n)) for m, k, n in ((256, 256, 256), (128, 384, 256))],
    reference=lambda x, y: x @ y,
    rtol=1e-4,
    atol=1e-4,
    hints=(
        "The last axis of a grid runs fastest. Write down (i, j, k) of the first programs, and the block of each.",
        "The axis along which a block does not change has to be the last one.",
        "Where the order of the axes changes, the index maps and the number of program_id change with it.",
    ),
)
