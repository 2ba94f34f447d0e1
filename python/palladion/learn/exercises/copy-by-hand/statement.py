from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A copy by hand",
    kind="write",
    target="v5e",
    function="triple",
    inputs=lambda: [(random((8, 128)),), (random((32, 256), 1),)],
    reference=lambda x: x * 3,
    needs={"dma_start": "an asynchronous copy"},
    hints=(
        "pltpu.make_async_copy(source, destination, semaphore) describes a copy; it begins with .start().",
        "copy.wait() waits until the semaphore has counted all of the copy's bytes, and takes them off again.",
    ),
)
