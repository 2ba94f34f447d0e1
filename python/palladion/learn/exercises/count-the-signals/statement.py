from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A rest on a semaphore",
    kind="mend",
    target="v5e",
    function="gather",
    inputs=lambda: [(random((count * 8, 128), count),) for count in (3, 1, 9)],
    reference=lambda x: x + 1,
    needs={"semaphore_wait": "pl.semaphore_wait"},
    hints=(
        "How many signals come for `count` pieces, and how many are taken off?",
        "A wait for more than ever comes does not end; a wait for fewer leaves a rest.",
    ),
)
