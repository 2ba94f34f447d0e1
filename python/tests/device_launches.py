"""Kernels that 8 host devices run together, several launches in a row. Run as device_programs.py is, by
test_devices.py.
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec as P

import palladion
from device_programs import ANYWHERE, COUNT, DMA, ROWS, UNCHECKED, barrier, codes, line, numbers, on_mesh, remote


def send_only(x, y, send, recv, *, awaits=False):
    copy = remote(x, y, send, recv, 1 - jax.lax.axis_index("x"))
    copy.wait_send() if awaits else copy.start()


def receive_only(x, y_in, recv, y):
    pltpu.make_async_copy(x, y, recv).wait()  # only the size counts


def test_a_remote_copy_over_three_kernels():
    """One kernel sends, one waits for what was sent, and the last, by itself on each device, for what came."""
    semaphore, shape = pl.BlockSpec(memory_space=pltpu.SEMAPHORE), jax.ShapeDtypeStruct((ROWS, 128), jnp.float32)

    def wait_send(x, y_in, send_in, recv_in, y, send, recv):
        send_only(x, y, send, recv, awaits=True)

    def call(x, done=True):
        results = pl.pallas_call(
            send_only,
            in_specs=[ANYWHERE],
            out_specs=[ANYWHERE, semaphore, semaphore],
            out_shape=[shape, DMA(()), DMA(())],
        )(x)
        y, send, recv = pl.pallas_call(
            wait_send,
            in_specs=[ANYWHERE, ANYWHERE, semaphore, semaphore],
            out_shape=[shape, DMA(()), DMA(())],
            out_specs=[ANYWHERE, semaphore, semaphore],
            input_output_aliases={1: 0, 2: 1, 3: 2},
        )(x, *results)
        if not done:
            return y
        return pl.pallas_call(
            receive_only,
            in_specs=[ANYWHERE, ANYWHERE, semaphore],
            out_specs=ANYWHERE,
            out_shape=shape,
            input_output_aliases={1: 0},
        )(x, y, recv)

    x = numbers(2)

    def mapped(done):
        return jax.jit(
            jax.shard_map(
                functools.partial(call, done=done), mesh=line(2), in_specs=P("x"), out_specs=P("x"), **UNCHECKED
            )
        )

    for options in ({}, {"seeds": 8}):
        with palladion.emulate("v5e", **options) as session:
            np.testing.assert_array_equal(mapped(True)(x), np.concatenate([x[ROWS:], x[:ROWS]]))
        assert all(not call.findings for call in session.report.calls), session.report
    with palladion.emulate("v5e", on_defect="collect") as session:
        assert np.isnan(mapped(False)(x)).all()
    assert [finding.code for call in session.report.calls for finding in call.findings] == [
        "NOT_AWAITED"
    ] * 2, session.report
    report = palladion.check(mapped(True), x, target="v5e", seeds=8)
    assert report.findings == [], report


def neighbours(x_ref, o_ref, send, recv, passed, *, twice):
    """Copies to the right of five devices, once both neighbours have come; `twice`: and once they know that both of
    theirs have.
    """
    me = jax.lax.axis_index("x")
    left, right = jax.lax.rem(me + 4, 5), jax.lax.rem(me + 1, 5)
    barrier(left, right)
    if twice:
        for device in (left, right):
            pl.semaphore_signal(passed, 1, device_id=(device,), device_id_type=pl.DeviceIdType.MESH)
        pl.semaphore_wait(passed, 2)
    copy = remote(x_ref, o_ref, send, recv, right)
    copy.start()
    copy.wait()


def test_a_device_is_one_launch_ahead():
    """A barrier of one phase is enough for one launch, and not for two: a neighbour may have signalled for the second
    already.
    """
    x = numbers(5)

    def checked(twice, launches, replay=None):
        f = on_mesh(
            functools.partial(neighbours, twice=twice),
            line(5),
            scratch=[DMA, DMA, COUNT],
            params=pltpu.CompilerParams(collective_id=7),
        )
        return palladion.check(f, x, target="v5e", seeds=128, launches=launches, replay=replay)

    assert checked(False, 1).findings == []
    report = checked(False, 2)
    (found, *_) = [finding for finding in report.findings if finding.code == "PEER_LIFETIME"]
    assert "launches=2" in str(report), report
    np.testing.assert_array_equal(report.results, np.roll(x, ROWS, axis=0))
    again = checked(False, 2, found.replay)
    assert "PEER_LIFETIME" in codes(again), again
    assert checked(True, 2).findings == []


def test_launches_in_a_row_in_emulate():
    """Asked for, or two calls of which one takes what the other made: the same finding as in a check of launches in a
    row.
    """
    x = numbers(5)

    def found(twice, calls, **options):
        f = on_mesh(
            functools.partial(neighbours, twice=twice),
            line(5),
            scratch=[DMA, DMA, COUNT],
            params=pltpu.CompilerParams(collective_id=7),
        )
        with palladion.emulate("v5e", seeds=128, on_defect="collect", **options) as session:
            y = x
            for _ in range(calls):
                y = f(y)
        np.testing.assert_array_equal(y, np.roll(x, calls * ROWS, axis=0))
        return session.report

    assert found(False, 1).findings == []
    for calls, report in ((1, found(False, 1, launches=2)), (2, found(False, 2))):
        (raced, *_) = [finding for finding in report.findings if finding.code == "PEER_LIFETIME"]
        assert "launches=2" in str(report), report
        again = found(False, calls, launches=2, replay=raced.replay)
        assert "PEER_LIFETIME" in [finding.code for finding in again.findings], again
    assert found(True, 2).findings == [] and found(True, 1, launches=2).findings == []


def test_a_kernel_that_has_no_form_for_two_launches():
    """Its report says so where a call takes what the one before it made, once."""

    def shifted(x_ref, o_ref, send, recv):
        copy = remote(x_ref, o_ref, send, recv, 1 - jax.lax.axis_index("x"))
        copy.start()
        copy.wait()

    x = numbers(2)
    for calls in (1, 2, 3):
        f, y = on_mesh(shifted, line(2), scratch=[DMA, DMA]), x
        with palladion.emulate("v5e", seeds=4) as session:
            for _ in range(calls):
                y = f(y)
        said = [call.argument for call in session.report.calls if "two in a row were not checked" in call.argument]
        assert len(said) == (calls > 1), session.report
        assert not said or "without a collective_id each launch begins with a barrier" in said[0], said


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "is well")
