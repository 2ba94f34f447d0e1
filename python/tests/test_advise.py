"""`palladion.advise`: changes that are timed, not guessed."""

import functools

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion

ROWS, COLUMNS = 4096, 512


def _add_one(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def add_one(x, rows=8, extra=0.0):
    block = pl.BlockSpec((rows, COLUMNS), lambda i: (i, 0))
    call = pl.pallas_call(
        _add_one,
        grid=(x.shape[0] // rows,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )
    return call(x) + extra


def random_rows():
    return jax.random.normal(jax.random.key(0), (ROWS, COLUMNS))


@pytest.fixture(scope="module")
def advice():
    tries = {"rows": [512, 7], "extra": [1.0]}
    return palladion.advise(add_one, random_rows(), target="v5e", tries=tries)


def test_larger_blocks_are_advised_where_steps_cost_more_than_bytes(advice):
    assert advice.best.what == "rows=512"
    assert advice.best.seconds < 0.8 * advice.seconds
    assert "less" in str(advice)


def test_the_gain_is_that_of_a_run_with_the_change(advice):
    timed = palladion.time(functools.partial(add_one, rows=512), jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e")
    assert timed.seconds == advice.best.seconds


def test_what_cannot_run_is_listed_with_its_reason(advice):
    (refused,) = [one for one in advice.changes if one.what == "rows=7"]
    assert refused.seconds is None and refused.refused
    assert "rows=7: not possible: " in str(advice)
    assert advice.changes[-1] is refused


def test_other_results_are_reported(advice):
    (other,) = [one for one in advice.changes if one.what == "extra=1.0"]
    assert other.same_results is False and "other results" in str(advice)
    assert advice.best.same_results


def test_memory_is_the_limit_of_a_copy_in_large_blocks():
    found = palladion.advise(
        functools.partial(add_one, rows=512), jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e"
    )
    assert next(iter(found.limits)) == "dram.peak" and found.limits["dram.peak"] > 0.2
    assert found.changes == [] and found.best is None


def test_a_rate_that_cannot_be_doubled_is_reported(hopper):
    assert "smem.port" in hopper.not_doubled["tma.row_rate"]
    assert "with twice tma.row_rate of the chip: not possible: " in str(hopper)
    assert "l2.bandwidth" in hopper.limits


def _product(slots):
    """A matrix product of one block with a ring of so many slots, as docs/guides/timeline.md has it."""
    steps, swizzle = 16, (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

    def kernel(a_ref, b_ref, o_ref, a_smem, b_smem, full, empty):
        wg = jax.lax.axis_index("wg")

        @pl.when(wg == 1)
        def fetch():
            @pl.loop(0, steps)
            def _(step):
                slot = jax.lax.rem(step, slots)

                @pl.when(step >= slots)
                def _():
                    plgpu.barrier_wait(empty.at[slot])

                k = pl.ds(step * 64, 64)
                plgpu.copy_gmem_to_smem(a_ref.at[:, k], a_smem.at[slot], full.at[slot])
                plgpu.copy_gmem_to_smem(b_ref.at[k, :], b_smem.at[slot], full.at[slot])

        @pl.when(wg == 0)
        def multiply():
            def body(acc_ref):
                @pl.loop(0, steps)
                def _(step):
                    slot = jax.lax.rem(step, slots)
                    plgpu.barrier_wait(full.at[slot])
                    plgpu.wgmma(acc_ref, a_smem.at[slot], b_smem.at[slot])
                    plgpu.wgmma_wait(0)
                    plgpu.barrier_arrive(empty.at[slot])

                return acc_ref[...]

            o_ref[...] = pl.run_scoped(body, plgpu.ACC((64, 128), jnp.float32))

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((64, 128), jnp.float32),
        num_threads=2,
        thread_name="wg",
        scratch_types=[
            plgpu.SMEM((slots, 64, 64), jnp.float16, transforms=swizzle),
            plgpu.SMEM((slots, 64, 128), jnp.float16, transforms=swizzle),
            plgpu.Barrier(num_arrivals=2, num_barriers=slots),
            plgpu.Barrier(num_barriers=slots),
        ],
    )


OPERANDS = [jax.random.normal(jax.random.key(1), shape).astype(jnp.float16) for shape in ((64, 1024), (1024, 128))]


@pytest.fixture(scope="module")
def hopper():
    return palladion.advise(_product(2), *OPERANDS, target="h100")


def _changes(advice):
    (kernel,) = advice.kernels
    return {one["what"]: one for one in kernel.data["changes"]}


def test_a_slot_more_gains_what_the_kernel_with_it_takes(hopper):
    more = _changes(hopper)["one more slot of ring a_smem, b_smem, 3 for 2"]
    assert more["saved"] > 0.03 and not more["refused"]
    assert more["ns"] * 1e-9 == pytest.approx(palladion.time(_product(3), *OPERANDS, target="h100").seconds)
    fewer = _changes(hopper)["one slot fewer of ring a_smem, b_smem, 1 for 2"]
    assert fewer["ns"] * 1e-9 == pytest.approx(palladion.time(_product(1), *OPERANDS, target="h100").seconds)


def test_a_change_that_does_not_end_is_refused():
    later = _changes(palladion.advise(_product(1), *OPERANDS, target="h100"))[
        "wait for the products of the turn before, not this turn's"
    ]
    assert later["ns"] is None and later["refused"].startswith("DEADLOCK")


def test_a_ring_that_does_not_fit_is_refused():
    advice = palladion.advise(_product(9), *OPERANDS, target="h100")
    assert "shared memory" in _changes(advice)["one more slot of ring a_smem, b_smem, 10 for 9"]["refused"]


def _pipelined(slots, delay):
    def kernel(a_ref, b_ref, o_ref):
        def body(acc_ref):
            def step(_, a_smem, b_smem):
                plgpu.wgmma(acc_ref, a_smem, b_smem)
                plgpu.wgmma_wait(delay)

            swizzle = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
            plgpu.emit_pipeline(
                step,
                grid=(16,),
                max_concurrent_steps=slots,
                in_specs=[
                    plgpu.BlockSpec((64, 64), lambda k: (0, k), transforms=swizzle, delay_release=delay),
                    plgpu.BlockSpec((64, 128), lambda k: (k, 0), transforms=swizzle, delay_release=delay),
                ],
            )(a_ref, b_ref)
            return acc_ref[...]

        o_ref[...] = pl.run_scoped(body, plgpu.ACC((64, 128), jnp.float32))

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((64, 128), jnp.float32))


@pytest.mark.parametrize("delay", [0, 1])
def test_slots_of_jaxs_own_pipeline_are_recognised(delay):
    changes = _changes(palladion.advise(_pipelined(3, delay), *OPERANDS, target="h100"))
    (more,) = [one for what, one in changes.items() if what.startswith("one more slot")]
    assert more["ns"] * 1e-9 == pytest.approx(palladion.time(_pipelined(4, delay), *OPERANDS, target="h100").seconds)


# ---- what JAX folded from the grid


def _total(x_ref, o_ref, last_ref):
    o_ref[...] = x_ref[...] + 1

    @pl.when(pl.program_id(0) == pl.num_programs(0) - 1)
    def _():
        last_ref[...] = x_ref[:8] - x_ref[:8]


def with_last(x, rows=16):
    block = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
    shapes = (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((8, x.shape[1]), x.dtype))
    last = pl.BlockSpec((8, x.shape[1]), lambda i: (0, 0))
    return pl.pallas_call(
        _total, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=(block, last), out_shape=shapes
    )(x)


def test_the_last_program_stays_the_last_where_blocks_change():
    x = random_rows()[:512]
    found = palladion.advise(with_last, x, target="v5e")
    larger = _changes(found)["blocks of 64 for 16 along 0 of the grid"]
    assert not larger["refused"] and larger["saved"] > 0.1
    timed = palladion.time(functools.partial(with_last, rows=64), x, target="v5e")
    assert larger["ns"] * 1e-9 == pytest.approx(timed.seconds)
    assert "eq(" in larger["text"] and "7:i32" in larger["text"]


# ---- evidence, and how sure a difference is


def test_results_that_are_all_alike_show_nothing():
    found = palladion.advise(
        add_one, jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e", tries={"rows": [512], "extra": [1.0]}
    )
    same, other = (next(one for one in found.changes if one.what == what) for what in ("rows=512", "extra=1.0"))
    assert same.same_results is None and "whether the results are the same is not known" in str(found)
    assert other.same_results is False
    assert found.kernels[0].data["random_inputs"] == ["x"]
    assert "outputs are compared with random numbers in x" in str(found)


def test_a_difference_has_its_uncertainty(advice):
    (faster,) = [one for one in advice.changes if one.what == "rows=512"]
    assert faster.difference_uncertainty == 0.18 > advice.uncertainty, "bound by memory, and by neither"
    assert "less than its uncertainty" not in faster.line(advice.seconds)
    close = palladion.advise(
        functools.partial(add_one, rows=24), random_rows(), target="v5e", tries={"rows": [32, 512]}
    )
    assert any(abs(one.seconds / close.seconds - 1) > 0.005 for one in close.changes)
    for one in close.changes:
        share = abs(one.seconds - close.seconds) / max(one.seconds, close.seconds)
        assert ("less than its uncertainty" in one.line(close.seconds)) == (0.005 < share < one.difference_uncertainty)


def test_steps_of_the_grid_are_a_limit(advice):
    assert next(iter(advice.limits)) == "grid.step, halved" and advice.limits["grid.step, halved"] > 0.2
    assert "with half the grid.step of the chip: " in str(advice)
