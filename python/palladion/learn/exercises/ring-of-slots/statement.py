from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A slot that is released too early",
    kind="mend",
    target="h100",
    function="double",
    inputs=lambda: [(random((steps * 16, 64), steps),) for steps in (6, 2, 71)],
    reference=lambda x: x * 2,
    needs={"copy_gmem_to_smem": "plgpu.copy_gmem_to_smem"},
    hints=(
        "Who may write into a slot, and after which event? Follow one slot through two rounds of the ring.",
        "An arrival at `empty` says that thread 1 is done with the slot. Is it, where it arrives?",
        "Threads read shared memory through another proxy than copies write it: plgpu.commit_smem() stands between.",
    ),
)
