"""Kernels of gpu_legality.txt whose verdict is one of how an array lies in memory: steps, truth values, transposed SMEM.

Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/utils.py (parse_indices), fragmented_array.py (WGStridedFragLayout.from_shaped_type) and
launch_context.py (_get_tma_desc).
"""
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from gpu_legality_case import F16, I8, I32, LANE, WG, Case, layout, scoped

BOOL = jnp.bool_
SEMANTICS = (("lane", LANE), ("wg", WG))


def steps():
    types = plgpu.SMEM((4, 256), I32), plgpu.SMEM((4,), I32), plgpu.SemaphoreType.REGULAR((4,))
    even, rows = pl.ds(0, 2, 2), pl.ds(0, 2)

    def begins(x, o, s, n, q):
        pl.debug_print("{}", s[pl.ds(n[0], 2, 2)])
    for label, act in (
            ("get", lambda x, o, s, n, q: pl.debug_print("{}", x[even])), ("get_smem", lambda x, o, s, n, q: pl.debug_print("{}", s[even])),
            ("get_numpy", lambda x, o, s, n, q: pl.debug_print("{}", s[::2])), ("get_at", lambda x, o, s, n, q: pl.debug_print("{}", s.at[pl.ds(1, 2, 2)][...])),
            ("get_begun", begins), ("get_all", lambda x, o, s, n, q: pl.debug_print("{}", s[pl.ds(0, 4, 1)])), ("get_one", lambda x, o, s, n, q: pl.debug_print("{}", s.at[even][1, 3])),
            ("get_first", lambda x, o, s, n, q: pl.debug_print("{}", s[pl.ds(0, 1, 2)])), ("get_columns", lambda x, o, s, n, q: pl.debug_print("{}", s[:, pl.ds(0, 128, 2)])),
            ("swap", lambda x, o, s, n, q: o.__setitem__(even, x[rows])), ("swap_smem", lambda x, o, s, n, q: s.__setitem__(even, x[rows])),
            ("atomic", lambda x, o, s, n, q: plgpu.atomic_add(o.at[even], x[rows])), ("load", lambda x, o, s, n, q: pl.debug_print("{}", plgpu.load(s.at[even], ())))):
        for name, semantics in SEMANTICS:
            yield Case(f"step_{label}_{name}", scoped(*types)(act), (I32, (4, 256)), semantics)


def bits():
    """Truth values in memory, with lane semantics; with those of warpgroups the compiler may find a layout."""
    def seen(dtype, read):
        return scoped(plgpu.SMEM((256,), dtype))(lambda x, o, s: pl.debug_print("{}", read(x, s)))
    for dtype in (I8, BOOL):
        word = jnp.dtype(dtype).name
        yield Case(f"bits_get_{word}", seen(dtype, lambda x, s: x[...]), (dtype, (256,)))
        yield Case(f"bits_get_smem_{word}", seen(dtype, lambda x, s: s[...]), (dtype, (256,)))
        yield Case(f"bits_load_{word}", seen(dtype, lambda x, s: plgpu.load(s, ())), (dtype, (256,)))
        yield Case(f"bits_swap_{word}", lambda x, o, dtype=dtype: o.__setitem__(Ellipsis, jnp.zeros((256,), dtype)), (dtype, (256,)))
    yield Case("bits_compared", scoped(plgpu.SMEM((256,), BOOL))(lambda x, o, s: s.__setitem__(Ellipsis, x[...] > 1)), (I32, (256,)))
    yield Case("bits_chosen_by", lambda x, o: o.__setitem__(Ellipsis, jnp.where(x[...] > 1, x[...], x[...] + 1)), (I32, (256,)))
    for name, semantics in SEMANTICS:
        yield Case(f"bits_of_one_{name}", scoped(plgpu.SMEM((4,), BOOL))(lambda x, o, s: s.__setitem__(0, x[0] > 1)), (I32, (256,)), semantics)


def transposed():
    def copied(shape, permutation, x_shape, see=lambda x: x, dtype=F16, swizzle=0, store=False):
        @scoped(plgpu.SMEM(shape, dtype, transforms=layout(dtype, swizzle)), plgpu.Barrier())
        def body(x, o, s, b):
            turned = plgpu.transpose_ref(s.reshape(x_shape[::-1]) if x_shape[0] == 16 else s, permutation)
            if store:
                plgpu.copy_smem_to_gmem(turned, see(o))
                plgpu.wait_smem_to_gmem(0)
            else:
                plgpu.copy_gmem_to_smem(see(x), turned, b)
                plgpu.barrier_wait(b)
        return body, (dtype, x_shape)
    for label, shape, permutation, x, see in (
            ("matrix", (64, 64), (1, 0), (64, 64), lambda x: x), ("wide", (128, 32), (1, 0), (32, 128), lambda x: x), ("rows", (4, 8, 64), (1, 0, 2), (8, 4, 64), lambda x: x),
            ("batch", (4, 64, 64), (0, 2, 1), (4, 64, 64), lambda x: x), ("batch_last", (64, 8, 64), (1, 2, 0), (8, 64, 64), lambda x: x), ("nothing", (64, 64), (0, 1), (64, 64), lambda x: x),
            ("column", (1, 64), (1, 0), (64, 1), lambda x: x), ("row", (64, 1), (1, 0), (1, 64), lambda x: x), ("of_many", (64, 64), (1, 0), (3, 64, 64), lambda x: x.at[1]),
            ("reshaped", (64, 64), (1, 0), (16, 256), lambda x: x), ("part", (64, 32), (1, 0), (64, 64), lambda x: x.at[pl.ds(0, 32)])):
        for store in (False, True):
            for swizzle in ((0, 128) if shape[-1] == 64 and label not in ("column", "reshaped") else (0,)):
                body, operand = copied(shape, permutation, x, see, swizzle=swizzle, store=store)
                yield Case(f"transposed_{'store' if store else 'copy'}_{label}_{swizzle}", body, operand)


def memory():
    for family in (steps, bits, transposed):
        yield from family()
