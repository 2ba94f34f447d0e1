"""Kernels of blackwell_legality.txt about elements of 2, 4 and 8 bits in tensor memory: scales, metadata, their unions,
copies, views and products.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/core.py (RefUnion, TMEM), jax/experimental/mosaic/gpu/tcgen05.py. Does
not catch: what ptxas refuses.
"""

import jax
import jax.numpy as jnp
from gpu_legality_case import E4, E5, F16, F32, I8, LANE, U8, WG, scoped
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

PAIR = {"cluster": (2,), "cluster_names": ("c",)}
SEMANTICS = (("lane", LANE), ("wg", WG))
SCALE, F4, U2, I2, U4, I4 = jnp.float8_e8m0fnu, jnp.float4_e2m1fn, jnp.uint2, jnp.int2, jnp.uint4, jnp.int4
OF = plgpu.TMEMLayout
LAYOUTS = (
    ("default", {}),
    ("packed", {"packed": True}),
    ("alone", {"packed": False}),
    ("scales", {"layout": OF.SCALES_LAYOUT}),
    ("scales_m64", {"layout": OF.SCALES_M64_COLLECTIVE_LAYOUT}),
    ("metadata", {"layout": OF.SPARSE_METADATA_LAYOUT}),
)
TENSOR = plgpu.Barrier(orders_tensor_core=True)


def tiles(dtype, swizzle=128):
    width = jnp.finfo(dtype).bits if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).bits
    return (plgpu.TilingTransform((8, 8 * swizzle // width)), plgpu.SwizzleTransform(swizzle))


def in_warp(action):
    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        @pl.when(jax.lax.axis_index("warp") == 0)
        def _():
            action()


def uses(ref, use=lambda *refs: None):
    return scoped(ref)(lambda x, o, refs: use(refs))


def load(view):
    plgpu.async_load_tmem(view)
    plgpu.wait_load_tmem()


def store(view):
    plgpu.async_store_tmem(view, plgpu.layout_cast(jnp.ones(view.shape, view.dtype), plgpu.Layout.TCGEN05))
    plgpu.commit_tmem()


def memories():
    """What can be allocated at all, and read."""
    for name, semantics in SEMANTICS:
        for dtype in (U2, I2, U4, I4, F4, SCALE, E4, E5, U8, jnp.bool_):
            for label, memory in LAYOUTS:
                for rows, columns in ((128, 64), (64, 64), (256, 64), (128, 4), (128, 6), (128, 2)):
                    if (rows, columns) != (128, 64) and dtype not in (U2, F4, SCALE):
                        continue
                    what = f"{jnp.dtype(dtype).name}_{label}_{rows}_{columns}_{name}"
                    yield (
                        f"narrow_{what}",
                        lambda a=(rows, columns), d=dtype, m=memory: uses(plgpu.TMEM(a, d, **m)),
                        semantics,
                        {},
                    )
                yield (
                    f"narrow_load_{jnp.dtype(dtype).name}_{label}_{name}",
                    lambda d=dtype, m=memory: uses(plgpu.TMEM((128, 64), d, **m), load),
                    semantics,
                    {},
                )
                yield (
                    f"narrow_store_{jnp.dtype(dtype).name}_{label}_{name}",
                    lambda d=dtype, m=memory: uses(plgpu.TMEM((128, 64), d, **m), store),
                    semantics,
                    {},
                )


def unions():
    wide = plgpu.TMEM((128, 64), F32)
    for name, semantics in SEMANTICS:
        for dtype in (U2, I2, U4, I4, F4, SCALE, E4, U8):
            for label, memory in LAYOUTS:
                if label == "default":
                    continue
                member = lambda d=dtype, m=memory: plgpu.TMEM((128, 64), d, **m)  # noqa: E731
                for order in (0, 1):

                    def union(member=member, order=order, of=lambda r: r):
                        return plgpu.RefUnion(*((wide, member()) if order else (member(), wide)))

                    what = f"{jnp.dtype(dtype).name}_{label}_{order}_{name}"
                    if dtype in (U2, F4, SCALE):
                        yield (
                            f"narrow_union_{what}",
                            lambda u=union, o=order: uses(u(), lambda r: load(r[1 - o])),
                            semantics,
                            {},
                        )
                    if order:
                        yield (
                            f"narrow_union_load_{what}",
                            lambda u=union: uses(u(), lambda r: load(r[1])),
                            semantics,
                            {},
                        )
        tree = [
            plgpu.TMEM((128, 8), SCALE, layout=OF.SCALES_LAYOUT),
            plgpu.TMEM((128, 64), U2, layout=OF.SPARSE_METADATA_LAYOUT),
        ]
        for at in (0, 1):
            yield (
                f"narrow_union_of_both_{at}_{name}",
                lambda at=at: copied(plgpu.RefUnion(tree, wide), lambda r: r[0][at], metadata=at == 1),
                semantics,
                {},
            )
        for label, dtype, memory, metadata in (
            ("scales", SCALE, {"layout": OF.SCALES_LAYOUT}, False),
            ("metadata", U2, {"layout": OF.SPARSE_METADATA_LAYOUT}, True),
        ):
            columns = 64 if metadata else 8
            for first in (False, True):
                pair = (wide, plgpu.TMEM((128, columns), dtype, **memory))
                yield (
                    f"narrow_union_copy_{label}_{first}_{name}",
                    lambda a=pair[::-1] if first else pair, f=first, m=metadata: copied(
                        plgpu.RefUnion(*a), lambda r: r[0 if f else 1], metadata=m
                    ),
                    semantics,
                    {},
                )
            two = [plgpu.TMEM((128, 64), F16, packed=True), plgpu.TMEM((128, columns), dtype, **memory)]
            yield (
                f"narrow_union_copy_{label}_second_{name}",
                lambda a=two, m=metadata: copied(plgpu.RefUnion(a, wide), lambda r: r[0][1], metadata=m),
                semantics,
                {},
            )
        packed = plgpu.TMEM((128, 64), F16, packed=True)
        for at in (0, 1):
            yield (
                f"narrow_union_store_{at}_{name}",
                lambda at=at: uses(plgpu.RefUnion(wide, plgpu.TMEM((128, 64), F32)), lambda r: store(r[at])),
                semantics,
                {},
            )
            yield (
                f"narrow_union_copy_plain_{at}_{name}",
                lambda at=at: plain(
                    F16, 128, plgpu.RefUnion(*((wide, packed) if at else (packed, wide))), lambda r: r[at]
                ),
                semantics,
                {},
            )
            yield (
                f"narrow_union_of_batches_{at}_{name}",
                lambda at=at: uses(plgpu.RefUnion(wide, packed), lambda r: load(r[at].at[:, pl.ds(32, 32)])),
                semantics,
                {},
            )
        tall = plgpu.TMEM((256, 8), SCALE, layout=OF.SCALES_LAYOUT)
        yield (
            f"narrow_union_of_256_rows_{name}",
            lambda: copied(plgpu.RefUnion(tall, wide), lambda r: r[0], rows=256),
            semantics,
            {},
        )
        yield (
            f"narrow_union_of_256_rows_unused_{name}",
            lambda: uses(plgpu.RefUnion(tall, wide), lambda r: load(r[1])),
            semantics,
            {},
        )


def copied(
    ref, see=lambda r: r, *, metadata=False, rows=128, smem=None, axis=None, warp=False, dtype=None, source=lambda s: s
):
    shape = smem or ((1, 1, 128, 64) if metadata else (rows // 128, 2, 32, 16))

    @scoped(ref, plgpu.SMEM(shape, dtype or (U2 if metadata else SCALE)))
    def body(x, o, r, s):
        def action():
            (plgpu.async_copy_sparse_metadata_to_tmem if metadata else plgpu.async_copy_scales_to_tmem)(
                source(s), see(r), collective_axis=axis
            )

        in_warp(action) if warp else action()

    return body


def copies():
    scales, metadata = {"layout": OF.SCALES_LAYOUT}, {"layout": OF.SPARSE_METADATA_LAYOUT}
    every = slice(None)
    for name, semantics in SEMANTICS:
        for warp in (False, True):
            for axis in (None, "c"):
                mesh = PAIR if axis else {}
                what = f"{'warp' if warp else 'group'}_{axis}_{name}"
                yield (
                    f"narrow_copy_scales_{what}",
                    lambda a=axis, w=warp: copied(
                        plgpu.TMEM((128, 8), SCALE, collective=a is not None, **scales), axis=a, warp=w
                    ),
                    semantics,
                    mesh,
                )
                yield (
                    f"narrow_copy_metadata_{what}",
                    lambda a=axis, w=warp: copied(
                        plgpu.TMEM((128, 64), U2, collective=a is not None, **metadata), metadata=True, axis=a, warp=w
                    ),
                    semantics,
                    mesh,
                )
                yield (
                    f"narrow_copy_scales_m64_{what}",
                    lambda a=axis, w=warp: copied(
                        plgpu.TMEM((256, 8), SCALE, collective=a is not None, layout=OF.SCALES_M64_COLLECTIVE_LAYOUT),
                        smem=(1, 2, 64, 16),
                        axis=a,
                        warp=w,
                    ),
                    semantics,
                    mesh,
                )
        for label, see, source, columns, rows in (
            ("columns", lambda r: r.at[:, pl.ds(8, 8)], lambda s: s, 16, 128),
            ("odd_columns", lambda r: r.at[:, pl.ds(4, 8)], lambda s: s, 16, 128),
            ("rows", lambda r: r.at[pl.ds(128, 128)], lambda s: s, 8, 256),
            ("first_rows", lambda r: r.at[pl.ds(0, 128)], lambda s: s, 8, 256),
            ("every", lambda r: r.at[every], lambda s: s, 8, 128),
            ("smem_slot", lambda r: r, lambda s: s.at[1], 8, 128),
            ("smem_part", lambda r: r, lambda s: s.at[:, pl.ds(0, 2)], 8, 128),
            ("smem_reshaped", lambda r: r, lambda s: s.reshape(1, 2, 32, 16), 8, 128),
        ):
            shape = {"smem_slot": (2, 1, 2, 32, 16), "smem_part": (1, 4, 32, 16), "smem_reshaped": (2, 32, 16)}.get(
                label, (1, 2, 32, 16)
            )
            yield (
                f"narrow_copy_scales_{label}_{name}",
                lambda a=(rows, columns), v=see, f=source, s=shape: copied(
                    plgpu.TMEM(a, SCALE, **scales), v, source=f, smem=s
                ),
                semantics,
                {},
            )
        yield (
            f"narrow_copy_metadata_columns_{name}",
            lambda: copied(plgpu.TMEM((128, 128), U2, **metadata), lambda r: r.at[:, pl.ds(64, 64)], metadata=True),
            semantics,
            {},
        )
        yield (
            f"narrow_copy_metadata_odd_columns_{name}",
            lambda: copied(plgpu.TMEM((128, 128), U2, **metadata), lambda r: r.at[:, pl.ds(32, 64)], metadata=True),
            semantics,
            {},
        )
        for label, of in LAYOUTS[1:]:
            for dtype in (SCALE, U2, I2, U4, E4):
                wanted = U2 if dtype in (U2, I2) else SCALE
                yield (
                    f"narrow_copy_of_{jnp.dtype(dtype).name}_{label}_{name}",
                    lambda d=dtype, of=of, w=wanted: copied(
                        plgpu.TMEM((128, 64), d, **of),
                        metadata=w is U2,
                        dtype=d,
                        smem=(1, 1, 128, 64) if w is U2 else (1, 16, 32, 16),
                    ),
                    semantics,
                    {},
                )
        for dtype in (F4, U4, I4, U2):
            for swizzle in (32, 64, 128):
                yield (
                    f"narrow_copy_plain_{jnp.dtype(dtype).name}_{swizzle}_{name}",
                    lambda d=dtype, s=swizzle: plain(d, s),
                    semantics,
                    {},
                )


def plain(dtype, swizzle, memory=None, see=lambda t: t):
    columns = 1024 if memory is None else 64

    @scoped(
        plgpu.SMEM((128, columns), dtype, transforms=tiles(dtype, swizzle)),
        memory or plgpu.TMEM((128, columns), dtype, packed=True),
    )
    def body(x, o, s, t):
        plgpu.async_copy_smem_to_tmem(s, see(t))

    return body


def products():
    """Products whose scales, metadata and operands are parts, slots or members of unions."""

    def product(types, see=None, axis=None, warp=False, turned=True):
        names = list(types)

        @scoped(*types.values(), TENSOR)
        def body(x, o, *refs):
            given = dict(zip(names, refs)) if see is None else see(dict(zip(names, refs)))

            def action():
                more = {key: given[key] for key in given if key not in ("c", "a", "b")}
                right = plgpu.transpose_ref(given["b"], (1, 0)) if turned else given["b"]
                plgpu.tcgen05_mma(
                    given["c"], given["a"], right, refs[-1], accumulate=False, collective_axis=axis, **more
                )

            in_warp(action) if warp else action()

        return body

    def operands(dtype=E4, k=256, n=64, pair=False, sparse=False):
        return {
            "c": plgpu.TMEM((128, n), F32, collective=pair),
            "a": plgpu.SMEM((128, k // 2 if sparse else k), dtype, transforms=tiles(dtype)),
            "b": plgpu.SMEM((n // 2 if pair else n, k), dtype, transforms=tiles(dtype)),
        }

    def of_scales(columns, dtype=SCALE, of=OF.SCALES_LAYOUT, rows=128, pair=False):
        return plgpu.TMEM((rows, columns), dtype, layout=of, collective=pair)

    def of_metadata(columns, dtype=U2, rows=128, pair=False):
        return plgpu.TMEM((rows, columns), dtype, layout=OF.SPARSE_METADATA_LAYOUT, collective=pair)

    def seen(**views):
        return lambda refs: {key: views[key](ref) if key in views else ref for key, ref in refs.items()}

    whole = {"a_scale": of_scales(8), "b_scale": of_scales(8)}
    for name, semantics in SEMANTICS:
        for label, types, see in (
            ("plain", operands() | whole, None),
            ("only_a", operands() | {"a_scale": of_scales(8)}, None),
            (
                "columns",
                operands() | {"a_scale": of_scales(16), "b_scale": of_scales(8)},
                seen(a_scale=lambda r: r.at[:, pl.ds(8, 8)]),
            ),
            (
                "odd_columns",
                operands() | {"a_scale": of_scales(16), "b_scale": of_scales(8)},
                seen(a_scale=lambda r: r.at[:, pl.ds(4, 8)]),
            ),
            (
                "b_columns",
                operands() | {"a_scale": of_scales(8), "b_scale": of_scales(16)},
                seen(b_scale=lambda r: r.at[:, pl.ds(8, 8)]),
            ),
            ("mixed_scales", operands(F4) | {"a_scale": of_scales(8), "b_scale": of_scales(16, E4)}, None),
            (
                "in_union",
                operands()
                | {"a_scale": plgpu.RefUnion(of_scales(8), plgpu.TMEM((128, 8), F32)), "b_scale": of_scales(8)},
                seen(a_scale=lambda r: r[0]),
            ),
            (
                "both_in_union",
                operands() | {"a_scale": plgpu.RefUnion([of_scales(8), of_scales(8)], plgpu.TMEM((128, 8), F32))},
                lambda refs: {**refs, "a_scale": refs["a_scale"][0][0], "b_scale": refs["a_scale"][0][1]},
            ),
            (
                "acc_in_union",
                operands() | whole | {"c": plgpu.RefUnion(plgpu.TMEM((128, 64), F32), plgpu.TMEM((128, 8), F32))},
                seen(c=lambda r: r[0]),
            ),
            (
                "b_scale_in_union",
                operands()
                | {"a_scale": of_scales(8), "b_scale": plgpu.RefUnion(plgpu.TMEM((128, 8), F32), of_scales(8))},
                seen(b_scale=lambda r: r[1]),
            ),
            (
                "of_default",
                operands() | {"a_scale": plgpu.TMEM((128, 8), SCALE, packed=True), "b_scale": of_scales(8)},
                None,
            ),
            ("of_u8", operands() | {"a_scale": of_scales(8, U8), "b_scale": of_scales(8, U8)}, None),
            ("of_e5", operands() | {"a_scale": of_scales(8, E5), "b_scale": of_scales(8, E5)}, None),
            ("f4", operands(F4) | whole, None),
            ("f4_e4", operands(F4) | {"a_scale": of_scales(16, E4), "b_scale": of_scales(16, E4)}, None),
            ("i8", operands(I8) | whole, None),
            ("rows_64", operands() | {"a_scale": of_scales(8), "b_scale": of_scales(8, rows=256)}, None),
        ):
            yield f"narrow_scaled_{label}_{name}", lambda t=types, s=see: product(t, s), semantics, {}
            if label in ("plain", "f4"):
                yield (
                    f"narrow_scaled_{label}_in_warp_{name}",
                    lambda t=types, s=see: product(t, s, warp=True),
                    semantics,
                    {},
                )
        for label, types, see in (
            ("plain", operands(sparse=True) | {"a_sparse_metadata": of_metadata(128)}, None),
            ("i2", operands(sparse=True) | {"a_sparse_metadata": of_metadata(128, I2)}, None),
            ("u8", operands(sparse=True) | {"a_sparse_metadata": of_metadata(128, U8)}, None),
            (
                "columns",
                operands(sparse=True) | {"a_sparse_metadata": of_metadata(256)},
                seen(a_sparse_metadata=lambda r: r.at[:, pl.ds(128, 128)]),
            ),
            (
                "odd_columns",
                operands(sparse=True) | {"a_sparse_metadata": of_metadata(256)},
                seen(a_sparse_metadata=lambda r: r.at[:, pl.ds(64, 128)]),
            ),
            (
                "in_union",
                operands(sparse=True)
                | {"a_sparse_metadata": plgpu.RefUnion(of_metadata(128), plgpu.TMEM((128, 64), F32))},
                seen(a_sparse_metadata=lambda r: r[0]),
            ),
            (
                "of_default",
                operands(sparse=True) | {"a_sparse_metadata": plgpu.TMEM((128, 128), U2, packed=False)},
                None,
            ),
            (
                "of_scales",
                operands(sparse=True) | {"a_sparse_metadata": plgpu.TMEM((128, 128), U2, layout=OF.SCALES_LAYOUT)},
                None,
            ),
            ("f16", operands(F16, sparse=True) | {"a_sparse_metadata": of_metadata(128)}, None),
            ("f32", operands(F32, 64, sparse=True) | {"a_sparse_metadata": of_metadata(32)}, None),
            ("f4", operands(F4, 512, sparse=True) | {"a_sparse_metadata": of_metadata(128)}, None),
            (
                "a_in_union",
                operands(F16, sparse=True)
                | {
                    "a": plgpu.RefUnion(plgpu.TMEM((128, 128), F16, packed=True), plgpu.TMEM((128, 8), F32)),
                    "a_sparse_metadata": of_metadata(128),
                },
                seen(a=lambda r: r[0]),
            ),
            (
                "a_of_tmem",
                operands(F16, sparse=True)
                | {"a": plgpu.TMEM((128, 128), F16, packed=True), "a_sparse_metadata": of_metadata(128)},
                None,
            ),
            (
                "scaled",
                operands(k=512, sparse=True)
                | {"a_scale": of_scales(8), "b_scale": of_scales(8), "a_sparse_metadata": of_metadata(256)},
                None,
            ),
            (
                "scaled_f4",
                operands(F4, 1024, sparse=True)
                | {"a_scale": of_scales(16), "b_scale": of_scales(16), "a_sparse_metadata": of_metadata(256)},
                None,
            ),
        ):
            yield f"narrow_sparse_{label}_{name}", lambda t=types, s=see: product(t, s), semantics, {}
            if label in ("plain", "scaled"):
                yield (
                    f"narrow_sparse_{label}_in_warp_{name}",
                    lambda t=types, s=see: product(t, s, warp=True),
                    semantics,
                    {},
                )
        pair = {"pair": True}
        for label, types in (
            ("plain", operands(n=128, **pair) | {"a_scale": of_scales(8, **pair), "b_scale": of_scales(8, **pair)}),
            ("scales_alone", operands(n=128, **pair) | {"a_scale": of_scales(8), "b_scale": of_scales(8)}),
            (
                "wide_b_scale",
                operands(n=128, **pair) | {"a_scale": of_scales(8, **pair), "b_scale": of_scales(8, rows=256, **pair)},
            ),
            ("sparse", operands(n=128, sparse=True, **pair) | {"a_sparse_metadata": of_metadata(128, **pair)}),
            ("sparse_alone", operands(n=128, sparse=True, **pair) | {"a_sparse_metadata": of_metadata(128)}),
        ):
            yield f"narrow_pair_{label}_{name}", lambda t=types: product(t, axis="c"), semantics, PAIR


FAMILIES = (memories, unions, copies, products)
