"""Checks every kernel of the table of real kernels,
and holds what it finds against the argued findings (findings.py).
"""

import dataclasses
import time

import numpy as np

from palladion import _library
from palladion.api import running
from palladion.jax import jax_versions
from palladion.real_kernels.findings import ARGUED

SEEDS = 64


@dataclasses.dataclass
class CheckedKernel:
    """One kernel call of one case: what went in, what came out of a plain run, and what the check says."""

    case: object
    name: str
    text: str
    inputs: list
    outputs: list
    code: int
    report: dict
    run_seconds: float
    check_seconds: float  # of all schedules; both the least of the repeats

    @property
    def ratio(self) -> float:
        return self.check_seconds / max(self.run_seconds, 1e-9)


class _Recorder:
    """In place of a library program: runs for the results, and checks on the side."""

    def __init__(self, case, program, text, seeds, repeats, kept):
        self.case, self.program, self.text, self.seeds, self.repeats, self.kept = (
            case,
            program,
            text,
            seeds,
            repeats,
            kept,
        )

    def run(self, inputs, outputs, *_):
        ran, checked_in = [], []
        for _ in range(self.repeats):
            start = time.perf_counter()
            code, report = self.program.run(inputs, outputs)
            ran.append(time.perf_counter() - start)
            checked_code, checked = self.program.check(inputs, seeds=self.seeds)
            checked_in.append(time.perf_counter() - start - ran[-1])
        self.kept.append(
            CheckedKernel(
                self.case,
                checked["kernel"],
                self.text,
                [np.array(a) for a in inputs],
                [np.array(a) for a in outputs],
                checked_code,
                checked,
                min(ran),
                min(checked_in),
            )
        )
        return code, report


def checked_kernels(case, seeds=SEEDS, repeats=1) -> list:
    """The kernels of a case in the order they ran, each checked on the arguments it was called with."""
    problem, kept = case.make(), []
    running.execute(
        problem.function,
        problem.args,
        case.target,
        program=lambda text, target: _Recorder(case, _library.Program(text, None, target), text, seeds, repeats, kept),
    )
    return kept


def argument_for(case_name, kernel, finding):
    """The entry that covers a finding, or None."""
    for argued in ARGUED:
        if argued.since and not jax_versions.is_from(argued.since):
            continue
        if (
            case_name.startswith(argued.case)
            and kernel.startswith(argued.kernel)
            and finding["code"] == argued.code
            and finding["severity"] == argued.severity
        ):
            return argued
    return None


def unargued(kernels) -> list:
    """(kernel, finding) for every finding that no entry covers."""
    return [
        (one, finding)
        for one in kernels
        for finding in one.report["findings"]
        if argument_for(one.case.name, one.name, finding) is None
    ]


def unused(kernels, argued=ARGUED) -> list:
    """The entries about these cases that no finding meets any more."""
    met = {argument_for(one.case.name, one.name, finding) for one in kernels for finding in one.report["findings"]}
    return [
        entry
        for entry in argued
        if entry not in met
        and any(one.case.name.startswith(entry.case) for one in kernels)
        and not (entry.until and jax_versions.is_from(entry.until))
        and not (entry.since and not jax_versions.is_from(entry.since))
    ]
