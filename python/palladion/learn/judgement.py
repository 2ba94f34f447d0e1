"""What the judge says: one line, the whole report and a smaller kernel on demand, and a page in notebooks.

The smaller kernel is palladion.reduce's, for findings of one kernel; differences of values have none.
"""

import dataclasses
import html
import re

from palladion._library import PalladionError
from palladion.api.checking import check
from palladion.api.reducing import reduce
from palladion.api.schedules import draw_schedule
from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import to_jax_source
from palladion.learn.answers import Where
from palladion.learn.statement import Exercise
from palladion.report.pictures.picture import Picture
from palladion.report.reports import Finding, Report

_SECONDS = 10  # for a smaller kernel


@dataclasses.dataclass(frozen=True, repr=False)
class Judgement:
    """`code` is "" of a right answer; else a finding's code, or one of the judge's own (docs/learn/index.md)."""

    exercise: Exercise
    code: str
    message: str
    where: Where | None
    report: Report | None = None  # what there is to look at
    finding: Finding | None = None  # that made it wrong; None: values did, or nothing
    notes: tuple[Finding, ...] = ()

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
        looked_at = [one for one in (self.finding or self.report, *self.notes) if one is not None]
        return "\n\n".join(filter(None, [*map(str, looked_at), self._smaller()]))

    def picture(self) -> Picture | None:
        """The failing run as palladion.draw_schedule draws it; None where there is none, or no schedule shows it."""
        return draw_schedule(self.finding) if self.finding is not None and self.finding.replay else None

    def _smaller(self) -> str:
        statement = self.exercise.statement
        if self.finding is None or statement.ring:  # palladion.reduce takes the inputs of one device
            return ""
        kernel = self.finding.call.launched
        try:
            small = reduce(kernel.text, kernel.inputs, self._keeps, target=statement.target, seconds=_SECONDS)
        except PalladionError as error:
            return f"It was not made smaller: {str(error).splitlines()[0]}"
        return f"The same mistake in a smaller kernel:\n\n{_as_python(small.text)}"

    def _keeps(self, text, inputs) -> bool:
        """Whether a smaller kernel has this finding, for the same reason: not another one of the same code."""
        statement = self.exercise.statement
        try:
            report = check(text, *inputs, target=statement.target, seeds=statement.seeds, progress=lambda _: None)
        except PalladionError:
            return False
        return _reason(self.finding) in map(_reason, report.mistakes)

    def _repr_html_(self) -> str:
        colour, word = ("#3a9d40", "right") if self.right else ("#e04848", "wrong")
        body = f'<p><b style="color:{colour}">{word}</b> {html.escape(self.line)}</p>'
        if not self.right and self.report is not None:
            body += (self.finding or self.report)._repr_html_()
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
