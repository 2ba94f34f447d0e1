"""The kernels of JAX's documentation of TPUs, written anew (documented_kernels.py): right and quiet under several
schedules. Those of several devices are in device_programs.py."""

import json

import jax
import numpy as np
import pytest

import palladion
from documented_kernels import KERNELS, SAMPLED, SCORE, score


@pytest.mark.parametrize("name", KERNELS)
def test_is_right_and_quiet(name):
    one = KERNELS[name]
    report = palladion.check(one.function, *one.args, target=one.target, seeds=16)
    assert report.findings == [], report
    np.testing.assert_allclose(report.results, one.expected, rtol=one.tolerance, atol=one.tolerance)
    with palladion.emulate(one.target):
        found = jax.jit(one.function)(*one.args)
    np.testing.assert_array_equal(found, report.results)


def test_a_pipeline_is_its_own_oracle():
    """Bit for bit: the order of additions is the grid's either way."""
    np.testing.assert_array_equal(
        *[
            palladion.run(KERNELS[name].function, *KERNELS[name].args, target="v5e")
            for name in ("matmul", "matmul, no pipelining")
        ]
    )


def test_the_recorded_score_of_mutants_is_fresh():
    with open(SCORE, encoding="utf-8") as stream:
        assert (
            score(SAMPLED, 1) == json.load(stream)["sample"]
        ), "stale: run python python/tests/documented_kernels.py, and then ./dev docs"
