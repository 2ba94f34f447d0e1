"""The examples of JAX's page on writing Mosaic GPU kernels that need no tensor memory, no cluster cancel and no second device, each
written anew as a whole kernel with inputs and what NumPy says of them."""

import functools

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import F16, F32, I32, LANES, Kernel, kernel, load, ty
from fences import TILED
from pages_matrix import single
from shared_memory import IOTA, ROW, thread

SMEM = plgpu.SMEM((LANES,), I32)
ALONE = {"threads": None}


def pallas_call(body, *args, out, grid=(), in_specs=None, out_specs=None, scratch=()):
    call = pl.pallas_call(body, out_shape=out, grid=grid, in_specs=in_specs, out_specs=out_specs, scratch_shapes=scratch, compiler_params=plgpu.CompilerParams())
    return Kernel(call, args, ())


def blocks_of(*shape, transforms=()):
    return plgpu.BlockSpec(shape, lambda i: (i,) + (0,) * (len(shape) - 1), transforms=transforms)


def increment_pallas_call():
    def body(x_ref, y_ref):
        y_ref[...] = x_ref[...] + 1

    return pallas_call(body, ty(2 * LANES, dtype=F32), out=ty(2 * LANES, dtype=F32), grid=(2,), in_specs=[blocks_of(LANES)], out_specs=blocks_of(LANES))


def blocks_with_transforms():
    def body(x_ref, y_ref):
        y_ref[...] = x_ref[...] * 2

    spec = blocks_of(64, 64, transforms=TILED)
    return pallas_call(body, ty(128, 64, dtype=F16), out=ty(128, 64, dtype=F16), grid=(2,), in_specs=[spec], out_specs=spec)


def scratch_of_pallas_call():
    def body(x_ref, y_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        y_ref[...] = smem[...] + 1

    spec = pl.BlockSpec(memory_space=plgpu.GMEM)
    return pallas_call(body, ROW, out=ROW, in_specs=[spec], out_specs=spec, scratch=[SMEM, plgpu.Barrier()])


def banded_order():
    """The grid is (bands, columns, rows of a band), so that neighbours in time share columns."""
    band = 2

    def body(x_ref, o_ref):
        m = pl.program_id(0) * band + pl.program_id(2)
        row, column = pl.ds(m * 8, 8), pl.ds(pl.program_id(1) * 64, 64)
        o_ref[row, column] = x_ref[row, column] + 1

    spec = pl.BlockSpec(memory_space=plgpu.GMEM)
    return pallas_call(body, ty(32, 128), out=ty(32, 128), grid=(2, 2, band), in_specs=[spec], out_specs=spec)


def increment_core_map():
    mesh = plgpu.Mesh(grid=(2,), grid_names=("x",))

    def function(x):
        def run(refs):
            x_ref, y_ref = refs

            @pl.core_map(mesh)
            def _():
                mine = pl.ds(lax.axis_index("x") * LANES, LANES)
                y_ref[mine] = x_ref[mine] + 1

        return pl.run_state(run)((x, jnp.zeros_like(x)))[1]

    return Kernel(function, (ty(2 * LANES, dtype=F32),), ())


def increment_kernel():
    def body(x_ref, y_ref):
        mine = pl.ds(lax.axis_index("x") * LANES, LANES)
        y_ref[mine] = x_ref[mine] + 1

    return kernel(body, ty(2 * LANES, dtype=F32), out=ty(2 * LANES, dtype=F32), grid=(2,), grid_names=("x",), **ALONE)


def two_threads():
    def body(x_ref, o_ref, smem, full):
        @thread(0)
        def _():
            smem[...] = x_ref[...] + 1
            plgpu.barrier_arrive(full)

        @thread(1)
        def _():
            plgpu.barrier_wait(full)
            o_ref[...] = smem[...] + 1

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM, "full": plgpu.Barrier()})


CLUSTER = {"threads": None, "cluster": (2,), "cluster_names": ("c",)}


def cluster_multicast():
    def body(x_ref, o_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c")
        plgpu.barrier_wait(full)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[lax.axis_index("c")])
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ty(2, LANES), scratch={"smem": SMEM, "full": plgpu.Barrier()}, **CLUSTER)


def cluster_and_own_copy():
    def body(x_ref, y_ref, o_ref, both, own, full):
        me = lax.axis_index("c")
        plgpu.copy_gmem_to_smem(x_ref, both, full, collective_axes="c")
        plgpu.copy_gmem_to_smem(y_ref.at[me], own, full)
        plgpu.barrier_wait(full)
        o_ref[me] = both[...] + own[...]

    return kernel(body, ROW, ty(2, LANES), out=ty(2, LANES), scratch={"both": SMEM, "own": SMEM, "full": plgpu.Barrier(num_arrivals=2)}, **CLUSTER)


def cluster_reuse():
    def body(x_ref, o_ref, smem, full, cluster):
        me = lax.axis_index("c")
        for i in range(2):
            if i > 0:
                plgpu.commit_smem()
                plgpu.barrier_arrive(cluster)
                plgpu.barrier_wait(cluster)
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem, full, collective_axes="c")
            plgpu.barrier_wait(full)
            o_ref[me, i] = smem[...]

    return kernel(body, ty(2, LANES), out=ty(2, 2, LANES), scratch={
        "smem": SMEM, "full": plgpu.Barrier(), "cluster": plgpu.ClusterBarrier(collective_axes=("c",))}, **CLUSTER)


def grid_wide_semaphore():
    def body(o_ref):
        sem = pl.get_global(plgpu.SemaphoreType.REGULAR)

        @pl.when(lax.axis_index("x") == 0)
        def _():
            pl.semaphore_signal(sem)

        @pl.when(lax.axis_index("x") == 1)
        def _():
            pl.semaphore_wait(sem)
            o_ref[...] = jnp.ones((LANES,), I32)

    return kernel(body, out=ROW, grid=(2,), grid_names=("x",), **ALONE)


def collective_scope():
    def body(x_ref, o_ref):
        def scope(smem, full):
            @thread(0)
            def _():
                plgpu.copy_gmem_to_smem(x_ref, smem, full)

            @thread(1)
            def _():
                plgpu.barrier_wait(full)
                o_ref[...] = smem[...]

        pl.run_scoped(scope, SMEM, plgpu.Barrier(), collective_axes="wg")

    return kernel(body, ROW, out=ROW)


def commit_before_store():
    def body(x_ref, o_ref, smem):
        smem[...] = x_ref[...] * 3
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM}, **ALONE)


def commit_before_load():
    def body(x_ref, y_ref, o_ref, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        plgpu.barrier_wait(full)
        value = load(smem)
        plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(y_ref, smem, full)
        plgpu.barrier_wait(full)
        o_ref[...] = value + smem[...]

    return kernel(body, ROW, ROW, out=ROW, scratch={"smem": SMEM, "full": plgpu.Barrier()}, **ALONE)


def queue(by_copy):
    """Three slots, seven items; the thread that fills a slot waits until it has been emptied."""
    slots, steps = 3, 7

    def body(x_ref, o_ref, queue_smem, produced, consumed):
        @thread(0)
        def _():
            def step(i, _):
                slot = lax.rem(i, slots)

                @pl.when(i >= slots)
                def _():
                    plgpu.barrier_wait(consumed.at[slot])

                if by_copy:
                    plgpu.copy_gmem_to_smem(x_ref.at[i], queue_smem.at[slot], produced.at[slot])
                else:
                    queue_smem[slot] = x_ref[i]
                    plgpu.barrier_arrive(produced.at[slot])

            lax.fori_loop(0, steps, step, None)
            # The last completions are waited for as well, so that every one is.
            for left in range(steps - slots, steps):
                plgpu.barrier_wait(consumed.at[left % slots])

        @thread(1)
        def _():
            def step(i, _):
                slot = lax.rem(i, slots)
                plgpu.barrier_wait(produced.at[slot])
                o_ref[i] = queue_smem[slot] + 1
                if by_copy:
                    plgpu.commit_smem()
                plgpu.barrier_arrive(consumed.at[slot])

            lax.fori_loop(0, steps, step, None)

    bars = plgpu.Barrier(num_barriers=slots)
    return kernel(body, ty(steps, LANES), out=ty(steps, LANES), scratch={"queue_smem": plgpu.SMEM((slots, LANES), I32), "produced": bars, "consumed": bars})


def copy_in(buffers):
    def body(x_ref, y_ref, o_ref, a, b, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        if buffers == 2:
            plgpu.copy_gmem_to_smem(y_ref, b, full)
        plgpu.barrier_wait(full)
        o_ref[...] = a[...] + (b if buffers == 2 else y_ref)[...]

    return kernel(body, ROW, ROW, out=ROW, scratch={"a": SMEM, "b": SMEM, "full": plgpu.Barrier(num_arrivals=buffers)}, **ALONE)


def copy_out(grouped):
    def body(x_ref, o_ref, p_ref, a, b):
        a[...] = x_ref[...] + 1
        b[...] = x_ref[...] + 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(a, o_ref, commit_group=not grouped)
        plgpu.copy_smem_to_gmem(b, p_ref)
        if grouped:
            plgpu.wait_smem_to_gmem(1)  # leaves the one group there is
        else:
            plgpu.wait_smem_to_gmem(1, wait_read_only=True)
            a[...] = x_ref[...]  # its reads are done
            plgpu.wait_smem_to_gmem(1)
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=(ROW, ROW), scratch={"a": SMEM, "b": SMEM}, **ALONE)


def cases():
    f = np.arange(2 * LANES, dtype=np.float32) + 1
    x = {"x": "iota"}
    rename = functools.partial(named, names=("x", "y"))
    yield single("increment_pallas_call", rename(increment_pallas_call()), "One block of a blocked call has its part of the arrays in shared memory.", x, y=f)
    yield single("increment_core_map", named(increment_core_map(), names=("x", "y", "z")), "The same with core_map: arrays are in global memory.", {"x": "iota", "y": "zeros"}, z=f)
    yield single("increment_kernel", increment_kernel(), "The same with plgpu.kernel.", x, y=f)
    yield single("blocks_with_transforms", rename(blocks_with_transforms()), "Blocks in shared memory, tiled and swizzled.", x,
                 y=(np.arange(128 * 64).astype(np.float16) * np.float16(2)).reshape(128, 64))
    yield single("scratch", rename(scratch_of_pallas_call()), "Arrays in global memory, scratch in shared memory.", x, y=IOTA + 1)
    yield single("grid_bands", named(banded_order(), names=("x", "o")), "A grid in bands.", x, o=np.arange(32 * 128, dtype=np.int32).reshape(32, 128) + 1)
    yield single("two_threads", two_threads(), "Two threads and a barrier.", x, o=IOTA + 2)
    yield single("cluster_multicast", cluster_multicast(), "A copy into both blocks of a cluster.", x, o=np.stack([IOTA, IOTA]))
    both = np.arange(2 * LANES, dtype=np.int32).reshape(2, LANES)
    yield single("cluster_and_own_copy", cluster_and_own_copy(), "A collective copy and one of each block's own, at one barrier.", {"x": "iota", "y": "iota"}, o=both + IOTA)
    yield single("cluster_reuse", cluster_reuse(), "A barrier of the cluster before shared memory is overwritten in both blocks.", x, o=np.stack([both, both]))
    yield single("get_global", grid_wide_semaphore(), "A semaphore of the whole grid.", {}, o=np.ones(LANES, np.int32))
    yield single("collective_scope", collective_scope(), "Threads allocate together and get the same memory.", x, o=IOTA)
    yield single("commit_smem_store", commit_before_store(), "A store is fenced before a copy reads it.", x, o=3 * IOTA)
    yield single("commit_smem_load", commit_before_load(), "A load is fenced before a copy overwrites what it read.", {"x": "iota", "y": "full(5)"}, o=IOTA + 5)
    rows = np.arange(7 * LANES, dtype=np.int32).reshape(7, LANES)
    yield single("queue_store", queue(False), "A queue between two threads that the first one fills.", x, o=rows + 1)
    yield single("queue_copy", queue(True), "A queue between two threads that copies fill.", x, o=rows + 1)
    for buffers in (1, 2):
        yield single(f"copy_in_{buffers}", copy_in(buffers), f"{buffers} copies at one barrier.", {"x": "iota", "y": "full(5)"}, o=IOTA + 5)
    for grouped in (False, True):
        yield single(f"copy_out_{'group' if grouped else 'each'}", copy_out(grouped), f"Two stores, awaited {'as one group' if grouped else 'one after the other'}.", x, o=IOTA + 1, p=IOTA + 2)


def named(made, names):
    return Kernel(made.function, made.args, names)
