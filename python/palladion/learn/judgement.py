"""What the judge says: one line, the whole report and a smaller kernel on demand, and a page in notebooks.

The smaller kernel is palladion.reduce's, for findings of one kernel; differences of values have none.
"""

import contextlib
import dataclasses
import html
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from palladion import _library
from palladion._library import PalladionError
from palladion.api import running
from palladion.api.checking import check
from palladion.api.reducing import reduce
from palladion.base.errors import ExportError, ToJaxError
from palladion.jax import probes
from palladion.jax.jax_source import to_jax_source
from palladion.learn.answers import Where
from palladion.learn.statement import Exercise

_SECONDS = 10  # for a smaller kernel


@dataclasses.dataclass(frozen=True)
class Shown:
    """What a wrong answer can be looked at with."""

    report: Any
    finding: Any  # None: the values differ
    f: Callable | str  # a text of several devices
    args: tuple


@dataclasses.dataclass(frozen=True, repr=False)
class Judgement:
    """`code` is "" of a right answer; else a finding's code, or one of the judge's own (docs/learn/index.md)."""

    exercise: Exercise
    code: str
    message: str
    where: Where | None
    shown: Shown | None = None
    notes: tuple = ()
    report: Any = None

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.code

    @property
    def line(self) -> str:
        """All of it in one line; it begins with FILE:LINE where the answer is wrong."""
        if self.right:
            return f"{self.exercise.name}: {self.message}"
        return f"{self.where or self.exercise.name}: {self.code}: {' '.join(self.message.split())}"

    def __repr__(self) -> str:
        return f"<{'right' if self.right else 'wrong'}: {self.line}>"

    def more(self) -> str:
        """The report, and the counterexample made smaller."""
        parts = [str(note) for note in self.notes]
        if self.shown is not None:
            parts = [str(self.shown.report) if self.shown.finding is None else str(self.shown.finding)]
            parts.append(self._smaller())
        elif self.report is not None:
            parts.append(str(self.report))
        return "\n\n".join(part for part in parts if part)

    def picture(self) -> Any:
        """The failing run as palladion.draw_schedule draws it; None of other judgements, or where there is none."""
        draw = getattr(sys.modules["palladion"], "draw_schedule", None)
        if draw is None or self.shown is None or self.shown.finding is None:
            return None
        try:
            return draw(self.shown.finding)
        except (PalladionError, ValueError):  # a finding of no schedule
            return None

    def _smaller(self) -> str:
        shown = self.shown
        if shown.finding is None or isinstance(shown.f, str):  # palladion.reduce takes the inputs of one device
            return ""
        number = next(i for i, kernel in enumerate(shown.report.kernels) if shown.finding in kernel.findings)
        try:
            text, inputs = _recorded(shown.f, shown.args, self.exercise.statement.target, number)
            small = reduce(text, inputs, self._keeps, target=self.exercise.statement.target, seconds=_SECONDS)
        except (PalladionError, ExportError) as error:
            return f"It was not made smaller: {str(error).splitlines()[0]}"
        return f"The same mistake in a smaller kernel:\n\n{_as_python(small.text)}"

    def _keeps(self, text, inputs) -> bool:
        """Whether a smaller kernel has this finding, for the same reason: not another one of the same code."""
        statement = self.exercise.statement
        try:
            report = check(text, *inputs, target=statement.target, seeds=statement.seeds, progress=lambda _: None)
        except PalladionError:
            return False
        return _reason(self.shown.finding) in map(_reason, report.mistakes)

    def _repr_html_(self) -> str:
        colour, word = ("#2a7d2e", "right") if self.right else ("#b3261e", "wrong")
        body = f'<p><b style="color:{colour}">{word}</b> {html.escape(self.line)}</p>'
        if self.shown is not None:
            of = self.shown.report if self.shown.finding is None else self.shown.finding
            body += of._repr_html_()
        picture = self.picture()
        return body + ("" if picture is None else picture._repr_html_())


def _reason(finding) -> tuple:
    """What stays when a kernel shrinks: the lines, and the words without the numbers of elements and operations."""
    words = (re.sub(r"(?<!py:)\b\d[\d.,:]*", "N", text) for text in (finding.why, finding.fix))
    return finding.code, *words, *[(frame.file, frame.line) for frame in finding.frames]


def _as_python(text: str) -> str:
    try:
        return to_jax_source(text)
    except (ToJaxError, PalladionError):
        return text


def _recorded(f, args, target, number) -> tuple[str, list]:
    """The text of the kernel that ran as number `number`, and the arrays that it ran on."""
    calls: list = []
    with contextlib.suppress(PalladionError):  # of a kernel that does not end: it is in `calls` by then
        running.execute(
            f, args, probes.given(target), how=running.How(), program=lambda text, chip: _Recorder(text, chip, calls)
        )
    return calls[number]


class _Recorder(_library.Program):
    """A kernel whose text and inputs are kept."""

    def __init__(self, text, target, calls):
        super().__init__(text, None, target)
        self._text, self._calls = text, calls

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        self._calls.append((self._text, [np.array(one) for one in inputs]))
        return super().run(inputs, outputs, budget, *how)
