"""Refs that a TPU kernel sees as elements of less than a byte, and refs of such elements that it sees as wider ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion

W = np.random.default_rng(1).integers(-(2**31), 2**31 - 1, (16, 128)).astype(np.int32)


def pieces(words):
    """The nibbles of words: row r * k + j is piece j of row r."""
    unsigned = words.view(f"u{words.itemsize}")
    parts = [(unsigned >> (4 * j)) & 15 for j in range(2 * words.itemsize)]
    return np.stack(parts, 1).reshape(-1, words.shape[1]).astype(np.uint8)


def bits(x):
    """Of 4-bit elements, as numbers."""
    x = np.asarray(x)
    return x.view(np.uint8) & 15 if x.dtype.itemsize == 1 else x


P = pieces(W)
I4 = jnp.asarray(np.where(P > 7, P.astype(int) - 16, P).astype(np.int8)).astype(jnp.int4)


def result(kernel, x, shape, dtype):
    with palladion.emulate("v5e", seeds=2) as session:
        out = jax.jit(pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(shape, dtype)))(x)
    assert not session.report.findings, session.report
    return bits(out)


def loads(at, dtype, before=slice(None)):
    """A kernel that loads `at` of its input, seen as dtype."""

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref.at[before].bitcast(dtype)[at]

    return kernel


@pytest.mark.parametrize("dtype", [jnp.int4, jnp.uint4, jnp.float4_e2m1fn])
@pytest.mark.parametrize("at", [slice(None), slice(16, 24), slice(13, 22)])
def test_words_seen_as_nibbles(dtype, at):
    expected = P[at]
    np.testing.assert_array_equal(result(loads(at, dtype), W, expected.shape, dtype), expected)


def test_the_index_before_the_bitcast():
    np.testing.assert_array_equal(result(loads(slice(None), jnp.int4, slice(8, 16)), W, (64, 128), jnp.int4), P[64:])


def test_bytes_seen_as_nibbles():
    """Both are stored in one byte each here: without a rule of its own the view would show the wrong rows."""
    narrow = W.astype(np.int8)
    np.testing.assert_array_equal(result(loads(slice(None), jnp.int4), narrow, (32, 128), jnp.int4), pieces(narrow))


@pytest.mark.parametrize("at", [slice(None), slice(3, 8), 3, (slice(2, 4), slice(0, 128))])
def test_nibbles_seen_as_words(at):
    np.testing.assert_array_equal(result(loads(at, jnp.int32), I4, W[at].shape, jnp.int32), W[at])


def test_a_computed_row_of_nibbles_seen_as_words():
    def kernel(x_ref, o_ref):
        @pl.loop(0, 16)
        def _(i):
            o_ref[pl.ds(i, 1)] = x_ref.bitcast(jnp.int32)[pl.ds(15 - i, 1)]

    np.testing.assert_array_equal(result(kernel, I4, W.shape, jnp.int32), W[::-1])


def test_stores():
    def words_to_nibbles(x_ref, o_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        o_ref.bitcast(jnp.int32)[pl.ds(2, 3)] = x_ref[pl.ds(5, 3)]

    def nibbles_to_words(x_ref, o_ref):
        o_ref[...] = jnp.zeros_like(o_ref)
        o_ref.bitcast(jnp.int4)[pl.ds(8, 8)] = x_ref[pl.ds(16, 8)]

    expected = np.zeros_like(P)
    expected[16:40] = P[40:64]
    np.testing.assert_array_equal(result(words_to_nibbles, W, P.shape, jnp.int4), expected)
    expected = np.zeros_like(W)
    expected[1] = W[2]
    np.testing.assert_array_equal(result(nibbles_to_words, I4, W.shape, jnp.int32), expected)


def test_what_lies_outside():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref.bitcast(jnp.int32)[pl.ds(jnp.int32(14), 4)]

    with palladion.emulate("v5e", on_defect="collect") as session:
        jax.jit(pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4, 128), jnp.int32)))(I4)
    assert "OOB" in [finding.code for finding in session.report.findings]


def part(x_ref, o_ref):
    o_ref.bitcast(jnp.int4)[pl.ds(4, 8)] = x_ref[pl.ds(16, 8)]


def computed(x_ref, o_ref):
    @pl.loop(0, 2)
    def _(i):
        o_ref[pl.ds(i, 1)] = x_ref.bitcast(jnp.int32)[pl.ds(i, 1)].astype(jnp.int32)
        o_ref.bitcast(jnp.int4)[pl.ds(8 * i, 8)] = x_ref[pl.ds(0, 8)]


@pytest.mark.parametrize("kernel, said", [(part, "is to a part of a row"), (computed, "as an index that is computed")])
def test_what_is_refused(kernel, said):
    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(W.shape, jnp.int32))
    with pytest.raises(palladion.ExportError, match=rf"test_packed_views.py:\d+: swap: .*{said}"):
        palladion.export(call, I4)
