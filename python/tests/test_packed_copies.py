"""Copies (DMA) of a TPU through views that bitcast to or from elements of less than a byte: numbers, and races by
bytes.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from test_packed_views import I4, P, W, bits
from test_said_without_being_asked import command

ANYWHERE = pl.BlockSpec(memory_space=pl.ANY)
WORDS, NIBBLES = (W.shape, jnp.int32), (P.shape, jnp.int4)


def checked(kernel, x, out, scratch=(), **options):
    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(*out),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[*scratch, pltpu.SemaphoreType.DMA((2,))],
    )
    return palladion.check(call, x, target="v5e", seeds=8, **options)


def copies(source, destination):
    def kernel(x, o, sems):
        pltpu.async_copy(source(x), destination(o), sems.at[0]).wait()

    return kernel


def as_it_is(ref):
    return ref


def seen_as(dtype):
    return lambda ref: ref.bitcast(dtype)


@pytest.mark.parametrize(
    "kernel, x, out, expected",
    [
        (copies(seen_as(jnp.int4), as_it_is), W, NIBBLES, P),
        (copies(as_it_is, seen_as(jnp.int4)), I4, WORDS, W),
        (copies(seen_as(jnp.int32), as_it_is), I4, WORDS, W),
        (copies(as_it_is, seen_as(jnp.int32)), W, NIBBLES, P),
        (copies(seen_as(jnp.int4), seen_as(jnp.int4)), W, WORDS, W),
        (copies(seen_as(jnp.uint4), seen_as(jnp.uint4)), I4, NIBBLES, P),
        (copies(seen_as(jnp.int8), seen_as(jnp.int8)), I4, WORDS, W),
    ],
)
def test_both_sides(kernel, x, out, expected):
    report = checked(kernel, x, out)
    np.testing.assert_array_equal(bits(report.results), expected)
    assert report.findings == [], report


def test_slices_and_a_computed_row():
    def kernel(x, o, sems):
        @pl.loop(0, 2)
        def _(i):
            rows = pl.ds(pl.multiple_of(64 * i, 64), 64)
            back = pl.ds(pl.multiple_of(64 - 64 * i, 64), 64)
            pltpu.sync_copy(x.bitcast(jnp.int4).at[rows], o.at[back])

    report = checked(kernel, W, NIBBLES)
    np.testing.assert_array_equal(bits(report.results), np.concatenate([P[64:], P[:64]]))
    assert report.findings == [], report


def test_a_semaphore_counts_the_bytes_whatever_shows_them():
    """What was started as nibbles is awaited as words."""

    def kernel(x, o, sems):
        pltpu.make_async_copy(x.bitcast(jnp.int4), o.bitcast(jnp.int4), sems.at[0]).start()
        pltpu.make_async_copy(x, o, sems.at[0]).wait()

    report = checked(kernel, W, WORDS)
    np.testing.assert_array_equal(report.results, W)
    assert report.findings == [], report


def codes(report):
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize("first, expected", [(64, set()), (56, {"RACE_WW"})])
def test_races_are_of_bytes(first, expected):
    """Words 8 to 15 are written beside nibbles from row `first` on; row 64 is the first of word 8."""

    def kernel(x, o, sems):
        nibbles = pl.ds(0, 64) if not expected else pl.ds(first, 16)
        copy = pltpu.make_async_copy(x.bitcast(jnp.int4).at[nibbles], o.bitcast(jnp.int4).at[nibbles], sems.at[0])
        words = pltpu.make_async_copy(x.at[pl.ds(0, 8)], o.at[pl.ds(8, 8)], sems.at[1])
        copy.start()
        words.start()
        copy.wait()
        words.wait()
        pltpu.sync_copy(x, o)

    report = checked(kernel, W, WORDS, legality="off")
    assert codes(report) - {"NONDET"} == expected, report


@pytest.mark.parametrize("row, expected", [(0, set()), (1, {"RACE_ASYNC"})])
def test_a_load_beside_a_copy_through_the_other_view(row, expected):
    """The copy writes the words of row 1 of a scratch as nibbles; a load of row 0 is of other bytes."""

    def kernel(x, o, words, out, sems):
        words[...] = jnp.zeros_like(words)
        copy = pltpu.make_async_copy(
            x.bitcast(jnp.int4).at[pl.ds(8, 8)], words.bitcast(jnp.int4).at[pl.ds(8, 8)], sems.at[0]
        )
        copy.start()
        out[...] = jnp.broadcast_to(words[pl.ds(row, 1)], out.shape)
        copy.wait()
        pltpu.sync_copy(out, o)

    scratch = [pltpu.VMEM((8, 128), jnp.int32), pltpu.VMEM(W.shape, jnp.int32)]
    assert codes(checked(kernel, W, WORDS, scratch, legality="off")) - {"NONDET"} == expected


def test_a_half_of_a_byte_is_refused():
    def kernel(x, o, sems):
        odd = pl.ds(0, 65)
        pltpu.async_copy(x.bitcast(jnp.int4).at[odd], o.bitcast(jnp.int4).at[odd], sems.at[0]).wait()

    message = r"(?s)test_packed_copies.py:\d+.*a copy writes parts of bytes: 'o', whose elements are i32, is seen as i4"
    with pytest.raises(palladion.PalladionError, match=message) as caught:
        palladion.run(
            pl.pallas_call(
                kernel,
                out_shape=jax.ShapeDtypeStruct(*WORDS),
                in_specs=[ANYWHERE],
                out_specs=ANYWHERE,
                scratch_shapes=[pltpu.SemaphoreType.DMA((2,))],
            ),
            W,
            target="v5e",
            legality="off",
        )
    assert caught.value.code == 3


def test_what_lies_outside():
    def kernel(x, o, sems):
        start = jnp.int32(96) + 8 * x.shape[0] // 16
        pltpu.async_copy(
            x.bitcast(jnp.int4).at[pl.ds(start, 64)], o.bitcast(jnp.int4).at[pl.ds(0, 64)], sems.at[0]
        ).wait()
        pltpu.sync_copy(x.at[pl.ds(8, 8)], o.at[pl.ds(8, 8)])

    assert "OOB" in codes(checked(kernel, W, WORDS, legality="off"))


def test_what_was_never_written_stays_so():
    """A half of the nibbles of each word is undefined: so is the word."""

    def kernel(x, o, words, sems):
        pltpu.sync_copy(x.bitcast(jnp.int4).at[pl.ds(0, 64)], words.bitcast(jnp.int4).at[pl.ds(0, 64)])
        pltpu.sync_copy(words, o)

    report = checked(kernel, W, WORDS, [pltpu.VMEM(W.shape, jnp.int32)])
    assert codes(report) & {"UNINIT", "OUT_MISSING"}, report


def test_why_does_not_name_a_wrong_element(tmp_path):
    """The bytes that a copy reads and the elements that it writes are not one for one here."""
    call = pl.pallas_call(
        copies(seen_as(jnp.int4), as_it_is),
        out_shape=jax.ShapeDtypeStruct(*NIBBLES),
        in_specs=[ANYWHERE],
        out_specs=ANYWHERE,
        scratch_shapes=[pltpu.SemaphoreType.DMA((2,))],
    )
    (tmp_path / "k.pkir").write_text(palladion.export(call, W, target="v5e"), encoding="utf-8")
    done = command("why", "k.pkir", "--in", "x=iota", "--element", "o[64,0]", cwd=tmp_path)
    assert done.returncode == 0 and "bits of elements of x, which a view of the copy shows" in done.stdout, done
