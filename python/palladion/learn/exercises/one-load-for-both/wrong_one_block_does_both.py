"""WITHOUT: the first block does the work of both, which are as many bytes and half as fast."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = 32


def both(x):
    def kernel(x_ref, o_ref, smem, full, read):
        block = jax.lax.axis_index("pair")

        @pl.loop(0, x.shape[0] // ROWS)
        def _(step):
            rows = pl.ds(step * ROWS, ROWS)

            @pl.when(block == 0)
            def _():
                plgpu.copy_gmem_to_smem(x_ref.at[rows], smem, full)
                plgpu.barrier_wait(full)
                o_ref[0, rows, :] = smem[...]
                o_ref[1, rows, :] = smem[...] * 2
                plgpu.commit_smem()

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((2, *x.shape), x.dtype),
        cluster=(2,),
        cluster_names=("pair",),
        scratch_types=[
            plgpu.SMEM((ROWS, x.shape[1]), x.dtype),
            plgpu.Barrier(),
            plgpu.ClusterBarrier(collective_axes=("pair",)),
        ],
    )(x)
