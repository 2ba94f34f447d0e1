import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Tiles that are neighbours in time",
    kind="faster",
    target="h100",
    function="product",
    inputs=lambda: [
        (random((m, 128), m, np.float16), random((128, n), n, np.float16)) for m, n in ((256, 256), (512, 128))
    ],
    timed=lambda: (random((512, 256), 1, np.float16), random((256, 1024), 2, np.float16)),
    chip={"l2.size": "256 KiB", "dram.achieved": "0.1 TB/s"},
    reference=lambda x, y: (x.astype(np.float32) @ y.astype(np.float32)).astype(np.float16),
    rtol=1e-2,
    atol=1e-2,
    faster=1.4,
    seeds=1,
    hints=(
        "Eight tiles of one row need one block of `x` and eight of `y`; in the next row all of `y` is needed again.",
        "Bands of four rows, in a band one column after the other: eight tiles need four blocks of `x` and two of `y`.",
        "A band has 4 * columns tiles: tile // (4 * columns) is its number, tile % (4 * columns) the place in it.",
    ),
)
