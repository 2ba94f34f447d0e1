from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="From thread to thread",
    kind="mend",
    target="h100",
    function="pipeline",
    inputs=lambda: [(random((16, 128)),), (random((64, 32), 1),)],
    reference=lambda x: (x * x + 1) * 2,
    needs={"barrier_wait": "plgpu.barrier_wait"},
    hints=(
        "plgpu.barrier_arrive(barrier) says that this thread is so far; plgpu.barrier_wait(barrier) waits.",
        "What a thread has done before it arrives, the one that has waited may see.",
        "Thread 1 does both: it waits for thread 0, and tells thread 2.",
    ),
)
