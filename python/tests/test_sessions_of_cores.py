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
pytestmark = pytest.mark.skipif(
    not hasattr(pl, "empty_ref_like") or not hasattr(jax, "new_ref"), reason="this JAX has no refs without a value"
)


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


def test_a_core_with_a_copy_that_is_never_awaited():
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


def signalled_and_awaited(signals, waits):
    """The first kernel's cores signal semaphores that it gives, and the second one's wait for these."""
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)
    out, given = jax.ShapeDtypeStruct(X.shape, X.dtype), "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"

    def copied(x, y, core):
        mine = pl.ds(pl.multiple_of(8 * core, 8), 8)
        pltpu.sync_copy(x.at[mine], y.at[mine])

    def first(x, y, sem):
        copied(x, y, jax.lax.axis_index("core"))
        signals(sem, jax.lax.axis_index("core"))

    def second(y, sem, z):
        waits(sem, jax.lax.axis_index("core"))
        copied(y, z, jax.lax.axis_index("core"))

    def f(x):
        y, sem = pl.kernel(first, mesh=mesh, **{given: (out, REGULAR(()))})(x)
        return pl.kernel(second, mesh=mesh, **{given: out})(y, sem)

    return f


@pytest.mark.parametrize("more, codes", [(0, set()), (1, {"SEM_LEAK"})])
def test_counts_of_each_core_go_on(more, codes):
    """A core signals the other one's semaphore; the next kernel's cores take what they find."""
    f = signalled_and_awaited(
        lambda sem, core: pl.semaphore_signal(sem, 1 + more * core, core_index=1 - core),
        lambda sem, core: pl.semaphore_wait(sem, 1),
    )
    result, found, report = emulated(f)
    np.testing.assert_array_equal(result, X)
    assert found == codes, report
    assert not codes or "on core 0 is 1 when the session ends" in " ".join(str(report).split()), report


def test_a_wait_for_the_other_cores_count():
    """Core 0 alone is signalled, and core 1 waits."""
    f = signalled_and_awaited(
        lambda sem, core: pl.when(core == 0)(lambda: pl.semaphore_signal(sem, 1)),
        lambda sem, core: pl.when(core == 1)(lambda: pl.semaphore_wait(sem, 1)),
    )
    _, found, report = emulated(f)
    assert "DEADLOCK" in found, report


BLOCKS = pltpu.VMEM((2, 8, 128), jnp.float32)


def through_vmem(cores, wait=True):
    """A kernel starts copies to memory of its core, which outlives it there; the next kernel waits and reads."""

    def f(x):
        x_ref, y_ref, sem = refs(x, DMA((2,)))
        slots = pl.empty_ref_like(BLOCKS)

        def copy(i):
            return pltpu.make_async_copy(x_ref.at[pl.ds(8 * i, 8)], slots.at[i], sem.at[i])

        def first(core):
            copy(0).start()
            copy(1).start()

        def second(core):
            for i in range(2):
                if wait:
                    copy(i).wait()
                pltpu.sync_copy(slots.at[i], y_ref.at[pl.ds(8 * i, 8)])

        on_cores(cores, first)
        on_cores(cores, second)
        return y_ref[...]

    return f


def test_a_copy_to_memory_of_a_core_that_outlives_the_kernel():
    result, codes, report = emulated(through_vmem(1))
    np.testing.assert_array_equal(result, X)
    assert codes == set() and report.verdict == "proved", report


def test_a_copy_to_memory_of_a_core_is_never_awaited():
    _, codes, report = emulated(through_vmem(1, wait=False))
    assert {"RACE_ASYNC", "NOT_AWAITED"} & codes, report


WITH_PREFETCH = pytest.mark.skipif(
    not hasattr(pltpu, "emit_pipeline_with_async_prefetch"), reason="this JAX prefetches in no kernel of its own"
)


def prefetched(x, cores):
    """JAX's two kernels: one starts the copies of the pipeline's first blocks, the other runs the pipeline."""
    blocks = pl.BlockSpec((8, 64), lambda i, j: (i, j), pipeline_mode=pl.Buffered(2, prefetched_count=2))
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=cores)

    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    pipeline, prefetch = pltpu.emit_pipeline_with_async_prefetch(
        double, grid=(2, 2), in_specs=[blocks], out_specs=[pl.BlockSpec((8, 64), lambda i, j: (i, j))], mesh=mesh
    )
    x_ref, y_ref = jax.new_ref(x), jax.new_ref(jnp.zeros_like(x))
    leaves, tree = jax.tree.flatten(prefetch(x_ref))

    def run(x_ref, y_ref, *leaves):
        pipeline(x_ref, y_ref, allocations=jax.tree.unflatten(tree, leaves))

    pl.kernel(run, mesh=mesh, out_type=())(x_ref, y_ref, *leaves)
    return y_ref[...]


@WITH_PREFETCH
def test_a_pipeline_with_blocks_of_a_kernel_before():
    result, codes, report = emulated(lambda x: prefetched(x, 1))
    np.testing.assert_array_equal(result, 2 * X)
    # Blocks of 64 columns cut the tiles of an array of 128, which a TPU's compiler may refuse; nothing else is found.
    assert codes == {"COMPILER"} and report.verdict == "warning", report


@WITH_PREFETCH
def test_memory_of_each_of_several_cores_is_refused():
    with pytest.raises(palladion.ExportError, match="in the vmem of each of 2 cores and outlives the kernel there"):
        emulated(lambda x: prefetched(x, 2))
