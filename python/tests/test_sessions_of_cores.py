"""Semaphores that are operands of kernels over a mesh of TPU cores: each core has its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
pytestmark = pytest.mark.skipif(not hasattr(pl, "empty_ref_like") or not hasattr(jax, "new_ref"),
                                reason="this JAX has no refs without a value")


def on_cores(cores, body):
    @pl.core_map(pltpu.create_tensorcore_mesh("core", num_cores=cores))
    def _():
        body(jax.lax.axis_index("core"))


def half(x, y, sem, core):
    rows = pl.ds(pl.multiple_of(8 * core, 8), 8)
    return pltpu.make_async_copy(x.at[rows], y.at[rows], sem)


def refs(x, semaphore):
    return jax.new_ref(x), jax.new_ref(jnp.zeros_like(x)), pl.empty_ref_like(semaphore)


def emulated(f, **options):
    with palladion.emulate("v5p", seeds=16, on_defect="collect", **options) as session:
        result = np.asarray(jax.jit(f)(X))
    return result, {finding.code for finding in session.report.findings}, session.report


def two_kernels(waiting, of_core=lambda core: core, semaphore=DMA(())):
    """Each core starts the copy of its half; in the next kernel `waiting` cores wait for that of `of_core`."""
    def f(x):
        x_ref, y_ref, sem = refs(x, semaphore)
        own = (lambda core: sem) if semaphore.shape == () else (lambda core: sem.at[core])
        on_cores(2, lambda core: half(x_ref, y_ref, own(core), core).start())
        on_cores(waiting, lambda core: half(x_ref, y_ref, own(core), of_core(core)).wait())
        return y_ref[...]

    return f


@pytest.mark.parametrize("semaphore", [DMA(()), DMA((2,))], ids=str)
def test_each_core_waits_on_its_own(semaphore):
    result, codes, report = emulated(two_kernels(2, semaphore=semaphore))
    np.testing.assert_array_equal(result, X)
    assert codes == set(), report


def test_a_core_whose_copy_nobody_awaits():
    result, codes, report = emulated(two_kernels(1))
    assert codes == {"NOT_AWAITED"}, report
    np.testing.assert_array_equal(result[:8], X[:8])
    assert np.isnan(result[8:]).all()


def test_a_wait_orders_the_copy_of_its_own_core_alone():
    def f(x, other):
        x_ref, y_ref, sem = refs(x, DMA(()))
        on_cores(2, lambda core: half(x_ref, y_ref, sem, core).start())

        def body(core):
            half(x_ref, y_ref, sem, core).wait()
            mine = pl.ds(pl.multiple_of(8 * (1 - core if other else core), 8), 8)
            pltpu.sync_copy(x_ref.at[mine], y_ref.at[mine])

        on_cores(2, body)
        return y_ref[...]

    _, codes, report = emulated(lambda x: f(x, False))
    assert codes == set(), report
    _, codes, report = emulated(lambda x: f(x, True))
    assert codes & {"RACE_WW", "RACE_ASYNC"}, report


def told_and_awaited(tells, waits):
    """The first kernel's cores tell semaphores that it gives, and the second one's wait for these."""
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    out, given = jax.ShapeDtypeStruct(X.shape, X.dtype), "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"

    def copied(x, y, core):
        mine = pl.ds(pl.multiple_of(8 * core, 8), 8)
        pltpu.sync_copy(x.at[mine], y.at[mine])

    def first(x, y, sem):
        copied(x, y, jax.lax.axis_index("core"))
        tells(sem, jax.lax.axis_index("core"))

    def second(y, sem, z):
        waits(sem, jax.lax.axis_index("core"))
        copied(y, z, jax.lax.axis_index("core"))

    def f(x):
        y, sem = pl.kernel(first, mesh=mesh, **{given: (out, REGULAR(()))})(x)
        return pl.kernel(second, mesh=mesh, **{given: out})(y, sem)

    return f


@pytest.mark.parametrize("more, codes", [(0, set()), (1, {"SEM_LEAK"})])
def test_counts_of_each_core_go_on(more, codes):
    """A core tells the other one's semaphore; the next kernel's cores take what they find."""
    f = told_and_awaited(lambda sem, core: pl.semaphore_signal(sem, 1 + more * core, core_index=1 - core),
                         lambda sem, core: pl.semaphore_wait(sem, 1))
    result, found, report = emulated(f)
    np.testing.assert_array_equal(result, X)
    assert found == codes, report
    assert not codes or "on core 0 is 1 when the session ends" in " ".join(str(report).split()), report


def test_a_wait_for_the_other_cores_count():
    """Core 0 alone is told, and core 1 waits."""
    f = told_and_awaited(lambda sem, core: pl.when(core == 0)(lambda: pl.semaphore_signal(sem, 1)),
                         lambda sem, core: pl.when(core == 1)(lambda: pl.semaphore_wait(sem, 1)))
    _, found, report = emulated(f)
    assert "DEADLOCK" in found, report
