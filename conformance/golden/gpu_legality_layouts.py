"""Kernels of gpu_legality.txt whose verdict is one of layouts: views of tiles, members of unions, values in registers,
accumulators.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/core.py (how transforms commute) and lowering.py (get, reductions,
loops, run_state).
"""

import jax.numpy as jnp
from gpu_legality_case import F16, F32, I32, LANE, WG, Case, layout, scoped
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def product_of_value(dtype):
    @scoped(
        plgpu.ACC((64, 64), I32),
        plgpu.SMEM((64, 64), dtype, transforms=layout(dtype, 64)),
        plgpu.SMEM((64, 64), dtype, transforms=layout(dtype, 64)),
    )
    def body(x, o, c, a, b):
        plgpu.wgmma(c, plgpu.load(a, (), layout=plgpu.Layout.WGMMA_8BIT), plgpu.transpose_ref(b, (1, 0)))
        plgpu.wgmma_wait(0)

    return body


def views_of_operands(name, semantics):
    """Products whose operands are seen through reshapes, transpositions, indices and members of a union of refs."""
    transpose = plgpu.transpose_ref

    def smem(shape, tile, swizzle=128):
        return plgpu.SMEM(shape, F16, transforms=(plgpu.TilingTransform(tile), plgpu.SwizzleTransform(swizzle)))

    def case(label, a, b, see_a=lambda a: a, see_b=lambda b: b):
        @scoped(plgpu.ACC((64, 128), F32), a, b)
        def body(x, o, c, a_ref, b_ref):
            plgpu.wgmma(c, see_a(a_ref), see_b(b_ref))
            plgpu.wgmma_wait(0)

        return Case(f"product_through_{label}_{name}", body, semantics=semantics)

    left, right = smem((64, 128), (8, 64)), smem((128, 128), (8, 64))
    yield case("nothing", left, right)
    yield case("unit_tile", left, smem((128, 2, 64), (8, 1, 64)), see_b=lambda b: b.reshape(128, 128))
    yield case("joined_rows", left, smem((2, 64, 128), (8, 64)), see_b=lambda b: b.reshape(128, 128))
    yield case("joined_unit_rows", left, smem((2, 64, 128), (1, 8, 64)), see_b=lambda b: b.reshape(128, 128))
    yield case("joined_tiles", left, smem((16, 8, 128), (8, 8, 64)), see_b=lambda b: b.reshape(128, 128))
    yield case("reshaped_a", smem((64, 2, 64), (8, 1, 64)), right, see_a=lambda a: a.reshape(64, 128))
    yield case("transposed_b", left, right, see_b=lambda b: transpose(b, (1, 0)))
    yield case("twice_transposed_b", left, right, see_b=lambda b: transpose(transpose(b, (1, 0)), (1, 0)))
    yield case("transposed_batch", left, smem((3, 128, 128), (8, 64)), see_b=lambda b: transpose(b, (0, 2, 1)).at[1])
    yield case("batch", left, smem((3, 128, 128), (8, 64)), see_b=lambda b: b.at[1])
    yield case("batch_transposed", left, smem((3, 128, 128), (8, 64)), see_b=lambda b: transpose(b.at[1], (1, 0)))
    yield case(
        "reshaped_transposed",
        left,
        smem((128, 2, 64), (8, 1, 64)),
        see_b=lambda b: transpose(b.reshape(128, 128), (1, 0)),
    )
    yield case(
        "transposed_reshaped",
        left,
        smem((128, 2, 64), (8, 1, 64)),
        see_b=lambda b: transpose(b, (1, 2, 0)).reshape(128, 128),
    )
    yield case("union", plgpu.RefUnion(left, smem((64, 64), (8, 64))), right, see_a=lambda u: u[0])
    yield case("union_without_layout", plgpu.RefUnion(plgpu.SMEM((64, 128), F16), left), right, see_a=lambda u: u[0])
    yield case(
        "union_of_another_swizzle", plgpu.RefUnion(smem((64, 128), (8, 32), 64), left), right, see_a=lambda u: u[0]
    )
    yield case("union_b", left, plgpu.RefUnion([left, right], left), see_b=lambda u: u[0][1])
    yield case(
        "union_unit_tile",
        left,
        plgpu.RefUnion(smem((128, 2, 64), (8, 1, 64)), left),
        see_b=lambda u: u[0].reshape(128, 128),
    )


def accesses():
    def get(smem, transforms=(), index=(Ellipsis,), dtype=F16):
        @scoped(plgpu.SMEM(smem, dtype, transforms=transforms), plgpu.SMEM((8,), I32))
        def body(x, o, s, n):
            value = s[index(n) if callable(index) else index]
            pl.debug_print("{}", value)

        return body

    def seen(ref, see):
        @scoped(ref)
        def body(x, o, s):
            pl.debug_print("{}", see(s)[...])

        return body

    def into(ref, see, index=(slice(None),)):
        @scoped(ref, plgpu.Barrier())
        def body(x, o, s, b):
            plgpu.copy_gmem_to_smem(x.at[index], see(s), b)
            plgpu.barrier_wait(b)

        return body

    tile, swizzle = plgpu.TilingTransform, plgpu.SwizzleTransform
    for name, semantics in (("lane", LANE), ("wg", WG)):
        yield Case(f"get_{name}", get((64, 64)), semantics=semantics)
        yield Case(f"get_tiled_{name}", get((64, 64), (tile((8, 64)), swizzle(128))), semantics=semantics)
        yield Case(f"get_half_{name}", get((64, 64), (tile((8, 32)), swizzle(64))), semantics=semantics)
        yield Case(
            f"get_rows_{name}", get((64, 64), (tile((8, 64)), swizzle(128)), (pl.ds(0, 12),)), semantics=semantics
        )
        yield Case(f"get_tile_row_{name}", get((64, 64), (tile((8, 64)), swizzle(128)), (3,)), semantics=semantics)
        yield Case(f"get_scalar_{name}", get((64,), (), (3,), I32), semantics=semantics)
        yield Case(f"get_array_{name}", get((64,), (), lambda n: (n[...],), I32), semantics=semantics)
        for label, shape, transforms, see in (
            ("transposed", (64, 128), (tile((8, 64)), swizzle(128)), lambda s: plgpu.transpose_ref(s, (1, 0))),
            ("transposed_plain", (64, 128), (), lambda s: plgpu.transpose_ref(s, (1, 0))),
            (
                "transposed_batch",
                (2, 4, 64, 64),
                (tile((8, 64)), swizzle(128)),
                lambda s: plgpu.transpose_ref(s, (1, 0, 2, 3)).at[1, 1],
            ),
            ("unit_tile", (64, 2, 64), (tile((8, 1, 64)), swizzle(128)), lambda s: s.reshape(64, 128)),
            ("joined_rows", (2, 64, 64), (tile((8, 64)), swizzle(128)), lambda s: s.reshape(128, 64)),
            ("joined_unit_rows", (2, 64, 64), (tile((1, 8, 64)), swizzle(128)), lambda s: s.reshape(128, 64)),
            ("reshaped_plain", (2, 64, 64), (), lambda s: s.reshape(128, 64)),
            ("split_plain", (128, 64), (), lambda s: s.reshape(2, 64, 64)),
            ("split_rows", (128, 64), (tile((8, 64)), swizzle(128)), lambda s: s.reshape(2, 64, 64)),
        ):
            if (
                label not in ("transposed_plain", "reshaped_plain") or semantics is LANE and label == "reshaped_plain"
            ):  # errors of JAX's own
                yield Case(
                    f"get_{label}_{name}", seen(plgpu.SMEM(shape, F16, transforms=transforms), see), semantics=semantics
                )
        tiled = plgpu.SMEM((64, 64), F16, transforms=(tile((8, 64)), swizzle(128)))
        plain, unswizzled = plgpu.SMEM((64, 64), F16), plgpu.SMEM((64, 64), F16, transforms=(tile((8, 64)),))
        for label, member in (("tiled", tiled), ("plain", plain), ("unswizzled", unswizzled)):
            yield Case(
                f"get_union_{label}_{name}", seen(plgpu.RefUnion(member, tiled), lambda u: u[0]), semantics=semantics
            )
            yield Case(
                f"get_union_rows_{label}_{name}",
                seen(plgpu.RefUnion(member, tiled), lambda u: u[0].at[pl.ds(0, 12)]),
                semantics=semantics,
            )
            yield Case(
                f"copy_union_{label}_{name}",
                into(plgpu.RefUnion([tiled, member], tiled), lambda u: u[0][1]),
                semantics=semantics,
            )
        narrow = plgpu.SMEM((64, 32), F16, transforms=(tile((8, 32)), swizzle(64)))
        yield Case(
            f"copy_union_narrow_{name}",
            into(plgpu.RefUnion(narrow, tiled), lambda u: u[0], (slice(None), pl.ds(0, 32))),
            semantics=semantics,
        )
        yield Case(
            f"copy_union_slice_{name}",
            into(plgpu.RefUnion(narrow, tiled), lambda u: u[1].at[pl.ds(4, 8)], (pl.ds(0, 8),)),
            semantics=semantics,
        )
    yield Case("get_unswizzled", get((64, 64), (tile((8, 64)),)))
    yield Case("get_three_tiles", get((8, 64, 64), (tile((2, 8, 64)), swizzle(128))))


def layouts():
    """Values in layouts that a reduction or a loop refuses. Read from GMEM or untiled SMEM: strided; from tiles:
    WGMMA."""
    wgmma, strided = plgpu.Layout.WGMMA, plgpu.Layout.WG_STRIDED
    tiled = plgpu.SMEM((64, 64), F32, transforms=layout(F32, 128))

    def reduced(
        label, axes, shape=(128, 64), cast=None, scratch=None, op=jnp.sum, dtype=F32, read=lambda x, s: x[...], **mesh
    ):
        @scoped(tiled, axes=("wg",) if "thread_name" in mesh else ())
        def body(x, o, s):
            value = read(x, s) if cast is None else plgpu.load(x, (), layout=cast, optimized=False)
            pl.debug_print("{}", op(value, axis=axes))

        case = Case(f"reduce_{label}", body, x=(dtype, shape), **mesh)
        if scratch is not None:
            params = plgpu.CompilerParams(lowering_semantics=LANE, reduction_scratch_bytes=scratch)
            case.function = plgpu.kernel(body, out_type=case.x, compiler_params=params, **mesh)
        return case

    yield reduced("strided_all", (0, 1))
    yield reduced("strided_one", 1)
    yield reduced("strided_row", 0, (128,))
    yield reduced("strided_max", (0, 1), op=jnp.max)
    yield reduced("strided_threads", (0, 1), num_threads=1, thread_name="wg")
    yield reduced("strided_twice", 1, read=lambda x, s: x[...] * x[...] + 1)
    yield reduced("tiled_rows", 1, cast=wgmma)
    yield reduced("tiled_columns", 0, cast=wgmma)
    yield reduced("tiled_all", (0, 1), cast=wgmma)
    yield reduced("tiled_smem", 1, read=lambda x, s: s[...])
    yield reduced("tiled_smem_all", (0, 1), read=lambda x, s: s[...])
    yield reduced("splat", 0, read=lambda x, s: jnp.zeros((128,), F32))
    for scratch in (0, 512, 1023, 1024):
        yield reduced(f"scratch_{scratch}_columns", 0, cast=wgmma, scratch=scratch)
        yield reduced(f"scratch_{scratch}_f16", 0, cast=wgmma, scratch=scratch, dtype=F16, op=jnp.max)
        yield reduced(f"scratch_{scratch}_rows", 1, cast=wgmma, scratch=scratch)
    for scratch in (12, 15, 16):
        yield reduced(f"scratch_{scratch}_of_rows", 0, scratch=scratch, read=lambda x, s: jnp.sum(s[...], axis=1))

    def loop(label, first, step, kind="while"):
        def body(x, o):
            init = first(x)
            if kind == "while":
                value = lax.while_loop(lambda c: c[1] < 3, lambda c: (step(c[0], x), c[1] * 2 + 1), (init, 0))[0]
            else:
                value = lax.fori_loop(0, 3 if kind == "scan" else x[0].astype(I32), lambda _, c: step(c, x), init)
            o[...] = value

        return Case(f"loop_{kind}_{label}", body, x=(F32, (128,)))

    row = wgmma.reduce(1)
    for cast in (wgmma, strided(shape=(128, 64), vec_size=1)):
        for optimized in (True, False):
            yield Case(
                f"read_{'wgmma' if cast is wgmma else 'strided'}_{optimized}".lower(),
                lambda x, o, cast=cast, optimized=optimized: pl.debug_print(
                    "{}", plgpu.load(x, (), layout=cast, optimized=optimized)
                ),
                x=(F32, (128, 64)),
            )
    for kind in ("while", "scan", "fori"):
        yield loop("same", lambda x: x[...], lambda c, x: c + x[...], kind)
        yield loop("splat", lambda x: jnp.zeros((128,), F32), lambda c, x: c + x[...], kind)
        yield loop("splats", lambda x: jnp.zeros((128,), F32), lambda c, x: c + 1, kind)
        yield loop("to_splat", lambda x: x[...], lambda c, x: jnp.ones((128,), F32), kind)
        yield loop("row", lambda x: plgpu.load(x, (), layout=row, optimized=False), lambda c, x: c * 2, kind)
        yield loop("to_row", lambda x: x[...], lambda c, x: plgpu.layout_cast(jnp.ones((128,), F32), row), kind)
        yield loop("from_row", lambda x: plgpu.load(x, (), layout=row, optimized=False), lambda c, x: x[...] + 1, kind)
    yield loop(
        "strided", lambda x: plgpu.layout_cast(x[...], strided(shape=(128,), vec_size=1)), lambda c, x: x[...], "while"
    )


def states():
    """run_state over accumulators."""
    acc = plgpu.ACC.init

    def state(label, inner, *first, semantics=LANE):
        def body(x, o):
            @scoped(plgpu.SMEM((64, 64), F32, transforms=layout(F32, 128)))
            def inside(x, o, s):
                value = s[...]
                o[...] = pl.run_state(inner)(acc(value))

            inside(x, o)

        return Case(f"state_{label}", body, x=(F32, (64, 64)), semantics=semantics)

    def doubled(ref):
        ref[...] *= 2

    for name, semantics in (("lane", LANE), ("wg", WG)):
        yield state(f"doubled_{name}", doubled, semantics=semantics)
        yield state(f"returned_{name}", lambda ref: ref[...] + ref[...], semantics=semantics)
        yield state(f"nothing_{name}", lambda ref: None, semantics=semantics)
