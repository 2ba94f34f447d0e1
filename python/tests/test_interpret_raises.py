"""What JAX's interpreters of chips refuse, and count as a race, under their own parameters: it is so here, too, on the
chip that they stand for.

The kernels are of shapes that JAX's own tests have. Those tests' expectations were run with JAX 0.10.2; of races of
GPUs, PROXY is newer: of JAX 0.12.
"""

import inspect
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

try:
    from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call as gpu_interpreter
    from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams
    from jax.experimental.pallas import mosaic_gpu as plgpu
except ImportError:
    gpu_interpreter = InterpretGPUParams = plgpu = None

tpu_interpreter = sys.modules[pltpu.reset_tpu_interpret_mode_state.__module__]
CORES = next(
    name
    for name in ("num_cores_or_threads", "num_cores_per_device")
    if name in inspect.signature(pltpu.InterpretParams).parameters
)
needs_gpu_interpreter = pytest.mark.skipif(
    InterpretGPUParams is None, reason="JAX 0.8 has no interpreter of GPU kernels"
)
X = jnp.arange(16 * 128, dtype=jnp.float32).reshape(16, 128)


@pytest.fixture(autouse=True)
def installed():
    palladion.install(claim=("tpu_interpret", "gpu_interpret"), on_defect="collect")
    palladion.last_report()
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        palladion.last_report()
    palladion.uninstall()


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def blocks(in_map, out_map, grid, **spec):
    return pl.pallas_call(
        copy,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        grid=grid,
        in_specs=[pl.BlockSpec((8, 128), in_map, **spec)],
        out_specs=pl.BlockSpec((8, 128), out_map, **spec),
        interpret=pltpu.InterpretParams(),
    )


# ---- TPUs


@pytest.mark.parametrize("spec", [{}, {"memory_space": pltpu.VMEM}])
def test_a_kernel_that_names_no_backend_is_on_a_tpu(spec):
    """JAX: "Revisited block ... of output 0", "Out-of-bounds block index ... for input"."""
    wrong = (
        (blocks(lambda i: (i % 2, 0), lambda i: (i % 2, 0), (4,), **spec), "OUT_REVISIT"),
        (blocks(lambda i: (i + 1, 0), lambda i: (i, 0), (2,), **spec), "OOB_BLOCK"),
    )
    for f, code in wrong:
        with pytest.raises(jax.errors.JaxRuntimeError, match=code):
            jax.block_until_ready(jax.jit(f)(X))
        [call] = palladion.last_report().calls
        assert call.target == "mosaic_tpu/v5e" and [finding.code for finding in call.findings] == [code]
    right = jax.jit(blocks(lambda i: (i, 0), lambda i: (i, 0), (2,), **spec))
    assert jnp.array_equal(right(X), X) and palladion.last_report().verdict == "ran"


def test_hbm_is_not_loaded_and_other_limits_of_the_chip_do_not_fail_the_call():
    whole = pl.BlockSpec(memory_space=pl.ANY)
    with pytest.raises(jax.errors.JaxRuntimeError, match="only vmem and smem can be loaded"):
        jax.block_until_ready(pl.pallas_call(copy, in_specs=[whole], out_shape=X, interpret=pltpu.InterpretParams())(X))
    odd = pl.BlockSpec((5, 50), lambda i, j: (i, j))  # no TPU takes it; JAX's interpreter does
    x = jnp.ones((30, 100))
    f = pl.pallas_call(
        copy,
        grid=(6, 2),
        in_specs=[odd],
        out_specs=odd,
        out_shape=x,
        interpret=pltpu.InterpretParams(detect_races=True),
    )
    assert jnp.array_equal(f(x), x)


def two_writers(**fields):
    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] + x_ref[...]

    spec = pl.BlockSpec(X.shape, lambda i: (0, 0))
    params = pltpu.InterpretParams(**{CORES: 2}, detect_races=True, **fields)
    return pl.pallas_call(
        double,
        grid=(2,),
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        in_specs=[spec],
        out_specs=spec,
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        interpret=params,
    )(X)


def test_equal_bytes_without_an_order_are_a_race_to_jax():
    """JAX's test_two_cores_along_parallel_dimension_with_race asks `races_found`. Here it is a note."""
    on_race = {"on_race": "warn"} if "on_race" in inspect.signature(pltpu.InterpretParams).parameters else {}
    jax.block_until_ready(two_writers(**on_race))
    assert tpu_interpreter.races.races_found
    report = palladion.last_report()
    assert [finding.code for finding in report.findings] == ["SAME_VALUE"] and not report.races_found
    if on_race:
        with pytest.raises(jax.errors.JaxRuntimeError, match="SAME_VALUE"):
            jax.block_until_ready(two_writers(on_race="raise"))


@pytest.mark.parametrize("code, fails", [("SAME_VALUE", True), ("RACE_WW", False)])
def test_a_note_fails_the_call_where_it_is_named(code, fails):
    """What on_race="raise" of JAX 0.12 asks for, with any JAX."""
    with palladion.emulate("v5p", seeds=4, on_defect="collect", raise_codes=(code,)):
        if not fails:
            jax.block_until_ready(two_writers())
            return
        with pytest.raises(jax.errors.JaxRuntimeError, match=r"note\[SAME_VALUE\]"):
            jax.block_until_ready(two_writers())


# ---- GPUs


@needs_gpu_interpreter
def test_a_kernel_that_names_no_backend_is_on_a_gpu():
    f = pl.pallas_call(
        copy, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype), interpret=InterpretGPUParams(detect_races=True)
    )
    assert jnp.array_equal(jax.jit(f)(X), X)
    [call] = palladion.last_report().calls
    assert (call.target, call.findings) == ("mosaic_gpu/h100", [])


def gpu_kernel(body, threads=1, arrivals=1, **fields):
    out = "out_type" if "out_type" in inspect.signature(plgpu.kernel).parameters else "out_shape"
    scratch = "scratch_types" if "scratch_types" in inspect.signature(plgpu.kernel).parameters else "scratch_shapes"
    f = plgpu.kernel(
        body,
        **{
            out: jax.ShapeDtypeStruct((8, 128), jnp.float32),
            scratch: [plgpu.SMEM((8, 128), jnp.float32), plgpu.Barrier(num_arrivals=arrivals)],
        },
        num_threads=threads,
        thread_name="t",
        interpret=InterpretGPUParams(**fields),
    )
    return jax.block_until_ready(f())


def fill(ref):
    ref[...] = jnp.full((8, 128), 1.0, jnp.float32)


def twice(o_ref, smem, barrier):
    plgpu.barrier_arrive(barrier)
    plgpu.barrier_arrive(barrier)
    plgpu.barrier_wait(barrier)
    fill(o_ref)


def once(o_ref, smem, barrier):
    plgpu.barrier_arrive(barrier)
    plgpu.barrier_wait(barrier)
    fill(o_ref)


def half(o_ref, smem, barrier):
    plgpu.barrier_arrive(barrier)
    fill(o_ref)


def one_misses_a_phase(o_ref, smem, barrier):
    thread = jax.lax.axis_index("t")
    plgpu.barrier_arrive(barrier)

    @pl.when(thread == 0)
    def _():
        plgpu.barrier_wait(barrier)

    plgpu.barrier_arrive(barrier)
    plgpu.barrier_wait(barrier)

    @pl.when(thread == 0)
    def _():
        fill(o_ref)


def stores(o_ref, smem, awaited, committed=True):
    fill(smem)
    if committed:
        plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(smem, o_ref)
    if awaited:
        plgpu.wait_smem_to_gmem(0)


WRONG = {
    "twice": (twice, 1, 1, "BAR_DOUBLE"),
    "half": (half, 1, 2, "BAR_PENDING"),
    "misses": (one_misses_a_phase, 2, 2, "BAR_"),
    "unawaited": (lambda o_ref, smem, barrier: stores(o_ref, smem, awaited=False), 1, 1, "NOT_AWAITED"),
}


@needs_gpu_interpreter
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("races", [False, True])
def test_barrier_rules_and_a_store_that_is_not_awaited_fail_the_call(name, races):
    """JAX: "Barrier completed phase 1, but no threads observed phase 0", "Barrier deallocated with 1 arrivals pending",
    "... is waiting at barrier ... for the first time, but barrier is already at phase 2", "Not all copy_smem_to_gmem
    read-side operations completed"."""
    body, threads, arrivals, code = WRONG[name]
    with pytest.raises(jax.errors.JaxRuntimeError, match=code):
        gpu_kernel(body, threads, arrivals, detect_races=races)


@needs_gpu_interpreter
@pytest.mark.parametrize("races", [False, True])
def test_what_keeps_the_barrier_rules_runs(races):
    for body in (once, lambda o_ref, smem, barrier: stores(o_ref, smem, awaited=True)):
        assert jnp.array_equal(gpu_kernel(body, detect_races=races), jnp.ones((8, 128)))
        assert not palladion.last_report().findings


@needs_gpu_interpreter
@pytest.mark.parametrize("committed", [True, False])
def test_a_missing_commit_is_a_race_to_jax(committed):
    on_race = {"on_race": "warn"} if "on_race" in inspect.signature(InterpretGPUParams).parameters else {}
    gpu_kernel(
        lambda o_ref, smem, barrier: stores(o_ref, smem, awaited=True, committed=committed),
        detect_races=True,
        **on_race,
    )
    assert gpu_interpreter.get_races().races_found is not committed


ASKED = """
import jax, jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams
import palladion
palladion.install(claim=("gpu_interpret",), on_defect="collect")
def kernel(o_ref): o_ref[...] = jnp.full((8, 128), 3.0, jnp.float32)
out = jax.ShapeDtypeStruct((8, 128), jnp.float32)
plgpu.kernel(kernel, OUT=out, interpret=InterpretGPUParams(detect_races=True))().block_until_ready()
print(interpret_pallas_call.get_races().races_found)
interpret_pallas_call.reset_gpu_interpret_mode_state()
print(interpret_pallas_call.get_races().races_found)
"""


@needs_gpu_interpreter
def test_the_question_is_answered_in_a_program_that_only_installs():
    out = "out_type" if "out_type" in inspect.signature(plgpu.kernel).parameters else "out_shape"
    done = subprocess.run([sys.executable, "-c", ASKED.replace("OUT", out)], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr
