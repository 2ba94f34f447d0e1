"""What the pipeline of a TPU kernel may do at the same time: block copies beside each other, beside the body's own
copies and beside index maps, with one buffer or two; the same findings whatever else the kernel does."""

import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

STEPS, ROWS = 6, 8
ANY = pl.BlockSpec(memory_space=pl.ANY)


def codes(f, *args, target="v5e", seeds=4):
    """Without NONDET beside a hazard: that schedules show what a copy may find follows from it."""
    found = {finding.code for finding in palladion.check(f, *args, target=target, seeds=seeds).findings}
    return sorted(found - {"NONDET"} if len(found) > 1 else found)


def block(index_map, buffers=2):
    return pl.BlockSpec((ROWS, 128), index_map, pipeline_mode=pl.Buffered(buffers))


def rows(k):
    return pl.ds(pl.multiple_of(k * ROWS, ROWS), ROWS)


# ---- blocks of arrays that an input and an output share


def in_place(beside, buffers):
    """Program i adds steps[i] to block reads[i] of an array and writes block writes[i] of it."""

    def kernel(reads, writes, steps, x_ref, w_ref, o_ref, *rest):
        if beside == "DMA":
            pltpu.sync_copy(w_ref, rest[0])
        if beside == "semaphore":
            pl.semaphore_signal(rest[1])
            pl.semaphore_wait(rest[1])
        o_ref[...] = x_ref[...] + steps[pl.program_id(0)]

    scratch = [pltpu.VMEM((ROWS, 128), jnp.int32), pltpu.SemaphoreType.REGULAR]
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=3,
        grid=(STEPS,),
        scratch_shapes=[] if beside == "nothing" else scratch,
        in_specs=[block(lambda i, reads, *_: (reads[i], 0), buffers[0]), ANY],
        out_specs=block(lambda i, _, writes, __: (writes[i], 0), buffers[1]),
    )
    shape = jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.int32)
    return pl.pallas_call(kernel, grid_spec=spec, out_shape=shape, input_output_aliases={3: 0})


def fetch_may_miss_a_flush(reads, writes, buffers):
    """By what is written down of the order of fetches and flushes, with a number for a block."""
    window = buffers[0] + buffers[1] - 2
    flushed = []
    for s in range(STEPS):
        if (s == 0 or reads[s] != reads[s - 1]) and any(t >= s - window and at == reads[s] for t, at in flushed):
            return True  # with these operands or others
        if s + 1 < STEPS and writes[s + 1] != writes[s]:
            flushed.append((s, writes[s]))
    return False


@pytest.mark.parametrize("buffers", [(2, 2), (1, 2), (2, 1), (1, 1)], ids=str)
def test_random_blocks_in_place_beside_anything(buffers):
    choose = random.Random(str(buffers))
    x, w = np.zeros((STEPS * ROWS, 128), np.int32), np.ones((ROWS, 128), np.int32)
    found = 0
    for _ in range(15):
        # Blocks are written in order: one that is left and visited again is another mistake.
        writes = sorted(choose.randrange(STEPS) for _ in range(STEPS))
        reads = [choose.choice((*writes[max(0, s - 3) : s], choose.randrange(STEPS))) for s in range(STEPS)]
        steps = [choose.randrange(2) for _ in range(STEPS)]
        tables = [np.array(table, np.int32) for table in (reads, writes, steps)]
        expected = ["ALIAS"] if fetch_may_miss_a_flush(reads, writes, buffers) else []
        found += len(expected)
        for beside in ("nothing", "DMA", "semaphore"):
            assert codes(in_place(beside, buffers), *tables, x, w, seeds=2) == expected, (beside, reads, writes, steps)
    assert buffers == (1, 1) or found > 3


def doubled(reads, writes=lambda i: i, kept=False):
    """Program i doubles block reads(i) into block writes(i), or hands it on as it is."""

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] if kept else x_ref[...] * 2

    return pl.pallas_call(
        kernel,
        grid=(STEPS,),
        in_specs=[block(lambda i: (reads(i), 0))],
        out_specs=block(lambda i: (writes(i), 0)),
        out_shape=jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.float32),
        input_output_aliases={0: 0},
    )


ZEROS = np.zeros((STEPS * ROWS, 128), np.float32)


def test_zeros_do_not_hide_that_a_fetch_may_miss_a_flush():
    report = palladion.check(doubled(lambda i: jnp.maximum(i - 1, 0)), ZEROS, target="v5e", seeds=2)
    (finding,) = report.findings
    assert (report.verdict, finding.code, finding.severity, finding.confidence) == (
        "defect",
        "ALIAS",
        "defect",
        "predicted",
    )
    assert "these operands hide it" in finding.message


def test_a_flush_that_never_changes_what_is_fetched_is_not_proved():
    turns = lambda i: jax.lax.rem(i, 2)
    report = palladion.check(doubled(turns, turns, kept=True), ZEROS, target="v5e", seeds=2)
    assert report.verdict == "clean"
    assert [(f.code, f.severity) for f in report.findings] == [("ALIAS", "note")]
    assert "not proved: two accesses of one element, at least one of them a write" in " ".join(str(report).split())


@pytest.mark.parametrize("reads", [lambda i: i, lambda i: jnp.maximum(i - 3, 0)], ids=["its own", "one long flushed"])
def test_zeros_in_place_stay_proved(reads):
    report = palladion.check(doubled(reads), ZEROS, target="v5e", seeds=2)
    assert (report.verdict, report.findings) == ("proved", [])


# ---- blocks, and the body's own copies, of one array


def running_sum(back, buffers=2, stored=1.0):
    """Program i adds to block i - back, which it reads by a copy of its own."""

    def kernel(x_ref, o_ref, got, sem):
        at = jax.lax.rem(pl.program_id(0) + STEPS - back, STEPS)  # the first ones read what is written after them
        pltpu.async_copy(x_ref.at[rows(at)], got, sem).wait()
        o_ref[...] = got[...] + stored

    return pl.pallas_call(
        kernel,
        grid=(STEPS,),
        in_specs=[ANY],
        out_specs=block(lambda i: (i, 0), buffers),
        out_shape=jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.float32),
        input_output_aliases={0: 0},
        scratch_shapes=[pltpu.VMEM((ROWS, 128), jnp.float32), pltpu.SemaphoreType.DMA],
    )


def hand_on(ahead, buffers=2):
    """Program i copies ten times its block to block i + ahead, which a later program fetches."""

    def kernel(x_ref, o_ref, sent, sem):
        i = pl.program_id(0)
        sent[...] = x_ref[...] * 10

        @pl.when(i + ahead < STEPS)
        def _():
            pltpu.async_copy(sent, o_ref.at[rows(i + ahead)], sem).wait()

    return pl.pallas_call(
        kernel,
        grid=(STEPS,),
        in_specs=[block(lambda i: (i, 0), buffers)],
        out_specs=ANY,
        out_shape=jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.float32),
        input_output_aliases={0: 0},
        scratch_shapes=[pltpu.VMEM((ROWS, 128), jnp.float32), pltpu.SemaphoreType.DMA],
    )


@pytest.mark.parametrize("target", ["v5e", "v5p"])
@pytest.mark.parametrize(
    "kernel, expected",
    [
        (running_sum(1), ["RACE_ASYNC"]),
        (running_sum(2), []),
        (running_sum(1, buffers=1), []),
        (running_sum(1, stored=0.0), ["RACE_ASYNC"]),  # of ones, what goes back is what was there
        (hand_on(1), ["RACE_ASYNC"]),
        (hand_on(2), []),
        (hand_on(0), []),
        (hand_on(1, buffers=1), []),
    ],
    ids=["last", "one before", "last, one buffer", "last, unchanged", "next", "one after", "own", "next, one buffer"],
)
def test_a_copy_of_the_body_beside_those_of_blocks(kernel, expected, target):
    assert codes(kernel, np.ones((STEPS * ROWS, 128), np.float32), target=target) == expected


def test_ones_do_not_hide_a_copy_beside_a_flush():
    report = palladion.check(running_sum(1, stored=0.0), np.ones_like(ZEROS), target="v5e", seeds=2)
    (finding,) = report.findings
    assert (finding.code, finding.severity, finding.confidence) == ("RACE_ASYNC", "defect", "predicted")


def test_the_words_for_a_copy_beside_a_flush():
    report = palladion.check(running_sum(1), np.ones((STEPS * ROWS, 128), np.float32), target="v5e", seeds=1)
    (finding,) = report.findings
    assert "the pipeline of" in finding.message
    assert "pl.Buffered(1)" in finding.fix


# ---- index maps that read what bodies store


def follow(at, value, which="input", stores=True):
    """Program i stores `value` into entry i + at of the table that says which block comes next."""

    def kernel(table, spare, x_ref, o_ref):
        i = pl.program_id(0)
        into = table if stores else spare

        @pl.when((i + at >= 0) & (i + at < STEPS))
        def _():
            into[i + at] = value(i + at)

        o_ref[...] = x_ref[...]

    maps = [lambda i, table, _: (table[i], 0), lambda i, *_: (i, 0)]
    if which == "output":
        maps.reverse()
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=2, grid=(STEPS,), in_specs=[block(maps[0])], out_specs=block(maps[1])
    )
    return pl.pallas_call(kernel, grid_spec=spec, out_shape=jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.float32))


REVERSED = lambda k: STEPS - 1 - k
SAME = lambda k: k


def checked(kernel):
    table = np.arange(STEPS, dtype=np.int32)
    x = np.repeat(np.arange(STEPS, dtype=np.float32), ROWS * 128).reshape(STEPS * ROWS, 128)
    return palladion.check(kernel, table, table, x, target="v5e", seeds=4)


@pytest.mark.parametrize("which", ["input", "output"])
def test_a_store_that_the_next_index_map_reads_depends_on_the_pipeline(which):
    found = [f for f in checked(follow(1, REVERSED, which)).findings if f.code == "RACE_RW"]
    assert [(f.severity, f.confidence) for f in found] == [("defect", "policy-dependent")]


@pytest.mark.parametrize("at", [0, -1])
def test_a_store_over_what_index_maps_have_read_is_not_proved(at):
    report = checked(follow(at, REVERSED))
    assert report.verdict == "clean"
    assert [(f.code, f.severity) for f in report.findings] == [("RACE_RW", "note")]


def test_a_store_of_what_the_next_index_map_finds_anyway_is_not_proved():
    report = checked(follow(1, SAME))
    assert report.verdict == "clean"
    assert [(f.code, f.severity) for f in report.findings] == [("RACE_RW", "note")]


@pytest.mark.parametrize(
    "kernel",
    [follow(2, REVERSED), follow(-2, REVERSED), follow(1, REVERSED, stores=False)],
    ids=["two ahead", "two behind", "what no map reads"],
)
def test_other_stores_to_prefetched_operands_are_proved(kernel):
    report = checked(kernel)
    assert (report.verdict, report.findings) == ("proved", [])


# ---- a block that the body's own copy sends


@functools.cache
def sends_its_block(after_store, buffers=2):
    def kernel(x_ref, o_ref, sent, sem):
        i = pl.program_id(0)

        def copy(j):
            return pltpu.make_async_copy(o_ref, sent.at[rows(j)], sem.at[j % 2])

        def wait():
            pl.when(i > 0)(lambda: copy(jnp.maximum(i - 1, 0)).wait())

        if not after_store:
            wait()
        o_ref[...] = x_ref[...] + 1
        if after_store:
            wait()
        copy(i).start()
        pl.when(i == STEPS - 1)(lambda: copy(i).wait())

    shape = jax.ShapeDtypeStruct((STEPS * ROWS, 128), jnp.float32)
    return pl.pallas_call(
        kernel,
        grid=(STEPS,),
        in_specs=[block(lambda i: (i, 0))],
        out_specs=[block(lambda i: (i, 0), buffers), ANY],
        out_shape=[shape, shape],
        scratch_shapes=[pltpu.SemaphoreType.DMA((2,))],
    )


@pytest.mark.parametrize("buffers", [1, 2])
def test_an_output_block_is_sent_until_the_next_program_stores(buffers):
    x = np.ones((STEPS * ROWS, 128), np.float32)
    assert codes(sends_its_block(False, buffers), x, seeds=16) == []
    assert "RACE_ASYNC" in codes(sends_its_block(True, buffers), x, seeds=16)


# ---- blocks of pltpu.emit_pipeline


def emitted(grid, x_map, o_map, body):
    def kernel(x_hbm, o_hbm):
        pltpu.emit_pipeline(
            body, grid=grid, in_specs=[pl.BlockSpec((8, 128), x_map)], out_specs=[pl.BlockSpec((8, 128), o_map)]
        )(x_hbm, o_hbm)

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((24, 128), jnp.float32), in_specs=[ANY], out_specs=ANY)


def summed(dim):
    def body(x_ref, o_ref):
        pl.when(pl.program_id(dim) == 0)(lambda: o_ref.__setitem__(..., jnp.zeros_like(o_ref)))
        o_ref[...] += x_ref[...]

    return body


def copied(x_ref, o_ref):
    o_ref[...] = x_ref[...]


@pytest.mark.parametrize("name, expected", [("outside", ["OUT_REVISIT"]), ("inside", []), ("written anew", [])])
def test_output_blocks_of_an_emitted_pipeline(name, expected):
    outside = (4, 3), lambda j, i: (i, j), lambda j, i: (i, 0)
    inside = (3, 4), lambda i, j: (i, j), lambda i, j: (i, 0)
    kernel = {
        "outside": lambda: emitted(*outside, summed(0)),
        "inside": lambda: emitted(*inside, summed(1)),
        "written anew": lambda: emitted(*outside, copied),
    }[name]()
    assert codes(kernel, np.ones((24, 512), np.float32), target="v6e") == expected
