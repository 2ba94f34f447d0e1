from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="An inner dimension that is too long",
    kind="fit",
    target="v5e",
    function="product",
    inputs=lambda: [(random((256, k), k), random((k, n), n)) for k, n in ((4096, 256), (1024, 512))],
    reference=lambda x, y: x @ y,
    rtol=1e-3,
    atol=1e-3,
    vmem=4 << 20,
    seeds=1,
    hints=(
        "Blocks of 256 columns of `x` and 256 rows of `y`, and the new axis last, so that the result's block stays.",
        "The first step of the new axis has to clear what the others add to.",
        "pl.when(pl.program_id(2) == 0)",
    ),
)
