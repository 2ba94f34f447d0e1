from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="The second tile",
    kind="mend",
    target="h100",
    function="double",
    inputs=lambda: [(random((8, steps * 16, 64), steps),) for steps in (3, 2, 15)],
    reference=lambda x: x * 2,
    needs={"copy_gmem_to_smem": "plgpu.copy_gmem_to_smem"},
    seeds=8,
    hints=(
        "The first steps of the second tile fill slots that were in use. Who waits until they are free?",
        "Count the steps of all tiles: turn * steps + step. Which slot belongs to that number?",
        "Both threads have to count alike, for the slots and for the wait.",
    ),
)
