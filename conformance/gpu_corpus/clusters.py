"""041 to 044: collective copies, and shared memory of another block of the cluster."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, clean_and_racy, found, kernel, load, ty
from shared_memory import IOTA, ROW

SPEC = "gpu-order.md#clusters"
SMEM = plgpu.SMEM((LANES,), I32)
BOTH = {"outputs": {"o": np.stack([IOTA, IOTA])}}
PAIR = ty(2, LANES)
TILES = ty(2, 64, 32)
TILED = plgpu.SMEM((64, 32), I32, transforms=(plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128)))
CLUSTER = plgpu.ClusterBarrier(collective_axes=("c",))
MESH = {"threads": None, "cluster": (2,), "cluster_names": ("c",)}


def block(index):
    return pl.when(lax.axis_index("c") == index)


def multicast(how):
    """`how`: "" for none, "skips": one block does not issue the copy, "changes": it copies something else."""
    def body(x_ref, o_ref, smem, full):
        me = lax.axis_index("c")
        if how == "skips":
            @block(0)
            def _():
                plgpu.copy_gmem_to_smem(x_ref.at[0], smem, full, collective_axes="c")  #@ copy
                plgpu.barrier_wait(full)  #@ wait
        else:
            source = x_ref.at[me if how == "changes" else 0]
            plgpu.copy_gmem_to_smem(source, smem, full, collective_axes="c")  #@ copy
            plgpu.barrier_wait(full)
        o_ref[me] = x_ref[0] if how else smem[...]

    return kernel(body, PAIR, out=PAIR, scratch={"smem": SMEM, "full": plgpu.Barrier()}, **MESH)


def smem_reuse(racy):
    def body(x_ref, o_ref, smem, seen, full, cluster):
        me = lax.axis_index("c")
        for i in range(2):
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem, full, collective_axes="c")  #@ copy
            plgpu.barrier_wait(full)
            seen[...] = smem[...]  #@ get:read
            plgpu.commit_smem()
            if i == 0 and not racy:
                plgpu.barrier_arrive(cluster)
                plgpu.barrier_wait(cluster)
            o_ref[me, i] = x_ref[i] if racy else seen[...]

    return kernel(body, PAIR, out=ty(2, 2, LANES), scratch={"smem": SMEM, "seen": SMEM, "full": plgpu.Barrier(), "cluster": CLUSTER}, **MESH)


def row(x_ref, index):
    """As async_store_smem takes it, which stores to tiles only."""
    return load(x_ref.at[index], layout=plgpu.Layout.WGMMA, optimized=False)


def not_armed(racy):
    """Block 0 sends two rows into one place of block 1, which says when it has read the first."""
    def body(x_ref, o_ref, smem, seen, full, cluster):
        @block(0)
        def _():
            plgpu.async_store_smem(row(x_ref, 0), smem, full.at[0], cluster_idx=1, cluster_dim="c")  #@ first
            if not racy:
                plgpu.barrier_arrive(cluster)
                plgpu.barrier_wait(cluster)
            plgpu.async_store_smem(row(x_ref, 1), smem, full.at[1], cluster_idx=1, cluster_dim="c")  #@ second
            if racy:
                plgpu.barrier_arrive(cluster)
                plgpu.barrier_wait(cluster)

        @block(1)
        def _():
            plgpu.barrier_wait(full.at[0])
            seen[...] = smem[...]  #@ get:read
            plgpu.barrier_arrive(cluster)
            plgpu.barrier_wait(cluster)
            plgpu.barrier_wait(full.at[1])
            o_ref[0] = row(x_ref, 0) if racy else seen[...]
            o_ref[1] = smem[...]  #@ swap:last

    return kernel(body, TILES, out=TILES, scratch={"smem": TILED, "seen": TILED, "full": plgpu.Barrier(num_barriers=2), "cluster": CLUSTER}, **MESH)


def peer(when):
    """Block 0 reads the shared memory of block 1, which stays ("" for the clean form), has "ended", or has not "begun"."""
    def body(x_ref, o_ref, smem, seen, ready, done):
        @block(1)
        def _():
            smem[...] = x_ref[...] + 1  #@ write

        if when != "begun":
            plgpu.barrier_arrive(ready)
            plgpu.barrier_wait(ready)

        @block(0)
        def _():
            seen[...] = plgpu.cluster_ref(smem, {"c": 1})[...]  #@ get:read
            o_ref[...] = x_ref[...] if when else seen[...]

        if when != "ended":
            plgpu.barrier_arrive(done)
            plgpu.barrier_wait(done)

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM, "seen": SMEM, "ready": CLUSTER, "done": CLUSTER}, **MESH)


def cases():
    two = {"spec": SPEC, "inputs": {"x": "iota"}}
    both = np.arange(2 * LANES, dtype=np.int32).reshape(2, LANES)
    yield Case("041_cluster_multicast_one_cta_clean", kernel=multicast(""), prose="Both blocks of a cluster issue the same collective copy.", **two, **BOTH)
    yield Case("041_cluster_multicast_one_cta_skips_racy", kernel=multicast("skips"), prose="One block of the cluster does not issue the collective copy.", **two,
               findings=(found("COLL_MISMATCH", "copy", "copy"), found("DEADLOCK", "wait"), found("PEER_LIFETIME", "copy")))
    yield Case("041_cluster_multicast_one_cta_changes_racy", kernel=multicast("changes"), prose="The blocks of a cluster copy different rows together.", **two,
               findings=(found("COLL_MISMATCH", "copy", "copy"),))
    yield from clean_and_racy("042_cluster_smem_reuse", "A multicast overwrites what the other block of the cluster may still be reading.", smem_reuse,
                              (found("RACE_ASYNC", "read#0", "copy#1"), found("BAR_BYTES", "copy#1", "copy#1"),
                               found("RACE_WW", "copy#0", "copy#1")), outputs={"o": np.stack([both, both])}, **two)
    yield from clean_and_racy("043_cluster_receiver_not_armed", "A block sends a second row into a place of another before that has said that it read the first.", not_armed,
                              (found("RACE_ASYNC", "read", "second"), found("RACE_WW", "first", "second"), found("NONDET", "last")), outputs={"o": np.arange(2 * 64 * 32, dtype=np.int32).reshape(2, 64, 32)}, **two)
    one = {"spec": SPEC, "inputs": {"x": "iota"}}
    yield Case("044_cluster_peer_exit_clean", kernel=peer(""), prose="A block reads the shared memory of another, which is there before and after.", outputs={"o": IOTA + 1}, **one)
    yield Case("044_cluster_peer_exit_begun_racy", kernel=peer("begun"), prose="A block reads the shared memory of another, which may not have begun.",
               findings=(found("RACE_RW", "write", "read"),), **one)
