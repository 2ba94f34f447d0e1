"""`palladion.advise`: what would make a function's kernels faster on a chip, found by running the model of time with each change.

Nothing is guessed: a change is a keyword argument of the function with another value, and it is timed (palladion.time) as it would be; what
the kernels are limited by is found by timing them on the same chip with one rate doubled.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np

from palladion import machines, probes
from palladion._library import PalladionError
from palladion.exporter.errors import ExportError
from palladion.timing import time

# Rates of a chip that are doubled to see which of them the time depends on; those that a machine has.
RATES = ("dram.peak", "l2.bandwidth", "smem.port", "tma.row_rate", "issue.slots")


@dataclasses.dataclass(frozen=True)
class Change:
    """One change, alone: seconds with it, or why there are none. `same_results`: bit for bit those without it; None where it was not run."""

    what: str
    seconds: float | None
    same_results: bool | None
    refused: str = ""

    def told(self, before: float) -> str:
        """A line for people; `before` are the seconds without it."""
        if self.seconds is None:
            return f"{self.what}: not possible: {self.refused.splitlines()[0]}"
        gain = 1 - self.seconds / before
        change = "no change" if abs(gain) < 0.005 else f"{abs(gain):.1%} {'less' if gain > 0 else 'more'}"
        note = "" if self.same_results else "; other results, so look at its accuracy"
        return f"{self.what}: {self.seconds * 1e6:.4g} us, {change}{note}"


@dataclasses.dataclass(frozen=True)
class Advice:
    """`changes` of the function, what helps most first; `limits`: the share of the time that twice a rate of the chip would save."""

    seconds: float
    uncertainty: float | None
    changes: list[Change]
    limits: dict[str, float]

    @property
    def best(self) -> Change | None:
        """What helps most; None where nothing that was tried does."""
        faster = [one for one in self.changes if one.seconds is not None and one.seconds < self.seconds]
        return faster[0] if faster else None

    def __str__(self) -> str:
        lines = [f"as it is: {self.seconds * 1e6:.4g} us, " + (
            "and how far that is off is not known" if self.uncertainty is None else f"give or take {self.uncertainty:.0%}")]
        lines += [one.told(self.seconds) for one in self.changes]
        lines += [f"with twice {rate} of the chip: {saved:.1%} less" for rate, saved in self.limits.items() if saved >= 0.005]
        return "\n".join(lines)


def advise(f: Callable, *args: Any, target: str | None = None, tries: Mapping[str, Iterable[Any]] | None = None,
           budget: int | None = None) -> Advice:
    """Times `f(*args)` as it is, with each value of each keyword in `tries`, one at a time, and on chips with one rate doubled.

    `tries={"stages": [2, 3, 4], "tile_m": [64, 128]}` calls `f(*args, stages=2)` and so on; a value with which `f` or its kernels cannot
    run is told with its reason. target, budget: as for `palladion.time`. A difference below `uncertainty` may be none on the chip, as errors
    of the model are often the same for both; docs/time.md has them.
    """
    target = probes.given(target)
    base = time(f, *args, target=target, budget=budget)
    changes = [_tried(f, args, {name: value}, target, budget, base)
               for name, values in (tries or {}).items() for value in values]
    changes.sort(key=lambda one: float("inf") if one.seconds is None else one.seconds)
    limits = _limits(f, args, target, budget, base)
    return Advice(base.seconds, _largest([one.uncertainty for one in base.kernels]), changes, limits)


def _largest(uncertainties: list[float | None]) -> float | None:
    """Of the whole: not known where one of them is not."""
    return None if None in uncertainties else max(uncertainties)


def _tried(f, args, keywords, target, budget, base) -> Change:
    ((name, value),) = keywords.items()
    what = f"{name}={value!r}"
    try:
        report = time(functools.partial(f, **keywords), *args, target=target, budget=budget)
    except (PalladionError, ExportError, ValueError, NotImplementedError) as error:
        return Change(what, None, None, str(error) or type(error).__name__)
    return Change(what, report.seconds, _same(base.results, report.results))


def _same(results, others) -> bool:
    pairs = list(zip(jax.tree.leaves(results), jax.tree.leaves(others), strict=True))
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


def _limits(f, args, target, budget, base) -> dict[str, float]:
    saved = {}
    chips = {one.machine for one in base.kernels}
    for rate in RATES:
        numbers = [machines.show(chip).numbers.get(rate) for chip in chips]
        if None in numbers or len({(one.value, one.unit) for one in numbers}) != 1:
            continue
        twice = f"{2 * numbers[0].value!r} {numbers[0].unit}".strip()
        try:
            faster = time(f, *args, target=target, changes={rate: twice}, budget=budget)
        except PalladionError:  # contradicts another number of the chip, which does not follow
            continue
        saved[rate] = 1 - faster.seconds / base.seconds
    return dict(sorted(saved.items(), key=lambda one: -one[1]))
