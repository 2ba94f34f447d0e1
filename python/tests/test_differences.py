"""The uncertainty of a difference of two times: the recorded times of variants of one kernel (docs/explanation/time.md)
stay inside it.

Based on: the table of an H200, where a table is a kernel and rows of one shape are its variants. Kernels that spill
have no uncertainty, and no difference has one. Not in it: TPUs, of which no two variants of one kernel were published
at a known clock.
"""

import itertools
import re

import pytest

from palladion.report.tuned import uncertainty_of_difference
from test_time_errors import PAGE, rows_below

# (head of the table, what variants have in common, the uncertainty that the model reports of such kernels)
TABLES = [
    ("| matmul | measured |", r"\d+x\d+x\d+", 0.24),
    ("| ragged_dot | measured |", r"", 0.24),
    ("| copy | measured |", r"of \d+ MiB", 0.28),
    ("| ring | measured |", r"", 0.24),
]


def number(cell):
    return float(re.match(r"[\d.]+", cell)[0])


def variants(head, same):
    """(measured, found) of the rows of each group."""
    groups = {}
    for row in rows_below(PAGE.read_text(encoding="utf-8"), head):
        if "spills" not in row[0]:
            groups.setdefault(re.match(same, row[0])[0], []).append((number(row[1]), number(row[4])))
    return [one for one in groups.values() if len(one) > 1]


@pytest.mark.parametrize("head, same, uncertainty", TABLES)
def test_recorded_differences_are_inside(head, same, uncertainty):
    pairs = [pair for group in variants(head, same) for pair in itertools.combinations(group, 2)]
    assert pairs
    for one, other in pairs:
        (measured, found), (slower_measured, slower_found) = sorted((one, other), key=lambda times: times[1])
        missed = abs((slower_found - found) / slower_found - (slower_measured - measured) / slower_measured)
        assert missed < uncertainty_of_difference(uncertainty, uncertainty), (one, other)


def test_it_is_not_many_times_too_large():
    """A bound that held for any pair would say nothing."""
    worst = 0
    for head, same, uncertainty in TABLES:
        for group in variants(head, same):
            for (m1, f1), (m2, f2) in itertools.combinations(group, 2):
                worst = max(worst, abs(min(f1, f2) / max(f1, f2) - (m1 / m2 if f1 < f2 else m2 / m1)) / uncertainty)
    assert 0.5 < worst < 1


def test_a_difference_from_what_is_not_known_is_not_known():
    assert uncertainty_of_difference(0.1, None) is None and uncertainty_of_difference(0.1, 0.2) == 0.2
