"""Every real kernel runs and agrees with its oracle, and none has a finding; the comparison itself can fail."""

import jax.numpy as jnp
import numpy as np
import pytest

from palladion.real_kernels import table
from palladion.real_kernels.case import Case, Problem
from palladion.real_kernels.checks import argument_for
from palladion.real_kernels.table import worst_difference


@pytest.mark.parametrize("case", table.all_cases(), ids=lambda case: case.name.replace("/", "_"))
def test_agrees_with_its_oracle(case):
    row = table.run_case(case, measure=False)
    assert row.result == "ok", row
    assert [finding for finding in row.findings if argument_for(case.name, finding["kernel"], finding) is None] == []


def test_all_groups_have_two_sizes():
    by_op = {}
    for case in table.all_cases():
        by_op.setdefault((case.group, case.op), []).append(case.variant)
    assert sorted({group for group, _ in by_op}) == list(range(1, 17))
    assert all(len(variants) >= 2 for variants in by_op.values())
    assert len({case.name for case in table.all_cases()}) == len(table.all_cases())


def test_the_comparison_fails_where_it_should():
    a = np.asarray([1.0, 2.0, np.nan, np.inf], np.float32)
    assert worst_difference(a, a, 0, 0) == 0.0
    assert worst_difference(a, a + np.float32(0.5), 0.25, 0) == pytest.approx(2.0)
    assert worst_difference(a, np.asarray([1, 2, 3, np.inf], np.float32), 10, 10) == float("inf")
    assert worst_difference(a, np.asarray([1, 2, np.nan, -np.inf], np.float32), 10, 10) == float("inf")
    assert worst_difference(np.uint32([2**32 - 1]), np.uint32([0]), 0, 0) == float("inf")
    assert worst_difference(a[:3], a, 1, 1) == float("inf")
    assert worst_difference((a, a), a, 1, 1) == float("inf")


def test_a_wrong_result_and_a_kernel_that_cannot_run_are_failures():
    good = next(case for case in table.all_cases() if case.op == "example_kernel")
    problem = good.make()

    def case_of(changed):
        return Case(1, "example_kernel", "changed", lambda: changed, 0)

    wrong = Problem(problem.function, problem.args, None, lambda x: x * 3)
    assert table.run_case(case_of(wrong), measure=False).result.startswith("differs")
    nothing = Problem(jnp.sin, problem.args, None, jnp.sin)
    assert "no kernel was run" in table.run_case(case_of(nothing), measure=False).result
