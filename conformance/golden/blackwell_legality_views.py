"""Kernels of blackwell_legality.txt about what is seen: batches, slices and unions of tensor memory, operands through
views, values in its layouts.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/core.py (transforms), jax/experimental/mosaic/gpu/tcgen05.py and
fragmented_array.py.
"""

import jax
import jax.numpy as jnp
from gpu_legality_case import BF16, E4, F16, F32, I8, I32, LANE, U8, U32, WG, layout, scoped
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

PAIR = {"cluster": (2,), "cluster_names": ("c",)}
SEMANTICS = (("lane", LANE), ("wg", WG))
TENSOR = plgpu.Barrier(orders_tensor_core=True)
EVERY = slice(None)


def smem(shape, dtype=F16, swizzle=128):
    return plgpu.SMEM(shape, dtype, transforms=layout(dtype, swizzle))


def product(
    acc,
    a,
    b,
    *,
    see_acc=lambda c: c,
    see_a=lambda a: a,
    see_b=lambda b: b,
    barrier=TENSOR,
    at=None,
    accumulate=False,
    axis=None,
):
    @scoped(acc, a, b, barrier)
    def body(x, o, c, a_ref, b_ref, done):
        flag = x[0, 0] > 0 if accumulate == "value" else accumulate
        plgpu.tcgen05_mma(
            see_acc(c),
            see_a(a_ref),
            see_b(b_ref),
            done if at is None else done.at[at],
            accumulate=flag,
            collective_axis=axis,
        )

    return body


def turned(ref):
    return plgpu.transpose_ref(ref, (1, 0))


def operands():
    acc, left, right = plgpu.TMEM((128, 64), F32), smem((128, 128)), smem((128, 64))
    for name, semantics in SEMANTICS:
        for label, types, options in (
            ("nothing", (acc, left, right), {}),
            ("a_slot", (acc, smem((3, 128, 128)), right), {"see_a": lambda a: a.at[1]}),
            ("b_slot", (acc, left, smem((3, 128, 64))), {"see_b": lambda b: b.at[2]}),
            ("b_slot_turned", (acc, left, smem((3, 64, 128))), {"see_b": lambda b: turned(b.at[0])}),
            (
                "b_turned_slot",
                (acc, left, smem((3, 64, 128))),
                {"see_b": lambda b: plgpu.transpose_ref(b, (0, 2, 1)).at[0]},
            ),
            ("b_twice_turned", (acc, left, right), {"see_b": lambda b: turned(turned(b))}),
            ("a_rows", (acc, smem((256, 128)), right), {"see_a": lambda a: a.at[pl.ds(128, 128)]}),
            ("a_part_of_k", (acc, smem((128, 256)), right), {"see_a": lambda a: a.at[:, pl.ds(128, 128)]}),
            ("b_part_of_k", (acc, left, smem((256, 64))), {"see_b": lambda b: b.at[pl.ds(64, 128)]}),
            ("b_part_of_n", (acc, left, smem((128, 256))), {"see_b": lambda b: b.at[:, pl.ds(64, 64)]}),
            ("b_odd_part", (acc, left, smem((128, 128))), {"see_b": lambda b: b.at[:, pl.ds(32, 64)]}),
            ("a_turned", (acc, smem((128, 128)), right), {"see_a": turned}),
            ("a_reshaped", (acc, smem((2, 64, 128)), right), {"see_a": lambda a: a.reshape(128, 128)}),
            ("b_reshaped", (acc, left, smem((2, 64, 64))), {"see_b": lambda b: b.reshape(128, 64)}),
            ("acc_slot", (plgpu.TMEM((2, 128, 64), F32), left, right), {"see_acc": lambda c: c.at[1]}),
            ("acc_columns", (plgpu.TMEM((128, 256), F32), left, right), {"see_acc": lambda c: c.at[:, pl.ds(128, 64)]}),
            (
                "acc_odd_columns",
                (plgpu.TMEM((128, 256), F32), left, right),
                {"see_acc": lambda c: c.at[:, pl.ds(4, 64)]},
            ),
            (
                "acc_rows",
                (plgpu.TMEM((128, 64), F32), smem((64, 128)), right),
                {"see_acc": lambda c: c.at[pl.ds(0, 64)]},
            ),
            ("acc_turned", (plgpu.TMEM((128, 128), F32), left, smem((128, 128))), {"see_acc": turned}),
            (
                "barrier_slot",
                (acc, left, right),
                {"barrier": plgpu.Barrier(num_barriers=2, orders_tensor_core=True), "at": 1},
            ),
            ("plain_barrier", (acc, left, right), {"barrier": plgpu.Barrier()}),
            ("flag", (acc, left, right), {"accumulate": "value"}),
            ("no_transforms", (acc, plgpu.SMEM((128, 128), F16), right), {}),
            ("no_transforms_b", (acc, left, plgpu.SMEM((128, 64), F16)), {}),
            ("swizzle_alone", (acc, left, plgpu.SMEM((128, 64), F16, transforms=layout(F16, 128, tiled=False))), {}),
            ("tiles_alone", (acc, left, plgpu.SMEM((128, 64), F16, transforms=(plgpu.TilingTransform((8, 64)),))), {}),
            (
                "tiles_alone_a",
                (acc, plgpu.SMEM((128, 128), F16, transforms=(plgpu.TilingTransform((8, 64)),)), right),
                {},
            ),
            ("plain_tiles", (acc, left, plgpu.SMEM((128, 64), F16, transforms=(plgpu.TilingTransform((8, 8)),))), {}),
            ("other_swizzles", (acc, left, smem((128, 64), swizzle=64)), {}),
            ("narrow_swizzles", (acc, smem((128, 128), swizzle=32), smem((128, 64), swizzle=32)), {}),
            ("mixed_types", (acc, left, smem((128, 64), BF16)), {}),
            ("mixed_bytes", (acc, smem((128, 128), I8), smem((128, 64), U8)), {}),
            ("rank_three", (acc, smem((1, 128, 128)), right), {}),
            ("wrong_k", (acc, smem((128, 64)), right), {}),
            ("wrong_n", (acc, left, smem((128, 128))), {}),
            ("wrong_m", (acc, smem((64, 128)), right), {}),
            ("acc_in_smem", (plgpu.SMEM((128, 64), F32), left, right), {}),
            ("b_in_tmem", (acc, left, plgpu.TMEM((128, 64), F16, packed=True)), {}),
            ("a_of_tmem", (acc, plgpu.TMEM((128, 128), F16, packed=True), right), {}),
            (
                "a_of_tmem_columns",
                (acc, plgpu.TMEM((128, 256), F16, packed=True), right),
                {"see_a": lambda a: a.at[:, pl.ds(128, 128)]},
            ),
            ("a_of_tmem_slot", (acc, plgpu.TMEM((2, 128, 128), F16, packed=True), right), {"see_a": lambda a: a.at[1]}),
            ("a_of_tmem_turned", (acc, plgpu.TMEM((128, 128), F16, packed=True), right), {"see_a": turned}),
            ("a_of_tmem_f32", (acc, plgpu.TMEM((128, 128), F32), smem((128, 64), F32)), {}),
            ("a_of_tmem_bf16", (acc, plgpu.TMEM((128, 128), BF16, packed=True), smem((128, 64), BF16)), {}),
            ("acc_of_u32", (plgpu.TMEM((128, 64), U32), smem((128, 128), I8), smem((128, 64), I8)), {}),
            (
                "acc_of_bf16",
                (plgpu.TMEM((128, 64), BF16, packed=False), smem((128, 128), BF16), smem((128, 64), BF16)),
                {},
            ),
            (
                "acc_of_scales",
                (plgpu.TMEM((128, 64), F32, layout=plgpu.TMEMLayout.M64_COLLECTIVE_LAYOUT(64)), left, right),
                {},
            ),
        ):
            yield (
                f"operand_{label}_{name}",
                lambda types=types, options=options: product(*types, **options),
                semantics,
                {},
            )
        pairs = plgpu.TMEM((128, 128), F32, collective=True)
        for label, types, options in (
            ("nothing", (pairs, left, right), {}),
            (
                "acc_slot",
                (plgpu.TMEM((2, 128, 128), F32, collective=True), left, right),
                {"see_acc": lambda c: c.at[1]},
            ),
            (
                "acc_columns",
                (plgpu.TMEM((128, 512), F32, collective=True), left, right),
                {"see_acc": lambda c: c.at[:, pl.ds(256, 128)]},
            ),
            ("b_whole", (pairs, left, smem((128, 128))), {}),
            ("acc_alone", (plgpu.TMEM((128, 128), F32), left, right), {}),
            ("a_of_tmem_alone", (pairs, plgpu.TMEM((128, 128), F16, packed=True), right), {}),
            ("acc_m64", (plgpu.TMEM((64, 128), F32, collective=True), smem((64, 128)), right), {}),
            ("acc_m64_default", (plgpu.TMEM((64, 128), F32), smem((64, 128)), right), {}),
            ("b_slot", (pairs, left, smem((3, 128, 64))), {"see_b": lambda b: b.at[1]}),
        ):
            yield (
                f"pair_operand_{label}_{name}",
                lambda types=types, options=options: product(*types, axis="c", **options),
                semantics,
                PAIR,
            )


def memories():
    """Loads and stores of parts, batches and members of unions; arrays in each layout that a TMEM can be given."""

    def loads(ref, see=lambda t: t, cast=None, then=lambda value: None):
        @scoped(ref)
        def body(x, o, t):
            value = plgpu.async_load_tmem(see(t), **({} if cast is None else {"layout": cast}))
            then(value)
            plgpu.wait_load_tmem()

        return body

    def stores(ref, see=lambda t: t, value=None, cast=None):
        @scoped(ref)
        def body(x, o, t):
            view = see(t)
            given = jnp.ones(view.shape, view.dtype) if value is None else value(x)
            plgpu.async_store_tmem(view, given if cast is None else plgpu.layout_cast(given, cast))
            plgpu.commit_tmem()

        return body

    tmem, of = plgpu.TMEM, plgpu.Layout

    def of_smem(transforms, cast):
        @scoped(tmem((128, 64), F16, packed=True), plgpu.SMEM((128, 64), F16, transforms=transforms))
        def body(x, o, t, s):
            value = s[...]
            plgpu.async_store_tmem(t, value if cast is None else plgpu.layout_cast(value, cast))

        return body

    for name, semantics in SEMANTICS:
        for label, ref, see in (
            ("slot", tmem((2, 128, 64), F32), lambda t: t.at[1]),
            ("slots", tmem((3, 128, 32), F32), lambda t: t.at[pl.ds(1, 2)]),
            ("batch", tmem((2, 128, 64), F32), lambda t: t),
            ("two_batches", tmem((2, 2, 128, 32), F32), lambda t: t.at[1, 0]),
            ("half_batches", tmem((2, 2, 128, 32), F32), lambda t: t.at[1]),
            ("slot_columns", tmem((2, 128, 64), F32), lambda t: t.at[1, :, pl.ds(32, 32)]),
            ("slot_rows", tmem((2, 128, 64), F32), lambda t: t.at[0, pl.ds(0, 64)]),
            ("turned", tmem((128, 128), F32), turned),
            ("reshaped", tmem((2, 128, 64), F32), lambda t: t.reshape(256, 64)),
            ("eight_columns", tmem((128, 64), F32), lambda t: t.at[:, pl.ds(8, 8)]),
            ("four_columns", tmem((128, 64), F32), lambda t: t.at[:, pl.ds(4, 4)]),
            ("one_column", tmem((128, 64), F32), lambda t: t.at[:, pl.ds(5, 1)]),
            ("a_column", tmem((128, 64), F32), lambda t: t.at[:, 3]),
            ("packed_slot", tmem((2, 128, 64), F16, packed=True), lambda t: t.at[1]),
            ("packed_odd", tmem((128, 64), F16, packed=True), lambda t: t.at[:, pl.ds(1, 32)]),
            ("packed_bytes", tmem((128, 64), I8, packed=True), lambda t: t.at[:, pl.ds(32, 32)]),
            ("twice_sliced", tmem((128, 128), F32), lambda t: t.at[:, pl.ds(64, 64)].at[:, pl.ds(32, 32)]),
            ("half_rows_slot", tmem((2, 64, 64), F32), lambda t: t.at[0]),
        ):
            yield f"load_of_{label}_{name}", lambda ref=ref, see=see: loads(ref, see), semantics, {}
            yield f"store_of_{label}_{name}", lambda ref=ref, see=see: stores(ref, see, cast=of.TCGEN05), semantics, {}
        yield f"store_of_one_value_{name}", lambda: stores(tmem((128, 64), F32)), semantics, {}
        for dtype in (I32, U32, F16, BF16, I8, U8, E4, jnp.int16, jnp.uint16):
            for packed in (None, True, False) if jnp.dtype(dtype).itemsize < 4 else (None,):
                label = f"{jnp.dtype(dtype).name}_{packed}_{name}"
                memory = {} if packed is None else {"packed": packed}
                yield f"load_type_{label}", lambda d=dtype, m=memory: loads(tmem((128, 64), d, **m)), semantics, {}
        for label, memory, mesh in (
            ("scales", {"layout": plgpu.TMEMLayout.SCALES_LAYOUT}, {}),
            ("metadata", {"layout": plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT}, {}),
            ("m64", {"layout": plgpu.TMEMLayout.M64_COLLECTIVE_LAYOUT(64)}, {}),
            ("m64_narrow", {"layout": plgpu.TMEMLayout.M64_COLLECTIVE_LAYOUT(32)}, {}),
            ("m64_pair", {"layout": plgpu.TMEMLayout.M64_COLLECTIVE_LAYOUT(64), "collective": True}, PAIR),
            ("scales_pair", {"layout": plgpu.TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT}, {}),
        ):
            for rows, dtype in ((128, F32), (64, F32), (128, I8), (256, jnp.float8_e8m0fnu)):
                yield (
                    f"memory_as_{label}_{rows}_{jnp.dtype(dtype).name}_{name}",
                    lambda rows=rows, dtype=dtype, memory=memory: scoped(tmem((rows, 64), dtype, **memory))(
                        lambda *refs: None
                    ),
                    semantics,
                    mesh,
                )
        for label, cast in (
            ("tcgen05", of.TCGEN05),
            ("native", of.TCGEN05_TMEM_NATIVE),
            ("row", of.TCGEN05.reduce(1)),
            ("wgmma", of.WGMMA),
        ):
            yield (
                f"cast_after_{label}_{name}",
                lambda cast=cast: loads(tmem((128, 64), F32), then=lambda v: plgpu.layout_cast(v, cast)),
                semantics,
                {},
            )
        for label, then in (
            ("sum_rows", lambda v: pl.debug_print("{}", jnp.sum(v, axis=1))),
            ("sum_columns", lambda v: pl.debug_print("{}", jnp.sum(v, axis=0))),
            ("sum_all", lambda v: pl.debug_print("{}", jnp.sum(v))),
            ("max_rows", lambda v: pl.debug_print("{}", jnp.max(v, axis=1))),
            ("times", lambda v: pl.debug_print("{}", v * 2 + v)),
            ("to_f16", lambda v: pl.debug_print("{}", v.astype(F16))),
            ("plus_splat", lambda v: pl.debug_print("{}", v + jnp.ones((128, 64), F32))),
            (
                "less_max",
                lambda v: pl.debug_print("{}", v - jax.lax.broadcast_in_dim(jnp.max(v, axis=1), v.shape, [0])),
            ),
            ("exp", lambda v: pl.debug_print("{}", jnp.exp2(v))),
        ):
            for kind, cast in (("tcgen05", of.TCGEN05), ("native", of.TCGEN05_TMEM_NATIVE), ("plain", None)):
                yield (
                    f"value_{label}_{kind}_{name}",
                    lambda then=then, cast=cast: loads(tmem((128, 64), F32), cast=cast, then=then),
                    semantics,
                    {},
                )
        yield (
            f"store_of_gmem_twice_wgmma_{name}",
            lambda: stores(tmem((64, 64), F32), value=lambda x: x[...] * 2, cast=of.WGMMA),
            semantics,
            {"x": (F32, (64, 64))},
        )
        for kind, transforms in (("plain", ()), ("tiles", layout(F16, 128))):
            for label, cast in (("nothing", None), ("tcgen05", of.TCGEN05), ("native", of.TCGEN05_TMEM_NATIVE)):
                yield (
                    f"store_of_smem_{kind}_{label}_{name}",
                    lambda cast=cast, t=transforms: of_smem(t, cast),
                    semantics,
                    {},
                )
        for label, value, cast in (
            ("of_gmem", lambda x: plgpu.load(x, (), layout=of.TCGEN05, optimized=False), None),
            ("of_gmem_native", lambda x: plgpu.load(x, (), layout=of.TCGEN05_TMEM_NATIVE, optimized=False), None),
            ("of_gmem_strided", lambda x: x[...], None),
            ("of_gmem_cast", lambda x: x[...], of.TCGEN05),
            ("of_gmem_twice", lambda x: x[...] * 2, None),
            ("of_gmem_sum", lambda x: x[...] + plgpu.load(x, (), layout=of.TCGEN05, optimized=False), None),
            ("of_gmem_converted", lambda x: x[...].astype(F32).astype(F16), None),
            ("of_gmem_twice_cast", lambda x: x[...] * 2, of.TCGEN05),
            ("of_gmem_twice_native", lambda x: x[...] * 2, of.TCGEN05_TMEM_NATIVE),
            ("of_gmem_optimized", lambda x: plgpu.load(x, (), layout=of.TCGEN05), None),
            ("of_gmem_native_cast", lambda x: x[...], of.TCGEN05_TMEM_NATIVE),
        ):
            yield (
                f"store_{label}_{name}",
                lambda value=value, cast=cast: stores(tmem((128, 64), F16, packed=True), value=value, cast=cast),
                semantics,
                {"x": (F16, (128, 64))},
            )


def unions():
    tmem = plgpu.TMEM

    def uses(union, use):
        @scoped(union)
        def body(x, o, refs):
            use(refs)

        return body

    def load(view):
        plgpu.async_load_tmem(view)
        plgpu.wait_load_tmem()

    wide, half, tall = tmem((128, 64), F32), tmem((128, 32), F32), tmem((128, 128), F16, packed=True)
    for name, semantics in SEMANTICS:
        for label, members, use in (
            ("first", (wide, half), lambda r: load(r[0])),
            ("second", (wide, half), lambda r: load(r[1])),
            ("tree", ([wide, half], tall), lambda r: load(r[0][1])),
            ("tree_second", ([wide, half], [half, tall]), lambda r: load(r[1][1])),
            ("part", (wide, half), lambda r: load(r[0].at[:, pl.ds(32, 32)])),
            ("batch", (tmem((2, 128, 32), F32), wide), lambda r: load(r[0].at[1])),
            ("rows", (tmem((64, 64), F32), wide), lambda r: load(r[0])),
            ("narrow", (tmem((128, 4), F32), wide), lambda r: load(r[0])),
            ("of_smem", (plgpu.SMEM((64, 64), F16), wide), lambda r: None),
            (
                "of_scales",
                (tmem((128, 8), jnp.float8_e8m0fnu, layout=plgpu.TMEMLayout.SCALES_LAYOUT), wide),
                lambda r: load(r[1]),
            ),
            (
                "of_metadata",
                (tmem((128, 64), jnp.uint2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT), wide),
                lambda r: load(r[1]),
            ),
            ("unused", (wide, half), lambda r: None),
            ("too_wide", (tmem((128, 520), F32), wide), lambda r: load(r[1])),
            ("alone", (wide,), lambda r: load(r[0])),
        ):
            yield (
                f"union_of_{label}_{name}",
                lambda members=members, use=use: uses(plgpu.RefUnion(*members), use),
                semantics,
                {},
            )
        pair = tmem((128, 64), F32, collective=True)
        yield f"union_of_pairs_{name}", lambda: uses(plgpu.RefUnion(pair, pair), lambda r: load(r[1])), semantics, PAIR
        yield f"union_of_mixed_{name}", lambda: uses(plgpu.RefUnion(pair, wide), lambda r: load(r[1])), semantics, PAIR


def reads():
    """What is read from SMEM in the layouts of the tensor cores: which shapes have them, and which reads wait for
    banks."""
    of = plgpu.Layout

    def read(columns, dtype, swizzle, cast):
        @scoped(smem((128, columns), dtype, swizzle))
        def body(x, o, s):
            pl.debug_print("{}", plgpu.load(s, (), layout=cast))

        return body

    for name, semantics in SEMANTICS:
        for dtype in (F32, F16, I8):
            for swizzle, widths in ((0, (2, 4, 8, 16, 24, 32, 64)), (64, (64,)), (128, (128,))):
                for columns in widths:
                    for label, cast in (
                        ("tcgen05", of.TCGEN05),
                        ("native", of.TCGEN05_TMEM_NATIVE),
                        ("native4", of.TCGEN05_TMEM_NATIVE(4)),
                        ("wgmma", of.WGMMA),
                        ("row", of.TCGEN05.reduce(1)),
                    ):
                        if label != "row" or columns == 8:
                            yield (
                                f"read_{jnp.dtype(dtype).name}_{columns}_{swizzle}_{label}_{name}",
                                lambda a=(columns, dtype, swizzle, cast): read(*a),
                                semantics,
                                {},
                            )


FAMILIES = (operands, memories, unions, reads)
