"""Product, commit, wait, load."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLUMNS, INNER = 128, 64, 64


def product(x, y):
    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, acc, full, done):
        plgpu.copy_gmem_to_smem(x_ref, x_smem, full)
        plgpu.copy_gmem_to_smem(y_ref, y_smem, full)
        plgpu.barrier_wait(full)
        plgpu.tcgen05_mma(acc, x_smem, y_smem, accumulate=False)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((ROWS, COLUMNS), jnp.float32),
        scratch_types=[
            plgpu.SMEM((ROWS, INNER), jnp.float16, transforms=tiles),
            plgpu.SMEM((INNER, COLUMNS), jnp.float16, transforms=tiles),
            plgpu.TMEM((ROWS, COLUMNS), jnp.float32),
            plgpu.Barrier(num_arrivals=2),
            plgpu.Barrier(orders_tensor_core=True),
        ],
    )(x, y)
