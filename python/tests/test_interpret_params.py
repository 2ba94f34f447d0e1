"""JAX's own interpret parameters under `palladion.install`, field by field: what JAX's interpreter computes and raises
with a value is what comes out here, and what a program asks that interpreter afterwards has the answer of the kernels
that ran here.

Kernels are written for these tests. Results are compared with those of JAX's interpreter itself where the field changes
them.
"""

import contextlib
import dataclasses
import functools
import inspect
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion.bridge import jax_params
from small_kernels import summed

X = jnp.arange(10 * 128, dtype=jnp.float32).reshape(10, 128)
FIELDS = {field.name for field in dataclasses.fields(pltpu.InterpretParams)}
CORES = next(name for name in ("num_cores_or_threads", "num_cores_per_device") if name in FIELDS)
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "jax.md"
interpreter = sys.modules[pltpu.reset_tpu_interpret_mode_state.__module__]
try:
    from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call as gpu_interpreter
    from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams
except ImportError:
    gpu_interpreter = InterpretGPUParams = None


@pytest.fixture(autouse=True)
def installed():
    palladion.install(claim=("tpu_interpret", "gpu_interpret"))
    palladion.last_report()  # so that the next one has this test's kernels alone
    yield
    palladion.uninstall()


def abstract_device(kind):
    device = {"device_kind": kind, "num_cores": 1, "platform": "tpu"}
    known = jax.sharding.AbstractDevice.__dataclass_fields__
    device = jax.sharding.AbstractDevice(**{name: value for name, value in device.items() if name in known})
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), (), abstract_device=device))


@contextlib.contextmanager
def jax_itself():
    """Where JAX's interpreter runs, and believes in a chip."""
    palladion.uninstall()
    try:
        with abstract_device("TPU v5 lite"):
            yield
    finally:
        pltpu.reset_tpu_interpret_mode_state()
        palladion.install(claim=("tpu_interpret", "gpu_interpret"))


def params(**fields):
    return pltpu.InterpretParams(**fields)


VMEM = pl.BlockSpec(memory_space=pltpu.VMEM)
ANY = pl.BlockSpec(memory_space=pl.ANY)


def rows(x, first, interpret):
    """Eight rows of x from a first one that only the run knows."""

    def kernel(first_ref, x_ref, o_ref):
        o_ref[...] = x_ref[pl.ds(first_ref[0], 8)]

    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, in_specs=[VMEM], out_specs=VMEM)
    return pl.pallas_call(
        kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype), interpret=interpret
    )(jnp.array([first], jnp.int32), x)


def put_rows(x, first, interpret):
    """x's first eight rows, put into ten at a place that only the run knows."""

    def kernel(first_ref, x_ref, o_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        o_ref[pl.ds(first_ref[0], 8)] = x_ref[0:8] + 1

    grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, in_specs=[VMEM], out_specs=VMEM)
    return pl.pallas_call(
        kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret
    )(jnp.array([first], jnp.int32), x)


def peeking(x, interpret):
    """Looks at what a copy brings before it has waited for it."""

    def kernel(x_ref, o_ref, buffer, arrived):
        copy = pltpu.make_async_copy(x_ref, buffer, arrived)
        copy.start()
        o_ref[...] = buffer[...]
        copy.wait()

    return pl.pallas_call(
        kernel,
        in_specs=[ANY],
        out_specs=VMEM,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=interpret,
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
    )(x)


def race(**fields):
    """A kernel that races, however JAX says so."""
    with contextlib.suppress(jax.errors.JaxRuntimeError):  # on_race="raise" is the default from JAX 0.12 on
        jax.block_until_ready(summed(jnp.ones((32, 128)), interpret=params(detect_races=True, **fields)))


def no_race():
    np.testing.assert_array_equal(rows(X, 1, params(detect_races=True)), X[1:9])


# ---- what a program asks afterwards


def test_races_found_is_of_the_kernels_since_the_last_question():
    race()
    assert interpreter.races.races_found and interpreter.races.races_found
    no_race()
    assert not interpreter.races.races_found
    no_race()
    race()
    assert interpreter.races.races_found and palladion.last_report().races_found


def test_reset_forgets_races():
    race()
    pltpu.reset_tpu_interpret_mode_state()
    assert not interpreter.races.races_found
    race()
    interpreter.reset_tpu_interpret_mode_state()
    assert not interpreter.races.races_found


def test_no_question_is_answered_without_detect_races():
    jax.block_until_ready(summed(jnp.ones((32, 128)), interpret=params()))
    assert not interpreter.races.races_found


def test_what_jax_found_itself_is_reported_too():
    race()
    assert interpreter.races.races_found
    stay = params(detect_races=True, grid_point_recorder=lambda token, point, core: token)
    with pytest.warns(
        palladion.PalladionWarning,
        match="grid_point_recorder.*order JAX's interpreter visits.*so JAX's interpreter runs",
    ):
        rows(X, 1, stay).block_until_ready()
    assert not interpreter.races.races_found
    race()
    assert interpreter.races.races_found


def test_uninstall_leaves_jax_as_it_was():
    before = pltpu.reset_tpu_interpret_mode_state
    race()
    palladion.uninstall()
    assert type(interpreter).__name__ == "module" and pltpu.reset_tpu_interpret_mode_state is not before
    assert interpreter.races is None or not hasattr(interpreter.races, "_found")


def all_threads_write(interpret):
    """Two threads of a block store to one array."""
    from jax.experimental.pallas import mosaic_gpu as plgpu

    def kernel(o_ref):
        o_ref[0] = jax.lax.axis_index("thread").astype(jnp.float32)

    out = "out_type" if "out_type" in inspect.signature(plgpu.kernel).parameters else "out_shape"
    f = plgpu.kernel(
        kernel,
        **{out: jax.ShapeDtypeStruct((1,), jnp.float32)},
        num_threads=2,
        thread_name="thread",
        interpret=interpret,
    )
    with contextlib.suppress(jax.errors.JaxRuntimeError):
        jax.block_until_ready(f())


def test_races_of_gpu_kernels():
    if InterpretGPUParams is None:  # JAX 0.8 has no interpreter of GPU kernels
        return
    all_threads_write(InterpretGPUParams(detect_races=True))
    assert gpu_interpreter.get_races().races_found
    gpu_interpreter.reset_gpu_interpret_mode_state()
    assert not gpu_interpreter.get_races().races_found
    all_threads_write(InterpretGPUParams())
    assert not gpu_interpreter.get_races().races_found and palladion.last_report().count == 1


def test_a_stretch_that_forces_the_interpreter_stays_in_emulate():
    with palladion.emulate("v5e", seeds=2, on_defect="collect") as session:
        with pltpu.force_tpu_interpret_mode(params(detect_races=True)):
            summed(jnp.ones((32, 128)), interpret=False)
            assert interpreter.races.races_found
        with pltpu.force_tpu_interpret_mode(True):
            np.testing.assert_array_equal(rows(X, 1, False), X[1:9])
    assert session.report.ran == {"palladion": 2, "jax": 0, "skipped": 0} and session.report.races_found
    with pltpu.force_tpu_interpret_mode():
        rows(X, 1, False)
    assert palladion.last_report().count == 1


# ---- fields that change what comes out


@pytest.mark.parametrize("mode", ["eager", "on_wait"])
def test_dma_execution_mode(mode):
    here = peeking(X, params(dma_execution_mode=mode))
    assert np.all(np.isnan(here)) if mode == "on_wait" else np.array_equal(here, X)
    with jax_itself():
        np.testing.assert_array_equal(here, peeking(X, params(dma_execution_mode=mode)))


@pytest.mark.parametrize("function", [rows, put_rows])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int8])
def test_buffer_bounds(function, dtype):
    """Ten rows lie in tiles of eight: six rows more are there to be read and written."""
    if "buffer_bounds" not in FIELDS:  # before JAX 0.10
        return
    x = X.astype(dtype)
    padded = params(buffer_bounds="padded")
    here = function(x, 8, padded)
    if function is put_rows:
        np.testing.assert_array_equal(here, np.concatenate([np.zeros((8, 128)), x[:2] + 1]).astype(here.dtype))
    assert not palladion.last_report().findings
    with jax_itself():
        np.testing.assert_array_equal(
            np.asarray(here, np.float32)[:2], np.asarray(function(x, 8, padded), np.float32)[:2]
        )
    for fields, first in (({"buffer_bounds": "padded"}, 9), ({"buffer_bounds": "logical"}, 8)):
        with pytest.raises(jax.errors.JaxRuntimeError, match="OOB"):
            jax.block_until_ready(function(x, first, params(**fields)))
        if function is rows:
            with jax_itself(), pytest.raises(jax.errors.JaxRuntimeError, match="Out-of-bounds read"):
                jax.block_until_ready(function(x, first, params(**fields)))


def test_scalar_memory_has_no_tiles():
    if "buffer_bounds" not in FIELDS:
        return

    def one(index, interpret):
        def kernel(index_ref, x_ref, o_ref):
            o_ref[0] = x_ref[index_ref[0]]

        scalars = pl.BlockSpec(memory_space=pltpu.SMEM)
        grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, in_specs=[scalars], out_specs=scalars)
        return pl.pallas_call(
            kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct((1,), jnp.int32), interpret=interpret
        )(jnp.array([index], jnp.int32), jnp.arange(10, dtype=jnp.int32))

    padded = params(buffer_bounds="padded")
    assert one(9, padded) == 9
    with pytest.raises(jax.errors.JaxRuntimeError, match="OOB"):
        jax.block_until_ready(one(10, padded))
    with jax_itself(), pytest.raises(jax.errors.JaxRuntimeError, match="Out-of-bounds read"):
        jax.block_until_ready(one(10, padded))


@pytest.mark.parametrize("first, expected", [(8, []), (9, []), (10, [("OOB", "warning")]), (14, [("OOB", "warning")])])
def test_a_copy_of_nothing_but_padding(first, expected):
    def kernel(first_ref, x_ref, o_ref, buffer, arrived):
        pltpu.async_copy(x_ref.at[pl.ds(first_ref[0], 2)], buffer, arrived).wait()
        o_ref[...] = jnp.zeros_like(o_ref)

    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_specs=VMEM,
        scratch_shapes=[pltpu.VMEM((2, 128), jnp.float32), pltpu.SemaphoreType.DMA],
    )
    f = pl.pallas_call(kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))
    report = palladion.check(f, jnp.array([first], jnp.int32), X, target="v5e", seeds=2, bounds="padded")
    assert [(finding.code, finding.severity) for finding in report.findings] == expected


def test_padded_bounds_elsewhere():
    def off_the_end(x):
        return rows(x, 8, False)

    assert palladion.check(off_the_end, X, target="v5e", seeds=2).kernels[0].findings[0].code == "OOB"
    report = palladion.check(off_the_end, X, target="v5e", seeds=2, bounds="padded")
    assert [f.code for f in report.kernels[0].findings] == [
        "PAD_LEAK"
    ], "what is read in the tiles and goes out is undefined"
    with palladion.emulate("v5e", bounds="padded") as session:
        off_the_end(X)
    assert session.report.ok
    with pytest.raises(palladion.PalladionError, match="bounds must be logical on generic"):
        palladion.check(off_the_end, X, target="generic", bounds="padded")
    with pytest.raises(ValueError, match="bounds must be logical or padded; found 'wide'"):
        palladion.check(off_the_end, X, bounds="wide")


@pytest.mark.parametrize("fill", ["nan", "zero"])
def test_uninitialized_memory(fill):
    def kernel(o_ref, scratch):
        o_ref[...] = scratch[...]

    def run(dtype):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((8, 128), dtype),
            scratch_shapes=[pltpu.VMEM((8, 128), dtype)],
            interpret=params(uninitialized_memory=fill),
        )()

    here = [run(dtype) for dtype in (jnp.float32, jnp.int32)]
    assert np.all(here[1] == (np.iinfo(np.int32).min if fill == "nan" else 0))  # JAX has the largest integer
    with jax_itself():
        np.testing.assert_array_equal(here[0], run(jnp.float32))


def program_numbers_of_core(interpret):
    """How many programs this core has had, with this one. JAX permutes the parallel programs of a core."""

    def kernel(o_ref, count):
        @pl.when(pl.program_id(1) == 0)
        def _():
            count[0] = 0

        count[0] = count[0] + 1
        o_ref[...] = jnp.full_like(o_ref, count[0])

    return pl.pallas_call(
        kernel,
        grid=(4, 2),
        out_specs=pl.BlockSpec((1, 1, 8, 128), lambda i, j: (i, j, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((4, 2, 8, 128), jnp.int32),
        scratch_shapes=[pltpu.SMEM((1,), jnp.int32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
        interpret=interpret,
    )()[:, :, 0, 0]


def test_two_cores_are_a_chip_of_two():
    here = program_numbers_of_core(params(**{CORES: 2}))
    assert palladion.last_report().calls[0].target == "mosaic_tpu/v5p"
    with jax_itself():
        np.testing.assert_array_equal(here, program_numbers_of_core(params(**{CORES: 2})))
    program_numbers_of_core(params())
    assert palladion.last_report().calls[0].target == "mosaic_tpu/v5e"
    with abstract_device("TPU v6 lite"):
        program_numbers_of_core(params())
        assert palladion.last_report().calls[0].target == "mosaic_tpu/v6e"
        program_numbers_of_core(params(**{CORES: 2}))
        assert palladion.last_report().calls[0].target == "mosaic_tpu/v5p"


def test_hbm_in_run_scoped():
    if "allow_hbm_allocation_in_run_scoped" not in FIELDS:  # before JAX 0.10
        return

    def kernel(x_ref, o_ref):
        def through(buffer):
            pltpu.sync_copy(x_ref, buffer)
            pltpu.sync_copy(buffer, o_ref)

        pl.run_scoped(through, pltpu.HBM((8, 128), jnp.float32))

    def run(**fields):
        return pl.pallas_call(
            kernel,
            in_specs=[ANY],
            out_specs=ANY,
            out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
            interpret=params(**fields),
        )(X[:8])

    np.testing.assert_array_equal(run(allow_hbm_allocation_in_run_scoped=True), X[:8])
    assert palladion.last_report().count == 1
    with pytest.raises(ValueError, match="Cannot allocate HBM in `run_scoped`"):
        run()
    with jax_itself(), pytest.raises(ValueError, match="Cannot allocate HBM in `run_scoped`"):
        run()


def test_fields_that_cannot_change_what_is_right():
    fields = {"random_seed": 7, "vector_clock_size": 64, "skip_floating_point_ops": True}
    np.testing.assert_array_equal(
        rows(X, 1, params(**{name: value for name, value in fields.items() if name in FIELDS})), X[1:9]
    )
    assert palladion.last_report().count == 1


def test_what_has_no_meaning_here_says_why():
    without = {CORES: 3, "logging_mode": "something", "grid_point_recorder": lambda token, point, core: token}
    for name in without.keys() & FIELDS:
        with pytest.raises(jax_params.NoMeaning, match=rf"InterpretParams\({name}=.*has no meaning in Palladion: \w+ "):
            jax_params.translated(params(**{name: without[name]}))
    jax_params.translated(params(**{CORES: 3}), of_mesh=True)  # a mesh has its own number, in JAX too


def test_the_page_has_every_field_of_this_jax():
    """A field that JAX adds is to be thought about."""
    table = re.search(r"<!-- interpret-params -->\n(.*?)<!-- /interpret-params -->", DOCS.read_text(), re.S)[1]
    documented = set(
        functools.reduce(
            lambda found, line: found + re.findall(r"`(\w+)`", line.split("|")[1]), table.splitlines()[2:], []
        )
    )
    gpu = {field.name for field in dataclasses.fields(InterpretGPUParams)} if InterpretGPUParams else set()
    assert FIELDS | gpu <= documented
