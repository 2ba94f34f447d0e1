"""Kernels of a few lines that several tests run: some are right, and each of the others has one defect."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + x_ref[...]


def double(x, **options):
    return pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def past_the_end_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 2, 2)]


def past_the_end(x, **options):
    """OOB: reads two elements from the third on, of three."""
    return pl.pallas_call(past_the_end_kernel, out_shape=jax.ShapeDtypeStruct((2,), x.dtype), grid=(1,), **options)(x)


def last_kernel(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0)]


def last(x):
    """A race: the program that comes last says what the result is."""
    return pl.pallas_call(
        last_kernel,
        grid=(4,),
        in_specs=[pl.BlockSpec((4,), lambda i: (0,))],
        out_specs=pl.BlockSpec((1,), lambda i: (0,)),
        out_shape=jax.ShapeDtypeStruct((1,), x.dtype),
    )(x)


def sum_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...]


def summed(x, semantics="parallel", **options):
    """The sum of four blocks of rows, in one output block: a race where "parallel" is promised of the grid."""
    return pl.pallas_call(
        sum_kernel,
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=(semantics,)),
        **options,
    )(x)


def matmul_kernel(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def matmul(x, y, bm=128, bn=128, bk=128, **options):
    """In blocks, with an accumulator."""
    (m, k), n = x.shape, y.shape[1]
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // bm, n // bn, k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, k: (i, k)), pl.BlockSpec((bk, bn), lambda i, j, k: (k, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
        **options,
    )(x, y)
