from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="From one thread to the other",
    kind="mend",
    target="h100",
    function="pipeline",
    inputs=lambda: [(random((16, 128)),), (random((64, 32), 1),)],
    reference=lambda x: x * x + 1,
    needs={"barrier_wait": "plgpu.barrier_wait"},
    hints=(
        "plgpu.barrier_arrive(written) says that this thread is so far; plgpu.barrier_wait(written) waits.",
        "What a thread has done before it arrives, the one that has waited may see.",
    ),
)
