"""Four slots; both blocks wait for the product before they fill one again."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS, COLUMNS, INNER, SLOTS = 128, 128, 64, 4


def product(x, y):
    steps = x.shape[1] // INNER

    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, acc, full, done):
        block = jax.lax.axis_index("pair")
        rows, columns = plgpu.CopyPartition.PARTITIONED(0), plgpu.CopyPartition.PARTITIONED(1)

        def load(step):
            slot, inner = jax.lax.rem(step, SLOTS), pl.ds(step * INNER, INNER)
            together = {"collective_axes": "pair"}
            plgpu.copy_gmem_to_smem(x_ref.at[:, inner], x_smem.at[slot], full.at[slot], leader_tracked=rows, **together)
            plgpu.copy_gmem_to_smem(
                y_ref.at[inner, :], y_smem.at[slot], full.at[slot], leader_tracked=columns, **together
            )

        for step in range(min(SLOTS, steps)):
            load(step)

        @pl.loop(0, steps)
        def _(step):
            slot = jax.lax.rem(step, SLOTS)

            @pl.when(block == 0)
            def multiply():
                plgpu.barrier_wait(full.at[slot])
                plgpu.tcgen05_mma(
                    acc, x_smem.at[slot], y_smem.at[slot], done.at[slot], accumulate=step > 0, collective_axis="pair"
                )

            plgpu.barrier_wait(done.at[slot])

            @pl.when(step + SLOTS < steps)
            def _():
                load(step + SLOTS)

        o_ref[pl.ds(block * ROWS, ROWS), :] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((2 * ROWS, COLUMNS), jnp.float32),
        cluster=(2,),
        cluster_names=("pair",),
        scratch_types=[
            plgpu.SMEM((SLOTS, ROWS, INNER), jnp.float16, transforms=tiles),
            plgpu.SMEM((SLOTS, INNER, COLUMNS // 2), jnp.float16, transforms=tiles),
            plgpu.TMEM((ROWS, COLUMNS), jnp.float32, collective=True),
            plgpu.Barrier(num_arrivals=2, num_barriers=SLOTS),
            plgpu.Barrier(num_barriers=SLOTS, orders_tensor_core=True),
        ],
    )(x, y)
