"""`palladion.advise`: what would make a function's kernels faster on a chip,
found by running the model of time with each change.

Nothing is guessed: a change is a keyword argument of the function with another value, and it is timed (palladion.time)
as it would be. Changes of the kernels' text, and what limits them on the chip, come from the library
(docs/reference/advice.md, emu/tools/advice).
"""

import ctypes
import dataclasses
import functools
import html
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np

from palladion import _library
from palladion._library import PalladionError
from palladion.api import running, time_requests
from palladion.api.timing import time
from palladion.base.check_options import whole
from palladion.base.errors import ExportError
from palladion.jax import probes, tensors
from palladion.report.short_errors import short_errors
from palladion.report.tuned import uncertainty_of_difference

_HALVED = ", halved"


class _Request(ctypes.Structure):
    _fields_ = [("time", time_requests.Request), ("seeds", ctypes.c_int64), ("what_ifs", ctypes.c_int)]


@dataclasses.dataclass(frozen=True)
class Change:
    """One change, alone: seconds with it, or why there are none. `same_results`: bit for bit those without it; None
    where it was not run, or where that shows nothing, because all elements of each result are alike.
    `difference_uncertainty`: how far its difference from the time without it may be off, as a share of the slower of
    the two; None where that is not known.
    """

    what: str
    seconds: float | None
    same_results: bool | None
    refused: str = ""
    difference_uncertainty: float | None = None

    def line(self, before: float) -> str:
        """A line for people; `before` are the seconds without it."""
        if self.seconds is None:
            return f"{self.what}: not possible: {self.refused.splitlines()[0]}"
        gain = 1 - self.seconds / before
        change = "no change"
        if abs(gain) >= 0.005:
            change = f"{abs(gain):.1%} {'less' if gain > 0 else 'more'}{self._uncertain(before)}"
        note = {
            True: "",
            False: "; other results, so look at its accuracy",
            None: "; whether the results are the same is not known: all elements of each are alike",
        }[self.same_results]
        return f"{self.what}: {self.seconds * 1e6:.4g} us, {change}{note}"

    def _uncertain(self, before: float) -> str:
        if self.difference_uncertainty is None:
            return ", of unknown uncertainty"
        share = abs(before - self.seconds) / max(before, self.seconds)
        return ", less than its uncertainty" if share < self.difference_uncertainty else ""


@dataclasses.dataclass(frozen=True)
class KernelAdvice:
    """What `palladion advise` says of one kernel as it ran: `data` is the JSON of docs/reference/advice.md, str() the
    text."""

    data: dict
    text: str

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Advice:
    """`changes` of the function, what helps most first; `limits`: the share of the time that twice a rate of the chip
    would save, or half of a time such as "grid.step, halved", and `not_doubled` why a rate cannot be; `kernels`:
    changes of each kernel's text, in the order in which they ran."""

    seconds: float
    uncertainty: float | None
    changes: list[Change]
    limits: dict[str, float]
    not_doubled: dict[str, str]
    kernels: list[KernelAdvice]

    @property
    def best(self) -> Change | None:
        """What helps most; None where nothing that was tried does."""
        faster = [one for one in self.changes if one.seconds is not None and one.seconds < self.seconds]
        return faster[0] if faster else None

    def __str__(self) -> str:
        lines = [
            f"as it is: {self.seconds * 1e6:.4g} us, "
            + (
                "and how far that is off is not known"
                if self.uncertainty is None
                else f"give or take {self.uncertainty:.0%}"
            )
        ]
        lines += [one.line(self.seconds) for one in self.changes]
        lines += [
            f"with {_changed(rate)} of the chip: {saved:.1%} less"
            for rate, saved in self.limits.items()
            if saved >= 0.005
        ]
        lines += [
            f"with twice {rate} of the chip: not possible: {why.splitlines()[0]}"
            for rate, why in self.not_doubled.items()
        ]
        lines += [str(one) for one in self.kernels]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        longest = max([self.seconds, *(one.seconds for one in self.changes if one.seconds is not None)])
        rows = [_html_row("as it is", self.seconds / longest, f"{self.seconds * 1e6:.4g} us")]
        for one in self.changes:
            words = one.line(self.seconds).removeprefix(f"{one.what}: ")
            rows.append(_html_row(one.what, 0 if one.seconds is None else one.seconds / longest, words))
        return f"<table>{''.join(rows)}</table><pre style='overflow-x:auto'>{html.escape(str(self))}</pre>"


@short_errors
def advise(
    f: Callable,
    *args: Any,
    target: str | None = None,
    tries: Mapping[str, Iterable[Any]] | None = None,
    budget: int | None = None,
    seeds: int | None = None,
) -> Advice:
    """Times `f(*args)` as it is, with each value of each keyword in `tries`, one at a time,
    and its kernels with changes of their text.

    `tries={"stages": [2, 3, 4], "tile_m": [64, 128]}` calls `f(*args, stages=2)` and so on; a value with which `f` or
    its kernels cannot run is reported with its reason. target, budget: as for `palladion.time`; seeds: schedules of the
    check of each change of a kernel. A difference that is less than its uncertainty may be none on the chip;
    docs/explanation/time.md has the errors of the model.
    """
    target = probes.given(target)
    kernels: list[KernelAdvice] = []
    arrays, tensors_of = tensors.as_arrays(args)
    execution = running.execute(
        f,
        arrays,
        target,
        how=running.How(budget=whole("budget", budget)),
        program=lambda text, chip: _AdvisedProgram(text, chip, whole("seeds", seeds), kernels),
    )
    results = tensors_of(execution.results)
    seconds = sum(one.data["ns"] for one in kernels) * 1e-9
    uncertainty = _largest([one.data["uncertainty"] for one in kernels])
    without = _Without(results, uncertainty)
    changes = [
        _tried(f, args, {name: value}, target, budget, without)
        for name, values in (tries or {}).items()
        for value in values
    ]
    changes.sort(key=lambda one: float("inf") if one.seconds is None else one.seconds)
    limits, not_doubled = _limits(kernels)
    return Advice(seconds, uncertainty, changes, limits, not_doubled, kernels)


@dataclasses.dataclass(frozen=True)
class _Without:
    """The function without a change."""

    results: Any
    uncertainty: float | None


def _html_row(what: str, share: float, words: str) -> str:
    bar = f"<div style='background:#3b8fc4;height:0.8em;width:{12 * share:.2f}em'></div>"
    cells = (html.escape(what), bar, html.escape(words))
    return "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>"


def _changed(rate: str) -> str:
    name, separator, _ = rate.partition(_HALVED)
    return f"half the {name}" if separator else f"twice {name}"


def _largest(uncertainties: list[float | None]) -> float | None:
    """Of the whole: not known where one of them is not."""
    return None if None in uncertainties else max(uncertainties)


class _AdvisedProgram(_library.Program):
    """A kernel whose runs are advised on beside."""

    def __init__(self, text, target, seeds, kernels):
        super().__init__(text, None, target)
        self._text, self._target, self._seeds, self._kernels = text, target, seeds, kernels

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        request = _Request(time_requests.request_of(self._text, self._target, [], budget), self._seeds or 0, 1)
        self._kernels.append(KernelAdvice(*_library.answer("palladion_advise", request, inputs)))
        return super().run(inputs, outputs, budget, *how)


def _tried(f, args, keywords, target, budget, without: _Without) -> Change:
    ((name, value),) = keywords.items()
    what = f"{name}={value!r}"
    try:
        report = time(functools.partial(f, **keywords), *args, target=target, budget=budget)
    except (PalladionError, ExportError, ValueError, NotImplementedError) as error:
        return Change(what, None, None, str(error) or type(error).__name__)
    uncertainty = uncertainty_of_difference(without.uncertainty, _largest([one.uncertainty for one in report.kernels]))
    return Change(what, report.seconds, _same(without.results, report.results), "", uncertainty)


def _same(results, others) -> bool | None:
    """None: they are, and would be if their elements came from other places."""
    pairs = [
        (np.asarray(a), np.asarray(b)) for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(others), strict=True)
    ]
    if any(a.tobytes() != b.tobytes() for a, b in pairs):
        return False
    return None if pairs and all(_is_all_alike(a) for a, _ in pairs) else True


def _is_all_alike(array: np.ndarray) -> bool:
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1) if array.size > 1 else None
    return raw is not None and bool((raw == raw[0]).all())


def _limits(kernels) -> tuple[dict[str, float], dict[str, str]]:
    """Of all kernels together. Chips differ in what they have: a rate counts where every kernel's has it."""
    whole_time = sum(one.data["ns"] for one in kernels)
    rates = [{one["rate"] + _HALVED * one["halved"]: one for one in kernel.data["what_ifs"]} for kernel in kernels]
    saved, refused = {}, {}
    for name in {name: None for one in rates for name in one}:
        found = [one.get(name) for one in rates]
        why = [one["refused"] for one in found if one is not None and one["refused"]]
        if why:
            refused[name] = why[0]
        elif None not in found:
            saved[name] = 1 - sum(one["ns"] for one in found) / whole_time
    return dict(sorted(saved.items(), key=lambda one: -one[1])), refused
