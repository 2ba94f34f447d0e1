"""The mutation score of kernels that tests have: how many of their mutants a check reports. It is recorded as
`palladion.real_kernels` records that of the wheel's kernels, and a test holds a sample against the record.
"""

import dataclasses
import json
import os
from collections.abc import Callable

from palladion.real_kernels import case, check_command, checks, mutation

CONFORMANCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "conformance")


@dataclasses.dataclass(frozen=True)
class Scored:
    name: str
    function: Callable
    args: tuple
    target: str
    tolerance: float  # of a reference, absolute and relative


def path_of(record: str) -> str:
    return os.path.join(CONFORMANCE, record)


def checked(cases: list) -> list:
    """The kernels of all of them, as the checks of the wheel's kernels have them."""

    def made(one):
        problem = case.Problem(one.function, one.args, None)
        return case.Case(0, one.name, one.target, lambda: problem, one.tolerance, one.tolerance, target=one.target)

    return [kernel for one in cases for kernel in checks.checked_kernels(made(one))]


def score(cases: list, per_kind: int, progress=None) -> dict:
    """Of at most `per_kind` mutants of each kind; 0: of all."""
    kernels = checked(cases)
    return check_command.recorded(kernels, mutation.score(kernels, per_kind, progress=progress))


def show(one: mutation.Outcome):
    print(f"{one.outcome}: {one.case}: {one.mutant}: {one.what}: {one.why[:150]}", flush=True)


def record(path: str, score_all: Callable, score_sample: Callable):
    """Both into the file, and a line for each mutant while it goes on."""
    found = {"all": score_all(show), "sample": score_sample()}
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(found, indent=1) + "\n")
