"""Copies between global memory and tiles of shared memory start at multiples of the tile: real lowering keeps the rest
in every tile.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion

TILES = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))
ROWS, COLUMNS = 128, 128


def call(side, start, transforms=TILES):
    """64 rows from there on; `start` of None is a number that the kernel reads."""

    def body(x, k, o, s, b):
        first = k[0] if start is None else start
        plgpu.copy_gmem_to_smem(x.at[pl.ds(first if side == "load" else 0, 64), :], s, b)
        plgpu.barrier_wait(b)
        plgpu.copy_smem_to_gmem(s, o.at[pl.ds(first if side == "store" else 0, 64), :])
        plgpu.wait_smem_to_gmem(0)

    scratch = [plgpu.SMEM((64, COLUMNS), jnp.float32, transforms=transforms), plgpu.Barrier()]
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((ROWS, COLUMNS), jnp.float32), scratch_types=scratch)


def found(side, start, *, dynamic, **options):
    x = np.broadcast_to(np.arange(ROWS, dtype=np.float32)[:, None], (ROWS, COLUMNS))
    function = call(side, None if dynamic else start, **options)
    report = palladion.check(function, x, np.array([start], np.int32), target="mosaic_gpu/h100", seeds=4)
    return [
        (finding.code, finding.severity, finding.message) for finding in report.findings if finding.code == "ILLEGAL"
    ]


@pytest.mark.parametrize("side", ["load", "store"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_the_start_is_a_multiple_of_the_tile(side, dynamic):
    [(_, severity, message)] = found(side, 3, dynamic=dynamic)
    assert (
        severity == "defect"
        and "must be a multiple of the tile" in message
        and "starts at 3 along dimension 0" in message
    )
    assert found(side, 8, dynamic=dynamic) == []
    assert found(side, 3, dynamic=dynamic, transforms=()) == []
