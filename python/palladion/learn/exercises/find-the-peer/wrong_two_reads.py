"""LETTERS: two reads do not race."""

import jax
from jax.experimental.pallas import mosaic_gpu as plgpu


def differences(x):
    def kernel(x_ref, o_ref, smem, written, done):
        block = jax.lax.axis_index("pair")
        smem[...] = x_ref[block]  # A
        plgpu.barrier_arrive(written)
        plgpu.barrier_wait(written)
        mine = smem[...]  # B
        theirs = plgpu.cluster_ref(smem, {"pair": 1 - block})[...]  # C
        smem[...] = mine - theirs  # D
        o_ref[block] = smem[...]  # E
        plgpu.barrier_arrive(done)
        plgpu.barrier_wait(done)

    meet = plgpu.ClusterBarrier(collective_axes=("pair",))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        cluster=(2,),
        cluster_names=("pair",),
        scratch_types=[plgpu.SMEM(x.shape[1:], x.dtype), meet, meet],
    )(x)


def racing():
    return {"B", "C"}
