"""The seven steps of a matrix product for Blackwell (blackwell_tutorial.py): their numbers are NumPy's in f64, rounded
once, and a check finds nothing. JAX's own lowering takes each for a B200, and with what is left out too; but then a
check finds it.
"""

import functools
import json

import jax
import numpy as np
import pytest

import blackwell_mutants
import blackwell_tutorial
import palladion
from blackwell_mutants import CHIP, CONFIG, inputs
from palladion import _library

MISTAKES = [(step, left_out) for step, names in blackwell_tutorial.MISTAKES.items() for left_out in names]
ALL = [*((step, "") for step in blackwell_tutorial.STEPS), *MISTAKES]


@functools.cache
def function_of(step, left_out=""):
    return blackwell_tutorial.matmul(step, CONFIG, left_out)


# A sum of 256 products of f32's error is far below half a unit of f16: at most one unit.
ONE_UNIT = 2.0**-10


@pytest.mark.parametrize("step", blackwell_tutorial.STEPS)
def test_a_check_finds_nothing(step):
    a, b = inputs(step)
    report = palladion.check(function_of(step), a, b, target=CHIP, seeds=64)
    assert report.verdict in ("proved", "clean")
    # Slots that the copies have left are completions that are never awaited, at the end of the kernel: a note.
    assert {finding.code for finding in report.findings} <= {"BAR_UNAWAITED"}
    assert {finding.severity for finding in report.findings} <= {"note"}
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    np.testing.assert_allclose(
        np.asarray(report.results, np.float64), expected.astype(np.float64), rtol=ONE_UNIT, atol=1e-3
    )


# What is found of each mistake, at least.
FOUND = {
    ("basic", "last wait"): {"RACE_RW", "NOT_AWAITED", "NONDET"},
    ("basic", "commit_smem"): {"PROXY"},
    ("warp specialised", "wait for operands"): {"RACE_RW", "UNINIT"},
    ("warp specialised", "wait for a free slot"): {"RACE_RW", "BAR_DOUBLE"},
    ("warp specialised", "commit_arrive"): {"RACE_RW", "NOT_AWAITED"},
    ("tiled epilogue", "wait for a free tile"): {"RACE_ASYNC"},
    ("collective", "wait for operands"): {"RACE_RW"},
    ("collective", "commit_arrive"): {"RACE_RW"},
    ("persistent", "accumulator is read"): {"BAR_TC_ORDER"},
    ("epilogue warpgroup", "accumulator is read"): {"RACE_RW"},
    ("epilogue warpgroup", "orders_tensor_core"): {"BAR_TC_ORDER"},
    ("grid tiling", "wait_load_tmem"): {"RACE_RW"},
}


def test_every_mistake_is_looked_for():
    assert set(FOUND) == set(MISTAKES)


@pytest.mark.parametrize("step, left_out", FOUND)
def test_a_check_finds_what_is_left_out(step, left_out):
    report = palladion.check(function_of(step, left_out), *inputs(step), target=CHIP, seeds=16)
    assert FOUND[step, left_out] <= {finding.code for finding in report.findings}


@pytest.mark.parametrize("step, left_out", ALL)
def test_jax_lowers_it_for_blackwell(step, left_out):
    with palladion.target(CHIP):
        lowered = jax.jit(function_of(step, left_out)).trace(*inputs(step)).lower(lowering_platforms=("cuda",))
    assert "mosaic_gpu" in lowered.as_text()


@pytest.mark.parametrize("step", blackwell_tutorial.STEPS)
def test_its_text_says_what_each_step_adds(step):
    text = palladion.export(function_of(step), *inputs(step), target=CHIP)
    assert _library.canonical(_library.canonical(text)) == _library.canonical(text)
    added = {
        "basic": "tcgen05_mma{",
        "warp specialised": "mesh=warp",
        "tiled epilogue": "wait_read_only=true",
        "collective": 'collective_axis="pair"',
        "persistent": "wait_load_tmem()",
        "epilogue warpgroup": "threads=2",
        "grid tiling": "threads=2",
    }
    assert added[step] in text


def test_a_mistake_of_no_step_is_refused():
    with pytest.raises(ValueError, match="'basic' has no 'cluster' to leave out; it has last wait, commit_smem"):
        blackwell_tutorial.matmul("basic", CONFIG, "cluster")


if jax.__version_info__[:2] == (0, 10):  # which it was recorded with: other releases export other instructions

    def test_the_recorded_score_of_mutants_is_fresh():
        with open(blackwell_mutants.SCORE, encoding="utf-8") as stream:
            recorded = json.load(stream)["sample"]
        assert (
            blackwell_mutants.score(blackwell_mutants.SAMPLED, 1) == recorded
        ), "stale: run python python/tests/blackwell_mutants.py, and then ./dev docs"
