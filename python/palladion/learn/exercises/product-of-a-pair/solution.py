"""Both blocks wait for the commit, which arrives in both."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLUMNS, INNER = 128, 128, 64  # of one block, but all of the columns


def product(x, y):
    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, acc, full, done):
        block = jax.lax.axis_index("pair")
        rows, columns = plgpu.CopyPartition.PARTITIONED(0), plgpu.CopyPartition.PARTITIONED(1)
        plgpu.copy_gmem_to_smem(x_ref, x_smem, full, collective_axes="pair", leader_tracked=rows)
        plgpu.copy_gmem_to_smem(y_ref, y_smem, full, collective_axes="pair", leader_tracked=columns)

        @pl.when(block == 0)
        def multiply():
            plgpu.barrier_wait(full)
            plgpu.tcgen05_mma(acc, x_smem, y_smem, accumulate=False, collective_axis="pair")
            plgpu.tcgen05_commit_arrive(done, collective_axis="pair")

        plgpu.barrier_wait(done)
        o_ref[pl.ds(block * ROWS, ROWS), :] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((2 * ROWS, COLUMNS), jnp.float32),
        cluster=(2,),
        cluster_names=("pair",),
        scratch_types=[
            plgpu.SMEM((ROWS, INNER), jnp.float16, transforms=tiles),
            plgpu.SMEM((INNER, COLUMNS // 2), jnp.float16, transforms=tiles),
            plgpu.TMEM((ROWS, COLUMNS), jnp.float32, collective=True),
            plgpu.Barrier(num_arrivals=2),
            plgpu.Barrier(orders_tensor_core=True),
        ],
    )(x, y)
