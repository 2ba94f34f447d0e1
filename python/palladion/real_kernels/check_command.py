"""`python -m palladion.real_kernels --check` and `--mutants`: findings on the real kernels,
and the score of the checks.
"""

import json
import statistics
import sys
import time

from palladion.base.whole_file import write_whole
from palladion.real_kernels import checks, mutation
from palladion.real_kernels.findings import ARGUED

REPEATS = 3  # of each run and check, for their times


def run(cases, with_mutants, per_kind, score_path) -> int:
    kernels, start = [], time.perf_counter()
    for case in cases:
        found = checks.checked_kernels(case, repeats=REPEATS)
        kernels += found
        for one in found:
            print(
                f"{case.name}: {one.name}: {one.report['verdict']}, {one.report['schedules']} schedules, "
                f"{one.ratio:.2f} times the run",
                flush=True,
            )
    bad = 0
    for one, finding in checks.unargued(kernels):
        bad += 1
        print(
            f"no argument for {finding['severity']} {finding['code']} of {one.case.name}, kernel {one.name}: "
            f"{finding['message']} (at {finding['source'] or finding['text_line']})",
            file=sys.stderr,
        )
    for entry in checks.unused(kernels, ARGUED):
        bad += 1
        print(f"findings.py argues {entry.code} of {entry.case}, which no longer fires", file=sys.stderr)
    ratios = [one.ratio for one in kernels]
    total = sum(one.check_seconds for one in kernels) / sum(one.run_seconds for one in kernels)
    print(
        f"{len(kernels)} kernels of {len(cases)} cases, {time.perf_counter() - start:.0f} s; a check takes "
        f"{statistics.median(ratios):.2f} times the run in the median, {max(ratios):.2f} at worst, {total:.2f} over all"
    )
    if with_mutants:
        outcomes = _mutants(kernels, per_kind)
        if score_path:
            _record(kernels, outcomes, score_path)
    return 1 if bad else 0


def _mutants(kernels, per_kind):
    start = time.perf_counter()
    outcomes = mutation.score(
        kernels,
        per_kind,
        progress=lambda o: print(f"{o.outcome}: {o.case}: {o.kernel}: {o.mutant}: {o.what}: {o.why[:200]}", flush=True),
    )
    print(
        f"{len(outcomes)} mutants of {len(mutation.distinct(kernels))} kernels in {time.perf_counter() - start:.0f} s"
    )
    for kind, row in mutation.counts(outcomes).items():
        print(f"  {kind}: {', '.join(f'{name} {number}' for name, number in row.items() if number)}")
    return outcomes


def recorded(kernels, outcomes) -> dict:
    """What conformance/mutation_score.json keeps of a run."""
    survived = [
        {"case": o.case, "kernel": o.kernel, "what": o.what, "why": o.why} for o in outcomes if o.outcome == "survived"
    ]
    return {
        "seeds": mutation.SEEDS,
        "kernels": len(mutation.distinct(kernels)),
        "mutants": len(outcomes),
        "outcomes": mutation.OUTCOMES,
        "counts": mutation.counts(outcomes),
        "survived": survived,
    }


def _record(kernels, outcomes, path):
    chosen = sample(kernels)
    score = {"all": recorded(kernels, outcomes), "sample": recorded(chosen, mutation.score(chosen, SAMPLE_PER_KIND))}
    write_whole(path, json.dumps(score, indent=1) + "\n")


# What the tests hold the recorded score against: one mutant of each kind of each kernel of `--quick`.
SAMPLE_PER_KIND = 1


def sample(kernels) -> list:
    return [one for one in kernels if one.case.quick]
