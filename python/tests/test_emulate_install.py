"""palladion.install: programs that pass JAX's own interpret parameters, unchanged. The kernels are those that JAX's
documentation teaches with, written anew: addition, iota, a blocked matmul with an accumulator, an async copy, a sum
over a grid.
"""

import dataclasses
import functools
import inspect
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion.bridge import jax_params
from palladion.bridge.params import Params
from small_kernels import matmul, summed

try:
    from jax.experimental.pallas import mosaic_gpu as plgpu

    InterpretGPUParams = getattr(plgpu, "InterpretGPUParams", None) or getattr(plgpu, "InterpretParams", None)
except ImportError:
    InterpretGPUParams = None
if InterpretGPUParams is None:
    try:
        from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams
    except ImportError:  # before 0.9
        InterpretGPUParams = None

EVERYTHING = ("bare", "palladion", "tpu_interpret", "gpu_interpret", "interpret_true")


@pytest.fixture(autouse=True)
def uninstalled():
    yield
    palladion.uninstall()


def add(x, y, interpret):
    def add_vectors(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    return pl.pallas_call(add_vectors, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=interpret)(x, y)


def iota(n, interpret):
    def iota_kernel(o_ref):
        i = pl.program_id(0)
        o_ref[i] = i

    return pl.pallas_call(
        iota_kernel,
        out_shape=jax.ShapeDtypeStruct((n,), jnp.int32),
        grid=(n,),
        out_specs=pl.BlockSpec(memory_space=pltpu.SMEM),
        interpret=interpret,
    )()


PARALLEL = pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"))
A, B = (jnp.asarray(np.random.default_rng(n).standard_normal((256, 256)), jnp.float32) for n in (1, 2))
TPU = pltpu.InterpretParams()
WAYS = {
    "true": True,
    "tpu": TPU,
    "tpu races": pltpu.InterpretParams(detect_races=True),
    "bare": False,
    "tpu zeros": pltpu.InterpretParams(uninitialized_memory="zero"),
}
if InterpretGPUParams is not None:
    WAYS["gpu"] = InterpretGPUParams(detect_races=True)


@pytest.mark.parametrize("way", WAYS)
def test_programs_with_jax_parameters_run_unchanged(way):
    interpret = WAYS[way]
    palladion.install(claim=EVERYTHING)
    np.testing.assert_array_equal(jax.jit(functools.partial(add, interpret=interpret))(A, B), A + B)
    assert [c.kernel for c in palladion.last_report().calls] == ["add_vectors"]
    if way != "gpu":
        np.testing.assert_array_equal(iota(8, interpret), np.arange(8))
        np.testing.assert_allclose(
            matmul(A, B, interpret=interpret, compiler_params=PARALLEL),
            np.asarray(A) @ np.asarray(B),
            rtol=1e-4,
            atol=1e-4,
        )
        report = palladion.last_report()
        assert [c.kernel for c in report.calls] == ["iota_kernel", "matmul_kernel"] and report.ok
        assert report.calls[1].target == "mosaic_tpu/v5e" and report.calls[1].checked == (
            way in ("tpu races", "tpu zeros")
        )


def test_under_the_context_managers_of_jax():
    palladion.install(claim="tpu_interpret")
    with pltpu.force_tpu_interpret_mode():
        np.testing.assert_array_equal(jax.jit(lambda x: jax.vmap(lambda v: add(v, v, False))(x))(A), A * 2)
    assert palladion.last_report().count == 1


HAS_ON_RACE = "on_race" in inspect.signature(pltpu.InterpretParams).parameters  # from JAX 0.12 it raises by default


def test_detect_races_raises_where_jax_raises():
    palladion.install(claim="tpu_interpret")
    try:
        jax.block_until_ready(summed(jnp.ones((32, 128)), interpret=pltpu.InterpretParams(detect_races=True)))
        raised = False
    except jax.errors.JaxRuntimeError as error:
        raised = "RACE_WW" in str(error)
    assert raised == HAS_ON_RACE and palladion.last_report().races_found


def test_detect_races_reports_and_goes_on():
    palladion.install(claim="tpu_interpret")
    warns = {"on_race": "warn"} if HAS_ON_RACE else {}
    summed(jnp.ones((32, 128)), interpret=pltpu.InterpretParams(detect_races=True, **warns))
    assert palladion.last_report().races_found
    np.testing.assert_array_equal(summed(jnp.ones((32, 128)), interpret=TPU), 4)
    assert not palladion.last_report().races_found


def test_reads_out_of_bounds_raise_where_jax_raises():
    def past_the_end(x, interpret):
        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[pl.ds(pl.program_id(0) + 1, 8)]

        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), x.dtype), grid=(1,), interpret=interpret)(x)

    palladion.install(claim=("tpu_interpret", "interpret_true"))
    with pytest.raises(jax.errors.JaxRuntimeError, match="OOB"):
        jax.block_until_ready(past_the_end(jnp.ones(8), TPU))
    result = past_the_end(jnp.ones(8), pltpu.InterpretParams(out_of_bounds_reads="uninitialized"))
    assert np.isnan(result[7]) and result[0] == 1
    jax.block_until_ready(past_the_end(jnp.ones(8), True))
    assert palladion.last_report().verdict == "defect"


def revisiting(x, interpret):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    block = pl.BlockSpec((8, 128), lambda i, j: (j, 0))
    return pl.pallas_call(
        kernel,
        grid=(2, 2),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(),
        interpret=interpret,
    )(x)


def loading_hbm(x, interpret):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    where = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        kernel,
        in_specs=[where],
        out_specs=where,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(),
        interpret=interpret,
    )(x)


@pytest.mark.parametrize(
    "options", [{}, {"detect_races": True}, {"uninitialized_memory": "zero"}, {"out_of_bounds_reads": "uninitialized"}]
)
@pytest.mark.parametrize("wrong, code", [(revisiting, "OUT_REVISIT"), (loading_hbm, "ILLEGAL")])
def test_what_jax_refuses_whatever_its_parameters_are(wrong, code, options):
    palladion.install(claim="tpu_interpret")
    with pytest.raises(jax.errors.JaxRuntimeError, match=code):
        jax.block_until_ready(wrong(jnp.ones((16, 128)), pltpu.InterpretParams(**options)))
    for seeds in (None, 2):
        with palladion.emulate("v5p", seeds=seeds, on_defect="collect") as session:
            wrong(jnp.ones((16, 128)), False)
        assert code in {finding.code for finding in session.report.findings}


def test_what_is_not_claimed_goes_where_it_went():
    palladion.install()
    np.testing.assert_array_equal(add(A, B, True), A + B)
    np.testing.assert_array_equal(add(A, B, TPU), A + B)
    before = palladion.last_report()
    np.testing.assert_array_equal(add(A, B, False), A + B)
    assert palladion.last_report() is not before and palladion.last_report().count == 1
    palladion.uninstall()
    with pytest.raises(ValueError, match="Only interpret mode"):
        add(A, B, False)


def test_install_reaches_what_was_compiled_before():
    function = jax.jit(functools.partial(add, interpret=True))
    function(A, B)
    palladion.install(claim="interpret_true")
    function(A, B)
    assert palladion.last_report().count == 1
    palladion.uninstall()
    before = palladion.last_report()
    function(A, B)
    assert palladion.last_report() is before


def test_the_options_of_bare_kernels():
    palladion.install(target="v5p", seeds=2, on_defect="collect")
    summed(jnp.ones((32, 128)), interpret=False)
    report = palladion.last_report()
    assert report.races_found and report.calls[0].target == "mosaic_tpu/v5p"


def test_the_emulation_of_a_stretch_wins_over_install():
    palladion.install(claim=EVERYTHING)
    with palladion.emulate(seeds=2) as session:
        add(A, B, TPU)
    assert session.report.calls[0].checked and palladion.last_report() is session.report


def test_values_without_a_meaning_stay_with_jax():
    three = pltpu.InterpretParams(
        **{
            name: 3
            for name in ("num_cores_or_threads", "num_cores_per_device")
            if name in pltpu.InterpretParams.__dataclass_fields__
        }
    )
    palladion.install(claim=EVERYTHING)
    with pytest.warns(
        palladion.PalladionWarning, match="num_cores.*no meaning in Palladion: no TPU.*; so JAX's interpreter runs"
    ):
        np.testing.assert_array_equal(add(A, B, three), A + B)
    report = palladion.last_report()
    assert report.ran == {"palladion": 0, "jax": 1, "skipped": 0} and "num_cores" in report.elsewhere[0].reason
    for name, value in (("grid_point_recorder", print), ("a_field_of_tomorrow", 1)):
        fields = dataclasses.make_dataclass("InterpretParams", [(name, object)])
        with pytest.raises(jax_params.NoMeaning, match=name):
            jax_params.translated(fields(value))


def test_the_tables_know_every_field_of_this_jax():
    """A field that JAX adds is to be thought about: until then it leaves the kernel to JAX."""
    for params in [TPU] + ([InterpretGPUParams()] if InterpretGPUParams else []):
        always = (
            ("tpu.access.space", "OUT_REVISIT")
            if params is TPU
            else ("BAR_DOUBLE", "BAR_UNAWAITED", "BAR_PENDING", "BAR_PHASE_SKIP", "NOT_AWAITED")
        )
        late = params is TPU  # JAX's default: copies run when an agent waits
        assert jax_params.translated(params) == Params(
            on_defect="warn",
            legality="off",
            raise_codes=(*always, "OOB", "OOB_BLOCK"),
            engines_late=late,
            target="v5e" if params is TPU else "mosaic_gpu/h100",
        )


def test_wrong_options():
    with pytest.raises(ValueError, match="'everything'; it may have bare"):
        palladion.install(claim=("everything",))
    with pytest.raises(palladion.PalladionError, match="unknown target"):
        palladion.install(target="x99")
    with pytest.raises(TypeError, match="seed"):
        palladion.install(seed=4)


def test_calls_outside_of_emulate_that_fail_are_said_by_jax():
    palladion.install()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"kernel @add_vectors|OOB"):
            jax.block_until_ready(
                pl.pallas_call(
                    lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[pl.ds(pl.program_id(0) + 1, 8)]),
                    grid=(1,),
                    out_shape=jax.ShapeDtypeStruct((8,), jnp.float32),
                )(jnp.ones(8))
            )
    assert palladion.last_report().verdict == "defect"
