"""Writes blackwell_legality.txt: small kernels of tensor memory and tcgen05, and whether JAX's own lowering takes or
refuses each.

Usage: make_blackwell_legality_golden.py [--out FILE] [--why]
    (default: blackwell_legality.txt.gz beside this script; needs PYTHONPATH=python)

As make_gpu_legality_golden.py, for a B200: JAX's queries get its compute capability, so JAX lowers for a GPU that the
machine does not have. Shapes, types, swizzles and layouts are drawn at random, with a fixed seed. Does not catch: what
ptxas and the driver refuse, operations of other chips among them (wgmma on a B200, tcgen05 on an H100), which JAX
lowers all the same.
"""

import argparse
import pathlib
import warnings
from unittest import mock

import blackwell_legality_clusters
import blackwell_legality_control
import blackwell_legality_narrow
import blackwell_legality_views
import jax
import jax.numpy as jnp
import numpy as np
from gpu_legality_case import BF16, E4, E5, F16, F32, I8, I32, LANE, U8, WG, Case, scoped, write_cases
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import core as mosaic_gpu
from jax.experimental.pallas import mosaic_gpu as plgpu

SCALE, F4, U2 = jnp.float8_e8m0fnu, jnp.float4_e2m1fn, jnp.uint2
PAIR = {"cluster": (2,), "cluster_names": ("c",)}


def bits(dtype):
    return jnp.finfo(dtype).bits if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).bits


def tiles(dtype, swizzle, tile=None):
    if not swizzle:
        return ()
    return (plgpu.TilingTransform(tile or (8, 8 * swizzle // bits(dtype))), plgpu.SwizzleTransform(swizzle))


def in_warp(action):
    """By one warp of the warpgroup."""

    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        @pl.when(jax.lax.axis_index("warp") == 0)
        def _():
            action()


def product(
    m,
    n,
    k,
    dtype=F16,
    acc=F32,
    swizzles=(128, 128),
    transposes=(False, False),
    *,
    axis=None,
    memory=None,
    a_memory=None,
    warp=False,
    arrive=True,
    tile=None,
    view=None,
    pair=None,
):
    """One product, by block or by pair; `memory` and `a_memory` are TMEM's arguments of the accumulator and of A, where
    A lies there."""

    def shape(dims, transposed):
        return dims[::-1] if transposed else dims

    pair = axis is not None if pair is None else pair
    memory = {"collective": pair, **({"packed": False} if bits(acc) < 32 else {}), **(memory or {})}
    if a_memory is None:
        a = plgpu.SMEM(shape((m, k), transposes[0]), dtype, transforms=tiles(dtype, swizzles[0], tile))
    else:
        a = plgpu.TMEM((m, k), dtype, **{"collective": pair, **a_memory})
    b = plgpu.SMEM(shape((k, n // 2 if axis else n), transposes[1]), dtype, transforms=tiles(dtype, swizzles[1], tile))

    @scoped(plgpu.TMEM((m, n), acc, **memory), a, b, plgpu.Barrier(orders_tensor_core=True))
    def body(x, o, c, a_ref, b_ref, barrier):
        def action():
            left = plgpu.transpose_ref(a_ref, (1, 0)) if transposes[0] else a_ref
            right = plgpu.transpose_ref(b_ref, (1, 0)) if transposes[1] else b_ref
            target = c if view is None else c.at[:, view]
            plgpu.tcgen05_mma(target, left, right, barrier if arrive else None, accumulate=False, collective_axis=axis)
            if not arrive:
                plgpu.tcgen05_commit_arrive(barrier, collective_axis=axis)

        in_warp(action) if warp else action()
        plgpu.barrier_wait(barrier)

    return body


def products():
    random = np.random.default_rng(5)

    def one_of(*choices):
        return choices[int(random.integers(len(choices)))]

    for n in range(130):
        dtype = F16 if n % 3 == 0 else one_of(F16, BF16, F32, I8, E4, E5, U8, F4, I32)
        acc = one_of(F32, F32, F16, I32) if n % 2 else (I32 if dtype in (I8, U8) else F32)
        swizzles = (
            (128, 128) if n % 4 else (one_of(32, 64, 128),) * 2 if n % 8 else (one_of(32, 64, 128), one_of(32, 64, 128))
        )
        atoms = 8 * max(swizzles) // bits(dtype)  # what JAX refuses before there is a kernel: parts of tiles
        m, columns, k = (
            one_of(128, 128, 64),
            one_of(8, 16, 24, 32, 48, 64, 80, 128, 256, 320, 512),
            atoms * one_of(1, 1, 2, 3),
        )
        axis = "c" if random.random() < 0.3 else None
        transposes = (
            random.random() < 0.2 and m % atoms == 0,
            random.random() < 0.6 or columns // (2 if axis else 1) % atoms > 0,
        )
        columns = columns * 2 if axis and columns % 16 else columns
        semantics = LANE if random.random() < 0.65 else WG
        yield (
            f"product_{n}",
            lambda args=(m, columns, k, dtype, acc, swizzles, transposes), axis=axis, n=n: product(
                *args, axis=axis, arrive=n % 5 > 0, warp=n % 7 == 0
            ),
            semantics,
            PAIR if axis else {},
        )
    for name, semantics in (("lane", LANE), ("wg", WG)):
        wide = {"transposes": (False, True)}
        for tile in ((8, 32), (16, 64)):
            yield (
                f"product_tile_{tile[0]}_{name}",
                lambda tile=tile: product(128, 64, 64, tile=tile, **wide),
                semantics,
                {},
            )
        for packed in (True, False):
            yield (
                f"product_acc_packed_{packed}_{name}",
                lambda packed=packed: product(128, 64, 64, acc=F16, memory={"packed": packed}, **wide),
                semantics,
                {},
            )
        for m, packed, dtype in (
            (128, True, F16),
            (128, False, F16),
            (64, True, F16),
            (128, True, E4),
            (128, True, I8),
        ):
            yield (
                f"product_of_tmem_{m}_{packed}_{jnp.dtype(dtype).name}_{name}",
                lambda m=m, packed=packed, dtype=dtype: product(
                    m, 64, 128, dtype, I32 if dtype == I8 else F32, a_memory={"packed": packed}, **wide
                ),
                semantics,
                {},
            )
            yield (
                f"product_of_tmem_{m}_{packed}_{jnp.dtype(dtype).name}_pair_{name}",
                lambda m=m, packed=packed, dtype=dtype: product(
                    m, 128, 128, dtype, I32 if dtype == I8 else F32, a_memory={"packed": packed}, axis="c", **wide
                ),
                semantics,
                PAIR,
            )
        for cluster, names, axis in (
            ((2, 2), ("c", "d"), "c"),
            ((2, 2), ("d", "c"), "c"),
            ((4,), ("c",), "c"),
            ((1,), ("c",), "c"),
            ((2,), ("c",), "d"),
            ((2, 1), ("d", "c"), "d"),
        ):
            mesh = {"cluster": cluster, "cluster_names": names}
            yield (
                f"product_axis_{'_'.join(map(str, cluster))}_{''.join(names)}_{axis}_{name}",
                lambda axis=axis: product(128, 128, 64, axis=axis, **wide),
                semantics,
                mesh,
            )
            yield (
                f"arrive_axis_{'_'.join(map(str, cluster))}_{''.join(names)}_{axis}_{name}",
                lambda axis=axis: product(128, 128, 64, axis=axis, arrive=False, **wide),
                semantics,
                mesh,
            )
        yield (
            f"product_alone_in_memory_of_pairs_{name}",
            lambda: product(128, 64, 64, pair=True, **wide),
            semantics,
            PAIR,
        )
        for columns, view in ((128, pl.ds(0, 64)), (128, pl.ds(64, 64)), (192, pl.ds(32, 64))):
            yield (
                f"product_into_{view.start}_of_{columns}_{name}",
                lambda columns=columns, view=view: part_product(columns, view),
                semantics,
                {},
            )


def part_product(columns, view):
    smem = plgpu.SMEM((64, 64), F16, transforms=tiles(F16, 128))

    @scoped(
        plgpu.TMEM((128, columns), F32),
        plgpu.SMEM((128, 64), F16, transforms=tiles(F16, 128)),
        smem,
        plgpu.Barrier(orders_tensor_core=True),
    )
    def body(x, o, c, a, b, barrier):
        plgpu.tcgen05_mma(c.at[:, view], a, plgpu.transpose_ref(b, (1, 0)), barrier)

    return body


def scaled(
    m,
    n,
    k,
    dtype=E4,
    scale=SCALE,
    *,
    axis=None,
    sparse=False,
    block=None,
    b_rows=None,
    a_layout="SCALES_LAYOUT",
    b_layout="SCALES_LAYOUT",
    acc=F32,
    swizzle=128,
    transposed=True,
):
    """Block-scaled, sparse or both."""
    a_k = k // 2 if sparse else k
    a = plgpu.SMEM((m, a_k), dtype, transforms=tiles(dtype, swizzle))
    columns = n // 2 if axis else n
    b = plgpu.SMEM((columns, k) if transposed else (k, columns), dtype, transforms=tiles(dtype, swizzle))
    types = {
        "c": plgpu.TMEM((m, n), acc, collective=axis is not None, **({"packed": False} if bits(acc) < 32 else {})),
        "a": a,
        "b": b,
    }
    if scale is not None:
        width = k // (block or (32 if scale == SCALE else 16) * (2 if sparse else 1))
        types["a_scale"] = plgpu.TMEM(
            (128, width), scale, layout=getattr(plgpu.TMEMLayout, a_layout), collective=axis is not None
        )
        types["b_scale"] = plgpu.TMEM(
            (b_rows or -(-n // 128) * 128, width),
            scale,
            layout=getattr(plgpu.TMEMLayout, b_layout),
            collective=axis is not None,
        )
    if sparse:
        group = 8 if dtype == F4 else 4
        types["a_sparse_metadata"] = plgpu.TMEM(
            (m, k // group * 2), U2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT, collective=axis is not None
        )

    @scoped(*types.values(), plgpu.Barrier(orders_tensor_core=True))
    def body(x, o, c, a_ref, b_ref, *rest):
        right = plgpu.transpose_ref(b_ref, (1, 0)) if transposed else b_ref
        more = dict(zip(list(types)[3:], rest))
        plgpu.tcgen05_mma(c, a_ref, right, rest[-1], accumulate=False, collective_axis=axis, **more)

    return body


def scaled_products():
    random = np.random.default_rng(13)

    def one_of(*choices):
        return choices[int(random.integers(len(choices)))]

    for n in range(110):
        dtype, scale = one_of(
            (E4, SCALE), (E5, SCALE), (F4, SCALE), (F4, E4), (E4, SCALE), (F4, SCALE), (E4, E4), (F16, SCALE)
        )
        sparse = n % 3 == 0
        if n % 6 == 0:
            dtype, scale = one_of((F16, None), (BF16, None), (E4, None), (I8, None), (F32, None))
        axis = "c" if n % 4 == 1 else None
        m, columns, k = (
            one_of(128, 128, 128, 128, 64),
            one_of(16, 32, 64, 64, 96, 128, 128, 256, 512),
            one_of(256, 256, 512),
        )
        options = {"axis": axis, "sparse": sparse, "acc": I32 if dtype == I8 else one_of(F32, F32, F32, F32, F16)}
        if n % 5 == 4:
            options |= one_of(
                {"block": 64},
                {"b_rows": 256},
                {"b_layout": "SCALES_M64_COLLECTIVE_LAYOUT", "b_rows": 256},
                {"a_layout": "SCALES_M64_COLLECTIVE_LAYOUT"},
                {"transposed": False},
                {"swizzle": 64},
                {"swizzle": 32},
            )
        if axis and m == 64 and scale is not None:
            options |= {"b_layout": "SCALES_M64_COLLECTIVE_LAYOUT", "b_rows": 256}
        yield (
            f"scaled_{n}",
            lambda args=(m, columns, k, dtype, scale), options=options: scaled(*args, **options),
            LANE if n % 4 < 3 else WG,
            PAIR if axis else {},
        )


def load_store(rows, columns, dtype=F32, *, registers=None, index=None, store=False, warp=False, **memory):
    @scoped(plgpu.TMEM((rows, columns), dtype, **memory))
    def body(x, o, t):
        view = t if index is None else t.at[index]

        def action():
            if store:
                value = jnp.full(view.shape, 1, dtype)
                plgpu.async_store_tmem(
                    view, value if registers is None else plgpu.layout_cast(value, registers(*view.shape))
                )
                plgpu.commit_tmem()
            else:
                plgpu.async_load_tmem(view, **({} if registers is None else {"layout": registers(*view.shape)}))
                plgpu.wait_load_tmem()

        in_warp(action) if warp else action()

    return body


REGISTERS = {
    "none": None,
    "tcgen05": lambda m, n: plgpu.Layout.TCGEN05,
    "wgmma": lambda m, n: plgpu.Layout.WGMMA,
    "native": lambda m, n: plgpu.Layout.TCGEN05_TMEM_NATIVE,
    "native2": lambda m, n: plgpu.Layout.TCGEN05_TMEM_NATIVE(2),
    "native4": lambda m, n: plgpu.Layout.TCGEN05_TMEM_NATIVE(4),
    "collective": lambda m, n: plgpu.Layout.TCGEN05_M64_COLLECTIVE(n),
}


def loads_and_stores():
    for rows, columns, dtype, memory in (
        (128, 64, F32, {}),
        (64, 64, F32, {}),
        (64, 64, F32, {"collective": True}),
        (128, 64, F16, {"packed": True}),
        (128, 64, F16, {"packed": False}),
        (64, 64, F16, {"packed": True}),
        (128, 64, E4, {"packed": True}),
        (128, 64, E4, {"packed": False}),
        (128, 8, F32, {}),
        (128, 4, F32, {}),
        (128, 12, F32, {}),
    ):
        mesh = PAIR if memory.get("collective") else {}
        for name, registers in REGISTERS.items():
            for store in (False, True):
                what = f"{'store' if store else 'load'}_{rows}_{columns}_{jnp.dtype(dtype).name}"
                what += f"_{memory.get('packed', False)}_{name}{'_pair' if mesh else ''}"
                yield (
                    what,
                    lambda a=(rows, columns, dtype), r=registers, s=store, m=memory: load_store(
                        *a, registers=r, store=s, **m
                    ),
                    LANE,
                    mesh,
                )
                if name in ("none", "tcgen05", "wgmma", "native", "native2", "native4", "collective"):
                    yield (
                        f"{what}_wg",
                        lambda a=(rows, columns, dtype), r=registers, s=store, m=memory: load_store(
                            *a, registers=r, store=s, **m
                        ),
                        WG,
                        mesh,
                    )
    every = slice(None)
    for name, index in (
        ("columns", (every, pl.ds(32, 32))),
        ("odd", (every, pl.ds(33, 16))),
        ("rows", (pl.ds(0, 64), every)),
        ("step", (every, pl.ds(0, 32, 2))),
        ("index", (0, every)),
        ("three", (every, pl.ds(3, 24))),
    ):
        for rows, dtype, memory in ((128, F32, {}), (128, F16, {"packed": True}), (64, F32, {})):
            for semantics in (LANE, WG):
                what = f"load_{name}_{rows}_{jnp.dtype(dtype).name}_{'lane' if semantics == LANE else 'wg'}"
                yield what, lambda a=(rows, 128, dtype), i=index, m=memory: load_store(*a, index=i, **m), semantics, {}
    for store in (False, True):
        yield f"warp_{'store' if store else 'load'}", lambda s=store: load_store(128, 64, store=s, warp=True), LANE, {}


def copy(rows, columns, dtype, swizzle, *, smem=None, tiled=True, axis=None, warp=False, tile=None, **memory):
    @scoped(
        plgpu.SMEM(smem or (rows, columns), dtype, transforms=tiles(dtype, swizzle, tile) if tiled else ()),
        plgpu.TMEM((rows, columns), dtype, collective=axis is not None, **memory),
        plgpu.Barrier(orders_tensor_core=True),
    )
    def body(x, o, s, t, barrier):
        def action():
            plgpu.async_copy_smem_to_tmem(s, t, collective_axis=axis)
            plgpu.tcgen05_commit_arrive(barrier, collective_axis=axis)

        in_warp(action) if warp else action()

    return body


def copy_scales(rows, columns, smem, dtype=SCALE, of="SCALES_LAYOUT", *, metadata=False, axis=None, warp=False):
    @scoped(
        plgpu.SMEM(smem, dtype),
        plgpu.TMEM((rows, columns), dtype, layout=getattr(plgpu.TMEMLayout, of), collective=axis is not None),
    )
    def body(x, o, s, t):
        def action():
            (plgpu.async_copy_sparse_metadata_to_tmem if metadata else plgpu.async_copy_scales_to_tmem)(
                s, t, collective_axis=axis
            )

        in_warp(action) if warp else action()

    return body


def copies():
    for rows, columns, dtype, packed in (
        (128, 64, F16, True),
        (128, 64, F16, False),
        (64, 64, F16, True),
        (128, 64, F32, None),
        (128, 128, E4, True),
        (128, 32, I8, True),
    ):
        for swizzle in (0, 32, 64, 128):
            for name, semantics in (("lane", LANE), ("wg", WG)):
                memory = {} if packed is None else {"packed": packed}
                yield (
                    f"copy_{rows}_{columns}_{jnp.dtype(dtype).name}_{packed}_{swizzle}_{name}",
                    lambda a=(rows, columns, dtype, swizzle), m=memory: copy(*a, **m),
                    semantics,
                    {},
                )
    yield "copy_warp", lambda: copy(128, 64, F16, 128, warp=True, packed=True), LANE, {}
    yield "copy_pair", lambda: copy(128, 64, F16, 128, axis="c", packed=True), LANE, PAIR
    yield "copy_tile", lambda: copy(128, 64, F16, 128, tile=(16, 64), packed=True), LANE, {}
    for name, semantics in (("lane", LANE), ("wg", WG)):
        for rows, columns, smem, dtype, of in (
            (128, 8, (1, 2, 32, 16), SCALE, "SCALES_LAYOUT"),
            (256, 8, (2, 2, 32, 16), SCALE, "SCALES_LAYOUT"),
            (384, 8, (3, 2, 32, 16), SCALE, "SCALES_LAYOUT"),
            (128, 8, (1, 2, 32, 16), E4, "SCALES_LAYOUT"),
            (128, 8, (1, 2, 32, 16), E5, "SCALES_LAYOUT"),
            (128, 8, (2, 1, 32, 16), SCALE, "SCALES_LAYOUT"),
            (256, 8, (1, 2, 64, 16), SCALE, "SCALES_M64_COLLECTIVE_LAYOUT"),
            (256, 8, (2, 2, 32, 16), SCALE, "SCALES_M64_COLLECTIVE_LAYOUT"),
        ):
            yield (
                f"scales_{rows}_{smem[0]}_{smem[2]}_{jnp.dtype(dtype).name}_{name}",
                lambda a=(rows, columns, smem, dtype, of): copy_scales(*a),
                semantics,
                {},
            )
        for rows, columns, smem in (
            (128, 64, (1, 1, 128, 64)),
            (128, 128, (1, 2, 128, 64)),
            (128, 32, (1, 1, 128, 32)),
            (256, 64, (2, 1, 128, 64)),
        ):
            yield (
                f"metadata_{rows}_{columns}_{name}",
                lambda a=(rows, columns, smem, U2, "SPARSE_METADATA_LAYOUT"): copy_scales(*a, metadata=True),
                semantics,
                {},
            )


def empty(*types):
    return scoped(*types)(lambda x, o, *refs: None)


def scopes():
    def memory(shape, dtype=F32, **options):
        return lambda: empty(plgpu.TMEM(shape, dtype, **options))

    for columns in (4, 12, 100, 500, 504, 512, 516, 600):
        yield f"memory_{columns}", memory((128, columns)), LANE, {}
    yield "memory_twice", lambda: empty(plgpu.TMEM((128, 256), F32), plgpu.TMEM((128, 256), F32)), LANE, {}
    yield "memory_too_much", lambda: empty(plgpu.TMEM((128, 256), F32), plgpu.TMEM((128, 260), F32)), LANE, {}
    yield "memory_four_each", lambda: empty(*(plgpu.TMEM((128, 4), F32) for _ in range(65))), LANE, {}
    yield "memory_rows_256", memory((256, 128)), LANE, {}
    yield "memory_pair", memory((128, 128), collective=True), LANE, PAIR
    yield "memory_pair_wg", memory((128, 128), collective=True), WG, PAIR
    for cluster in ((), (1,), (3,), (4,), (2, 3)):
        mesh = {"cluster": cluster, "cluster_names": ("c", "d")[: len(cluster)]} if cluster else {}
        yield f"memory_pair_of_{'_'.join(map(str, cluster)) or 'none'}", memory((128, 64), collective=True), LANE, mesh
    for name, semantics in (("lane", LANE), ("wg", WG)):
        yield (
            f"memory_mixed_{name}",
            lambda: empty(plgpu.TMEM((128, 64), F32, collective=True), plgpu.TMEM((128, 64), F32)),
            semantics,
            PAIR,
        )

    def after(x, o):
        pl.run_scoped(lambda s: None, plgpu.TMEM((128, 300), F32))
        pl.run_scoped(lambda s: None, plgpu.TMEM((128, 512), F32))

    yield "memory_after", lambda: after, LANE, {}

    def mixed_after(x, o):
        pl.run_scoped(lambda s: None, plgpu.TMEM((128, 64), F32))
        pl.run_scoped(lambda s: None, plgpu.TMEM((128, 64), F32, collective=True))

    yield "memory_mixed_after", lambda: mixed_after, LANE, PAIR
    wide = plgpu.TMEM((128, 300), F32)
    yield (
        "memory_nested",
        lambda: lambda x, o: pl.run_scoped(lambda s: pl.run_scoped(lambda t: None, wide), wide),
        LANE,
        {},
    )
    for shape in ((128, 0), (0, 128, 64)):
        yield f"memory_empty_{len(shape)}", memory(shape), LANE, {}
    yield (
        "memory_empty_beside_another",
        lambda: scoped(plgpu.TMEM((128, 0), F32), plgpu.TMEM((128, 64), F32))(lambda *refs: None),
        LANE,
        {},
    )
    yield "memory_batch", memory((2, 128, 64)), LANE, {}
    yield "memory_batch_half", memory((2, 64, 64)), LANE, {}

    def union(columns, rows=128, load=True):
        members = (plgpu.TMEM((rows, columns), F32), plgpu.TMEM((128, 64), F16, packed=True))

        @scoped(plgpu.RefUnion(*members))
        def body(x, o, refs):
            one, other = refs
            plgpu.async_load_tmem(one)
            plgpu.async_load_tmem(other)

        return body

    for columns, rows in ((64, 128), (512, 128), (516, 128), (64, 64)):
        for name, semantics in (("lane", LANE), ("wg", WG)):
            yield f"union_{columns}_{rows}_{name}", lambda a=(columns, rows): union(*a), semantics, {}
    warp_only = {"commit": plgpu.commit_tmem, "wait": plgpu.wait_load_tmem}
    for name, action in warp_only.items():
        yield f"warp_{name}", lambda action=action: lambda x, o: in_warp(action), LANE, {}
        yield f"group_{name}", lambda action=action: lambda x, o: action(), LANE, {}


def cases():
    parts = (
        blackwell_legality_control,
        blackwell_legality_views,
        blackwell_legality_clusters,
        blackwell_legality_narrow,
    )
    for family in (
        products,
        scaled_products,
        loads_and_stores,
        copies,
        scopes,
        *(family for part in parts for family in part.FAMILIES),
    ):
        for name, make, semantics, mesh in family():
            yield (
                name,
                lambda name=name, make=make, semantics=semantics, mesh=mesh: Case(
                    name, make(), semantics=semantics, **mesh
                ),
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("blackwell_legality.txt.gz")
    )
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    with mock.patch.object(mosaic_gpu, "_infer_arch", lambda: (10, 0)):
        write_cases(cases(), "b200", arguments)


if __name__ == "__main__":
    main()
