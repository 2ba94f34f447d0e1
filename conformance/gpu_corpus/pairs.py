"""170 to 175: copies that a pair of blocks makes together and only its leader's barrier counts, and cluster barriers of a leader alone."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from clusters import CLUSTER, MESH, PAIR, SMEM, block
from corpus import Case, LANES, clean_and_racy, found, kernel, ty
from shared_memory import ROW

COPY, ARRIVE = "gpu-copies.md#leader_tracked", "gpu-barriers.md#barrier_arrive"
PARTS, ALL = plgpu.CopyPartition.PARTITIONED(0), plgpu.CopyPartition.REPLICATED
HEARD = plgpu.ClusterBarrier(collective_axes=("c",), leader_tracked=True)
ROWS = np.arange(2 * LANES, dtype=np.int32).reshape(2, LANES)
ONE_ROW = plgpu.SMEM((1, LANES), np.int32)
B200 = {"target": "mosaic_gpu/b200", "inputs": {"x": "iota"}}
HALVES = ty(2, 1, LANES)


def meet(barrier):
    plgpu.barrier_arrive(barrier)
    plgpu.barrier_wait(barrier)


def partitioned(how):
    """`how`: "" for none, "unordered": block 1 reads without a word of the leader, "waits": it waits for its own barrier, "skips": it does
    not issue the copy, "changes": it copies something else."""
    def body(x_ref, o_ref, smem, seen, full, cluster):
        me = lax.axis_index("c")
        if how == "skips":
            @block(0)
            def _():
                plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c", leader_tracked=PARTS)  #@ copy
                plgpu.barrier_wait(full)  #@ wait
            o_ref[me, 0] = x_ref[me]
            return
        source = x_ref.at[pl.ds(me, 2)] if how == "changes" else x_ref.at[pl.ds(0, 2)]
        plgpu.copy_gmem_to_smem(source, smem, full, collective_axes="c", leader_tracked=PARTS)  #@ copy
        if how == "waits":
            plgpu.barrier_wait(full)  #@ wait
        else:
            @block(0)
            def _():
                plgpu.barrier_wait(full)
        if how == "unordered":
            seen[...] = smem[...]  #@ get:read
        meet(cluster)
        o_ref[me, 0] = x_ref[me] if how == "unordered" else smem[0]

    rows = ty(3, LANES) if how == "changes" else PAIR
    return kernel(body, rows, out=HALVES, scratch={"smem": ONE_ROW, "seen": ONE_ROW, "full": plgpu.Barrier(), "cluster": CLUSTER}, **MESH)


def replicated(racy):
    """Two rows one after another through one place, which both blocks read."""
    def body(x_ref, o_ref, smem, seen, full, filled, read):
        me = lax.axis_index("c")
        for i in range(2):
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem, full, collective_axes="c", leader_tracked=ALL)  #@ copy

            @block(0)
            def _():
                plgpu.barrier_wait(full)
            meet(filled)
            seen[...] = smem[...]  #@ get:read
            plgpu.commit_smem()
            if i == 0 and not racy:
                meet(read)
            o_ref[me, i] = x_ref[i] if racy else seen[...]

    return kernel(body, PAIR, out=ty(2, 2, LANES), scratch={"smem": SMEM, "seen": SMEM, "full": plgpu.Barrier(), "filled": CLUSTER, "read": CLUSTER},
                  **MESH)


def ahead(racy):
    """Two places, and one barrier for both: a block may be a copy ahead of the other, and its parts count for the phase before."""
    def body(x_ref, o_ref, smem, seen, full, cluster):
        me = lax.axis_index("c")
        mine = pl.ds(me * LANES, LANES)
        for i in range(2):
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem.at[i], full, collective_axes="c", leader_tracked=PARTS)  #@ copy

            @block(0)
            def _():
                plgpu.barrier_wait(full)  #@ wait
                seen[...] = smem[i]  #@ get:read
            if not racy or i:
                meet(cluster)
            o_ref[i, mine] = x_ref[i, mine] if racy else smem[i]

    return kernel(body, ty(2, 2 * LANES), out=ty(2, 2 * LANES),
                  scratch={"smem": plgpu.SMEM((2, LANES), np.int32), "seen": SMEM, "full": plgpu.Barrier(), "cluster": CLUSTER}, **MESH)


def leaves(who):
    """`who` ends at once ("leader"), or while its own part may be in flight ("other"); "" for none."""
    def body(x_ref, o_ref, smem, full, cluster):
        me = lax.axis_index("c")  # noqa: F841 - an operation of the kernel
        if who == "leader":
            @block(1)
            def _():
                o_ref[...] = x_ref[0]
                plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c", leader_tracked=PARTS)  #@ copy
            return
        plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c", leader_tracked=PARTS)  #@ copy

        @block(0)
        def _():
            plgpu.barrier_wait(full)  #@ wait
            o_ref[...] = smem[0]
        if not who:
            meet(cluster)

    return kernel(body, PAIR, out=ROW, scratch={"smem": ONE_ROW, "full": plgpu.Barrier(), "cluster": CLUSTER}, **MESH)


def heard(how):
    """Both blocks say to the leader that they have written; "waits": block 1 waits too, "one": only the leader arrives."""
    def body(x_ref, o_ref, smem, wrote, done):
        me = lax.axis_index("c")
        smem[...] = x_ref[me]
        if how == "one":
            @block(0)
            def _():
                plgpu.barrier_arrive(wrote)  #@ arrive
        else:
            plgpu.barrier_arrive(wrote)  #@ arrive
        if how == "waits":
            plgpu.barrier_wait(wrote)  #@ wait

        @block(0)
        def _():
            if how != "waits":
                plgpu.barrier_wait(wrote)  #@ wait
            o_ref[0] = smem[...]
            o_ref[1] = plgpu.cluster_ref(smem, {"c": 1})[...]
        meet(done)

    return kernel(body, PAIR, out=PAIR, scratch={"smem": SMEM, "wrote": HEARD, "done": CLUSTER}, **MESH)


def cases():
    two = {"spec": COPY, **B200}
    halves = {"outputs": {"o": ROWS}}
    yield Case("170_pair_parts_clean", kernel=partitioned(""), prose="Each block of a pair gets its half of what both copy; the leader waits, and tells the other.",
               **two, **halves)
    yield Case("170_pair_parts_racy", kernel=partitioned("unordered"), prose="The block that is not the leader reads its half without a word from the leader.",
               findings=(found("RACE_ASYNC", "copy", "read"),), **two)
    yield Case("170_pair_wait_racy", kernel=partitioned("waits"), prose="The block that is not the leader waits for its own barrier, which nothing arrives at.",
               findings=(found("DEADLOCK", "wait"),), **two)
    yield Case("170_pair_skips_racy", kernel=partitioned("skips"), prose="One block of the pair does not issue the copy.",
               findings=(found("COLL_MISMATCH", "copy", "copy"), found("DEADLOCK", "wait")), **two)
    yield Case("170_pair_changes_racy", kernel=partitioned("changes"), prose="The blocks of a pair copy different rows together.",
               findings=(found("COLL_MISMATCH", "copy", "copy"),), **two)
    yield from clean_and_racy("172_pair_reuse", "Both blocks get all of each row, in one place: a second copy may write where the other block still reads.", replicated,
                              (found("RACE_ASYNC", "read#0", "copy#1"),), outputs={"o": np.stack([ROWS, ROWS])}, **two)
    yield from clean_and_racy("173_pair_ahead", "A block may be a copy ahead of the other, whose barrier then takes both of its parts for one phase.", ahead,
                              (found("RACE_ASYNC", "copy", "read"), found("BAR_BYTES", "copy#0", "copy#1"), found("BAR_BYTES", "copy#1", "copy#1")),
                              outputs={"o": np.arange(4 * LANES, dtype=np.int32).reshape(2, 2 * LANES)}, **two)
    yield Case("174_pair_leaves_clean", kernel=leaves(""), prose="Both blocks of a pair stay until the copy has landed in both.", outputs={"o": ROWS[0]}, **two)
    yield Case("174_pair_leaves_leader_racy", kernel=leaves("leader"), prose="The leader of a pair has ended, and its barrier with it, when the other block copies.",
               findings=(found("PEER_LIFETIME", "copy"), found("COLL_MISMATCH", "copy", "copy"), found("USE_AFTER_SCOPE", "copy"),
                         found("NOT_AWAITED", "copy"), found("BAR_PENDING", "/run_scoped")), **two)
    yield Case("174_pair_leaves_other_racy", kernel=leaves("other"), prose="The block that is not the leader ends while its part may be on its way.",
               findings=(found("USE_AFTER_SCOPE", "copy"),), **two)
    arrive = {"spec": ARRIVE, **B200}
    yield Case("175_leader_barrier_clean", kernel=heard(""), prose="Both blocks arrive at a cluster barrier that only the leader waits for.", outputs={"o": ROWS}, **arrive)
    yield Case("175_leader_barrier_waits_racy", kernel=heard("waits"), prose="The other block waits for its own part of a cluster barrier that only the leader can wait for.",
               findings=(found("DEADLOCK", "wait"),), **arrive)
    yield Case("175_leader_barrier_one_racy", kernel=heard("one"), prose="One of two blocks does not arrive at the leader's barrier.",
               findings=(found("DEADLOCK", "wait"),), **arrive)
