from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Tiles that change places",
    kind="write",
    target="triton/h100",
    function="transpose",
    inputs=lambda: [(random(shape),) for shape in ((32, 64), (16, 48))],
    reference=lambda x: x.T,
    hints=(
        "Program (i, j) reads tile (i, j) of `x`. To which tile of the result does what it has turned belong?",
        "in_specs and out_specs have index maps of their own, of the same program.",
        "The tile itself has to be turned too, in the kernel: x_ref[...].T.",
    ),
)
