"""`palladion.reduce` from Python: a finding or a function stays while a kernel and its inputs get smaller."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
from palladion import _library


def sum_kernel(x_ref, y_ref, o_ref):
    i = pl.program_id(0)
    o_ref[...] = o_ref[...] + x_ref[i, :] * y_ref[...].astype(jnp.float32)


def sums(x, y):
    return pl.pallas_call(sum_kernel, out_shape=jax.ShapeDtypeStruct(x.shape[1:], x.dtype), grid=x.shape[:1])(x, y)


X, Y = np.arange(512, dtype=np.float32).reshape(4, 128), np.ones(128, jnp.bfloat16)


@pytest.fixture(scope="module")
def text():
    return palladion.export(sums, X, Y)


def codes(text, inputs, target):
    _, report = _library.Program(text, None, target).check(inputs)
    return {finding["code"] for finding in report["findings"]}


def test_a_finding_stays(text):
    reduced = palladion.reduce(text, [X, Y], "RACE_RW@o_ref", target="h100")
    assert reduced.ended == "smallest" and reduced.replay
    assert "RACE_RW" in codes(reduced.text, reduced.inputs, "triton/h100")
    assert len(reduced.text) < len(text) / 2 and "grid [2]" in reduced.text
    again = palladion.reduce(reduced.text, reduced.inputs, "RACE_RW@o_ref", target="h100")
    assert again.text == reduced.text


def test_a_function_decides(text):
    seen = []

    def keeps(candidate, inputs):
        seen.append(inputs)
        return " mul(" in candidate and len(inputs) == 2 and inputs[1].dtype == jnp.bfloat16

    reduced = palladion.reduce(text, [X, Y], keeps)
    np.testing.assert_array_equal(seen[0][0], X)
    np.testing.assert_array_equal(seen[0][1], Y)
    assert " mul(" in reduced.text and reduced.names == ["x", "y"]
    assert [array.size for array in reduced.inputs] == [1, 1] and reduced.words == ["zeros", "zeros"]
    assert reduced.inputs[1].dtype == jnp.bfloat16


def test_a_budget(text):
    reduced = palladion.reduce(text, [X, Y], "RACE_RW", target="h100", candidates=2)
    assert reduced.ended == "budget" and reduced.tried == 2


def test_what_a_function_raises_is_raised(text):
    with pytest.raises(KeyError, match="mine"):
        palladion.reduce(text, [X, Y], lambda *_: {}["mine"])


def test_what_is_wrong(text):
    with pytest.raises(palladion.PalladionError, match="finds no OOB; it finds .*RACE_RW"):
        palladion.reduce(text, [X, Y], "OOB", target="h100")
    with pytest.raises(palladion.PalladionError, match="must begin with the code of a finding"):
        palladion.reduce(text, [X, Y], "RACES")
    with pytest.raises(palladion.PalladionError, match="has 2 inputs; 1 were given"):
        palladion.reduce(text, [X], "OOB")
    with pytest.raises(palladion.PalladionError, match="not there at the start"):
        palladion.reduce(text, [X, Y], lambda *_: False)
    with pytest.raises(ValueError, match="bounds must be"):
        palladion.reduce(text, [X, Y], "OOB", bounds="none")
