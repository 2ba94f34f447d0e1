"""pltpu.emit_pipeline over arrays whose last block sticks out: JAX rounds that block up to whole tiles, and its copies
reach into the padding that arrays of a TPU have. That is in bounds, without being asked for; what the body makes of the
padding is judged as ever.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

ANY = pl.BlockSpec(memory_space=pl.ANY)
X = jnp.arange(27 * 200.0).reshape(27, 200)


def piped(body, x, out, grid, block=(16, 128)):
    def kernel(x_ref, o_ref):
        specs = [pl.BlockSpec(block, lambda i, j: (i, j))]
        pltpu.emit_pipeline(body, grid=grid, in_specs=specs, out_specs=specs)(x_ref, o_ref)

    return pl.pallas_call(kernel, out_shape=out, in_specs=[ANY], out_specs=ANY)(x)


def doubled(x):
    def body(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return piped(
        body, x, jax.ShapeDtypeStruct(x.shape, x.dtype), tuple(-(-size // b) for size, b in zip(x.shape, (16, 128)))
    )


def summed(x, masked):
    """The sum of each block, in all of an output block that is in tiles."""
    grid = tuple(-(-size // b) for size, b in zip(x.shape, (16, 128)))

    def body(x_ref, o_ref):
        value = x_ref[...]
        if masked:
            rows = pl.program_id(0) * 16 + jax.lax.broadcasted_iota(jnp.int32, value.shape, 0)
            columns = pl.program_id(1) * 128 + jax.lax.broadcasted_iota(jnp.int32, value.shape, 1)
            value = jnp.where((rows < x.shape[0]) & (columns < x.shape[1]), value, 0)
        o_ref[...] = jnp.full(o_ref.shape, jnp.sum(value))

    return piped(body, x, jax.ShapeDtypeStruct((grid[0] * 16, grid[1] * 128), x.dtype), grid)


@pytest.mark.parametrize("target", ["v5e", "v6e", "v7x"])
@pytest.mark.parametrize(
    "x",
    [X, X.astype(jnp.bfloat16), X[:24], X[:, :128], X[:17, :130], X[:9, :130], X[:3, :5]],
    ids=lambda x: f"{x.dtype}{x.shape}",
)
@pytest.mark.parametrize("checked", [False, True])
def test_a_last_block_that_sticks_out_is_in_bounds(x, target, checked):
    with palladion.emulate(target, seeds=4 if checked else None) as session:
        y = jax.jit(doubled)(x)
    np.testing.assert_array_equal(y, x * 2)
    assert session.report.findings == [] and session.report.verdict in (("proved", "clean") if checked else ("ran",))


def test_a_masked_ragged_block_is_clean_and_one_that_is_not_is_found():
    with palladion.target("v5e"):
        report = palladion.check(lambda x: summed(x, masked=True), X, reference=expected)
        assert report.ok and report.findings == [], report
        wrong = palladion.check(lambda x: summed(x, masked=False), X)
    assert wrong.findings and {finding.code for finding in wrong.findings} <= {"PAD_LEAK", "UNINIT"}, wrong


def expected(x):
    return jnp.block([[jnp.full((16, 128), x[i : i + 16, j : j + 128].sum()) for j in (0, 128)] for i in (0, 16)])


def test_a_copy_of_the_user_s_own_has_to_stay_in_the_array_s_shape():
    def kernel(first_ref, x_ref, o_ref, buffer):
        pltpu.sync_copy(x_ref.at[pl.ds(first_ref[0], 16)], buffer)
        o_ref[...] = jnp.zeros_like(o_ref)

    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        in_specs=[ANY],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        scratch_shapes=[pltpu.VMEM((16, 128), X.dtype)],
    )

    def f(first, x):
        return pl.pallas_call(kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype))(first, x)

    for first, found in ((8, False), (16, True)):
        report = palladion.check(f, jnp.array([first], jnp.int32), X[:, :128], target="v5e")
        assert ("OOB" in {finding.code for finding in report.findings}) == found, (first, report)


def test_a_copy_past_the_tiles_is_found_however_it_is_said():
    """A size that is promised to be a multiple of a tile does not make room behind the array's last tile."""

    def kernel(rows_ref, x_ref, o_ref, buffer, semaphore):
        rows = pl.multiple_of(rows_ref[0], 8)
        copy = pltpu.make_async_copy(x_ref.at[pl.ds(16, rows)], buffer.at[pl.ds(0, rows)], semaphore)
        copy.start()
        copy.wait()
        o_ref[...] = jnp.zeros_like(o_ref)

    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        in_specs=[ANY],
        out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        scratch_shapes=[pltpu.VMEM((32, 128), X.dtype), pltpu.SemaphoreType.DMA],
    )

    def f(rows, x):
        return pl.pallas_call(kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype))(rows, x)

    for rows, found in ((8, False), (16, False), (24, True)):
        report = palladion.check(f, jnp.array([rows], jnp.int32), X[:, :128], target="v5e")
        assert ("OOB" in {finding.code for finding in report.findings}) == found, (rows, report)
