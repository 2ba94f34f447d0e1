"""Matrix units that a TPU kernel drives itself: matmul_push_rhs, matmul_acc_lhs, matmul_pop, unchanged. Oracle: NumPy
in f64.
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion.jax.jax_devices import abstract_device

RNG = np.random.default_rng(7)
X = RNG.standard_normal((64, 512)).astype(jnp.bfloat16)
W = RNG.standard_normal((512, 256)).astype(jnp.bfloat16)


BY_ADDRESS = "mxu_index" in inspect.signature(pltpu.matmul_acc_lhs).parameters
by_address = pytest.mark.skipif(
    not BY_ADDRESS, reason="from JAX 0.12 on an accumulator is a ref: the last test of this file"
)


def blocked(x_ref, w_ref, o_ref):
    """Two blocks of weights: the second one is pushed before the first has been used."""
    pltpu.matmul_push_rhs(w_ref[:256], staging_register=0, mxu_index=0)
    pltpu.matmul_push_rhs(w_ref[256:], staging_register=1, mxu_index=0)
    pltpu.matmul_acc_lhs(0, x_ref[:, :256], mxu_index=0, load_staged_rhs=0)
    pltpu.matmul_acc_lhs(0, x_ref[:, 256:], mxu_index=0, load_staged_rhs=1)
    o_ref[...] = pltpu.matmul_pop(0, o_ref.shape, jnp.float32, mxu_index=0)


def call(kernel, x=X, w=W):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((x.shape[0], 256), jnp.float32))(x, w)


def codes(report):
    return [finding.code for finding in report.findings]


@by_address
def test_a_product_in_two_blocks():
    report = palladion.check(lambda x, w: call(blocked, x, w), X, W, target="v7x", seeds=4)
    assert report.findings == [], report
    exact = X.astype(np.float64) @ W.astype(np.float64)
    np.testing.assert_allclose(report.results, exact, rtol=1e-6, atol=1e-5)


@by_address
def test_jax_lowers_it_for_the_chip_that_has_accumulators():
    device = abstract_device("TPU7x", 1, "tpu")
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("device",), abstract_device=device)):
        jax.jit(lambda x, w: call(blocked, x, w)).trace(X, W).lower(lowering_platforms=("tpu",))


@by_address
def test_other_chips_have_no_accumulators():
    report = palladion.check(lambda x, w: call(blocked, x, w), X, W, target="v6e", seeds=1)
    assert set(codes(report)) == {"ILLEGAL"} and "[tpu.mxu.chip]" in str(report), report


@by_address
def test_the_units_of_a_core_go_on_from_program_to_program():
    def kernel(x_ref, w_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            pltpu.matmul_push_rhs(w_ref[...], staging_register=0, mxu_index=1)
            pltpu.matmul_acc_lhs(0, x_ref[...], mxu_index=1, load_staged_rhs=0)

        @pl.when(pl.program_id(0) == 1)
        def _():
            pltpu.matmul_acc_lhs(0, x_ref[...], mxu_index=1)
            o_ref[...] = pltpu.matmul_pop(0, o_ref.shape, jnp.float32, mxu_index=1)

    f = pl.pallas_call(
        kernel,
        grid=(2,),
        in_specs=[pl.BlockSpec((64, 256), lambda i: (0, i)), pl.BlockSpec((256, 256), lambda i: (0, 0))],
        out_specs=pl.BlockSpec((64, 256), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((64, 256), jnp.float32),
    )
    report = palladion.check(f, X, W[:256], target="v7x", seeds=4)
    assert report.findings == [], report
    exact = (X[:, :256].astype(np.float64) + X[:, 256:].astype(np.float64)) @ W[:256].astype(np.float64)
    np.testing.assert_allclose(report.results, exact, rtol=1e-5, atol=1e-4)


def missing(x_ref, w_ref, o_ref):
    """The second block of weights is never pushed."""
    pltpu.matmul_push_rhs(w_ref[:256], staging_register=0, mxu_index=0)
    pltpu.matmul_acc_lhs(0, x_ref[:, :256], mxu_index=0, load_staged_rhs=0)
    pltpu.matmul_acc_lhs(0, x_ref[:, 256:], mxu_index=0, load_staged_rhs=1)
    o_ref[...] = pltpu.matmul_pop(0, o_ref.shape, jnp.float32, mxu_index=0)


def left(x_ref, w_ref, o_ref):
    """The sums of the second product are never popped."""
    pltpu.matmul_push_rhs(w_ref[:256], staging_register=0, mxu_index=0)
    pltpu.matmul_acc_lhs(0, x_ref[:, :256], mxu_index=0, load_staged_rhs=0)
    pltpu.matmul_acc_lhs(64, x_ref[:, :256], mxu_index=0)
    o_ref[...] = pltpu.matmul_pop(0, o_ref.shape, jnp.float32, mxu_index=0)


@by_address
@pytest.mark.parametrize(
    "kernel, said",
    [
        (missing, "loads staging register 1, which holds nothing"),
        (left, "the accumulator at 64 still holds sums when the kernel ends"),
    ],
)
def test_mistakes(kernel, said):
    report = palladion.check(lambda x, w: call(kernel, x, w), X, W, target="v7x", seeds=2)
    assert codes(report) == ["ILLEGAL"] and said in str(report), report


@by_address
@pytest.mark.parametrize("first, found", [(0, []), (16, ["UNINIT"])])
def test_undefined_elements_reach_the_rows_that_they_belong_to(first, found):
    def kernel(w_ref, o_ref, rows):
        rows[0:16] = jnp.ones((16, 256), jnp.bfloat16)
        pltpu.matmul_push_rhs(w_ref[...], staging_register=0, mxu_index=0)
        pltpu.matmul_acc_lhs(0, rows[...], mxu_index=0, load_staged_rhs=0)
        sums = pltpu.matmul_pop(0, (32, 256), jnp.float32, mxu_index=0)
        o_ref[...] = sums[first : first + 16]

    f = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((16, 256), jnp.float32),
        scratch_shapes=[pltpu.VMEM((32, 256), jnp.bfloat16)],
    )
    assert codes(palladion.check(f, W[:256], target="v7x", seeds=1)) == found


@pytest.mark.skipif(BY_ADDRESS, reason="until JAX 0.11 an accumulator is an address: the other tests of this file")
def test_accumulators_that_are_refs_are_refused_by_name():
    def kernel(x_ref, w_ref, o_ref, acc):
        pltpu.matmul_push_rhs(w_ref[...], 0, 0)
        pltpu.matmul_acc_lhs(acc, x_ref[...], load_staged_rhs=0)
        o_ref[...] = pltpu.matmul_pop(acc)

    device = abstract_device("TPU7x", 1, "tpu")
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("device",), abstract_device=device)):
        f = pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((64, 256), jnp.float32),
            scratch_shapes=[pltpu.ACC(0)((64, 256), jnp.float32)],
        )
        with pytest.raises(palladion.ExportError, match="memory space AccMemorySpace"):
            palladion.export(f, X[:, :256], W[:256])
