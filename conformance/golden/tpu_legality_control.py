"""Kernels of tpu_legality.txt about control flow, launches, printing, random numbers, meshes and pipelines."""

import functools
import re

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from palladion.real_kernels import tpu_kernels
from tpu_legality_case import ALL, F32, HBM, I8, I32, SMEM, U32, VMEM, Case, call, name_of, of_values, scoped, shape
from tpu_legality_memory import DMA, copied


def control():
    def make(name, f, dtype=F32):
        return of_values(f"control_{name}", f, shape((8, 128), dtype))

    def smem(name, body):
        return scoped(
            f"control_{name}",
            body,
            ins=(shape((8, 128)), shape((4,), I32)),
            spaces=(VMEM, SMEM),
            out=shape((8, 128)),
            out_space=VMEM,
        )

    yield make("fori", lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, x))
    yield make("fori_index", lambda x: lax.fori_loop(0, 3, lambda i, c: c + i.astype(F32), x))
    yield make("fori_unroll", lambda x: lax.fori_loop(0, 4, lambda i, c: c + x, x, unroll=2))
    yield make("fori_unroll_all", lambda x: lax.fori_loop(0, 4, lambda i, c: c + x, x, unroll=True))
    yield make("fori_unroll_rest", lambda x: lax.fori_loop(1, 6, lambda i, c: c + i.astype(F32), x, unroll=2))
    yield make("scan_carry", lambda x: lax.scan(lambda c, _: (c + x, None), x, None, length=3)[0])
    yield make("scan_xs", lambda x: lax.scan(lambda c, y: (c + y, None), x[0], x)[0])
    yield make("scan_ys", lambda x: lax.scan(lambda c, _: (c, c), x[0], None, length=8)[1])
    yield make("scan_reverse", lambda x: lax.scan(lambda c, _: (c + x, None), x, None, length=3, reverse=True)[0])
    yield make("while", lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x), (0, x))[1])
    yield make("while_values", lambda x: lax.while_loop(lambda c: c.max() < 3, lambda c: c + x, x))
    yield make("map", lambda x: lax.map(lambda r: r * 2, x))
    yield make("cond_array", lambda x: lax.cond(x.max() > 0, lambda: x, lambda: -x))
    yield make("switch", lambda x: lax.switch(x.max().astype(I32), [lambda: x, lambda: -x, lambda: 2 * x]))
    yield make("jit", jax.jit(lambda x: x * 2))
    yield make("custom_jvp", jax.nn.relu)
    yield make("relu_grad", lambda x: jax.grad(lambda y: (y * y).sum())(x))
    yield make("where_scalar", lambda x: jnp.where(x.max() > 0, x, -x))
    yield make("stop_gradient", lax.stop_gradient)
    yield make("optimization_barrier", lax.optimization_barrier)
    yield make("reduce_precision", lambda x: lax.reduce_precision(x, 8, 7))

    def when(x, s, o):
        @pl.when(s[0] > 0)
        def _():
            o[...] = x[...]

    yield smem("when", when)

    def dynamic(x, s, o):
        o[...] = lax.fori_loop(0, s[0], lambda i, c: c + x[...], x[...])

    yield smem("fori_dynamic", dynamic)

    def refs(x, s, o):
        def body(i, _):
            o[pl.ds(i, 1)] = x[pl.ds(i, 1)]
            return 0

        lax.fori_loop(0, 8, body, 0)

    yield smem("fori_refs", refs)

    def loop(x, s, o):
        @pl.loop(0, 8)
        def _(i):
            o[pl.ds(i, 1)] = x[pl.ds(i, 1)]

    yield smem("loop", loop)

    def loop_step(x, s, o):
        @pl.loop(0, 8, step=2, unroll=2)
        def _(i):
            o[pl.ds(i, 1)] = x[pl.ds(i, 1)]

    yield smem("loop_step", loop_step)

    def loop_dynamic(x, s, o):
        @pl.loop(0, s[0], unroll=True)
        def _(i):
            o[pl.ds(i, 1)] = x[pl.ds(i, 1)]

    yield smem("loop_dynamic", loop_dynamic)

    def while_refs(x, s, o):
        lax.while_loop(lambda i: s[i] > 0, lambda i: i + 1, 0)
        o[...] = x[...]

    yield smem("while_refs", while_refs)

    def illegal_in_branch(x, s, o):
        @pl.when(s[0] > 0)
        def _():
            o[...] = jnp.sinh(x[...])

    yield smem("illegal_in_branch", illegal_in_branch)

    def constant_branch(x, s, o):
        lax.cond(0, lambda: o.__setitem__(..., jnp.sinh(x[...])), lambda: o.__setitem__(..., x[...]))

    yield smem("constant_branch", constant_branch)

    def platforms(x, s, o):
        o[...] = lax.platform_dependent(x[...], mosaic=lambda y: y + 1, default=lambda y: jnp.sinh(y))

    yield smem("platforms", platforms)

    def other_platforms(x, s, o):
        o[...] = lax.platform_dependent(x[...], cuda=lambda y: y + 1, cpu=lambda y: y)

    yield smem("other_platforms", other_platforms)


def grids():
    for axis in (0, 1, 2):

        def body(x, o, axis=axis):
            o[...] = x[...] + pl.program_id(axis).astype(F32)

        def sizes(x, o, axis=axis):
            o[...] = x[...] + pl.num_programs(axis)

        for rank in (0, 1, 2):
            grid = {"grid": (2,) * rank} if rank else {}
            yield call(f"program_id_{axis}_of_{rank}", body, [shape((8, 128))], shape((8, 128)), **grid)
            yield call(f"num_programs_{axis}_of_{rank}", sizes, [shape((8, 128))], shape((8, 128)), **grid)
    for rows in (8, 12):
        yield Case(
            f"vmapped_{rows}",
            jax.vmap(
                lambda x: pl.pallas_call(copied, out_shape=shape((rows, 128)), compiler_params=pltpu.CompilerParams())(
                    x
                )
            ),
            shape((3, rows, 128)),
        )
    yield Case(
        "dynamic_grid",
        lambda n, x: pl.pallas_call(
            copied, out_shape=shape((8, 128)), grid=(n,), compiler_params=pltpu.CompilerParams()
        )(x),
        shape((), I32),
        shape((8, 128)),
    )
    yield Case(
        "aliased",
        lambda x: pl.pallas_call(
            copied, out_shape=shape((8, 128)), input_output_aliases={0: 0}, compiler_params=pltpu.CompilerParams()
        )(x),
        shape((8, 128)),
    )
    for dtype in (jnp.float64, jnp.int64):
        yield Case(f"wide_{name_of(dtype)}", functools.partial(_wide, dtype), shape((8, 128)))


def _wide(dtype, x):
    with jax.enable_x64(True):
        return pl.pallas_call(
            lambda x, o: o.__setitem__(..., x[...].astype(dtype).astype(F32)),
            out_shape=shape((8, 128)),
            compiler_params=pltpu.CompilerParams(),
        )(x)


def printing():
    for name, f in (
        ("array", lambda x, s: pl.debug_print("x {}", x[...])),
        ("no_placeholder_array", lambda x, s: pl.debug_print("x", x[...])),
        ("text", lambda x, s: pl.debug_print("x")),
        ("int", lambda x, s: pl.debug_print("x {}", s[0])),
        ("two", lambda x, s: pl.debug_print("x {} y {}", s[0], s[1])),
        ("int_no_placeholder", lambda x, s: pl.debug_print("x", s[0])),
        ("float", lambda x, s: pl.debug_print("x {}", s[0].astype(F32))),
        ("float_no_placeholder", lambda x, s: pl.debug_print("x", s[0].astype(F32))),
        ("bool", lambda x, s: pl.debug_print("x {}", s[0] > 0)),
        ("mixed", lambda x, s: pl.debug_print("x {} {}", s[0], x[...])),
        ("two_arrays", lambda x, s: pl.debug_print("x {} {}", x[...], x[...])),
        ("array_then_text", lambda x, s: pl.debug_print("x {} .", x[...])),
        ("jax", lambda x, s: jax.debug.print("x {}", s[0])),
        ("hex", lambda x, s: pl.debug_print("x {:x}", s[0])),
        ("int8", lambda x, s: pl.debug_print("x {}", s[0].astype(I8))),
    ):
        yield scoped(
            f"print_{name}", lambda x, s, o, f=f: f(x, s), ins=(shape((8, 128)), shape((4,), I32)), spaces=(VMEM, SMEM)
        )


def random_numbers():
    for name, dims in (("matrix", (8, 128)), ("vector", (128,)), ("rank_3", (2, 8, 128))):

        def bits(o, dims=dims):
            pltpu.prng_seed(1)
            o[...] = pltpu.prng_random_bits(dims)

        yield call(f"random_bits_{name}", bits, [], shape(dims, I32))
    for name, seed in (
        ("one", lambda s, x: pltpu.prng_seed(s[0])),
        ("two", lambda s, x: pltpu.prng_seed(s[0], s[1])),
        ("float", lambda s, x: pltpu.prng_seed(s[0].astype(F32))),
        ("vector", lambda s, x: pltpu.prng_seed(x[...])),
        ("three", lambda s, x: pltpu.prng_seed(s[0], s[1], s[2])),
        ("none", lambda s, x: pltpu.prng_seed()),
        ("short", lambda s, x: pltpu.prng_seed(s[0].astype(jnp.int16))),
    ):
        yield scoped(
            f"random_seed_{name}",
            lambda s, x, o, seed=seed: seed(s, x),
            ins=(shape((4,), I32), shape((8, 128), I32)),
            spaces=(SMEM, VMEM),
        )

    def stateful(o):
        o[...] = jax.random.uniform(pltpu.to_pallas_key(jax.random.key(0)), (8, 128))

    yield call("random_pallas_key", stateful, [], shape((8, 128)))

    def threefry(o):
        o[...] = jax.random.uniform(jax.random.key(0), (8, 128))

    yield call("random_threefry", threefry, [], shape((8, 128)))

    def threefry_bits(o):
        o[...] = jax.random.bits(jax.random.key(0, impl="threefry2x32"), (8, 128))

    yield call("random_threefry_bits", threefry_bits, [], shape((8, 128), U32))

    def normal(o):
        o[...] = jax.random.normal(jax.random.key(0), (8, 128))

    yield call("random_normal", normal, [], shape((8, 128)))


def meshes():
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=1)

    def kernel(name, body, *scratch, out=shape((16, 128)), mesh=mesh, **options):
        return Case(
            f"mesh_{name}",
            lambda x: pl.kernel(body, out_type=out, mesh=mesh, scratch_types=list(scratch), **options)(x),
            shape((16, 128)),
        )

    yield kernel("sync_copy", lambda x, o: pltpu.sync_copy(x, o))
    yield kernel("vmem", lambda x, o, v: (pltpu.sync_copy(x, v), pltpu.sync_copy(v, o))[1], VMEM((16, 128), F32))
    yield kernel("load", lambda x, o: o.__setitem__(..., x[...]))
    yield kernel("semaphore", lambda x, o, s: pltpu.async_copy(x, o, s).wait(), DMA)
    yield kernel("axis", lambda x, o: pltpu.sync_copy(x.at[pl.ds(8 * lax.axis_index("core"), 8)], o.at[pl.ds(0, 8)]))
    yield kernel("smem", lambda x, o, t: t.__setitem__(0, t[1]), SMEM((4,), F32))
    yield kernel("smem_array", lambda x, o, t: t.__setitem__(..., t[...]), SMEM((4,), F32))
    yield kernel("scoped", lambda x, o: pl.run_scoped(lambda v: pltpu.sync_copy(x, v), VMEM((16, 128), F32)))
    yield kernel("sinh", lambda x, o, v: v.__setitem__(..., jnp.sinh(v[...])), VMEM((16, 128), F32))

    def pipelined(block, spaces=(ALL, ALL), buffered=None):
        def body(x, o):
            spec = pl.BlockSpec(block, lambda i: (i, 0), **({"pipeline_mode": buffered} if buffered else {}))
            pltpu.emit_pipeline(
                lambda a, b: b.__setitem__(..., a[...] + 1), grid=(64 // block[0],), in_specs=[spec], out_specs=[spec]
            )(x, o)

        space = spaces[0].name if hasattr(spaces[0], "name") else "any"
        return scoped(
            f"pipeline_{block[0]}_{block[1]}_{space}_{getattr(buffered, 'buffer_count', 2)}".lower(),
            body,
            ins=(shape((64, 128)),),
            out=shape((64, 128)),
            spaces=spaces[:1],
            out_space=spaces[1],
        )

    yield pipelined((8, 128))
    yield pipelined((4, 128))
    yield pipelined((16, 64))
    yield pipelined((8, 128), (HBM, HBM))
    yield pipelined((8, 128), (VMEM, VMEM))
    yield pipelined((8, 128), buffered=pl.Buffered(3))


def shipped():
    """The small ones of the kernels that JAX's wheel has for TPUs: all of them are legal."""
    for case in tpu_kernels.cases():
        if case.quick or case.op in ("matmul", "example_kernel"):
            problem = case.make()
            yield Case(
                re.sub(r"\W+", "_", f"shipped_{case.op}_{case.variant}").strip("_"), problem.function, *problem.args
            )


def control_cases():
    for family in (control, grids, printing, random_numbers, meshes, shipped):
        yield from family()
