"""The recorded mutation score is that of the checks as they are, on a sample; the judge of a mutant gives each outcome
its own name.
"""

import json
import os

import jax
import pytest

from palladion import _library
from palladion.real_kernels import check_command, checks, mutation, table

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def kernels():
    return [one for case in table.all_cases() if case.quick for one in checks.checked_kernels(case)]


if jax.__version_info__[:2] == (0, 10):  # which it was recorded with: of splash_attention JAX 0.12 writes other stores

    def test_the_recorded_score_is_fresh(kernels):
        with open(os.path.join(ROOT, "conformance", "mutation_score.json"), encoding="utf-8") as stream:
            recorded = json.load(stream)["sample"]
        outcomes = mutation.score(kernels, check_command.SAMPLE_PER_KIND)
        assert check_command.recorded(kernels, outcomes) == recorded, (
            "stale: run python -m palladion.real_kernels --check --mutants 0 --record-score "
            "conformance/mutation_score.json, and "
            "then ./dev docs"
        )


def test_every_kind_of_mutation_is_sampled(kernels):
    kinds = {mutant["mutation"] for one in kernels for mutant in _library.mutants(one.text, None, 1)}
    assert kinds == {
        "drop_mask",
        "drop_init",
        "swap_index",
        "make_parallel",
        "shrink_block",
        "drop_store",
        "read_past",
        "drop_sync",
        "repeat_sync",
        "swap_sync",
        "move_sync",
        "next_slot",
        "arrivals",
        "other_barrier",
        "wait_count",
    }


def test_the_outcomes(kernels):
    one = next(k for k in kernels if k.name == "double_kernel")

    def outcome(old, new, refused=""):
        assert old in one.text
        mutant = {"name": "m", "mutation": "m", "what": "", "refused": refused, "text": one.text.replace(old, new)}
        return mutation.judge(one, mutant).outcome

    assert outcome("kernel", "kernel") == "equivalent"
    assert outcome("kernel", "kernel", refused="why") == "refused"
    assert outcome("kernel", "not a kernel") == "refused"
    lines = one.text.split("\n")
    store = next(line for line in lines if "= swap(" in line)
    assert outcome(store, "") == "reported"
    product = next(line for line in lines if " = mul(" in line)
    assert outcome(product, product.replace(" = mul(", " = add(")) == "reference"
