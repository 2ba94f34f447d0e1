"""What is a core's own on a TPU: prefetched scalars, operands in smem, arrays that stay in vmem; and whose results a
check hands over.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = jnp.arange(8 * 128.0).reshape(8, 128)
SEMAPHORE = pltpu.SemaphoreType.REGULAR


def parallel(words):
    return pltpu.CompilerParams(dimension_semantics=words)


def emulated(chip, seeds, call, *arguments):
    with palladion.emulate(chip, seeds=seeds, on_defect="collect") as session:
        results = jax.tree.map(np.asarray, call(*arguments))
    return results, session.report


def takes_first(scratch, programs):
    """Program i's block is 1 where it finds the flag as the caller gave it, else 0."""

    def kernel(flag, out, *_):
        out[...] = jnp.full(out.shape, flag[0], jnp.int32)
        flag[0] = 0

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(programs,),
        in_specs=[],
        scratch_shapes=scratch,
        out_specs=pl.BlockSpec((8, 128), lambda i, flag: (i, 0)),
    )
    shape = jax.ShapeDtypeStruct((8 * programs, 128), jnp.int32)
    return pl.pallas_call(kernel, out_shape=shape, grid_spec=spec, compiler_params=parallel(("parallel",)))


@pytest.mark.parametrize("scratch", ([], [SEMAPHORE]), ids=("plain", "semaphore"))
@pytest.mark.parametrize("seeds", (None, 8))
@pytest.mark.parametrize(
    "chip, programs, found", (("v5p", 2, [1, 1]), ("v4", 2, [1, 1]), ("v6e", 2, [1, 0]), ("v5p", 4, [1, 0, 1, 0]))
)
def test_prefetched_scalars_are_a_cores_own(chip, programs, found, seeds, scratch):
    out, report = emulated(chip, seeds, takes_first(scratch, programs), jnp.ones(1, jnp.int32))
    assert out[::8, 0].tolist() == found
    apart = programs == 2 and chip != "v6e"  # else the programs of one core, and their order, decide
    defects = {f.code for f in report.findings if f.severity == "defect"}
    assert defects <= {"GRID_ORDER", "RACE_RW", "RACE_WW", "NONDET"}
    assert bool(defects) == (seeds is not None and not apart)


@pytest.mark.parametrize("mode", ("kv_head", "batch"))
def test_paged_attention_of_two_cores(mode):
    attention = pytest.importorskip("jax.experimental.pallas.ops.tpu.paged_attention.paged_attention_kernel")
    rng = np.random.default_rng(0)
    q, k, v = (
        jnp.asarray(rng.standard_normal(shape) * 0.5, jnp.float32)
        for shape in ((4, 8, 128), (2, 16, 16, 128), (2, 16, 16, 128))
    )
    lengths = jnp.array([20, 33, 5, 64], jnp.int32)
    table = jnp.asarray(rng.permutation(16).reshape(4, 4), jnp.int32)

    def call(megacore):
        return attention.paged_attention(q, k, v, lengths, table, pages_per_compute_block=2, megacore_mode=megacore)

    expected, _ = emulated("v5p", None, call, None)
    out, report = emulated("v5p", 4, call, mode)
    assert np.abs(out - expected).max() < 1e-5
    assert not [f for f in report.findings if f.severity == "defect"]


@pytest.mark.parametrize("scratch", ([], [SEMAPHORE]), ids=("plain", "semaphore"))
@pytest.mark.parametrize("chip, kept", (("v6e", [1, 2, 3, 4]), ("v5e", [1, 2, 3, 4]), ("v5p", None)))
def test_results_of_a_check_are_the_chips(chip, kept, scratch):
    def kernel(out, *_):
        i = pl.program_id(0)
        out[i] = i + 1

    call = pl.pallas_call(
        kernel,
        grid=(4,),
        out_shape=jax.ShapeDtypeStruct((4,), jnp.int32),
        scratch_shapes=scratch,
        out_specs=pl.BlockSpec(memory_space=pltpu.SMEM),
        compiler_params=parallel(("parallel",)),
    )
    ran, _ = emulated(chip, None, call)
    out, report = emulated(chip, 8, call)
    assert out.tolist() == ran.tolist()
    assert kept is None or out.tolist() == kept
    assert "RACE_WW" in {f.code for f in report.findings}
    assert kept is None or any("v4 and v5p have two" in f.why for f in report.findings if f.code == "RACE_WW")


def in_flight(space):
    def start(x_ref, o_ref, sem):
        pltpu.make_async_copy(x_ref, o_ref, sem).start()

    def done(x_ref, o_ref, sem, aliased_ref):
        pltpu.make_async_copy(x_ref, o_ref, sem).wait()

    @jax.jit
    def call(x):
        whole, sem = pl.BlockSpec(memory_space=space), pl.BlockSpec(memory_space=pltpu.SEMAPHORE)
        anywhere = pl.BlockSpec(memory_space=pl.ANY)
        out, signal = pl.pallas_call(
            start,
            out_shape=(space(x.shape, x.dtype), pltpu.SemaphoreType.DMA(())),
            in_specs=[anywhere],
            out_specs=(whole, sem),
        )(x)
        return pl.pallas_call(
            done,
            out_shape=space(x.shape, x.dtype),
            in_specs=[anywhere, whole, sem],
            out_specs=whole,
            input_output_aliases={1: 0},
        )(x, out, signal)

    return call


def stays(x):
    vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
    return pl.pallas_call(
        lambda x_ref, o_ref: None,
        out_shape=pltpu.VMEM(x.shape, x.dtype),
        in_specs=[vmem],
        out_specs=vmem,
        input_output_aliases={0: 0},
    )(x)


@pytest.mark.parametrize("seeds", (None, 4))
@pytest.mark.parametrize("chip", ("v5p", "v6e"))
@pytest.mark.parametrize(
    "call", (in_flight(pl.ANY), in_flight(pltpu.VMEM), jax.jit(stays)), ids=("any", "vmem", "stays")
)
def test_an_array_that_stays_in_vmem(call, chip, seeds):
    out, report = emulated(chip, seeds, call, X)
    np.testing.assert_array_equal(out, X)
    assert not report.findings


def test_an_array_in_hbm_does_not_stay():
    def call(x):
        vmem = pl.BlockSpec(memory_space=pltpu.VMEM)
        return pl.pallas_call(
            lambda x_ref, o_ref: None,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            in_specs=[vmem],
            out_specs=vmem,
            input_output_aliases={0: 0},
        )(x)

    _, report = emulated("v6e", 4, call, X)
    assert [f.code for f in report.findings] == ["OUT_MISSING"]
