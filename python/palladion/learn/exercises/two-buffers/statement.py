from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The next rows come too early",
    kind="mend",
    target="v5e",
    function="square",
    inputs=lambda: [(random((steps * 8, 128), steps),) for steps in (4, 2, 5)],
    reference=lambda x: x * x,
    needs={"dma_start": "an asynchronous copy"},
    hints=(
        "Which buffer does the copy that is started in step i write, and who reads that buffer in step i?",
        "A copy and the wait for it have to name the same buffer and the same semaphore.",
    ),
)
