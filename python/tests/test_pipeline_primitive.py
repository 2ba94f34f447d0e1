"""pltpu.emit_pipeline where JAX keeps it as one primitive (jax_use_emit_pipeline_primitive): checked as without it."""

import contextlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

ROWS = pl.BlockSpec((8, 128), lambda i: (i, 0))
TILES = pl.BlockSpec((8, 128), lambda i, j: (i, j))
ANYWHERE, SMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM)
X = np.random.default_rng(1).integers(-100, 100, (64, 256)).astype(np.float32)


@contextlib.contextmanager
def one_primitive(on):
    from jax._src import config

    with config.use_emit_pipeline_primitive(on):
        yield


def can_be_expanded() -> bool:
    from jax._src import config
    from jax._src.pallas.mosaic import pipeline

    return hasattr(config, "use_emit_pipeline_primitive") and hasattr(pipeline, "emit_pipeline_to_jaxpr")


EXPANDED = pytest.mark.skipif(not can_be_expanded(), reason="this JAX expands no emit_pipeline")


def called(kernel, *args, in_specs=None, **options):
    """The call of a kernel whose result is like its first argument; refs are in HBM."""
    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(args[0].shape, args[0].dtype),
        out_specs=ANYWHERE,
        in_specs=in_specs or [ANYWHERE] * len(args),
        **options,
    )
    return call(*args)


def doubled(x):
    def kernel(x_hbm, o_hbm):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[TILES], out_specs=[TILES])(x_hbm, o_hbm)

    return called(kernel, x), x * 2


def program_ids(x):
    """A size that is known at run time; the body uses a value and a ref from outside."""

    def kernel(n_ref, x_hbm, o_hbm, total):
        total[0] = 0
        many = n_ref[0]

        def body(x_ref, o_ref):
            total[0] += 1
            sizes = pl.num_programs(0) + pl.num_programs(1) + many
            place = 100 * pl.program_id(0) + 10 * pl.program_id(1)
            o_ref[...] = x_ref[...] + (place + sizes + total[0]).astype(x.dtype)

        pltpu.emit_pipeline(body, grid=(many, 2), in_specs=[TILES], out_specs=[TILES])(x_hbm, o_hbm)

    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        in_specs=[SMEM, ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.SMEM((1,), jnp.int32)],
    )
    i, j = (np.arange(n).repeat(s) for n, s in ((8, 8), (2, 128)))
    step = 2 * i[:, None] + j[None, :] + 1
    return call(jnp.array([8], jnp.int32), x), x + (100 * i[:, None] + 10 * j[None, :] + 8 + 2 + 8 + step)


def inside_a_grid(x):
    """Each program of the kernel runs a pipeline over its half, a view of the array."""

    def kernel(x_hbm, o_hbm):
        half = pl.program_id(0)

        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + half.astype(x.dtype) + pl.program_id(0).astype(x.dtype)

        at = pl.ds(pl.multiple_of(half * 32, 32), 32)
        pipeline = pltpu.emit_pipeline(body, grid=(4, 2), in_specs=[TILES], out_specs=[TILES])
        pipeline(x_hbm.at[at], o_hbm.at[at])

    i = np.arange(64)
    return called(kernel, x, grid=(2,)), x + (i // 32 + i % 32 // 8)[:, None]


def nested(x):
    def kernel(x_hbm, o_hbm):
        def outer(x_ref, o_ref):
            i = pl.program_id(0)

            def inner(x_in, o_out):
                o_out[...] = x_in[...] + (10 * i + pl.program_id(0)).astype(x.dtype)

            pltpu.emit_pipeline(inner, grid=(2,), in_specs=[ROWS], out_specs=[ROWS])(x_ref, o_ref)

        block = pl.BlockSpec((16, 128), lambda i, j: (i, j))
        pltpu.emit_pipeline(outer, grid=(4, 2), in_specs=[block], out_specs=[block])(x_hbm, o_hbm)

    i = np.arange(64)
    return called(kernel, x), x + (10 * (i // 16) + i % 16 // 8)[:, None]


def two_cores(x):
    def kernel(x_hbm, o_hbm):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] + pl.program_id(0).astype(x.dtype)

        pltpu.emit_pipeline(
            body,
            grid=(8, 2),
            in_specs=[TILES],
            out_specs=[TILES],
            core_axis_name="core",
            dimension_semantics=(pltpu.PARALLEL, pltpu.ARBITRARY),
        )(x_hbm, o_hbm)

    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    call = pl.kernel(kernel, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), mesh=mesh)
    return call(x), x + (np.arange(64) // 8)[:, None]


def batched(x):
    def kernel(x_hbm, o_hbm):
        def body(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2 + pl.program_id(0).astype(x.dtype)

        pltpu.emit_pipeline(body, grid=(4, 2), in_specs=[TILES], out_specs=[TILES])(x_hbm, o_hbm)

    mesh = pltpu.create_tensorcore_mesh("core", num_cores=1)
    rows = jax.ShapeDtypeStruct((32, 256), x.dtype)
    halves = jax.vmap(pl.kernel(kernel, out_type=rows, mesh=mesh))(x.reshape(2, 32, 256))
    return halves.reshape(64, 256), x * 2 + (np.arange(64) % 32 // 8)[:, None]


def accumulated(x):
    """Allocated buffers: an accumulator that two calls of the pipeline share."""

    def kernel(x_hbm, o_hbm):
        def body(x_ref, o_ref):
            @pl.when(pl.program_id(1) == 0)
            def _():
                o_ref[...] = jnp.zeros_like(o_ref)

            o_ref[...] += x_ref[...]

        row = pl.BlockSpec((8, 128), lambda i, j: (i, 0))
        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[TILES], out_specs=[row])(x_hbm, o_hbm.at[:, pl.ds(0, 128)])
        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[TILES], out_specs=[row])(x_hbm, o_hbm.at[:, pl.ds(128, 128)])

    return called(kernel, x), jnp.tile(x[:, :128] + x[:, 128:], (1, 2))


PROGRAMS = (doubled, program_ids, inside_a_grid, nested, two_cores, batched, accumulated)
TARGET = {two_cores: "v5p"}


def without_places(text: str) -> str:
    return re.sub(r" #l\d+", "", re.sub(r"(?m)^(loc|file|producer) .*\n", "", text))


@EXPANDED
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_pipeline(program):
    target, texts = TARGET.get(program, "v5e"), []
    for on in (False, True):
        with one_primitive(on):
            with palladion.emulate(target, seeds=4) as session:
                result, expected = jax.jit(program)(X)
            np.testing.assert_array_equal(result, expected)
            assert not session.report.findings, session.report
            texts.append(without_places(palladion.export(lambda x: program(x)[0], jnp.asarray(X), target=target)))
    if program is doubled:
        assert texts[0] == texts[1]


@EXPANDED
def test_a_wrong_pipeline_is_found_at_the_users_line():
    def kernel(x_hbm, o_hbm, sem):
        def body(x_ref, o_ref):
            copy = pltpu.make_async_copy(x_hbm.at[pl.ds(0, 8), pl.ds(0, 128)], o_ref, sem)
            copy.start()
            o_ref[...] = x_ref[...]
            copy.wait()

        pltpu.emit_pipeline(body, grid=(8, 2), in_specs=[TILES], out_specs=[TILES])(x_hbm, o_hbm)

    def f(x):
        return called(kernel, x, scratch_shapes=[pltpu.SemaphoreType.DMA])

    reports = []
    for on in (False, True):
        with one_primitive(on):
            reports.append(palladion.check(f, X, target="v5e", seeds=8))
    found = [[(finding.code, str(finding.severity)) for finding in report.findings] for report in reports]
    assert found[0] == found[1] and ("RACE_ASYNC" in {code for code, _ in found[1]}), found
    assert "o_ref[...] = x_ref[...]" in str(reports[1]) and "copy.start()" in str(reports[1])


@pytest.mark.skipif(can_be_expanded(), reason="this JAX expands emit_pipeline")
def test_a_jax_that_cannot_expand_it():
    config = pytest.importorskip("jax._src.config")
    if not hasattr(config, "use_emit_pipeline_primitive"):
        pytest.skip("this JAX has no such primitive")
    with one_primitive(True), pytest.raises(palladion.ExportError, match="leave jax_use_emit_pipeline_primitive False"):
        palladion.export(lambda x: doubled(x)[0], X, target="v5e")
