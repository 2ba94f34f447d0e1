from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="There and back again",
    kind="faster",
    target="v5e",
    function="line",
    inputs=lambda: [(random((rows, 512), rows), random((rows, 512), 1)) for rows in (1024, 256)],
    reference=lambda x, y: x * 2 + y,
    faster=1.5,
    seeds=1,
    hints=(
        "How often does each number go to main memory and back?",
        "Between the two kernels the product is written and read again, which is two of five journeys.",
    ),
)
