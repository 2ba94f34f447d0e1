"""The mutants of a matrix product for Blackwell in seven steps (blackwell_tutorial.py), and what a check reports of
them.

Usage: python python/tests/blackwell_mutants.py [STEP...]. Without steps it scores all of them and writes
conformance/blackwell_score.json; with steps it only prints their scores.
"""

import sys

import numpy as np

import blackwell_tutorial
import scored

CHIP = "b200"
CONFIG = blackwell_tutorial.Config(epilogue_n=16)
SCORE = scored.path_of("blackwell_score.json")
SAMPLED = ("basic",)


def inputs(step) -> tuple:
    """Four tiles of a pair, so that each slot and accumulator is used again; two tiles where blocks do not stay."""
    persistent = blackwell_tutorial.STEPS.index(step) >= blackwell_tutorial.STEPS.index("persistent")
    random = np.random.default_rng(20)
    return tuple(
        random.standard_normal(shape).astype(np.float16) for shape in ((512 if persistent else 256, 256), (256, 256))
    )


def case_of(step) -> scored.Scored:
    return scored.Scored(step, blackwell_tutorial.matmul(step, CONFIG), inputs(step), CHIP, tolerance=2.0**-10)


def score(steps, per_kind, progress=None) -> dict:
    return scored.score([case_of(step) for step in steps], per_kind, progress)


if __name__ == "__main__":
    if sys.argv[1:]:
        score(sys.argv[1:], 0, scored.show)
    else:
        scored.record(SCORE, lambda progress: score(blackwell_tutorial.STEPS, 0, progress), lambda: score(SAMPLED, 1))
