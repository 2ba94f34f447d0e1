"""054 and 091 to 098: kernels that several GPUs run together, and what orders their accesses over NVLink."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

from corpus import Case, F32, I32, LANES, Kernel, clean_and_racy, found, kernel, of_jax_0_11, ty

SPEC = "gpu-devices.md#"
UPDATE = "/atomic_store"
ROW, REGULAR = ty(LANES), plgpu.SemaphoreType.REGULAR
SMEM = plgpu.SMEM((LANES,), I32)
ROWS = np.arange(2 * LANES, dtype=np.int32).reshape(2, LANES)  # what `iota` gives two devices
OTHER = ROWS[::-1]


def on_devices(body, *args, out=ROW, devices=2, scratch=None, **options):
    """`kernel` on each device's part of what `args` are of one device; axis d."""
    one = kernel(body, *args, out=out, scratch=scratch, threads=None, **options)
    outs = out if isinstance(out, tuple) else (out,)

    def parts(*arrays):
        results = one.function(*(a.reshape(a.shape[1:]) for a in arrays))
        return tuple(r[None] for r in results)

    mesh = AbstractMesh((devices,), ("d",), axis_types=(AxisType.Auto,))  # from JAX 0.12 an axis is Explicit unless it says so
    mapped = jax.shard_map(parts, mesh=mesh, in_specs=P("d"), out_specs=(P("d"),) * len(outs), check_vma=False)
    return Kernel(mapped, tuple(jax.ShapeDtypeStruct((devices, *a.shape), a.dtype) for a in args), one.names)


def other():
    return 1 - lax.axis_index("d")


def signal(semaphore, **options):
    plgpu.semaphore_signal(semaphore, device_id=other(), **options)


def exchange(racy):
    """Each device stores its row into the other's memory; racy: and signals before."""
    def body(x_ref, o_ref, done):
        if racy:
            signal(done)
        plgpu.remote_ref(o_ref, other())[...] = x_ref[...]  #@ store
        if not racy:
            signal(done)
        pl.semaphore_wait(done)
        o_ref[...] = o_ref[...] + 1  #@ get:load swap:write

    return on_devices(body, ROW, scratch=[REGULAR])


def fetch(racy):
    """Each device loads what the other has written, after its signal."""
    def body(x_ref, o_ref, p_ref, ready, read):
        p_ref[...] = x_ref[...] + 1  #@ write
        signal(ready)
        if not racy:
            pl.semaphore_wait(ready)
        o_ref[...] = plgpu.remote_ref(p_ref, other())[...]  #@ get:load swap:out
        if racy:
            pl.semaphore_wait(ready)
        signal(read)
        pl.semaphore_wait(read)

    return on_devices(body, ROW, out=(ROW, ROW), scratch=[REGULAR, REGULAR])


def copy_out(racy):
    """A copy to the other device, and a signal when it has landed; racy: when it has read its source."""
    def body(x_ref, o_ref, smem, done):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, plgpu.remote_ref(o_ref, other()))  #@ copy
        plgpu.wait_smem_to_gmem(0, wait_read_only=racy)
        signal(done)
        pl.semaphore_wait(done)
        o_ref[...] = o_ref[...] + 1  #@ get:load swap:write

    return on_devices(body, ROW, scratch=[SMEM, REGULAR])


def copy_in(racy):
    """A copy from the other device's array, which that has written."""
    def body(x_ref, o_ref, p_ref, smem, bar, ready, read):
        p_ref[...] = x_ref[...] + 1  #@ write
        signal(ready)
        if not racy:
            pl.semaphore_wait(ready)
        plgpu.copy_gmem_to_smem(plgpu.remote_ref(p_ref, other()), smem, bar)  #@ copy
        plgpu.barrier_wait(bar)
        if racy:
            pl.semaphore_wait(ready)
        o_ref[...] = smem[...]  #@ swap:out
        signal(read)
        pl.semaphore_wait(read)

    return on_devices(body, ROW, out=(ROW, ROW), scratch=[SMEM, plgpu.Barrier(), REGULAR, REGULAR])


def scope(racy):
    """The wait is in the scope of all devices, or of its own."""
    def body(x_ref, o_ref, done):
        plgpu.remote_ref(o_ref, other())[...] = x_ref[...]  #@ store
        signal(done)
        plgpu.semaphore_wait(done, memory_scope="gpu" if racy else "sys")
        o_ref[...] = o_ref[...] + 1  #@ get:load swap:write

    return on_devices(body, ROW, scratch=[REGULAR])


def update(racy):
    """Both devices add to the other's row; racy: an update is taken for a signal."""
    def body(x_ref, o_ref, begun, done):
        o_ref[...] = x_ref[...]
        signal(begun)
        pl.semaphore_wait(begun)
        plgpu.atomic_add(plgpu.remote_ref(o_ref, other()), x_ref[...])
        if not racy:
            signal(done)
            pl.semaphore_wait(done)
        o_ref[...] = o_ref[...] + 1  #@ get:load swap:write
        if racy:
            signal(done)
            pl.semaphore_wait(done)

    return on_devices(body, ROW, scratch=[REGULAR, REGULAR])


def rounds(racy):
    """Each round overwrites the row of the round before in the other device's memory; racy: without hearing that it has been read."""
    def body(x_ref, o_ref, p_ref, full, empty):
        for i in range(2):
            if i > 0 and not racy:
                pl.semaphore_wait(empty)
            plgpu.remote_ref(p_ref, other())[...] = x_ref[...] + i  #@ store
            signal(full)
            pl.semaphore_wait(full)
            o_ref[i] = p_ref[...]  #@ get:load swap:seen
            if i == 0 and not racy:
                signal(empty)

    return on_devices(body, ROW, out=(ty(2, LANES), ROW), scratch=[REGULAR, REGULAR])


def early_end(racy):
    """Each device reads the other's input, which is there until that device's kernel ends."""
    def body(x_ref, o_ref, read):
        o_ref[...] = plgpu.remote_ref(x_ref, other())[...]  #@ get:load
        if not racy:
            signal(read)
            pl.semaphore_wait(read)

    return on_devices(body, ROW, scratch=[REGULAR])


def outside(racy):
    """The device after the last is none of the mesh."""
    def body(x_ref, o_ref, done):
        right = lax.axis_index("d") + 1
        if not racy:
            right = lax.rem(right, 2)
        plgpu.remote_ref(o_ref, right)[...] = x_ref[...]  #@ store
        plgpu.semaphore_signal(done, device_id=right)  #@ signal
        pl.semaphore_wait(done)  #@ wait

    return on_devices(body, ROW, scratch=[REGULAR])


def gathered(racy):
    """Every device stores its row on all of them through the switch; racy: and does not wait for all."""
    def body(x_ref, o_ref, p_ref, done):
        plgpu.multimem_store(x_ref[...], o_ref.at[lax.axis_index("d")], "d")
        plgpu.semaphore_signal_multicast(done, collective_axes="d")
        if not racy:
            pl.semaphore_wait(done, 2, decrement=False)
        p_ref[...] = o_ref[other()]  #@ get:load swap:out
        if racy:
            pl.semaphore_wait(done, 2, decrement=False)

    return on_devices(body, ROW, out=(ty(2, LANES), ROW), scratch=[REGULAR])


def vector_of(dtype):
    """Elements that a lane loads at once: 32 bits of them."""
    return max(1, 4 // np.dtype(dtype).itemsize)


def reduced(dtype, operation):
    """Every device has the sum, or another reduction, over all."""
    size = vector_of(dtype)

    def body(x_ref, o_ref, done):
        o_ref[...] = plgpu.layout_cast(plgpu.multimem_load_reduce(x_ref, collective_axes="d", reduction_op=operation),
                                       plgpu.Layout.WG_STRIDED((LANES * size,), vec_size=size))
        plgpu.semaphore_signal_multicast(done, collective_axes="d")
        pl.semaphore_wait(done, 2, decrement=False)

    row = ty(LANES * size, dtype=dtype)
    return on_devices(body, row, out=row, scratch=[REGULAR])


def narrow(dtype, operation):
    """What `reduced` gives of `iota`: sums of two in f64, rounded once; of min and max a number rather than NaN."""
    first, second = np.arange(2 * LANES * vector_of(dtype)).astype(dtype).astype(np.float64).reshape(2, -1)
    value = {"add": np.add, "min": np.fmin, "max": np.fmax}[operation](first, second)
    return np.stack([value.astype(dtype)] * 2)


def polled(racy):
    """A device polls the semaphore until the other one's signal is there; racy: it polls once, and reads whatever the value is."""
    def body(x_ref, o_ref, p_ref, done):
        plgpu.remote_ref(o_ref, other())[...] = x_ref[...]  #@ store
        signal(done)
        if racy:
            pl.semaphore_read(done)
        else:
            lax.while_loop(lambda seen: seen < 1, lambda _: pl.semaphore_read(done), jnp.int32(0))
        p_ref[...] = o_ref[...]  #@ get:load swap:out
        pl.semaphore_wait(done)

    return on_devices(body, ROW, out=(ROW, ROW), scratch=[REGULAR])


def before_it_is_written():
    """The rows are read through the switch before every device has written its own."""
    def body(x_ref, o_ref, p_ref, done):
        p_ref[...] = x_ref[...] + 1  #@ write
        total = plgpu.multimem_load_reduce(p_ref, collective_axes="d", reduction_op="add")
        o_ref[...] = plgpu.layout_cast(total, plgpu.Layout.WG_STRIDED((LANES,), vec_size=1))  #@ swap:out
        plgpu.semaphore_signal_multicast(done, collective_axes="d")
        pl.semaphore_wait(done, 2, decrement=False)

    return on_devices(body, ROW, out=(ROW, ROW), scratch=[REGULAR])


def multicast_copy(racy):
    """A copy from shared memory to the same row of both devices."""
    def body(x_ref, o_ref, smem, done):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, plgpu.multicast_ref(o_ref, "d").at[lax.axis_index("d")])  #@ copy
        plgpu.wait_smem_to_gmem(0, wait_read_only=racy)
        plgpu.semaphore_signal_parallel(plgpu.SemaphoreSignal(done, device_id=0), plgpu.SemaphoreSignal(done, device_id=1))
        pl.semaphore_wait(done, 2)
        o_ref[0] = o_ref[0] + 1  #@ get:load swap:write

    return on_devices(body, ROW, out=ty(2, LANES), scratch=[SMEM, REGULAR])


def shared_counter():
    """The semaphores of the grid are the same on each device, by their place in the kernel."""
    def body(x_ref, o_ref):
        first, second = pl.get_global(REGULAR), pl.get_global(REGULAR)
        me = lax.axis_index("b")

        @pl.when(me == 0)
        def _():
            plgpu.remote_ref(o_ref, other())[...] = x_ref[...]
            plgpu.semaphore_signal(first, device_id=other())

        @pl.when(me == 1)
        def _():
            pl.semaphore_wait(first)
            plgpu.semaphore_signal(second, memory_scope="gpu")

        @pl.when(me == 0)
        def _():
            plgpu.semaphore_wait(second, memory_scope="gpu")
            o_ref[...] = o_ref[...] + 1

    return on_devices(body, ROW, grid=(2,), grid_names=("b",))


END = "/^  out %o"  # the array whose life ends with its device's kernel


def cases():
    given = {"inputs": {"x": "iota"}}

    def pair(name, prose, make, findings, at="order", **options):
        yield from clean_and_racy(name, prose, make, findings, spec=SPEC + at, **{**given, **options})

    def unordered(first, late=("load", "write"), unwritten=True):
        """What of the other device is not ordered with the load and the store of this one, nor with its end."""
        undefined = (found("UNINIT", "write", "load"), found("NONDET", first, "write")) if unwritten else ()
        return (*(found("RACE_XDEV", first, one) for one in late), found("PEER_LIFETIME", first, END), *undefined)

    yield from pair("054_xdev_nvlink_exchange", "Two devices store into each other's memory and signal.", exchange, unordered("store"), at="remote_ref",
                    outputs={"o": OTHER + 1})
    early = (found("UNINIT", "out", "load"), found("NONDET", "out", "out"))
    yield from pair("091_xdev_load", "A device loads what another one has written.", fetch, (found("RACE_XDEV", "write", "load"), *early), at="remote_ref",
                    outputs={"o": OTHER + 1, "p": ROWS + 1})
    yield from pair("091_xdev_copy_in", "A device copies what another one has written.", copy_in,
                    (found("RACE_XDEV", "write", "copy"), found("UNINIT", "out", "copy"), found("NONDET", "out", "out")), at="remote_ref",
                    outputs={"o": OTHER + 1, "p": ROWS + 1})
    yield from pair("092_xdev_copy_out", "A copy to another device, and a signal.", copy_out, unordered("copy"), outputs={"o": OTHER + 1})
    yield from pair("092_xdev_multicast_copy", "A copy to all devices, and a signal to each.", multicast_copy,
                    (*unordered("copy"), found("RACE_ASYNC", "copy", "load"), found("RACE_ASYNC", "copy", "write")), at="multicast_ref",
                    outputs={"o": np.stack([ROWS + np.asarray([[1], [0]], np.int32)] * 2)})
    yield from pair("093_xdev_scope", "What another device has stored is read after a wait.", scope, unordered("store", unwritten=False),
                    outputs={"o": OTHER + 1})
    yield from pair("094_xdev_update", "Devices add to each other's rows.", update,
                    (found("RACE_XDEV", UPDATE, "load"), found("RACE_XDEV", UPDATE, "write"), found("NONDET", UPDATE, "write")),
                    outputs={"o": ROWS + OTHER + 1}, edit=of_jax_0_11)
    yield from pair("095_xdev_round_ahead", "A device stores a row in each of two rounds.", rounds,
                    (found("RACE_XDEV", "load", "store#1"), found("NONDET", "seen", "seen")),
                    outputs={"o": np.stack([OTHER, OTHER + 1], axis=1), "p": OTHER + 1})
    yield from pair("096_xdev_early_end", "A device reads another one's input.", early_end, (found("PEER_LIFETIME", "load", "/^  in %x"),), at="devices",
                    outputs={"o": OTHER})
    yield from pair("097_xdev_outside", "A device stores on the one after it, around the mesh.", outside,
                    (found("PEER_LIFETIME", "store"), found("PEER_LIFETIME", "signal"), found("RACE_XDEV", "store", "store"), found("DEADLOCK", "wait")),
                    at="devices", outputs={"o": OTHER})
    yield from pair("098_xdev_multimem_store", "Every device stores its row on all devices at once.", gathered,
                    (found("RACE_XDEV", "/multimem_store", "load"), found("UNINIT", "out", "load"), found("NONDET", "out", "out")),
                    at="multimem_store", outputs={"o": np.stack([ROWS] * 2), "p": OTHER})
    for dtype, operation, value in ((I32, "add", ROWS.sum(0, dtype=np.int32)), (F32, "add", ROWS.sum(0).astype(np.float32)), (I32, "min", ROWS.min(0)),
                                    (I32, "max", ROWS.max(0)), (I32, "and", ROWS[0] & ROWS[1]), (I32, "or", ROWS[0] | ROWS[1]), (I32, "xor", ROWS[0] ^ ROWS[1])):
        yield Case(f"098_xdev_multimem_{operation}_{'f32' if dtype == F32 else 'i32'}_clean", kernel=reduced(dtype, operation), spec=SPEC + "multimem_load_reduce",
                   prose="The same row of all devices, reduced on each.", outputs={"o": np.stack([value] * 2)}, **given)
    for dtype, name, operation in ((np.float16, "f16", "add"), (np.float16, "f16", "min"), (ml_dtypes.bfloat16, "bf16", "add"),
                                   (ml_dtypes.bfloat16, "bf16", "max"), (ml_dtypes.float8_e5m2, "f8e5m2", "add"), (ml_dtypes.float8_e4m3fn, "f8e4m3fn", "min")):
        target = {"target": "mosaic_gpu/b200"} if np.dtype(dtype).itemsize == 1 else {}
        yield Case(f"098_xdev_multimem_{operation}_{name}_clean", kernel=reduced(dtype, operation), spec=SPEC + "multimem_load_reduce",
                   prose="The same row of all devices, reduced on each.", outputs={"o": narrow(dtype, operation)}, **target, **given)
    yield from pair("099_xdev_semaphore_read", "A device learns from semaphore_read that another one has stored.", polled,
                    (found("RACE_XDEV", "store", "load"), found("UNINIT", "out", "load"), found("NONDET", "out", "out")),
                    at="order gpu-semaphores.md#semaphore_read", outputs={"o": OTHER, "p": OTHER})
    yield Case("098_xdev_multimem_add_racy", kernel=before_it_is_written(), spec=SPEC + "multimem_load_reduce", prose=before_it_is_written.__doc__,
               findings=(found("RACE_XDEV", "write", "/multimem_load_reduce"), found("UNINIT", "out", "/multimem_load_reduce"), found("NONDET", "out", "out")),
               **given)
    yield Case("098_xdev_get_global_clean", kernel=shared_counter(), spec=SPEC + "devices", prose=shared_counter.__doc__, outputs={"o": OTHER + 1}, **given)
