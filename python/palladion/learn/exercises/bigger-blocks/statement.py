from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Steps that are too small",
    kind="faster",
    target="v5e",
    function="double",
    inputs=lambda: [(random((512, 512)),), (random((1024, 256), 1),)],
    reference=lambda x: x * 2,
    faster=1.5,
    seeds=1,
    hints=(
        "How many programs does the grid have, and how many bytes does each move?",
        "A block has to fit in VMEM twice for each array; 128 rows of 512 numbers are 256 KiB.",
        "One block for all of it is not the fastest: nothing is computed while it is fetched.",
    ),
)
