"""Kernels of gpu_legality.txt whose verdict is one of how an array lies in memory: steps, sizes, truth values,
transposed SMEM, reshapes of what is not contiguous, atomic updates.

Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/utils.py (parse_indices, memref_reshape), fragmented_array.py
(WGStridedFragLayout.from_shaped_type, transfer_strided, _store_register_atomic) and launch_context.py (_get_tma_desc);
jax/_src/pallas/mosaic_gpu/lowering.py (iota).
"""

import math

import jax.numpy as jnp
import numpy as np
from gpu_legality_case import BF16, F16, F32, I8, I32, LANE, WG, Case, layout, scoped
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BOOL = jnp.bool_
SEMANTICS = (("lane", LANE), ("wg", WG))


def steps():
    types = plgpu.SMEM((4, 256), I32), plgpu.SMEM((4,), I32), plgpu.SemaphoreType.REGULAR((4,))
    even, rows = pl.ds(0, 2, 2), pl.ds(0, 2)

    def begins(x, o, s, n, q):
        pl.debug_print("{}", s[pl.ds(n[0], 2, 2)])

    for label, act in (
        ("get", lambda x, o, s, n, q: pl.debug_print("{}", x[even])),
        ("get_smem", lambda x, o, s, n, q: pl.debug_print("{}", s[even])),
        ("get_numpy", lambda x, o, s, n, q: pl.debug_print("{}", s[::2])),
        ("get_at", lambda x, o, s, n, q: pl.debug_print("{}", s.at[pl.ds(1, 2, 2)][...])),
        ("get_begun", begins),
        ("get_all", lambda x, o, s, n, q: pl.debug_print("{}", s[pl.ds(0, 4, 1)])),
        ("get_one", lambda x, o, s, n, q: pl.debug_print("{}", s.at[even][1, 3])),
        ("get_first", lambda x, o, s, n, q: pl.debug_print("{}", s[pl.ds(0, 1, 2)])),
        ("get_columns", lambda x, o, s, n, q: pl.debug_print("{}", s[:, pl.ds(0, 128, 2)])),
        ("swap", lambda x, o, s, n, q: o.__setitem__(even, x[rows])),
        ("swap_smem", lambda x, o, s, n, q: s.__setitem__(even, x[rows])),
        ("atomic", lambda x, o, s, n, q: plgpu.atomic_add(o.at[even], x[rows])),
        ("load", lambda x, o, s, n, q: pl.debug_print("{}", plgpu.load(s.at[even], ()))),
    ):
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
        yield Case(
            f"bits_swap_{word}",
            lambda x, o, dtype=dtype: o.__setitem__(Ellipsis, jnp.zeros((256,), dtype)),
            (dtype, (256,)),
        )
    yield Case(
        "bits_compared",
        scoped(plgpu.SMEM((256,), BOOL))(lambda x, o, s: s.__setitem__(Ellipsis, x[...] > 1)),
        (I32, (256,)),
    )
    yield Case(
        "bits_chosen_by", lambda x, o: o.__setitem__(Ellipsis, jnp.where(x[...] > 1, x[...], x[...] + 1)), (I32, (256,))
    )
    for name, semantics in SEMANTICS:
        yield Case(
            f"bits_of_one_{name}",
            scoped(plgpu.SMEM((4,), BOOL))(lambda x, o, s: s.__setitem__(0, x[0] > 1)),
            (I32, (256,)),
            semantics,
        )


def sizes():
    """With lane semantics; with those of warpgroups some layout may have the size."""
    row, column = plgpu.Layout.WGMMA.reduce(1), plgpu.Layout.WGMMA.reduce(0)

    def seen(shape, dtype, read):
        return scoped(plgpu.SMEM(shape, dtype))(lambda x, o, s: pl.debug_print("{}", read(x, s)))

    for shape in ((64,), (128,), (200,), (256,), (1,), (1, 128), (3, 100), (4, 32), (2, 3, 64), (1, 1)):
        label = "x".join(map(str, shape))
        for dtype in (I32, I8, BOOL):
            word = jnp.dtype(dtype).name
            yield Case(f"size_get_{label}_{word}", seen(shape, dtype, lambda x, s: x[...]), (dtype, shape))
            yield Case(f"size_get_smem_{label}_{word}", seen(shape, dtype, lambda x, s: s[...]), (dtype, shape))
            if len(shape) < 3:  # JAX's stores of what is the same everywhere break down
                yield Case(
                    f"size_swap_{label}_{word}",
                    lambda x, o, dtype=dtype, shape=shape: o.__setitem__(Ellipsis, jnp.zeros(shape, dtype)),
                    (dtype, shape),
                )
        yield Case(f"size_load_{label}", seen(shape, I32, lambda x, s: plgpu.load(s, ())), (I32, shape))
    for label, shape, cast in (("row", (64,), row), ("column", (64,), column), ("wgmma", (64, 8), plgpu.Layout.WGMMA)):
        for dtype in (F32, I32):
            word = jnp.dtype(dtype).name
            yield Case(
                f"size_cast_{label}_{word}",
                seen(shape, dtype, lambda x, s, cast=cast: plgpu.load(s, (), layout=cast, optimized=False)),
                (dtype, shape),
            )

            @scoped(plgpu.SMEM(shape, dtype))
            def stored(x, o, s, cast=cast):
                o[...] = plgpu.load(s, (), layout=cast, optimized=False)

            yield Case(f"size_stored_{label}_{word}", stored, (dtype, shape))
    for dtype in (I32, F16, I8):
        for size in (384, 640, 768, 1024, 1152, 2176):
            yield Case(
                f"size_swap_{size}_{jnp.dtype(dtype).name}",
                lambda x, o, size=size, dtype=dtype: o.__setitem__(Ellipsis, jnp.zeros(size, dtype)),
                (dtype, (size,)),
            )
    yield Case("size_part", lambda x, o: o.__setitem__((0, pl.ds(0, 64)), x[1, pl.ds(64, 64)]), (I32, (2, 128)))
    yield Case("size_whole", lambda x, o: o.__setitem__((0, pl.ds(0, 128)), x[1, pl.ds(0, 128)]), (I32, (2, 128)))
    yield Case(
        "size_tiled",
        scoped(plgpu.SMEM((64, 64), F16, transforms=layout(F16, 128)))(lambda x, o, s: pl.debug_print("{}", s[...])),
    )


def counts():
    strided = plgpu.Layout.WG_STRIDED((128,), 1)

    def count(x, o, cast=None):
        value = lax.broadcasted_iota(I32, (128,), 0)
        value = value if cast is None else plgpu.layout_cast(value, cast)
        o[...] = x[...] + value

    def count_later(x, o):
        value = lax.broadcasted_iota(I32, (128,), 0)
        other = x[...]
        o[...] = other + plgpu.layout_cast(value, strided)

    for name, semantics in SEMANTICS:
        yield Case(f"iota_{name}", count, (I32, (128,)), semantics)
        yield Case(f"iota_cast_{name}", lambda x, o: count(x, o, strided), (I32, (128,)), semantics)
        yield Case(f"iota_cast_later_{name}", count_later, (I32, (128,)), semantics)


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
        ("matrix", (64, 64), (1, 0), (64, 64), lambda x: x),
        ("wide", (128, 32), (1, 0), (32, 128), lambda x: x),
        ("rows", (4, 8, 64), (1, 0, 2), (8, 4, 64), lambda x: x),
        ("batch", (4, 64, 64), (0, 2, 1), (4, 64, 64), lambda x: x),
        ("batch_last", (64, 8, 64), (1, 2, 0), (8, 64, 64), lambda x: x),
        ("nothing", (64, 64), (0, 1), (64, 64), lambda x: x),
        ("column", (1, 64), (1, 0), (64, 1), lambda x: x),
        ("row", (64, 1), (1, 0), (1, 64), lambda x: x),
        ("of_many", (64, 64), (1, 0), (3, 64, 64), lambda x: x.at[1]),
        ("reshaped", (64, 64), (1, 0), (16, 256), lambda x: x),
        ("part", (64, 32), (1, 0), (64, 64), lambda x: x.at[pl.ds(0, 32)]),
    ):
        for store in (False, True):
            for swizzle in (0, 128) if shape[-1] == 64 and label not in ("column", "reshaped") else (0,):
                body, operand = copied(shape, permutation, x, see, swizzle=swizzle, store=store)
                yield Case(f"transposed_{'store' if store else 'copy'}_{label}_{swizzle}", body, operand)


def powers(random, size, rank):
    """A shape of `rank` dimensions and `size` elements, which is a power of two."""
    dims = [1] * rank
    while size > 1:
        dims[int(random.integers(rank))] *= 2
        size //= 2
    return tuple(dims)


def any_view(random, shape):
    """A function that slices and transposes a ref of `shape`, or does neither, and the shape of what it shows."""
    index, permutation = (), None
    if random.random() < 0.35:
        for extent in shape:
            kind = random.random()
            index += (
                (0,)
                if kind < 0.2 and extent <= 4
                else (pl.ds(0, extent),)
                if extent < 4 or kind < 0.6
                else (pl.ds(extent // 4, extent // 2),)
            )
        shape = tuple(part.size for part in index if not isinstance(part, int))
    if len(shape) > 1 and random.random() < 0.8:
        permutation = tuple(int(p) for p in random.permutation(len(shape)))
        shape = tuple(shape[p] for p in permutation)

    def see(ref):
        ref = ref.at[index] if index else ref
        return ref if permutation is None else plgpu.transpose_ref(ref, permutation)

    return see, shape, index, permutation


def reshaped():
    """Reads and writes of reshaped views, each of a multiple of 128 elements.

    Left out: what is neither sliced nor transposed, which is no question; with warpgroup semantics what is not
    transposed, where the lowering breaks down.
    """
    random = np.random.default_rng(5)
    for n in range(300):
        dtype = (I32, F16, I8)[n % 3]
        shape = powers(random, 256 if n % 4 == 0 else 1024, int(random.integers(1, 5)))
        see, shown, index, permutation = any_view(random, shape)
        at, kind = int(random.integers(max(len(shown), 1))), random.random()
        until = int(random.integers(at, max(len(shown), 1))) + 1
        if kind < 0.3:
            to = shown
        elif kind < 0.6:
            to = (*shown[:at], math.prod(shown[at:until]), *shown[until:])
        elif kind < 0.8:
            to = (*shown[:at], *powers(random, shown[at] if shown else 1, int(random.integers(1, 4))), *shown[at + 1 :])
        else:
            to = powers(random, math.prod(shown), int(random.integers(1, 5)))
        if not (index or permutation) or math.prod(shown) % 128:
            continue
        acts = (
            lambda x, o, s, v: pl.debug_print("{}", v(x)[...]),
            lambda x, o, s, v: pl.debug_print("{}", v(s)[...]),
            lambda x, o, s, v, to=to, dtype=dtype: v(o).__setitem__(Ellipsis, jnp.ones(to, dtype)),
            lambda x, o, s, v, to=to, dtype=dtype: v(s).__setitem__(Ellipsis, jnp.ones(to, dtype)),
            lambda x, o, s, v: pl.debug_print("{}", plgpu.load(v(s), ())),
        )
        label = ("get", "get_smem", "swap", "swap_smem", "load")[n % 5]

        @scoped(plgpu.SMEM(shape, dtype))
        def body(x, o, s, act=acts[n % 5], see=see, to=to):
            act(x, o, s, lambda ref: see(ref).reshape(to))

        for name, semantics in SEMANTICS[: 2 if permutation and n < 80 else 1]:
            yield Case(f"reshaped_{label}_{n}_{name}", body, (dtype, shape), semantics)


def updates():
    for name, semantics in SEMANTICS:
        for dtype in (F16, BF16, F32):
            word = jnp.dtype(dtype).name
            for shape in ((128,), (256,), (384,), (512,), (3, 128), (2, 128), (640,)):
                size = "x".join(map(str, shape))
                yield Case(
                    f"update_{word}_{size}_{name}", lambda x, o: plgpu.atomic_add(o, x[...]), (dtype, shape), semantics
                )
                yield Case(
                    f"update_smem_{word}_{size}_{name}",
                    scoped(plgpu.SMEM(shape, dtype))(lambda x, o, s: plgpu.atomic_add(s, x[...])),
                    (dtype, shape),
                    semantics,
                )
    for dtype in (F16, F32):
        word = jnp.dtype(dtype).name
        yield Case(
            f"update_turned_{word}",
            lambda x, o: plgpu.atomic_add(plgpu.transpose_ref(o, (1, 0)), x[...]),
            (dtype, (64, 64)),
        )
        for label, shape, cast in (
            ("row", (64,), plgpu.Layout.WGMMA.reduce(1)),
            ("column", (64,), plgpu.Layout.WGMMA.reduce(0)),
            ("wgmma", (64, 64), plgpu.Layout.WGMMA),
        ):
            yield Case(
                f"update_{label}_{word}",
                lambda x, o, cast=cast: plgpu.atomic_add(o, plgpu.load(x, (), layout=cast, optimized=False)),
                (dtype, shape),
            )


def memory():
    for family in (steps, bits, sizes, counts, transposed, reshaped, updates):
        yield from family()
