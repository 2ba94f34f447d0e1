"""LETTERS: both are behind the lock."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu


def withdraw(x, lock, account):
    def kernel(x_ref, *refs):
        lock_ref, account_ref, left_ref = refs[3:]  # the same memory as the three before them
        wanted = x_ref[pl.program_id(0)]
        jax.lax.while_loop(lambda held: held == 1, lambda _: plgpu.atomic_xchg(lock_ref, (0,), 1), 1)
        there = account_ref[0]  # A
        account_ref[0] = there - jnp.minimum(there, wanted)  # B
        plgpu.atomic_xchg(lock_ref, (0,), 0)  # C
        plgpu.atomic_max(left_ref, (0,), account_ref[0])  # D
        plgpu.atomic_min(left_ref, (1,), wanted)  # E

    one, two = pl.BlockSpec((1,), lambda i: (0,)), pl.BlockSpec((2,), lambda i: (0,))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0],),
        in_specs=[pl.BlockSpec(x.shape, lambda i: (0,)), one, one, two],
        out_specs=[one, one, two],
        out_shape=[jax.ShapeDtypeStruct((size,), jnp.int32) for size in (1, 1, 2)],
        input_output_aliases={1: 0, 2: 1, 3: 2},
    )(x, lock, account, jnp.zeros((2,), jnp.int32))


def racing():
    return {"A", "B"}
