"""Make it 1.5 times faster: the kernel reads one column of `x` after the other, and memory gives more than that.

Memory is read in sectors of 32 bytes that lie one behind the other: eight numbers of float32 in a row. A block of one
column needs a sector for each number. The rows of `x` are a multiple of 1024, and its columns one of 32.
print(palladion.time(double, x, target="triton/h100")) has the bytes of both arrays.
"""

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 1024, 1


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS, x.shape[1] // COLUMNS),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
