"""Mosaic GPU kernels that up to 8 host devices run together under shard_map. Run as device_programs.py is, by
test_devices.py.

Right permute by stores, loads and TMA, a ring with slots, sums over all devices, counters; each with the mistakes that
hardware does not show. Numbers are NumPy's.
"""

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.sharding import Mesh, PartitionSpec as P

import palladion
from device_programs import UNCHECKED, codes

REGULAR, LANES, H100 = plgpu.SemaphoreType.REGULAR, 128, "h100"


def mesh_of(*sizes):
    names = ("x", "y")[: len(sizes)]
    return Mesh(np.array(jax.devices()[: np.prod(sizes)]).reshape(sizes), names)


def numbers(n, dtype=np.float32):
    return np.random.default_rng(n).integers(-9, 9, (n, LANES)).astype(dtype)


def on_mesh(body, mesh, *, out=None, scratch=(), **options):
    """`body` on each device's row of the operands."""

    def call(*rows):
        flat = [row.reshape(row.shape[1:]) for row in rows]
        result = out or jax.ShapeDtypeStruct(flat[0].shape, flat[0].dtype)
        return plgpu.kernel(body, out_type=result, scratch_types=list(scratch), **options)(*flat)[None]

    axes = P(mesh.axis_names)
    return jax.jit(jax.shard_map(call, mesh=mesh, in_specs=axes, out_specs=axes, **UNCHECKED))


def around(n):
    me = lax.axis_index("x")
    return lax.rem(me + 1, n), lax.rem(me + n - 1, n)


def permute(x_ref, o_ref, done, *, n, signals=True):
    right, _ = around(n)
    plgpu.remote_ref(o_ref, right)[...] = x_ref[...]
    if signals:
        pl.semaphore_signal(done, device_id=right)
        pl.semaphore_wait(done)


def test_right_permute_on_gpus():
    for n in (2, 3, 8):
        x = numbers(n)
        f = on_mesh(functools.partial(permute, n=n), mesh_of(n), scratch=[REGULAR])
        report = palladion.check(f, x, target=H100, seeds=8)
        assert report.findings == [], report
        np.testing.assert_array_equal(report.results, np.roll(x, 1, 0))
        np.testing.assert_array_equal(palladion.run(f, x, target=H100), np.roll(x, 1, 0))
        with palladion.emulate(H100) as session:
            np.testing.assert_array_equal(f(x), np.roll(x, 1, 0))
        assert len(session.report.calls) == 1, session.report


def test_a_device_that_ends_before_what_is_written_there():
    f = on_mesh(functools.partial(permute, n=2, signals=False), mesh_of(2), scratch=[REGULAR])
    report = palladion.check(f, numbers(2), target=H100, seeds=8)
    assert codes(report) == {"PEER_LIFETIME"}, report
    assert "the end of the kernel on device" in report.findings[0].message, report


def test_every_schedule_of_two_gpus():
    f = on_mesh(functools.partial(permute, n=2), mesh_of(2), scratch=[REGULAR])
    report = palladion.check(f, numbers(2), target=H100, exhaustive=True)
    assert report.verdict == "proved", report


def diagonal(x_ref, o_ref, done, *, named):
    """Each device of a 2 by 2 mesh stores on the one that differs in y; by a tuple of coordinates, or by the axis
    alone.
    """
    x, y = lax.axis_index("x"), 1 - lax.axis_index("y")
    device = {"y": y} if named else (x, y)
    plgpu.remote_ref(o_ref, device)[...] = x_ref[...]
    pl.semaphore_signal(done, device_id=device)
    pl.semaphore_wait(done)


def test_coordinates_of_a_mesh_of_two_axes():
    x = numbers(4)
    for named in (False, True):
        f = on_mesh(functools.partial(diagonal, named=named), mesh_of(2, 2), scratch=[REGULAR])
        report = palladion.check(f, x, target=H100, seeds=8)
        assert report.findings == [], report
        np.testing.assert_array_equal(report.results, x[[1, 0, 3, 2]])


def waits_for_its_like(x_ref, o_ref, smem, done, much):
    """Each block has so much shared memory that an SM holds one, and waits for the block of its number on the other
    device.
    """
    smem[...] = x_ref[...]
    pl.semaphore_signal(done, device_id=1 - lax.axis_index("x"))
    pl.semaphore_wait(done)

    @pl.when(lax.axis_index("b") == 0)
    def _():
        o_ref[...] = smem[...]


def test_blocks_begin_on_each_device_by_itself():
    f = on_mesh(
        waits_for_its_like,
        mesh_of(2),
        scratch=[plgpu.SMEM((LANES,), jnp.float32), REGULAR, plgpu.SMEM((50000,), jnp.float32)],
        grid=(200,),
        grid_names=("b",),
    )
    x = numbers(2)
    report = palladion.check(f, x, target=H100, seeds=2)
    assert report.findings == [], report
    np.testing.assert_array_equal(report.results, x)


def one_waits(x_ref, o_ref, done):
    o_ref[...] = x_ref[...]

    @pl.when(lax.axis_index("x") == 1)
    def _():
        pl.semaphore_wait(done)


def test_a_deadlock_names_the_device():
    report = palladion.check(on_mesh(one_waits, mesh_of(2), scratch=[REGULAR]), numbers(2), target=H100, seeds=2)
    assert codes(report) == {"DEADLOCK"}, report
    assert "on device 1" in report.findings[0].message, report


def refused(body, words, *, mesh=None, scratch=(REGULAR,), **options):
    """The error, or the finding, of a kernel that no GPU can run: with the line of this file."""
    try:
        report = palladion.check(
            on_mesh(body, mesh or mesh_of(2), scratch=scratch),
            numbers(2 if mesh is None else 4),
            target=H100,
            seeds=2,
            **options,
        )
    except Exception as error:
        text = str(error)
    else:
        assert codes(report), report
        text = str(report)
    assert words in text and "gpu_device_programs.py:" in text, text


def test_a_cluster_shares_a_copy_of_a_peers_array():
    """Axes of the cluster come behind those of the devices."""

    def kernel(x_ref, o_ref, smem, loaded, done, left):
        block, peer = lax.axis_index("c"), 1 - lax.axis_index("x")
        plgpu.copy_gmem_to_smem(plgpu.remote_ref(x_ref, peer), smem, loaded, collective_axes="c")
        plgpu.barrier_wait(loaded)
        o_ref[block] = smem[...] + block
        pl.semaphore_signal(done, device_id=peer)
        pl.semaphore_wait(done)
        plgpu.barrier_arrive(left)
        plgpu.barrier_wait(left)

    x = numbers(2, np.int32)
    f = on_mesh(
        kernel,
        mesh_of(2),
        out=jax.ShapeDtypeStruct((2, LANES), jnp.int32),
        cluster=(2,),
        cluster_names=("c",),
        scratch=[
            plgpu.SMEM((LANES,), jnp.int32),
            plgpu.Barrier(),
            REGULAR,
            plgpu.ClusterBarrier(collective_axes=("c",)),
        ],
    )
    report = palladion.check(f, x, target=H100, seeds=64)
    assert codes(report) == set()
    np.testing.assert_array_equal(report.results, x[::-1, None] + np.arange(2)[:, None])


def test_a_call_over_blocks_names_the_devices():
    """pl.pallas_call, which JAX lowers to a pipeline, along a grid of blocks and of steps."""

    def kernel(x_ref, o_ref, peers_ref, done):
        me, step = lax.axis_index("x"), pl.program_id(1)
        o_ref[...] = x_ref[...] + 10 * me
        row = peers_ref.at[pl.program_id(0), step]
        plgpu.remote_ref(row, 1 - me)[...] = x_ref[0, 0]
        pl.semaphore_signal(done, device_id=1 - me)
        pl.semaphore_wait(done)

    def call(x):
        whole, rows = pl.BlockSpec(memory_space=plgpu.GMEM), pl.BlockSpec((1, 1, LANES), lambda i, j: (i, j, 0))
        options = plgpu.CompilerParams(dimension_semantics=["parallel", "sequential"])
        out = jax.ShapeDtypeStruct((2, 3, LANES), jnp.int32)
        return [
            y[None]
            for y in pl.pallas_call(
                kernel,
                out_shape=(out, out),
                grid=(2, 3),
                in_specs=[rows],
                out_specs=(rows, whole),
                scratch_shapes=[REGULAR],
                compiler_params=options,
            )(x[0])
        ]

    x = np.arange(2 * 2 * 3 * LANES, dtype=np.int32).reshape(2, 2, 3, LANES)
    f = jax.jit(jax.shard_map(call, mesh=mesh_of(2), in_specs=P("x"), out_specs=P("x"), **UNCHECKED))
    report = palladion.check(f, x, target=H100, seeds=16)
    assert codes(report) == set(), report
    np.testing.assert_array_equal(report.results[0], x + 10 * np.arange(2)[:, None, None, None])
    np.testing.assert_array_equal(report.results[1], x[::-1])


def test_both_blocks_of_a_pair_allocate_tmem_together():
    """Of one device, whose blocks lie along axes behind those of the devices."""

    def kernel(x_ref, o_ref, done, left, *, alone):
        block, peer = lax.axis_index("c"), 1 - lax.axis_index("x")

        @pl.when(jnp.logical_or(not alone, block == 0))
        def _():
            pl.run_scoped(lambda acc: None, plgpu.TMEM((LANES, 64), jnp.float32, collective=True))

        o_ref[block] = x_ref[...]
        pl.semaphore_signal(done, device_id=peer)
        pl.semaphore_wait(done)
        plgpu.barrier_arrive(left)
        plgpu.barrier_wait(left)

    for alone in (False, True):
        f = on_mesh(
            functools.partial(kernel, alone=alone),
            mesh_of(2),
            out=jax.ShapeDtypeStruct((2, LANES), jnp.int32),
            cluster=(2,),
            cluster_names=("c",),
            scratch=[REGULAR, plgpu.ClusterBarrier(collective_axes=("c",))],
        )
        report = palladion.check(f, numbers(2, np.int32), target="b200", seeds=8)
        assert codes(report) == ({"COLL_MISMATCH"} if alone else set()), report


def test_what_no_gpu_can_do_is_refused_by_line():
    def some_axes(x_ref, o_ref, done):
        plgpu.multimem_store(x_ref[...], o_ref, ("x",))

    def narrow_scope(x_ref, o_ref, done):
        plgpu.semaphore_signal(done, device_id=1, memory_scope="gpu")

    def shared(x_ref, o_ref, smem):
        plgpu.remote_ref(smem, 1)[...] = x_ref[...]

    def float_minimum(x_ref, o_ref, done):
        o_ref[...] = plgpu.multimem_load_reduce(x_ref, collective_axes="x", reduction_op="min")

    def to_all_by_a_store(x_ref, o_ref, done):
        plgpu.multicast_ref(o_ref, "x")[...] = x_ref[...]

    refused(some_axes, "collective_axes must be all axes of the devices' mesh, [x, y]; found [x]", mesh=mesh_of(2, 2))
    refused(narrow_scope, "memory_scope='gpu' reaches the own device only")
    refused(shared, "has no address on other devices", scratch=[plgpu.SMEM((LANES,), jnp.float32)])
    refused(float_minimum, "reduction_op min on f32 is none that the switch has")
    refused(to_all_by_a_store, "multicast")


def test_the_last_device_that_a_view_names_is_meant():
    def kernel(x_ref, o_ref, done):
        peer = 1 - lax.axis_index("x")
        plgpu.remote_ref(plgpu.remote_ref(o_ref, 7), peer)[...] = x_ref[...]
        pl.semaphore_signal(done, device_id=peer)
        pl.semaphore_wait(done)

    x = numbers(2)
    np.testing.assert_array_equal(
        palladion.run(on_mesh(kernel, mesh_of(2), scratch=[REGULAR]), x, target=H100), x[::-1]
    )


def test_a_wait_of_too_narrow_a_scope_is_named():
    def kernel(x_ref, o_ref, done, *, scope):
        peer = 1 - lax.axis_index("x")
        plgpu.remote_ref(o_ref, peer)[...] = x_ref[...]
        plgpu.semaphore_signal(done, device_id=peer)
        plgpu.semaphore_wait(done, memory_scope=scope)
        o_ref[...] = o_ref[...] + 1

    for scope in ("sys", "gpu"):
        report = palladion.check(
            on_mesh(functools.partial(kernel, scope=scope), mesh_of(2), scratch=[REGULAR]),
            numbers(2),
            target=H100,
            seeds=8,
        )
        races = [finding for finding in report.findings if finding.code == "RACE_XDEV"]
        assert bool(races) == (scope == "gpu"), report
        for race in races:
            assert 'with memory_scope="gpu", which orders nothing of another device' in race.why, race.why
            assert 'memory_scope="sys" for that wait in the block on device' in race.fix, race.fix


def test_no_gpu_is_a_launch_ahead():
    f = on_mesh(functools.partial(permute, n=2), mesh_of(2), scratch=[REGULAR])
    try:
        palladion.check(f, numbers(2), target=H100, seeds=2, launches=2)
    except Exception as error:
        assert "begins with a barrier of all devices" in str(error), error
    else:
        raise AssertionError("launches in a row were taken")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, "is well")
