"""Each kind of finding is found in a kernel written in Python, with the JAX that is installed: here those of programs,
blocks and values; the GPU corpus (test_gpu_corpus_export.py) has the rest, and the last test says which neither has,
and why.
"""

import pathlib
import re

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

ROOT = pathlib.Path(__file__).resolve().parents[2]
X = jnp.arange(64, dtype=jnp.float32).reshape(8, 8)
I = jnp.arange(8, dtype=jnp.int32)
ROWS = jnp.ones((32, 128), jnp.float32)

# Why no kernel that Python writes has them.
ELSEWHERE = {
    "LIVELOCK": "Python has no option for the budget of steps, and the usual one takes half a minute: the explained "
    "example has it",
}


def call(kernel, x, out=None, **options):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(*(out or (x.shape, x.dtype))), **options)(x)


def divides(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.lax.div(jnp.full((8,), 7, jnp.int32), x_ref[...])

    return call(kernel, x)


def shifts(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = jax.lax.shift_left(x_ref[...], jnp.full((8,), 32, jnp.int32))

    return call(kernel, x)


def converts(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = (x_ref[...].astype(jnp.float32) * 1e30).astype(jnp.int32)

    return call(kernel, x)


def block_outside(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    return call(
        kernel,
        x,
        grid=(8,),
        in_specs=[pl.BlockSpec((1, 8), lambda i: (i + 1, 0))],
        out_specs=pl.BlockSpec((1, 8), lambda i: (i, 0)),
    )


def checks(x):
    def kernel(x_ref, o_ref):
        pl.debug_check(x_ref[0] > 0, "the first is positive")
        o_ref[...] = x_ref[...]

    with pl.enable_debug_checks(True):
        return call(kernel, x)


def revisits(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    return call(
        kernel,
        x,
        out=((16, 128), x.dtype),
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i % 2, 0)),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
    )


def promises(x):
    def kernel(x_ref, o_ref):
        start = pl.multiple_of(x_ref[3], 8)
        o_ref[...] = x_ref[...] + start

    return call(kernel, x)


def accumulates(x):
    """The sum of all rows in one block, whose programs may run at the same time."""

    def kernel(x_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...]

    return call(
        kernel,
        x,
        out=((8, 128), x.dtype),
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
    )


def chain(x):
    """Each of 134 blocks, of which 132 fit on the chip, waits for the one before it."""

    def kernel(x_ref, o_ref, work):
        done = pl.get_global(plgpu.SemaphoreType.REGULAR((134,)))
        block = jax.lax.axis_index("b")

        @pl.when(block > 0)
        def _():
            pl.semaphore_wait(done.at[block])

        o_ref[block] = x_ref[...]

        @pl.when(block < 133)
        def _():
            pl.semaphore_signal(done.at[block + 1])

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((134, 128), jnp.float32),
        grid=(134,),
        grid_names=("b",),
        scratch_types={"work": plgpu.SMEM((51200,), jnp.float32)},
    )(x)


def far_block(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...]

    with jax.enable_x64(True):
        return call(
            kernel,
            x,
            grid=(4,),
            in_specs=[pl.BlockSpec((8, 128), lambda i: (i.astype(jnp.int64) * 2**32, 0))],
            out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
            compiler_params=pltpu.CompilerParams(),
        )


def aliased(x):
    """Each program reads the row that the one before it has written."""

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + 1

    return call(
        kernel,
        x,
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (jnp.maximum(i, 1) - 1, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
        input_output_aliases={0: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
    )


def cuts_tiles(x):
    """Eight rows from the fourth on, of an array in tiles of eight."""

    def kernel(x_ref, o_ref, sem):
        pltpu.async_copy(x_ref.at[pl.ds(4, 8)], o_ref, sem).wait()

    return call(
        kernel,
        x,
        ((8, 256), x.dtype),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        scratch_shapes=[pltpu.SemaphoreType.DMA],
    )


def loses_work(x):
    """Each block takes the work of another one and does not look at whose."""

    def kernel(x_ref, o_ref, answer, answered):
        plgpu.try_cluster_cancel(answer, answered)
        o_ref[jax.lax.axis_index("b")] = x_ref[...]
        plgpu.barrier_wait(answered)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((4, 128), jnp.float32),
        grid=(4,),
        grid_names=("b",),
        scratch_types={"answer": plgpu.TryClusterCancelResult(), "answered": plgpu.Barrier()},
    )(x)


CASES = [
    ("DIV_ZERO", divides, I, None),
    ("SHIFT", shifts, I, None),
    ("F2I", converts, I, None),
    ("OOB_BLOCK", block_outside, X, None),
    ("CHECK", checks, I, None),
    ("OUT_REVISIT", revisits, ROWS, "mosaic_tpu/v5e"),
    ("PROMISE", promises, I, None),
    ("GRID_ORDER", accumulates, ROWS, None),
    ("START_ORDER", chain, jnp.zeros(128), "mosaic_gpu/h100"),
    ("LAUNCH_CONTROL", loses_work, jnp.zeros(128), None),
    ("ALIAS", aliased, ROWS, "mosaic_tpu/v5e"),
    ("INDEX_TYPE", far_block, ROWS, "mosaic_tpu/v5e"),
    ("COMPILER", cuts_tiles, jnp.zeros((16, 256)), "mosaic_tpu/v5e"),
]


@pytest.mark.parametrize("code, function, x, target", CASES, ids=[case[0] for case in CASES])
def test_it_is_found(code, function, x, target):
    report = palladion.check(function, x, **({"target": target} if target else {}))
    assert code in {finding.code for finding in report.findings}, str(report)


def test_no_finding_is_forgotten():
    source = (ROOT / "semantics/base/finding.cc").read_text(encoding="utf-8")
    codes = set(re.findall(r'\{C::k\w+,\s*"(\w+)"', source))
    corpus = [path.read_text(encoding="utf-8") for path in (ROOT / "conformance/cases/gpu_corpus").glob("*.case")]
    marked = {
        word.partition("@")[0] for text in corpus for line in re.findall(r"//~ (.*)", text) for word in line.split()
    }
    found = {case[0] for case in CASES} | marked
    assert codes - found == set(ELSEWHERE)
