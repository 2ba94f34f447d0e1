"""The two blocks of a cluster add up what each has in shared memory. The result depends on luck: mend it.

plgpu.cluster_ref names the shared memory of another block of the cluster. It has to be written before it is read, and
it has to be there: a block that has ended has given its shared memory back. `written` and `read` are barriers of both
blocks.
"""

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu


def add_both(x):
    def kernel(x_ref, o_ref, smem, written, read):
        block = jax.lax.axis_index("pair")
        smem[...] = x_ref[block] * 2
        other = plgpu.cluster_ref(smem, {"pair": 1 - block})
        o_ref[block] = smem[...] + other[...]

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        cluster=(2,),
        cluster_names=("pair",),
        scratch_types=[
            plgpu.SMEM(x.shape[1:], x.dtype),
            plgpu.ClusterBarrier(collective_axes=("pair",)),
            plgpu.ClusterBarrier(collective_axes=("pair",)),
        ],
    )(x)
