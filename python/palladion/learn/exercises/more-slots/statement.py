from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="One slot is not enough",
    kind="faster",
    target="h100",
    function="add_one",
    inputs=lambda: [(random((steps * 64, 128), steps),) for steps in (16, 5)],
    reference=lambda x: x + 1,
    faster=1.5,
    seeds=4,
    hints=(
        "Before the loop, begin the first SLOTS copies; in step i, after the read, that of step i + SLOTS.",
        "The slot of a step is step % SLOTS: jax.lax.rem(step, SLOTS).",
        "A copy may write what was read only behind plgpu.commit_smem().",
    ),
)
