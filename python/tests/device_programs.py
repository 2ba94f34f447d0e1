"""Kernels that 8 host devices run together under shard_map. Run by test_devices.py in a process of its own; prints what
went well.

The kernels are those of every introduction to distributed kernels, in our words: right permute, ring all-gather, ring
sum with capacity semaphores, all-to-all; each with a mistake beside it.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import functools  # noqa: E402
import inspect  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import tpu as pltpu  # noqa: E402
from jax.experimental.pallas.ops.tpu import all_gather  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

import palladion  # noqa: E402

UNCHECKED = {name: False for name in ("check_vma", "check_rep") if name in inspect.signature(jax.shard_map).parameters}
ANYWHERE, VMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.VMEM)
DMA, COUNT = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR
ROWS = 8


def line(n):
    return Mesh(np.array(jax.devices()[:n]), ("x",))


def numbers(n):
    return np.random.default_rng(n).integers(-9, 9, (n * ROWS, 128)).astype(np.float32)


def on_mesh(kernel, mesh, *, scratch=(), params=None, specs=(VMEM, VMEM), interpret=False):
    def call(x):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((ROWS, 128), jnp.float32),
            in_specs=[specs[0]],
            out_specs=specs[1],
            scratch_shapes=scratch,
            compiler_params=params,
            interpret=interpret,
        )(x)

    axes = P(mesh.axis_names)
    return jax.jit(jax.shard_map(call, mesh=mesh, in_specs=axes, out_specs=axes, **UNCHECKED))


def codes(report):
    return {finding.code for finding in report.findings if finding.severity == "defect"}


def remote(src, dst, send, recv, device):
    return pltpu.make_async_remote_copy(src, dst, send, recv, device_id=(device,), device_id_type=pl.DeviceIdType.MESH)


def barrier(*neighbours):
    semaphore = pltpu.get_barrier_semaphore()
    for device in neighbours:
        pl.semaphore_signal(semaphore, 1, device_id=(device,), device_id_type=pl.DeviceIdType.MESH)
    pl.semaphore_wait(semaphore, len(neighbours))


def permute(x_ref, o_ref, send, recv, *, n, meets):
    right, left = jax.lax.rem(jax.lax.axis_index("x") + 1, n), jax.lax.rem(jax.lax.axis_index("x") + n - 1, n)
    if meets:
        barrier(left, right)
    copy = remote(x_ref, o_ref, send, recv, right)
    copy.start()
    copy.wait()


def test_right_permute():
    for n in (2, 5, 8):
        f = on_mesh(
            functools.partial(permute, n=n, meets=False), line(n), scratch=[DMA, DMA], specs=(ANYWHERE, ANYWHERE)
        )
        x = numbers(n)
        report = palladion.check(f, x, target="v5e", seeds=8)
        assert report.findings == [], report
        np.testing.assert_array_equal(report.results, np.roll(x, ROWS, 0))
        with palladion.emulate("v5e") as session:
            np.testing.assert_array_equal(f(x), np.roll(x, ROWS, 0))
        assert len(session.report.calls) == 1, session.report


def test_every_schedule_of_two_devices():
    f = on_mesh(functools.partial(permute, n=2, meets=False), line(2), scratch=[DMA, DMA], specs=(ANYWHERE, ANYWHERE))
    report = palladion.check(f, numbers(2), target="v5e", exhaustive=True)
    assert report.verdict == "proved", report


def test_a_kernel_with_a_collective_id_needs_a_barrier_of_its_own():
    params = pltpu.CompilerParams(collective_id=3, allow_collective_id_without_custom_barrier=True)
    for meets, found, spec in (
        (True, set(), VMEM),
        (False, {"PEER_LIFETIME"}, VMEM),
        (True, set(), ANYWHERE),
        (False, {"PEER_LIFETIME"}, ANYWHERE),
    ):
        f = on_mesh(
            functools.partial(permute, n=4, meets=meets), line(4), scratch=[DMA, DMA], params=params, specs=(spec, spec)
        )
        report = palladion.check(f, numbers(4), target="v5e", seeds=8)
        assert codes(report) == found, report


def ring_sum(x_ref, o_ref, slots, send, recv, free, *, n, capacity):
    right, left = jax.lax.rem(jax.lax.axis_index("x") + 1, n), jax.lax.rem(jax.lax.axis_index("x") + n - 1, n)
    slots[0] = x_ref[...]
    o_ref[...] = x_ref[...]
    for step in range(n - 1):
        now, following = step % 2, (step + 1) % 2
        if capacity and step > 0:
            pl.semaphore_wait(free, 1)  # the right neighbour has read the slot that is written now
        copy = remote(slots.at[now], slots.at[following], send, recv, right)
        copy.start()
        copy.wait()
        o_ref[...] += slots[following]
        if capacity and step < n - 2:
            pl.semaphore_signal(free, 1, device_id=(left,), device_id_type=pl.DeviceIdType.MESH)


def test_a_ring_with_two_slots_needs_capacity_semaphores():
    n, scratch = 4, [pltpu.VMEM((2, ROWS, 128), jnp.float32), DMA, DMA, COUNT]
    x = numbers(n)
    right = on_mesh(functools.partial(ring_sum, n=n, capacity=True), line(n), scratch=scratch)
    report = palladion.check(right, x, target="v5e", seeds=16)
    assert report.findings == [], report
    np.testing.assert_array_equal(report.results, np.tile(x.reshape(n, ROWS, 128).sum(0), (n, 1)))
    wrong = on_mesh(functools.partial(ring_sum, n=n, capacity=False), line(n), scratch=scratch)
    report = palladion.check(wrong, x, target="v5e", seeds=16)
    assert "RACE_XDEV" in codes(report), report


def everyone(x_ref, o_ref, send, recv, *, n):
    """Row i of each device goes to device i."""
    me = jax.lax.axis_index("x")
    copies = [remote(x_ref.at[pl.ds(to, 1)], o_ref.at[pl.ds(me, 1)], send, recv, to) for to in range(n)]
    for copy in copies:
        copy.start()
    for copy in copies:
        copy.wait()


def test_all_to_all():
    n = 8
    f = on_mesh(functools.partial(everyone, n=n), line(n), scratch=[DMA, DMA])
    x = numbers(n)
    report = palladion.check(f, x, target="v5e", seeds=4)
    assert report.findings == [], report
    np.testing.assert_array_equal(report.results, x.reshape(n, n, 128).swapaxes(0, 1).reshape(x.shape))


def over(mesh, kernel, x, *, out, scratch, spare=()):
    """The kernel on each device's part of x. `spare` are shapes of memory in HBM that it works in."""

    def call(part):
        shapes = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in (out, *spare)]
        return pl.pallas_call(
            kernel, out_shape=shapes, in_specs=[ANYWHERE], out_specs=[ANYWHERE] * len(shapes), scratch_shapes=scratch
        )(part)[0]

    return jax.jit(jax.shard_map(call, mesh=mesh, in_specs=P("x"), out_specs=P("x"), **UNCHECKED)), x


def gathered(x_ref, o_ref, own, send, recv, *, n):
    """A ring: what came last from the left goes on to the right. Each step has a semaphore of its own."""
    me, right = jax.lax.axis_index("x"), jax.lax.rem(jax.lax.axis_index("x") + 1, n)
    copy = pltpu.make_async_copy(x_ref, o_ref.at[pl.ds(me * ROWS, ROWS)], own)
    copy.start()
    copy.wait()
    for step in range(n - 1):
        rows = pl.ds(jax.lax.rem(me + n - step, n) * ROWS, ROWS)
        copy = remote(o_ref.at[rows], o_ref.at[rows], send.at[step], recv.at[step], right)
        copy.start()
        copy.wait()


def test_all_gather_in_a_ring():
    n = 4
    f, x = over(
        line(n),
        functools.partial(gathered, n=n),
        numbers(n),
        out=(n * ROWS, 128),
        scratch=[DMA, DMA((n - 1,)), DMA((n - 1,))],
    )
    report = palladion.check(f, x, target="v5e", seeds=8)
    assert report.findings == [], report
    np.testing.assert_array_equal(report.results, np.tile(x, (n, 1)))


def scattered_sums(x_ref, o_ref, slots, part, local, send, recv, free, *, n, capacity):
    """Of n blocks each device is left with its own, summed over all devices. Upper halves go round to the right, lower
    ones to the left; of two slots one is sent from while the next sum comes to the other."""
    me, half = jax.lax.axis_index("x"), ROWS // 2

    def own(way, steps_left, into):
        block = jax.lax.rem(me + (steps_left if way else n - steps_left) + n, n)
        copy = pltpu.make_async_copy(x_ref.at[pl.ds(block * ROWS + way * half, half)], into, local)
        copy.start()
        copy.wait()

    to = [jax.lax.rem(me + 1, n), jax.lax.rem(me + n - 1, n)]
    for way in (0, 1):
        own(way, 1, slots.at[way, 0])
    for step in range(n - 1):
        now, following = step % 2, (step + 1) % 2
        copies = [
            remote(slots.at[way, now], slots.at[way, following], send.at[way], recv.at[way], to[way]) for way in (0, 1)
        ]
        for way in (0, 1):
            if capacity and step > 0:
                pl.semaphore_wait(free.at[way], 1)  # the receiver has sent on what its slot held
            copies[way].start()
        for way in (0, 1):
            copies[way].wait()
            if capacity and step < n - 2:
                pl.semaphore_signal(free.at[way], 1, device_id=(to[1 - way],), device_id_type=pl.DeviceIdType.MESH)
            own(way, step + 2, part)
            slots[way, following] += part[...]
    for way in (0, 1):
        copy = pltpu.make_async_copy(slots.at[way, (n - 1) % 2], o_ref.at[pl.ds(way * half, half)], local)
        copy.start()
        copy.wait()


def blocks_of_all(n):
    """What each of n devices has: n blocks; and the sums."""
    x = np.random.default_rng(n).integers(-9, 9, (n * n * ROWS, 128)).astype(np.float32)
    return x, x.reshape(n, n * ROWS, 128).sum(0)


def test_reduce_scatter_both_ways():
    n, scratch = (
        4,
        [
            pltpu.VMEM((2, 2, ROWS // 2, 128), jnp.float32),
            pltpu.VMEM((ROWS // 2, 128), jnp.float32),
            DMA,
            DMA((2,)),
            DMA((2,)),
            pltpu.SemaphoreType.REGULAR((2,)),
        ],
    )
    x, sums = blocks_of_all(n)
    for capacity in (True, False):
        f, x = over(
            line(n), functools.partial(scattered_sums, n=n, capacity=capacity), x, out=(ROWS, 128), scratch=scratch
        )
        report = palladion.check(f, x, target="v5e", seeds=16)
        if capacity:
            assert report.findings == [], report
            np.testing.assert_array_equal(report.results, sums)
        else:
            assert "RACE_XDEV" in codes(report), report


def pipelined_sums(x_ref, o_ref, come, leave, local, send, recv, free, *, n):
    """The same in one direction with all sums in HBM: a pipeline over VMEM adds them."""
    me = jax.lax.axis_index("x")
    right, left = jax.lax.rem(me + 1, n), jax.lax.rem(me + n - 1, n)

    def block(steps_left):
        return x_ref.at[pl.ds(jax.lax.rem(me + 2 * n - steps_left, n) * ROWS, ROWS)]

    def body(a_ref, b_ref, sum_ref):
        sum_ref[...] = a_ref[...] + b_ref[...]

    copy = pltpu.make_async_copy(block(1), leave, local)
    copy.start()
    copy.wait()
    for step in range(n - 1):
        if step > 0:
            pl.semaphore_wait(free, 1)
        copy = remote(leave, come, send, recv, right)
        copy.start()
        copy.wait()
        half = pl.BlockSpec((ROWS // 2, 128), lambda j: (j, 0))
        pltpu.emit_pipeline(body, grid=(2,), in_specs=[half, half], out_specs=[half])(
            come, block(step + 2), leave if step < n - 2 else o_ref
        )
        if step < n - 2:
            pl.semaphore_signal(free, 1, device_id=(left,), device_id_type=pl.DeviceIdType.MESH)


def test_reduce_scatter_with_a_pipeline_inside():
    n = 4
    x, sums = blocks_of_all(n)
    f, x = over(
        line(n),
        functools.partial(pipelined_sums, n=n),
        x,
        out=(ROWS, 128),
        spare=[(ROWS, 128)] * 2,
        scratch=[DMA, DMA, DMA, COUNT],
    )
    report = palladion.check(f, x, target="v5e", seeds=8)
    assert report.findings == [], report
    np.testing.assert_array_equal(report.results, sums)


def waits_first(x_ref, o_ref, full, *, n):
    me = jax.lax.axis_index("x")
    o_ref[...] = x_ref[...]
    pl.semaphore_wait(full, 1)
    pl.semaphore_signal(full, 1, device_id=(jax.lax.rem(me + 1, n),), device_id_type=pl.DeviceIdType.MESH)


def test_a_deadlock_names_the_devices():
    f = on_mesh(functools.partial(waits_first, n=3), line(3), scratch=[COUNT])
    report = palladion.check(f, numbers(3), target="v5e", seeds=4)
    assert codes(report) == {"DEADLOCK"}, report
    assert "core on device 0 waits for semaphore full" in str(report) and "3 are stuck in all" in str(report), report


def shifted(x_ref, o_ref, send, recv):
    copy = remote(x_ref, o_ref, send, recv, jax.lax.axis_index("x") + 1)
    copy.start()
    copy.wait()


def test_a_device_that_is_not_in_the_mesh():
    report = palladion.check(on_mesh(shifted, line(2), scratch=[DMA, DMA]), numbers(2), target="v5e", seeds=2)
    assert "PEER_LIFETIME" in codes(report) and "device 2, which is not in the mesh of 2 devices" in str(report), report


def test_a_device_that_never_comes():
    os.environ["PALLADION_DEVICE_SECONDS"] = "0.5"

    def call(x):
        kernel = functools.partial(permute, n=4, meets=False)
        run = pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((ROWS, 128), jnp.float32),
            in_specs=[VMEM],
            out_specs=VMEM,
            scratch_shapes=[DMA, DMA],
        )
        return jax.lax.cond(jax.lax.axis_index("x") == 2, lambda y: y, run, x)

    f = jax.jit(jax.shard_map(call, mesh=line(4), in_specs=P("x"), out_specs=P("x"), **UNCHECKED))
    try:
        palladion.run(f, numbers(4), target="v5e")
    except palladion.PalladionError as error:
        assert "device 2 did not come to the kernel" in str(error), error
    else:
        raise AssertionError("device 2 does not call the kernel")
    finally:
        del os.environ["PALLADION_DEVICE_SECONDS"]


def test_all_gather_of_the_wheel():
    for shape, names, axis in (((2,), ("x",), "x"), ((2, 2), ("x", "y"), "y"), ((2, 4), ("x", "y"), "x")):
        mesh = Mesh(np.array(jax.devices()[: np.prod(shape)]).reshape(shape), names)
        x = numbers(2 * shape[names.index(axis)])
        f = functools.partial(all_gather.all_gather, mesh=mesh, axis_name=axis)
        report = palladion.check(f, jax.device_put(x, NamedSharding(mesh, P(axis))), target="v5e", seeds=8)
        assert report.findings == [], report
        np.testing.assert_array_equal(report.results, x)


def test_all_gather_of_the_wheel_shares_a_semaphore_among_its_steps():
    """With four devices a later step's copy may be counted for an earlier one's, if links do not keep the order of
    copies.
    """
    mesh = line(4)
    f = functools.partial(all_gather.all_gather, mesh=mesh, axis_name="x")
    report = palladion.check(f, jax.device_put(numbers(8), NamedSharding(mesh, P("x"))), target="v5e", seeds=16)
    assert "RACE_XDEV" in codes(report), report


def test_all_gather_of_the_wheel_is_clean_where_links_keep_the_order_of_copies():
    for shape, names, axis in (((4,), ("x",), "x"), ((4, 2), ("x", "y"), "x")):
        mesh = Mesh(np.array(jax.devices()[: np.prod(shape)]).reshape(shape), names)
        x = numbers(2 * shape[names.index(axis)])
        f = functools.partial(all_gather.all_gather, mesh=mesh, axis_name=axis)
        report = palladion.check(
            f, jax.device_put(x, NamedSharding(mesh, P(axis))), target="v5e", seeds=16, links="ordered"
        )
        assert report.findings == [], report
        np.testing.assert_array_equal(report.results, x)
    try:
        palladion.check(f, x, links="sorted")
    except Exception as error:
        assert "links must be unordered or ordered; found 'sorted'" in str(error), error
    else:
        raise AssertionError("an order of links that is none was taken")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "is well")
