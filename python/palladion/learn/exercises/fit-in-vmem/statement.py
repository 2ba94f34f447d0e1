from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Too large for VMEM",
    kind="fit",
    target="v5e",
    function="add",
    inputs=lambda: [(random((2048, 1024)), random((2048, 1024), 1)), (random((512, 1024), 2), random((512, 1024), 3))],
    reference=lambda x, y: x + y,
    vmem=16 << 20,
    seeds=1,
    hints=(
        "pl.pallas_call without a grid is one program, and its blocks are the whole arrays.",
        "Three arrays, two buffers of each: the rows of a block, times the bytes of a row, times six.",
    ),
)
