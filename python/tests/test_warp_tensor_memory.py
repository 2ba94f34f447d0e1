"""What waits for tensor memory's loads and stores covers is what the executing warp, or thread, has issued itself."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion

ONES = (128, 128)


def make(*, warps, producer_waits, consumer_waits, loads):
    """One stores, or loads, and arrives; the other waits for the barrier, and then loads, or stores."""

    def body(me, o_ref, tmem, bar):
        def store():
            plgpu.async_store_tmem(tmem, jnp.full(ONES, 1.0, jnp.float32))

        def load():
            o_ref[...] = plgpu.async_load_tmem(tmem)

        @pl.when(me == 0)
        def _():
            if loads:
                store()
                plgpu.commit_tmem()
                load()
            else:
                store()
            if producer_waits:
                (plgpu.wait_load_tmem if loads else plgpu.commit_tmem)()
            plgpu.barrier_arrive(bar)

        @pl.when(me == 1)
        def _():
            plgpu.barrier_wait(bar)
            if consumer_waits:
                (plgpu.wait_load_tmem if loads else plgpu.commit_tmem)()
            if loads:
                store()
                plgpu.commit_tmem()
            else:
                load()

    def kernel(o_ref, tmem, bar):
        if warps:

            @pl.core_map(plgpu.WarpMesh(axis_name="w"))
            def _():
                body(lax.axis_index("w"), o_ref, tmem, bar)
        else:
            body(lax.axis_index("t"), o_ref, tmem, bar)

    scratch = [plgpu.TMEM(ONES, jnp.float32), plgpu.Barrier(orders_tensor_core=True)]
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(ONES, jnp.float32),
        scratch_types=scratch,
        num_threads=1 if warps else 2,
        thread_name="t",
    )


@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize("warps", [False, True])
@pytest.mark.parametrize("consumer_waits", [False, True])
def test_who_issued_it_waits(loads, warps, consumer_waits):
    def races(*, producer_waits):
        with palladion.emulate("b200", seeds=8, on_defect="collect") as session:
            make(warps=warps, producer_waits=producer_waits, consumer_waits=consumer_waits, loads=loads)()
        return {finding.code for finding in session.report.findings} & {
            "RACE_RW",
            "RACE_WW",
            "RACE_ASYNC",
            "BAR_TC_ORDER",
        }

    assert races(producer_waits=True) == set()
    assert races(producer_waits=False)
