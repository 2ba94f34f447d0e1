from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Two of five lines",
    kind="find",
    target="h100",
    function="racing",
    kernel="reduce_halves",
    inputs=lambda: [(random((32, 64)),)],
    hints=(
        "A race needs two threads, and the same elements: which lines touch smem[0], and which smem[1]?",
        "`first` orders what thread 1 did before C with what thread 0 does behind the wait. What comes behind C?",
        'palladion.check(reduce_halves, x, target="h100") says it, if you want to see the report.',
    ),
)
