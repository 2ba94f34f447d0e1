"""001 to 007: shared memory between the threads of a block, and between the warps of one thread."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, clean_and_racy, found, kernel, ty

ROW = ty(LANES)
IOTA = np.arange(LANES, dtype=np.int32)
SPEC = "gpu-order.md#threads"


def thread(index):
    return pl.when(lax.axis_index("wg") == index)


def two_writers(racy):
    def body(x_ref, o_ref, smem, first, both):
        @thread(0)
        def _():
            smem[...] = x_ref[...] + 1  #@ A
            if not racy:
                plgpu.barrier_arrive(first)
            plgpu.barrier_arrive(both)

        @thread(1)
        def _():
            if not racy:
                plgpu.barrier_wait(first)
            smem[...] = x_ref[...] + 2  #@ B
            plgpu.barrier_arrive(both)
            plgpu.barrier_wait(both)
            o_ref[...] = x_ref[...] if racy else smem[...]

    return kernel(body, ROW, out=ROW, scratch={"smem": plgpu.SMEM((LANES,), I32), "first": plgpu.Barrier(), "both": plgpu.Barrier(num_arrivals=2)})


def handoff(mistake):
    """`mistake`: "" for none, "late": the wait comes after the read, "index": it is for another barrier."""
    def body(x_ref, o_ref, smem, seen, full):
        @thread(0)
        def _():
            plgpu.barrier_arrive(full.at[1])
            smem[...] = x_ref[...] + 1  #@ A
            plgpu.barrier_arrive(full.at[0])

        @thread(1)
        def _():
            if mistake == "":
                plgpu.barrier_wait(full.at[0])
            if mistake != "late":
                plgpu.barrier_wait(full.at[1])
            seen[...] = smem[...]  #@ get:B
            if mistake != "":
                plgpu.barrier_wait(full.at[0])
            if mistake == "late":
                plgpu.barrier_wait(full.at[1])
            o_ref[...] = x_ref[...] if mistake else seen[...]

    smem = plgpu.SMEM((LANES,), I32)
    return kernel(body, ROW, out=ROW, scratch={"smem": smem, "seen": smem, "full": plgpu.Barrier(num_barriers=2)})


def halves(racy):
    def body(x_ref, o_ref, smem, both):
        for index in range(2):
            @thread(index)
            def _(index=index):
                end = 6 if racy and index == 0 else 4 * index + 4
                smem[:, 4 * index : end] = jnp.full((LANES, end - 4 * index), 7 + (0 if racy else index), I32)  #@ A
                plgpu.barrier_arrive(both)

        @thread(1)
        def _():
            plgpu.barrier_wait(both)
            o_ref[...] = smem[...] + x_ref[...]

    shape = ty(LANES, 8)
    return kernel(body, shape, out=shape, scratch={"smem": plgpu.SMEM((LANES, 8), I32), "both": plgpu.Barrier(num_arrivals=2)})


def union(mistake):
    """Two members of a union share bytes; members of one group do not."""
    def body(x_ref, o_ref, members, done):
        (one, beside), other = members

        @thread(0)
        def _():
            one[...] = x_ref[...] + 1  #@ A
            if mistake != "unordered":
                plgpu.barrier_arrive(done)

        @thread(1)
        def _():
            if mistake == "group":
                beside[...] = x_ref[...] + 2
            if mistake != "unordered":
                plgpu.barrier_wait(done)
            if mistake != "group":
                other[...] = x_ref[...] + 2  #@ B
            o_ref[...] = {"": other, "group": beside, "unordered": x_ref}[mistake][...]

    smem = plgpu.SMEM((LANES,), I32)
    return kernel(body, ROW, out=ROW, scratch={"members": plgpu.RefUnion([smem, smem], smem), "done": plgpu.Barrier()})


def warps(racy):
    def body(x_ref, o_ref, smem, seen, done):
        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            warp = lax.axis_index("warp")

            @pl.when(warp == 0)
            def _():
                smem[0] = x_ref[5]  #@ A
                if not racy:
                    plgpu.barrier_arrive(done)

            @pl.when(warp == 3)
            def _():
                if not racy:
                    plgpu.barrier_wait(done)
                seen[0] = smem[0]  #@ get:B

        o_ref[...] = x_ref[...] if racy else x_ref[...] + seen[0]

    smem = plgpu.SMEM((1,), I32)
    return kernel(body, ROW, out=ROW, threads=None, scratch={"smem": smem, "seen": smem, "done": plgpu.Barrier()})


def ring(stages, steps, pressure=True, wrong_slot=False, barrier_each=True):
    """A queue from thread 0 to thread 1. `barrier_each`: one barrier for each step, so that data alone can be early."""
    plain = pressure and not wrong_slot

    def body(x_ref, o_ref, queue, seen, produced, consumed):
        @thread(0)
        def _():
            def step(i, _):
                slot = lax.rem(i, stages)
                if pressure:
                    @pl.when(i >= stages)
                    def _():
                        plgpu.barrier_wait(consumed.at[slot])
                queue[slot] = x_ref[...] + i  #@ write
                plgpu.barrier_arrive(produced.at[i if barrier_each else slot])  #@ arrive

            lax.fori_loop(0, steps, step, None)

        @thread(1)
        def _():
            def step(i, _):
                slot = lax.rem(i, stages)
                plgpu.barrier_wait(produced.at[i if barrier_each else slot])  #@ wait
                seen[...] = queue[lax.rem(i, stages + 1) if wrong_slot else slot]  #@ get:read
                if plain:
                    o_ref[i] = seen[...]
                if pressure:
                    @pl.when(i < steps - stages)
                    def _():
                        plgpu.barrier_arrive(consumed.at[slot])

            lax.fori_loop(0, steps, step, None)
            if not plain:
                o_ref[...] = jnp.zeros((steps, LANES), I32)

    return kernel(body, ROW, out=ty(steps, LANES), scratch={
        "queue": plgpu.SMEM((stages + 1, LANES), I32), "seen": plgpu.SMEM((LANES,), I32),
        "produced": plgpu.Barrier(num_barriers=steps if barrier_each else stages), "consumed": plgpu.Barrier(num_barriers=stages)})


def rings():
    for stages in range(2, 7):
        steps = stages + 3
        out = {"o": IOTA[None] + np.arange(steps, dtype=np.int32)[:, None]}
        about = f"A queue of {stages} slots between two threads."
        common = {"spec": SPEC, "inputs": {"x": "iota"}}
        yield Case(f"006_ring_no_backpressure_{stages}_clean", kernel=ring(stages, steps), outputs=out,
                   prose=f"{about} The producer waits until a slot has been consumed.", **common)
        yield Case(f"006_ring_no_backpressure_{stages}_racy", kernel=ring(stages, steps, pressure=False),
                   prose=f"{about} The producer does not wait until a slot has been consumed, and laps the consumer.",
                   findings=(found("RACE_RW", "write", "read"),), **common)
        yield Case(f"007_ring_wrong_slot_{stages}_racy", kernel=ring(stages, 2 * stages + 2, wrong_slot=True),
                   prose=f"{about} The consumer reads slot i modulo one too many.", findings=(found("RACE_RW", "write", "read"),), **common)
    yield Case("006_ring_no_backpressure_barriers_racy", kernel=ring(2, 5, pressure=False, barrier_each=False),
               prose="The producer laps the consumer, and completes a barrier twice without a wait between.",
               findings=(found("RACE_RW", "write", "read"), found("BAR_DOUBLE", "arrive", "arrive"), found("BAR_DOUBLE", "arrive", "wait"),
                         found("DEADLOCK", "wait")), **common)
    yield Case("007_ring_wrong_slot_clean", kernel=ring(2, 5, barrier_each=False), outputs={"o": IOTA[None] + np.arange(5, dtype=np.int32)[:, None]},
               prose="Slots and barriers of one ring: i modulo the number of slots on both sides.", **common)


def cases():
    given = {"spec": SPEC, "inputs": {"x": "iota"}}
    yield from clean_and_racy("001_smem_ww_two_threads", "Two threads of a block store into the same shared memory.", two_writers,
                              (found("RACE_WW", "A", "B"),), outputs={"o": IOTA + 2}, **given)
    yield Case("002_smem_rw_handoff_clean", kernel=handoff(""), outputs={"o": IOTA + 1},
               prose="A thread reads what another wrote after a barrier that the writer arrived at.", **given)
    yield Case("002_smem_rw_handoff_late_racy", kernel=handoff("late"), findings=(found("RACE_RW", "A", "B"),),
               prose="The reader waits for the barrier after it has read.", **given)
    yield Case("002_smem_rw_handoff_index_racy", kernel=handoff("index"), findings=(found("RACE_RW", "A", "B"),),
               prose="The reader waits for another barrier of the array before it reads.", **given)
    shape = {"spec": SPEC, "inputs": {"x": "full(0)"}}
    columns = np.tile(np.array([7] * 4 + [8] * 4, np.int32), (LANES, 1))
    yield Case("003_smem_disjoint_columns_clean", kernel=halves(False), outputs={"o": columns},
               prose="Two threads store interleaved halves of a buffer's rows: no byte is stored twice.", **shape)
    yield Case("003_smem_disjoint_columns_racy", kernel=halves(True), findings=(found("RACE_WW", "A#0", "A#1"),),
               prose="The halves overlap by two columns.", **shape)
    yield Case("004_smem_union_alias_clean", kernel=union(""), outputs={"o": IOTA + 2},
               prose="Two members of a RefUnion have the same bytes; a barrier orders the stores.", **given)
    yield Case("004_smem_union_alias_group_clean", kernel=union("group"), outputs={"o": IOTA + 2},
               prose="Members of one group of a RefUnion lie beside one another: unordered stores do not meet.", **given)
    yield Case("004_smem_union_alias_racy", kernel=union("unordered"), findings=(found("RACE_WW", "A", "B"),), outputs={},
               prose="Two members of a RefUnion have the same bytes, and two threads store to them unordered.", **given)
    yield from clean_and_racy("005_warp_mesh_share", "A warp reads what another warp of the same thread wrote.", warps,
                              (found("RACE_RW", "A", "B"),), outputs={"o": IOTA + 5}, **given)
    yield from rings()
