"""`palladion.advise`: changes that are timed, not guessed."""

import functools

import jax
import jax.numpy as jnp
import palladion
import pytest
from jax.experimental import pallas as pl

ROWS, COLUMNS = 4096, 512


def _add_one(x_ref, o_ref):
    o_ref[...] = x_ref[...] + 1


def add_one(x, rows=8, extra=0.0):
    block = pl.BlockSpec((rows, COLUMNS), lambda i: (i, 0))
    call = pl.pallas_call(_add_one, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block,
                          out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    return call(x) + extra


@pytest.fixture(scope="module")
def advice():
    tries = {"rows": [512, 7], "extra": [1.0]}
    return palladion.advise(add_one, jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e", tries=tries)


def test_larger_blocks_are_advised_where_steps_cost_more_than_bytes(advice):
    assert advice.best.what == "rows=512"
    assert advice.best.seconds < 0.8 * advice.seconds
    assert "less" in str(advice)


def test_the_gain_is_that_of_a_run_with_the_change(advice):
    timed = palladion.time(functools.partial(add_one, rows=512), jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e")
    assert timed.seconds == advice.best.seconds


def test_what_cannot_run_is_told_with_its_reason(advice):
    (refused,) = [one for one in advice.changes if one.what == "rows=7"]
    assert refused.seconds is None and refused.refused
    assert "rows=7: not possible: " in str(advice)
    assert advice.changes[-1] is refused


def test_other_results_are_told(advice):
    (other,) = [one for one in advice.changes if one.what == "extra=1.0"]
    assert other.same_results is False and "other results" in str(advice)
    assert advice.best.same_results


def test_memory_is_the_limit_of_a_copy_in_large_blocks():
    found = palladion.advise(functools.partial(add_one, rows=512), jnp.zeros((ROWS, COLUMNS), jnp.float32), target="v5e")
    assert next(iter(found.limits)) == "dram.peak" and found.limits["dram.peak"] > 0.2
    assert found.changes == [] and found.best is None
