"""WITHOUT: the blocks meet, and read all rows from global memory."""

import jax
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCKS = 4


def largest(x):
    def kernel(x_ref, o_ref, smem, written, read):
        block = jax.lax.axis_index("part")
        smem[...] = x_ref[block]
        plgpu.barrier_arrive(written)
        plgpu.barrier_wait(written)
        found = smem[...]
        for other in range(BLOCKS):
            found = jnp.maximum(found, x_ref[other])
        plgpu.barrier_arrive(read)
        plgpu.barrier_wait(read)
        o_ref[block] = found

    meet = plgpu.ClusterBarrier(collective_axes=("part",))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        cluster=(BLOCKS,),
        cluster_names=("part",),
        scratch_types=[plgpu.SMEM(x.shape[1:], x.dtype), meet, meet],
    )(x)
