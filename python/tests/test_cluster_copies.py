"""Copies that the blocks of a cluster make together, on barriers that count bytes. Random kernels: whatever is proved
from one schedule has NumPy's numbers under every seed, and no seed speaks against it; and each mistake by itself is
found, where its right twin is proved.
"""

import dataclasses
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion

F32 = jnp.float32
COLUMNS = 128
CHIP = "mosaic_gpu/h100"


@dataclasses.dataclass(frozen=True)
class Plan:
    """Each round loads `loads` rows, "all" by all blocks together or "own" by each for itself, on one barrier for the
    round or one for each.
    """

    blocks: int
    rounds: int
    loads: tuple
    slots: int  # of shared memory and barriers, by turns
    one_barrier: bool
    meets: tuple  # rounds after which the blocks meet
    waits: tuple  # blocks that wait before they read; the others wait after


def drawn(seed):
    choose = random.Random(seed)
    blocks, rounds = choose.choice([2, 2, 4]), choose.choice([2, 3])
    loads = tuple(choose.choice(["all", "all", "own"]) for _ in range(choose.choice([1, 2])))
    slots = choose.choice([1, 2, rounds])
    every = tuple(range(rounds))
    meets = choose.choice([every, every, tuple(i for i in every if choose.random() < 0.6)])
    waits = tuple(range(blocks)) if choose.random() < 0.8 else (0,)
    return Plan(blocks, rounds, loads, slots, choose.random() < 0.6, meets, waits)


def kernel_of(plan):
    barriers = 1 if plan.one_barrier else len(plan.loads)

    def body(x, o, smem, full, pair):
        me = lax.axis_index("c")

        def meet():
            plgpu.barrier_arrive(pair)
            plgpu.barrier_wait(pair)

        def wait(slot):
            for b in range(barriers):
                plgpu.barrier_wait(full.at[slot * barriers + b])

        for i in range(plan.rounds):
            slot = i % plan.slots
            for k, load in enumerate(plan.loads):
                barrier = full.at[slot * barriers + (0 if plan.one_barrier else k)]
                row = x.at[i, k, plan.blocks if load == "all" else me]
                plgpu.copy_gmem_to_smem(row, smem.at[slot, k], barrier, collective_axes="c" if load == "all" else None)
            waits_first = len(plan.waits) == plan.blocks
            if waits_first:
                wait(slot)
            else:
                pl.when(me == 0)(lambda slot=slot: wait(slot))
                meet()
            for k in range(len(plan.loads)):
                o[me, i, k] = smem[slot, k] * 2
            if not waits_first:
                pl.when(me != 0)(lambda slot=slot: wait(slot))
            plgpu.commit_smem()
            if i in plan.meets:
                meet()

    arrivals = len(plan.loads) if plan.one_barrier else 1
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((plan.blocks, plan.rounds, len(plan.loads), COLUMNS), F32),
        cluster=(plan.blocks,),
        cluster_names=("c",),
        scratch_types=[
            plgpu.SMEM((plan.slots, len(plan.loads), COLUMNS), F32),
            plgpu.Barrier(num_arrivals=arrivals, num_barriers=plan.slots * barriers),
            plgpu.ClusterBarrier(collective_axes=("c",)),
        ],
    )


def check(plan, **options):
    x = np.random.default_rng(0).random((plan.rounds, len(plan.loads), plan.blocks + 1, COLUMNS), np.float32)
    report = palladion.check(kernel_of(plan), x, target=CHIP, **options)
    shared = np.array([load == "all" for load in plan.loads])
    expected = np.stack(
        [np.where(shared[None, :, None], x[:, :, plan.blocks], x[:, :, block]) * 2 for block in range(plan.blocks)]
    )
    return report, np.array_equal(np.asarray(jax.tree.leaves(report.results)[0]), expected)


def codes(report):
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize("seed", range(24))
def test_what_is_proved_holds_under_every_seed(seed):
    plan = drawn(seed)
    first, right = check(plan, seeds=1)
    every, right_again = check(plan, seeds=48, all_seeds=True)
    assert first.verdict in ("proved", "clean", "defect"), plan
    if first.verdict == "proved":
        assert right and right_again, plan
        assert every.verdict == "proved", (plan, codes(every))
    is_right = len(plan.meets) == plan.rounds and len(plan.waits) == plan.blocks
    if is_right and plan.blocks == 2:  # of more, a cluster barrier's arrivals may be late: at best clean
        assert first.verdict == "proved", (plan, codes(first))
    if every.verdict == "nondeterministic" or "NONDET" in codes(every):
        assert first.verdict == "defect", plan


TOGETHER = Plan(2, 2, ("all", "own"), 1, True, (0, 1), (0, 1))


def test_one_barrier_for_what_all_load_and_what_each_loads():
    report, right = check(TOGETHER, seeds=16)
    assert report.verdict == "proved" and right
    for seeds in (1, 16):
        wrong, _ = check(dataclasses.replace(TOGETHER, meets=()), seeds=seeds)
        # Where the other block's bytes complete a phase, the block may also wait for ever for those of the next.
        assert wrong.verdict == "defect" and codes(wrong) & {"BAR_BYTES", "DEADLOCK"}
    assert "BAR_BYTES" in codes(check(dataclasses.replace(TOGETHER, meets=()), seeds=32)[0])


def test_bytes_of_the_next_copy_in_another_slot():
    plan = Plan(2, 2, ("all",), 2, True, (0, 1), (0, 1))
    assert check(plan, seeds=16)[0].verdict == "proved"
    assert (
        check(dataclasses.replace(plan, meets=()), seeds=16)[0].verdict == "proved"
    )  # each slot has a barrier of its own


def test_a_block_that_waits_for_nothing_of_its_own():
    plan = Plan(2, 1, ("all",), 1, True, (0,), (0,))
    for seeds in (1, 32):
        wrong, _ = check(plan, seeds=seeds)
        assert wrong.verdict == "defect" and "RACE_ASYNC" in codes(wrong)
    assert check(dataclasses.replace(plan, waits=(0, 1)), seeds=32)[0].verdict == "proved"
