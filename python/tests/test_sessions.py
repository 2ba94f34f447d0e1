"""Copies that one kernel starts and the next one waits for: semaphores as results and operands of kernels."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

X = np.arange(16 * 128, dtype=np.float32).reshape(16, 128)
ANY, SEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SEMAPHORE)
SHAPE = jax.ShapeDtypeStruct(X.shape, X.dtype)
DMA = pltpu.SemaphoreType.DMA


def half(x, y, sem, number=0):
    rows = pl.ds(8 * number, 8)
    return pltpu.make_async_copy(x.at[rows], y.at[rows], sem)


def start_kernel(x, y_in, y, sem):
    half(x, y, sem).start()


def wait_kernel(x, y_in, sem, y):
    half(x, y, sem).wait()


def late_kernel(x, y_in, sem, y):
    half(x, y, sem).wait()
    pltpu.sync_copy(y.at[0:8], y.at[8:16])


def early_kernel(x, y_in, sem, y):
    pltpu.sync_copy(y.at[0:8], y.at[8:16])
    half(x, y, sem).wait()


def copy_start(x, y, kernel=start_kernel, sem=DMA(())):
    return pl.pallas_call(
        kernel, in_specs=[ANY, ANY], out_specs=[ANY, SEM], out_shape=[SHAPE, sem], input_output_aliases={1: 0}
    )(x, y)


def copy_done(x, y, sem, kernel=wait_kernel):
    return pl.pallas_call(
        kernel, in_specs=[ANY, ANY, SEM], out_specs=ANY, out_shape=SHAPE, input_output_aliases={1: 0}
    )(x, y, sem)


def copied(x, kernel=wait_kernel):
    y, sem = copy_start(x, jnp.zeros_like(x))
    return copy_done(x, y, sem, kernel)


EXPECTED = np.concatenate([X[:8], np.zeros_like(X[:8])])


@pytest.mark.parametrize("seeds", [None, 16])
@pytest.mark.parametrize("transport", ["", "callback"])
def test_a_copy_over_two_kernels(seeds, transport, monkeypatch):
    monkeypatch.setenv("PALLADION_TRANSPORT", transport)
    with palladion.emulate("v5e", seeds=seeds) as session:
        np.testing.assert_array_equal(jax.jit(copied)(X), EXPECTED)
    assert all(not call.findings for call in session.report.calls), session.report


def test_check_and_run_of_a_function():
    report = palladion.check(copied, X, target="v5e", seeds=16)
    assert report.findings == [], report
    np.testing.assert_array_equal(palladion.run(copied, X, target="v5e"), EXPECTED)


def test_in_a_loop():
    def repeated(x):
        return jax.lax.fori_loop(0, 3, lambda _, y: copied(y) + 1.0, x)

    with palladion.emulate("v5e"):
        found = jax.jit(repeated)(X)
    wanted = X
    for _ in range(3):
        wanted = np.concatenate([wanted[:8], np.zeros_like(wanted[:8])]) + 1.0
    np.testing.assert_array_equal(found, wanted)


def codes_of(function, *args):
    with palladion.emulate("v5e", seeds=8, on_defect="collect") as session:
        jax.jit(function)(*args)
    return {finding.code for call in session.report.calls for finding in call.findings}, str(session.report)


def test_a_copy_that_no_kernel_waits_for():
    codes, text = codes_of(lambda x: copy_start(x, jnp.zeros_like(x))[0], X)
    assert codes == {"NOT_AWAITED"}
    assert "half(x, y, sem).start()" in text and "no kernel of the session has waited for" in text, text
    assert codes_of(copied, X)[0] == set()  # the next session has nothing of it


def test_the_result_before_the_wait_is_poison():
    with palladion.emulate("v5e", on_defect="collect"):
        early = jax.jit(lambda x: copy_start(x, jnp.zeros_like(x))[0])(X)
    assert np.isnan(early[:8]).all() and (np.asarray(early)[8:] == 0).all()


def test_the_array_is_used_before_the_wait():
    assert codes_of(functools.partial(copied, kernel=late_kernel), X)[0] == set()
    codes, text = codes_of(functools.partial(copied, kernel=early_kernel), X)
    assert "RACE_RW" in codes and "pltpu.sync_copy(y.at[0:8], y.at[8:16])" in text, text


def double_kernel(y_ref, o_ref):
    o_ref[...] = y_ref[...] * 2.0


def test_a_kernel_between_reads_what_is_under_way():
    def function(x):
        y, sem = copy_start(x, jnp.zeros_like(x))
        z = pl.pallas_call(double_kernel, out_shape=SHAPE)(y)
        return copy_done(x, y, sem), z

    codes, text = codes_of(function, X)
    assert codes == {"RACE_ASYNC"} and "the copy may still be in flight" in text, text


def test_the_waiting_kernel_is_given_another_array():
    def function(x):
        y, sem = copy_start(x, jnp.zeros_like(x))
        return y, copy_done(x, jnp.ones_like(x), sem)

    codes, text = codes_of(function, X)
    assert codes == {"USE_AFTER_SCOPE"} and "not one of its operands" in text, text


def two_kernel(x, y_in, y, sems):
    for i in range(2):
        half(x, y, sems.at[i], i).start()


def second_kernel(x, y_in, sems, y):
    half(x, y, sems.at[1], 1).wait()


def first_kernel(x, y_in, sems, y):
    half(x, y, sems.at[0], 0).wait()


def test_an_array_of_semaphores_over_three_kernels():
    def function(x):
        y, sems = copy_start(x, jnp.zeros_like(x), two_kernel, DMA((2,)))
        return copy_done(x, copy_done(x, y, sems, second_kernel), sems, first_kernel)

    with palladion.emulate("v5e", seeds=16):
        np.testing.assert_array_equal(jax.jit(function)(X), X)


def over_a_core(kernel, given, out):
    """`kernel` over one core, which has the refs of `given` and then those of `out`."""
    name = "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"
    return pl.kernel(kernel, mesh=pltpu.create_tensorcore_mesh("core", num_cores=1), **{name: out})(*given)


@pytest.mark.parametrize("early", [False, True])
def test_a_copy_over_two_kernels_of_a_mesh_of_one_core(early):
    def start(x, y, sem):
        pltpu.make_async_copy(x, y, sem).start()

    def use(x, y, sem, o):
        copy = pltpu.make_async_copy(x, y, sem)
        if not early:
            copy.wait()
        pltpu.sync_copy(y, o)
        if early:
            copy.wait()

    def function(x):
        y, sem = over_a_core(start, (x,), (SHAPE, DMA(())))
        return over_a_core(use, (x, y, sem), SHAPE)

    codes, text = codes_of(function, X)
    assert codes == ({"RACE_RW", "NONDET"} if early else set()), text
    if early:
        assert "of what palladion.export writes" not in text, text
    else:
        with palladion.emulate("v5e"):
            np.testing.assert_array_equal(jax.jit(function)(X), X)
        assert codes_of(lambda x: over_a_core(start, (x,), (SHAPE, DMA(())))[0], X)[0] == {"NOT_AWAITED"}


@pytest.mark.parametrize("waiting, found", [(None, {"NOT_AWAITED"}), (0, set()), (1, {"DEADLOCK", "NOT_AWAITED"})])
def test_a_semaphore_of_several_cores_is_each_ones_own(waiting, found):
    """Core 0 starts the copy, on its own semaphore."""
    name = "out_type" if jax.__version_info__ >= (0, 10) else "out_shape"
    mesh = pltpu.create_tensorcore_mesh("core", num_cores=2)

    def on(core, body):
        pl.when(jax.lax.axis_index("core") == core)(body)

    def start(x, y, sem):
        on(0, lambda: pltpu.make_async_copy(x, y, sem).start())

    def use(x, y, sem, z):
        on(waiting, lambda: pltpu.make_async_copy(x, y, sem).wait())
        on(waiting, lambda: pltpu.sync_copy(y, z))

    def function(x):
        y, sem = pl.kernel(start, mesh=mesh, **{name: (SHAPE, DMA(()))})(x)
        return y if waiting is None else pl.kernel(use, mesh=mesh, **{name: SHAPE})(x, y, sem)

    with palladion.emulate("v5p", seeds=8, on_defect="collect") as session:
        result = jax.jit(function)(X)
    codes = {finding.code for finding in session.report.findings}
    assert codes <= found and bool(codes) == bool(found), session.report
    if not found:
        np.testing.assert_array_equal(result, X)
