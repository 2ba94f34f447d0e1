from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The way back",
    kind="mend",
    target="h100",
    function="negate",
    inputs=lambda: [(random((steps * 32, 64), steps),) for steps in (4, 1)],
    reference=lambda x: -x,
    needs={"copy_smem_to_gmem": "plgpu.copy_smem_to_gmem"},
    hints=(
        "plgpu.commit_smem() has to stand between a thread's write and a copy that reads what was written.",
        "plgpu.wait_smem_to_gmem(n) waits until at most n copies are under way.",
        "Before the next step overwrites `smem`, the copy of this one has to have read it.",
    ),
)
