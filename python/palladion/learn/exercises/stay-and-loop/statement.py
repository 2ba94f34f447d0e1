import numpy as np
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="Blocks that stay",
    kind="write",
    target="h100",
    function="square",
    inputs=lambda: [(random((tiles * 16, 64), tiles),) for tiles in (24, 11, 3)],
    reference=lambda x: [x * x, np.arange(len(x) // 16, dtype=np.int32) % 8],  # and who took each tile
    hints=(
        "How many turns are there for `tiles` tiles and 8 blocks, where the last turn may not be full?",
        "pl.loop(0, turns), and in it the tile turn * BLOCKS + block.",
        "@pl.when(tile < tiles) around what a turn does.",
    ),
)
