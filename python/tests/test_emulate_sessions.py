"""palladion.emulate: what is traced and compiled how often, whose report a call is in, threads, executors and
coroutines.
"""

import _thread
import asyncio
import concurrent.futures
import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
from palladion.jax.jax_gpu_calls import backend_of_bare_calls

ON_H100 = f"{backend_of_bare_calls()}/h100"
X = np.arange(1024, dtype=np.float32).reshape(8, 128)


def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + x_ref[...]


def double(x, **options):
    return pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


class Counted:
    """What JAX compiles while this is entered."""

    def __enter__(self):
        self.compiled = 0
        jax.monitoring.register_event_duration_secs_listener(self._count)
        return self

    def _count(self, event, duration, **_):
        self.compiled += event == "/jax/core/compile/backend_compile_duration"

    def __exit__(self, *_):
        jax.monitoring.unregister_event_duration_listener(self._count)


@pytest.mark.parametrize("target", [None, "h100", "v5p"])
def test_a_kernel_is_traced_once(target):
    traced = 0

    @functools.partial(pl.pallas_call, out_shape=jax.ShapeDtypeStruct((), jnp.float32))
    def add_one(x_ref, o_ref):
        nonlocal traced
        o_ref[()] = x_ref[()] + 1.0
        traced += 1

    for _ in range(3):
        with palladion.emulate(target, legality="off"):  # of a scalar
            assert jax.jit(lambda x: add_one(add_one(x)))(jnp.float32(0)) == 2
    assert traced == 1


def test_entering_again_compiles_nothing():
    function = jax.jit(lambda x: double(x) + 1)
    made = pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))

    def run(**options):
        with palladion.emulate(**options) as session:
            function(X)
            made(X)
        assert session.report.count == 2
        return session

    run(target="h100", seeds=2)
    run(target="v5p", seeds=2)
    with Counted() as counted:
        sessions = [run(target=target, seeds=2) for target in ("h100", "v5p", "h100")]
    assert counted.compiled == 0
    assert [s.report.calls[0].target for s in sessions] == [ON_H100, "mosaic_tpu/v5p", ON_H100]
    with Counted() as counted:
        run(target="h100", seeds=3)
    assert counted.compiled > 0


def test_equal_sessions_one_inside_the_other():
    function = jax.jit(double)
    for _ in range(2):
        with palladion.emulate() as outer:
            function(X)
            with palladion.emulate() as inner:
                function(X)
                function(X)
            function(X)
        assert (outer.report.count, inner.report.count) == (2, 2)


def test_what_was_compiled_inside_and_is_called_outside():
    palladion.install(claim="palladion")
    try:
        with palladion.emulate("h100") as first:
            compiled = jax.jit(double).lower(X).compile()
            compiled(X)
        palladion.last_report()
        np.testing.assert_array_equal(compiled(X), X * 2)
        assert palladion.last_report().count == 1 and palladion.last_report() is not first.report
        compiled(X)
        with palladion.emulate("h100") as second:  # whose report is its own
            compiled(X)
            compiled(X)
        assert (first.report.count, second.report.count) == (1, 2)
        assert palladion.last_report().count == 1  # the one before it
    finally:
        palladion.uninstall()


def test_many_sessions_in_many_threads_keep_their_calls_apart():
    def run(calls):
        for _ in range(3):
            with palladion.emulate("h100") as session:
                for _ in range(calls):
                    jax.jit(double)(X)
            assert session.report.count == calls
        return calls

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(1, 9))) == list(range(1, 9))


def test_threads_and_executors_inherit():
    native = jax.jit(lambda x: double(x, interpret=True))
    native(X)  # compiled for JAX's interpreter
    with concurrent.futures.ThreadPoolExecutor(1) as earlier:
        earlier.submit(int).result()
        with palladion.emulate("h100") as session:
            threads = [threading.Thread(target=f, args=(X,)) for f in (double, native)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            np.testing.assert_array_equal(earlier.submit(native, X).result(), X * 2)
            with concurrent.futures.ThreadPoolExecutor(2) as own:
                list(own.map(double, [X] * 3))
        assert session.report.count == 6 and {call.target for call in session.report.calls} == {ON_H100}
        with pytest.raises(ValueError, match="Only interpret mode"):
            earlier.submit(double, X).result()
    assert threading.Thread.start.__module__ == "threading"


class Own(threading.Thread):
    def run(self):
        self.result = [double(X), threading.Thread(target=double, args=(X,))]
        self.result[1].start()
        self.result[1].join()


def test_a_thread_of_a_class_and_a_thread_of_a_thread_inherit():
    with palladion.emulate() as session:
        thread = Own()
        thread.start()
        thread.join()
    assert session.report.count == 2


def test_coroutines_inherit():
    async def main():
        await asyncio.gather(asyncio.to_thread(double, X), asyncio.to_thread(double, X))
        await asyncio.get_running_loop().run_in_executor(None, double, X)
        return double(X)

    with palladion.emulate() as session:
        asyncio.run(main())
    assert session.report.count == 4


def test_coroutines_with_overlapping_sessions_get_a_warning():
    entered = []

    async def one(target, mine, other):
        with palladion.emulate(target):
            entered.append(target)
            mine.set()
            await other.wait()

    async def main():
        first, second, last = asyncio.Event(), asyncio.Event(), asyncio.Event()
        tasks = [asyncio.create_task(one("h100", first, second)), asyncio.create_task(one("v5p", second, last))]
        outcomes = [(await asyncio.gather(tasks[0], return_exceptions=True))[0]]
        last.set()
        return outcomes + await asyncio.gather(tasks[1], return_exceptions=True)

    outcomes = asyncio.run(main())
    assert entered == ["h100", "v5p"]
    assert "overlapped" in str(outcomes[0]) and "asyncio.to_thread" in str(outcomes[0]) and outcomes[1] is None
    with pytest.raises(ValueError, match="Only interpret mode"):  # and all is as before
        double(X)


def test_a_thread_that_outlives_the_session():
    go = threading.Event()

    def late():
        go.wait()
        double(X)

    thread = threading.Thread(target=late)
    with pytest.warns(palladion.PalladionWarning, match="1 of the threads .* still run") as caught:
        with palladion.emulate("h100"):
            thread.start()
    assert caught[0].filename == __file__
    with palladion.emulate("h100") as other:
        go.set()
        thread.join()
        double(X)
    assert other.report.count == 1
    assert palladion.last_report().count == 1


def test_a_thread_that_cannot_inherit_is_refused_in_words():
    said, done = [], threading.Event()

    def raw():
        try:
            double(X)
        except ValueError as error:
            said.append(str(error))
        done.set()

    with palladion.emulate():
        _thread.start_new_thread(raw, ())
        assert done.wait(60)
    assert (
        "palladion.emulate is active, but not in this thread" in said[0]
        and "Enter palladion.emulate in this thread" in said[0]
    )
