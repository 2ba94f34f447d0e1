"""080 to 084: issuers. Collective copies of several threads or warps, blocks that do not take part, and the groups of a warp's stores."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from clusters import MESH, block
from corpus import Case, I32, LANES, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW, thread

COLLECTIVE, CLUSTERS, COPIES = "gpu-order.md#collective", "gpu-order.md#clusters", "gpu-order.md#copies"
SMEM = plgpu.SMEM((LANES,), I32)
PAIR = ty(2, LANES)
TWO_BUFFERS = {"a": SMEM, "b": SMEM, "full": plgpu.Barrier(num_barriers=2)}


def on_warp(index):
    """Runs a function in one warp of the warpgroup."""
    def run(issue):
        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            pl.when(lax.axis_index("warp") == index)(issue)
    return run


def of_threads(mistake):
    """Thread i of each block copies row i. `mistake`: "row": of one block another row, "skips": one thread of one block copies nothing."""
    def body(x_ref, o_ref, a, b, full):
        me = lax.axis_index("c")
        for index, smem in enumerate((a, b)):
            def copy(index=index, smem=smem):
                row = index + me if mistake == "row" and index == 1 else index
                plgpu.copy_gmem_to_smem(x_ref.at[row], smem, full.at[index], collective_axes="c")  #@ copy

            @thread(index)
            def _(index=index, smem=smem, copy=copy):
                def both():
                    copy()
                    plgpu.barrier_wait(full.at[index])  #@ wait

                if mistake == "skips" and index == 1:
                    block(0)(both)
                else:
                    both()
                o_ref[me, index] = x_ref[index] if mistake else smem[...]

    return kernel(body, ty(3, LANES), out=ty(2, 2, LANES), threads=2, cluster=(2,), cluster_names=("c",), scratch=TWO_BUFFERS)


def of_warps(racy):
    """Warp i of each block copies row i; in the racy form warp 1 of one block another row."""
    def body(x_ref, o_ref, a, b, full):
        me = lax.axis_index("c")

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            warp = lax.axis_index("warp")
            for index, smem in enumerate((a, b)):
                @pl.when(warp == index)
                def _(index=index, smem=smem):
                    row = index + me if racy and index == 1 else index
                    plgpu.copy_gmem_to_smem(x_ref.at[row], smem, full.at[index], collective_axes="c")  #@ copy

        for index, smem in enumerate((a, b)):
            plgpu.barrier_wait(full.at[index])
            o_ref[me, index] = x_ref[index] if racy else smem[...]

    return kernel(body, ty(3, LANES), out=ty(2, 2, LANES), scratch=TWO_BUFFERS, **MESH)


def another_place(racy):
    """The blocks copy the same row; in the racy form to different buffers."""
    def body(x_ref, o_ref, a, b, full):
        me = lax.axis_index("c")

        def copy(smem):
            plgpu.copy_gmem_to_smem(x_ref.at[0], smem, full.at[0], collective_axes="c")  #@ copy

        if racy:
            block(0)(lambda: copy(a))
            block(1)(lambda: copy(b))
        else:
            copy(a)
        plgpu.barrier_wait(full.at[0])
        o_ref[me] = x_ref[0] if racy else a[...]

    return kernel(body, PAIR, out=PAIR, scratch=TWO_BUFFERS, **MESH)


def ends_at_once(racy):
    def body(x_ref, o_ref, smem, full):
        def load():
            plgpu.copy_gmem_to_smem(x_ref.at[0], smem, full, collective_axes="c")  #@ copy
            plgpu.barrier_wait(full)  #@ wait

        if racy:
            block(1)(load)
        else:
            load()
        o_ref[lax.axis_index("c")] = x_ref[0]

    return kernel(body, PAIR, out=PAIR, scratch={"smem": SMEM, "full": plgpu.Barrier()}, **MESH)


def store_of_warp(early):
    """A warp stores, the warpgroup waits behind the mesh and writes the source. `early`: the write comes before the wait, or it is another warp that waits."""
    def body(x_ref, o_ref, smem):
        smem[...] = x_ref[...] + 1
        plgpu.commit_smem()

        @on_warp(1)
        def _():
            plgpu.copy_smem_to_gmem(smem, o_ref)  #@ copy

        if early == "warp":
            on_warp(2)(lambda: plgpu.wait_smem_to_gmem(0))
        elif not early:
            plgpu.wait_smem_to_gmem(0)
        smem[...] = x_ref[...] + 1  #@ write
        if early == "write":
            plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ROW, threads=None, scratch={"smem": SMEM})


def lanes(mistake):
    """Row 0 is stored by the warpgroup, row 1 by warp 1, and where there is no mistake row 2 by the warpgroup, before a wait that leaves one group."""
    def body(x_ref, o_ref, smem):
        smem[...] = x_ref[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[0], o_ref.at[0])  #@ mine

        @on_warp(1)
        def _():
            plgpu.copy_smem_to_gmem(smem.at[1], o_ref.at[1])  #@ warps

        if mistake != "fewer":
            plgpu.copy_smem_to_gmem(smem.at[2], o_ref.at[2])  #@ last
        plgpu.wait_smem_to_gmem(1)
        for row in range(3 if mistake == "last" else 2):
            smem[row] = x_ref[row] + (1 if mistake else 0)  #@ write
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ty(3, LANES), out=ty(2 if mistake == "fewer" else 3, LANES), threads=None, scratch={"smem": plgpu.SMEM((3, LANES), I32)})


def warp_waits(racy):
    """The warpgroup stores, and a warp waits: the first, whose lane has issued the store, or another."""
    def body(x_ref, o_ref, smem):
        smem[...] = x_ref[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)  #@ copy
        on_warp(1 if racy else 0)(lambda: plgpu.wait_smem_to_gmem(0))
        smem[...] = x_ref[...] + (1 if racy else 0)  #@ write
        if racy:
            plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ROW, threads=None, scratch={"smem": SMEM})


def cases():
    given = {"inputs": {"x": "iota"}}
    rows = np.arange(3 * LANES, dtype=np.int32).reshape(3, LANES)
    both = {"outputs": {"o": np.stack([rows[:2], rows[:2]])}}
    name, about = "080_multicast_of_two_threads", "Two threads of each block of a cluster issue one collective copy each, in no order with each other"
    yield Case(f"{name}_clean", spec=COLLECTIVE, kernel=of_threads(""), prose=f"{about}.", **given, **both)
    yield Case(f"{name}_row_racy", spec=COLLECTIVE, kernel=of_threads("row"), prose=f"{about}; one of them copies another row than its like.",
               findings=(found("COLL_MISMATCH", "copy#1", "copy#1"),), **given)
    yield Case(f"{name}_skips_racy", spec=COLLECTIVE, kernel=of_threads("skips"), prose=f"{about}; one of the four copies is not issued.",
               findings=(found("COLL_MISMATCH", "copy#1", "copy#1"), found("DEADLOCK", "wait#1")), **given)
    yield from clean_and_racy("080_multicast_of_two_warps", "Two warps of each block issue one collective copy each.", of_warps,
                              (found("COLL_MISMATCH", "copy#1", "copy#1"),), spec=COLLECTIVE, **given, **both)
    yield from clean_and_racy("081_multicast_to_another_place", "The blocks of a cluster copy the same row together, to one buffer or to two.", another_place,
                              (found("COLL_MISMATCH", "copy#0", "copy#1"),), spec=COLLECTIVE, outputs={"o": np.stack([IOTA, IOTA])}, **given)
    yield from clean_and_racy("082_cluster_block_ends_at_once", "Two blocks, or one that the other has left, make a cluster's first collective copy.", ends_at_once,
                              (found("COLL_MISMATCH", "copy", "copy"), found("DEADLOCK", "wait"), found("PEER_LIFETIME", "copy")), spec=CLUSTERS,
                              outputs={"o": np.stack([IOTA, IOTA])}, **given)
    plus = {"outputs": {"o": IOTA + 1}, "spec": COPIES} | given
    yield Case("083_store_of_a_warp_clean", kernel=store_of_warp(""), prose="A warp stores, and its warpgroup waits for that behind the mesh: each lane waits for what it has issued.", **plus)
    yield Case("083_store_of_a_warp_early_racy", kernel=store_of_warp("write"), findings=(found("RACE_ASYNC", "copy", "write"),), spec=COPIES,
               prose="A warp stores, and its warpgroup waits for that when it has overwritten the source.", **given)
    yield Case("083_store_of_a_warp_another_racy", kernel=store_of_warp("warp"), findings=(found("RACE_ASYNC", "copy", "write"), found("NOT_AWAITED", "copy")), spec=COPIES,
               prose="A warp stores, and another warp waits: for nothing.", **given)
    yield from clean_and_racy("083_warp_waits_for_warpgroup", "A warpgroup's copies are issued by its first warp, which alone can wait for them.", warp_waits,
                              (found("RACE_ASYNC", "copy", "write"),), spec=COPIES, outputs={"o": IOTA + 1}, **given)
    three = {"spec": COPIES, "inputs": {"x": "iota"}}
    yield Case("084_groups_of_lanes_clean", kernel=lanes(""), outputs={"o": rows + 1},
               prose="Groups are counted by lane: where one may remain, the warp's is done when the warpgroup has committed one more.", **three)
    yield Case("084_groups_of_lanes_last_racy", kernel=lanes("last"), findings=(found("RACE_ASYNC", "last", "write#2"),),
               prose="The group that may remain is the last of the warpgroup's.", **three)
    yield Case("084_groups_of_lanes_fewer_racy", kernel=lanes("fewer"), findings=(found("RACE_ASYNC", "mine", "write#0"), found("RACE_ASYNC", "warps", "write#1")),
               prose="Two lanes have one group each: where one may remain, both do.", **three)
