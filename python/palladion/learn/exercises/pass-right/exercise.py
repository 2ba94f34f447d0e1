"""Each device of a ring gives its rows to the device on its right. Complete the kernel.

All devices run it together; the axis of their mesh is "ring", and each sees its own part as `x`. The last device's
right neighbour is the first. A remote copy has two semaphores: `sent` counts what has left here, `received` what
has arrived here from the left.
"""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def pass_right(x):
    def kernel(x_ref, o_ref, sent, received):
        me = jax.lax.axis_index("ring")
        right = me  # which device is it?
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=(right,))
        copy.start()

    return pl.pallas_call(
        kernel,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA],
    )(x)
