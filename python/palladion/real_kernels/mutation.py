"""The mutation score: kernels with one mistake each, made from the real ones, and what a check says of them.

Each mutant runs on the inputs of its original and ends as one of OUTCOMES. A check has no reference, so a mutant that
computes another well-defined result can only be caught by one: `palladion.check(f, *args, reference=g)`;
here the original's outputs are it.
"""

import collections
import dataclasses

import numpy as np

from palladion import _library
from palladion.real_kernels.checks import CheckedKernel
from palladion.real_kernels.table import worst_difference

OUTCOMES = {
    "reported": "a defect, a warning or a difference between schedules that the original does not have",
    "refused": "no kernel: the verifier or the backend's contract says why before it runs",
    "reference": "no finding, and outputs beyond the case's tolerance of the original's: a reference catches it",
    "equivalent": "no finding, and the same outputs bit for bit: it is no mistake on these inputs",
    "survived": "no finding, and outputs that differ within the tolerance",
}

# Programs of the grid and iterations of one: a mutant that goes on for ever must end too.
BUDGET = 1 << 22
SEEDS = 64
FIRST_SEEDS = 4


@dataclasses.dataclass(frozen=True)
class Outcome:
    case: str
    kernel: str
    mutant: str
    mutation: str
    outcome: str
    why: str  # the codes, the error, or how far the outputs are
    what: str


def counting(report) -> collections.Counter:
    return collections.Counter(f["code"] for f in report["findings"] if f["severity"] != "note" and not f["suppressed"])


def judge(original: CheckedKernel, mutant: dict, seeds=SEEDS, target=None) -> Outcome:
    """With FIRST_SEEDS schedules where they report something or prove that no other says more, else with `seeds`."""
    if mutant["refused"]:
        return _outcome(original, mutant, "refused", mutant["refused"])
    outputs = [np.zeros_like(output) for output in original.outputs]
    try:
        program = _library.Program(mutant["text"], None, target or original.case.target)
        for count in sorted({min(FIRST_SEEDS, seeds), seeds}):
            code, report = program.check(original.inputs, outputs, seeds=count, budget=BUDGET)
            found = counting(report) - counting(original.report)
            if found or (code != original.code and code != _library.CLEAN):
                return _outcome(original, mutant, "reported", ", ".join(sorted(found)) or f"exit code {code}")
            if report["verdict"] == "proved":
                break
    except _library.PalladionError as error:
        if error.code == _library.INTERNAL:
            raise
        return _outcome(original, mutant, "reported" if error.code == _library.BUDGET else "refused", str(error))
    if all(
        np.array_equal(a.view(np.uint8), b.view(np.uint8))
        for a, b in zip(map(_flat, outputs), map(_flat, original.outputs))
    ):
        return _outcome(
            original, mutant, "equivalent", f"{report['verdict']} in {report['schedules']} schedules, the same bits"
        )
    worst = worst_difference(outputs, original.outputs, original.case.atol, original.case.rtol)
    return _outcome(original, mutant, "reference" if worst > 1 else "survived", f"{worst:.3g} times the tolerance")


def _outcome(original, mutant, outcome, why) -> Outcome:
    return Outcome(original.case.name, original.name, mutant["name"], mutant["mutation"], outcome, why, mutant["what"])


def _flat(array):
    return np.ascontiguousarray(array).reshape(-1)


def distinct(kernels) -> list:
    """The kernels without those whose text another one has: one call of each is enough."""
    return list({one.text: one for one in reversed(kernels)}.values())[::-1]


def score(kernels, per_kind, seeds=SEEDS, progress=None) -> list:
    """Outcomes of at most `per_kind` mutants of each kind of each kernel.
    A shrunk block that is no kernel is no mutant.
    """
    outcomes = []
    for one in distinct(kernels):
        for mutant in _library.mutants(one.text, None, per_kind):
            if mutant["mutation"] == "shrink_block" and mutant["refused"]:
                continue
            outcomes.append(judge(one, mutant, seeds))
            if progress is not None:
                progress(outcomes[-1])
    return outcomes


def counts(outcomes) -> dict:
    """mutation -> outcome -> number, every outcome named."""
    table = {}
    for one in outcomes:
        table.setdefault(one.mutation, dict.fromkeys(OUTCOMES, 0))[one.outcome] += 1
    return table
