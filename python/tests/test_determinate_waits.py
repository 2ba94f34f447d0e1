"""Kernels whose waits take the same copies in every schedule are proved by one run, and no others
(docs/explanation/checks.md)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

ROWS, STEPS = 8, 4
X = np.arange(STEPS * ROWS * 128, dtype=np.float32).reshape(STEPS, ROWS, 128)
ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)


def over_hbm(body, semaphores):
    scratch = [pltpu.VMEM((STEPS, ROWS, 128), jnp.float32), pltpu.SemaphoreType.DMA(semaphores)]
    return pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=scratch,
    )


def ring(x_hbm, o_hbm, buffer, arrived):
    """Two slots, each with a semaphore for what comes and one for what goes."""

    def load(i):
        return pltpu.make_async_copy(x_hbm.at[i], buffer.at[i % 2], arrived.at[i % 2])

    def store(i):
        return pltpu.make_async_copy(buffer.at[i % 2], o_hbm.at[i], arrived.at[2 + i % 2])

    load(0).start()
    for i in range(STEPS):
        if i >= 1:
            store(i - 1).wait()
        if i + 1 < STEPS:
            load(i + 1).start()
        load(i).wait()
        buffer[i % 2] = buffer[i % 2] * 2.0
        store(i).start()
    store(STEPS - 1).wait()


def copies(x_hbm, buffer, semaphore):
    return [pltpu.make_async_copy(x_hbm.at[i], buffer.at[i], semaphore.at[0]) for i in range(STEPS)]


def all_awaited(x_hbm, o_hbm, buffer, semaphore):
    """All copies of one semaphore, each of which is awaited before any is used."""
    for copy in copies(x_hbm, buffer, semaphore):
        copy.start()
    for copy in copies(x_hbm, buffer, semaphore):
        copy.wait()
    buffer[...] = buffer[...] * 2.0
    pltpu.sync_copy(buffer, o_hbm)


def used_one_by_one(x_hbm, o_hbm, buffer, semaphore):
    """The first wait may have been for any of them."""
    for copy in copies(x_hbm, buffer, semaphore):
        copy.start()
    for i, copy in enumerate(copies(x_hbm, buffer, semaphore)):
        copy.wait()
        buffer[i] = buffer[i] * 2.0
    pltpu.sync_copy(buffer, o_hbm)


@pytest.mark.parametrize(("body", "semaphores"), [(ring, (4,)), (all_awaited, (1,))], ids=["ring", "all_awaited"])
def test_one_run_proves_it(body, semaphores):
    report = palladion.check(over_hbm(body, semaphores), X, target="v5e", seeds=16)
    assert report.verdict == "proved" and report.findings == [], report
    assert "1 schedule tried" in str(report)
    with palladion.emulate("v5e", seeds=16) as session:
        np.testing.assert_array_equal(over_hbm(body, semaphores)(X), X * 2)
    assert ("determinate-waits", True) in [(fact.name, fact.shown) for fact in session.report.calls[0].facts]
    everything = palladion.check(over_hbm(body, semaphores), X, target="v5e", seeds=16, all_seeds=True)
    assert everything.verdict == "proved" and "16 schedules tried" in str(everything), everything


def test_a_wait_that_may_be_for_another_copy_proves_nothing():
    report = palladion.check(over_hbm(used_one_by_one, (1,)), X, target="v5e", seeds=16)
    assert report.verdict == "defect", report
    assert {"RACE_ASYNC", "NONDET"} & {finding.code for finding in report.findings}, report


def test_the_report_names_the_semaphore():
    def body(x_hbm, o_hbm, buffer, semaphore):
        started = copies(x_hbm, buffer, semaphore)
        for copy in started:
            copy.start()
        for copy in started[1:]:
            copy.wait()
        pltpu.sync_copy(x_hbm.at[0], o_hbm.at[0])
        started[0].wait()
        pltpu.sync_copy(buffer.at[pl.ds(1, STEPS - 1)], o_hbm.at[pl.ds(1, STEPS - 1)])

    report = palladion.check(over_hbm(body, (1,)), X, target="v5e", seeds=4)
    assert report.verdict == "clean", report
    said = " ".join(str(report).split())
    assert "a wait for a semaphore could have taken other signals in another schedule (semaphore" in said, report


def one_copy(space, start):
    def kernel(x_ref, o_ref, sem):
        start(pltpu.make_async_copy(x_ref, o_ref, sem), x_ref)

    place = pl.BlockSpec(memory_space=space)
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype),
        in_specs=[place],
        out_specs=place,
        scratch_shapes=[pltpu.SemaphoreType.DMA],
    )


def and_wait(copy, x_ref):
    copy.start()
    copy.wait()


def and_wait_for_its_size(copy, x_ref):
    copy.start()
    pltpu.make_async_copy(x_ref, x_ref, copy.dst_sem).wait()


@pytest.mark.parametrize("space", [pl.ANY, pltpu.HBM], ids=str)
@pytest.mark.parametrize("start", [and_wait, and_wait_for_its_size])
def test_one_copy_between_arrays(space, start):
    for seeds in (1, 4):
        report = palladion.check(one_copy(space, start), X, target="v5e", seeds=seeds)
        assert report.verdict == "proved" and report.findings == [], report


def of_two_sizes(x_hbm, o_hbm, buffer, semaphore):
    """The wait for the small copy can take bytes of the large one."""
    small = pltpu.make_async_copy(x_hbm.at[0], buffer.at[0], semaphore.at[0])
    large = pltpu.make_async_copy(x_hbm.at[pl.ds(1, 3)], buffer.at[pl.ds(1, 3)], semaphore.at[0])
    large.start()
    small.start()
    small.wait()
    buffer[0] = buffer[0] * 2.0
    large.wait()
    pltpu.sync_copy(buffer, o_hbm)


def waits_if_it_has_arrived(x_hbm, o_hbm, buffer, semaphore):
    """What decides on the wait is what the copy writes."""
    copy = pltpu.make_async_copy(x_hbm, buffer, semaphore.at[0])
    copy.start()
    arrived = buffer[0, 0, 0] >= 0
    pl.when(arrived)(copy.wait)
    pl.when(jnp.logical_not(arrived))(copy.wait)
    pltpu.sync_copy(buffer, o_hbm)


@pytest.mark.parametrize("body", [of_two_sizes, waits_if_it_has_arrived])
def test_waits_that_a_schedule_decides(body):
    report = palladion.check(over_hbm(body, (1,)), X, target="v5e", seeds=16)
    assert report.verdict == "defect", report


def test_the_other_core_can_take_the_count():
    """Both cores signal the count of core 1, whose first wait may take either signal."""
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)

    def body(x_hbm, o_hbm, dma, counts):
        core = jax.lax.axis_index("core")
        rows = pl.ds(2 * core, 2)
        pl.semaphore_signal(counts, 1, core_index=1)
        pl.when(core == 1)(lambda: pl.semaphore_wait(counts, 1))
        copy = pltpu.make_async_copy(x_hbm.at[rows], o_hbm.at[rows], dma)
        copy.start()
        copy.wait()
        pl.when(core == 1)(lambda: pl.semaphore_wait(counts, 1))

    given = "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"
    scratch = "scratch_types" if jax.__version_info__ >= (0, 10) else "scratch_shapes"
    f = pl.kernel(
        body,
        mesh=mesh,
        **{
            given: jax.ShapeDtypeStruct(X.shape, X.dtype),
            scratch: [pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR],
        },
    )
    report = palladion.check(f, X, target="v5p", seeds=8)
    assert report.verdict == "clean" and report.findings == [], report
