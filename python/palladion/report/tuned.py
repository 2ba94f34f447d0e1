"""What `palladion.tune` found: a row for each candidate, the chosen one, and how sure that choice is.

Two times of one model err alike, but not by the same share. The recorded times of variants of one kernel
(docs/explanation/time.md) miss the ratio of two times by no more than the uncertainty of one time; so that share of the
slower time is the uncertainty of their difference (python/tests/test_differences.py holds the tables to it). It says
nothing about kernels that were not recorded. Needs no JAX.
"""

import dataclasses
import json
from typing import Any

from palladion.report.rendering import many
from palladion.report.tuned_plot import plot_of

CHOSEN, CHECKED, TIMED, NOT_TIMED = "chosen", "checked", "timed", "not timed"
REFUSED, NO_ROOM, UNCERTAIN, NO_TIME = "refused", "does not fit", "may be refused", "no time"
WRONG, FINDING, FAILED, NOT_LOOKED_AT = "other values", "finding", "check failed", "not looked at"
# What each status means, in the order of the table; docs/reference/tune.md has these words.
STATUSES = (
    CHOSEN,
    CHECKED,
    TIMED,
    NOT_TIMED,
    WRONG,
    FINDING,
    FAILED,
    NO_TIME,
    UNCERTAIN,
    NO_ROOM,
    REFUSED,
    NOT_LOOKED_AT,
)


def uncertainty_of_difference(one: float | None, other: float | None) -> float | None:
    """Of two times of variants of one kernel, from the uncertainty of each: a share of the slower time."""
    return None if one is None or other is None else max(one, other)


@dataclasses.dataclass
class TunedRow:
    """One candidate: `f(*args, **sizes)`.

    status: "chosen"; "checked": right, and slower; "timed"; "not timed": `least` says that it is slower; "other values"
        than the reference; "finding": its check has one; "check failed"; "no time": the model of time refuses it; "may
        be refused" or "does not fit"; "refused" by the function, JAX or the target; "not looked at": the budget was
        over. `why` says more of it.
    seconds: as in palladion.KernelTime, of all its kernels together, and so is `uncertainty`.
    bound: the limit that allows the least time of its longest kernel; `least` is the least time that is known, in
        seconds.
    kernels: how many ran.
    """

    sizes: dict[str, Any]
    status: str
    why: str = ""
    seconds: float | None = None
    uncertainty: float | None = None
    bound: str = ""
    least: float | None = None
    kernels: int | None = None

    @property
    def name(self) -> str:
        """ "block=128 stages=2" """
        return " ".join(f"{name}={size!r}" for name, size in self.sizes.items())

    def __str__(self) -> str:
        parts = [self.name, self.status]
        parts += [] if self.seconds is None else [time_text(self.seconds)]
        return ": ".join([", ".join(parts), *([self.why] if self.why else [])])


def time_text(seconds: float) -> str:
    """ "71.7 us" """
    unit, scale = ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * scale:.4g} {unit}"


class Tuned:
    """What `palladion.tune` returns. str() is `table()`; notebooks show the plot and the table.

    rows: every candidate, in the order of the space.
    best: the chosen one, or None where none is right; it was checked unless `best.status` is "timed", which a budget
        may cause.
    notes: what a reader must know beside it.
    """

    def __init__(self, rows: list[TunedRow], best: TunedRow | None, target: str, notes: list[str]):
        self.rows, self.best, self.target, self.notes = rows, best, target, notes

    @property
    def close(self) -> list[TunedRow]:
        """The candidates that the model cannot tell apart from the best: the difference is below its uncertainty.
        Those that are wrong are left out.
        """
        return [] if self.best is None else [one for one in self._rivals() if self._is_close(one)]

    def not_looked_at(self) -> int:
        """How many candidates the budget left."""
        return sum(one.status == NOT_LOOKED_AT for one in self.rows)

    def table(self) -> str:
        """All of it for people: the candidates, fastest first, and the choice."""
        ordered = sorted(self.rows, key=lambda one: (one.seconds is None, one.seconds or 0, STATUSES.index(one.status)))
        cells = [("candidate", "time", "give or take", "limit", "status"), *map(self._cells, ordered)]
        widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in cells))]
        lines = ["  ".join([*(c.ljust(w) for c, w in zip(row, widths)), row[-1]]).rstrip() for row in cells]
        return "\n".join([self._head(), *(f"  {line}" for line in lines), *self._choice(), *self.notes])

    def to_json(self) -> str:
        """One object: docs/reference/tune.md has its members."""
        rows = [dataclasses.asdict(one) for one in self.rows]
        best = next((number for number, one in enumerate(self.rows) if one is self.best), None)
        close = [number for number, one in enumerate(self.rows) if any(one is other for other in self.close)]
        members = {"target": self.target, "best": best, "tied": close, "rows": rows, "notes": self.notes}
        return json.dumps(members, default=str)

    def plot(self) -> str:
        """The times as an SVG picture, a file by itself."""
        return plot_of(self)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return (
            f"<Tuned {many(len(self.rows), 'candidate')} on {self.target}: {self.best.name if self.best else 'none'}>"
        )

    def _repr_html_(self) -> str:
        import html

        from palladion.report.pictures.svg import scrolled

        return f"{scrolled(self.plot())}<pre style='overflow-x:auto'>{html.escape(self.table())}</pre>"

    def _rivals(self) -> list[TunedRow]:
        timed = [one for one in self.rows if one.status in (CHECKED, TIMED) and one is not self.best]
        return sorted(timed, key=lambda one: one.seconds)

    def _is_close(self, one: TunedRow) -> bool:
        share = uncertainty_of_difference(self.best.uncertainty, one.uncertainty)
        slower = max(one.seconds, self.best.seconds)
        return share is not None and abs(one.seconds - self.best.seconds) < share * slower

    def _head(self) -> str:
        counts = [(status, sum(one.status == status for one in self.rows)) for status in STATUSES]
        counted = ", ".join(f"{count} {status}" for status, count in counts if count)
        return f"{many(len(self.rows), 'candidate')} on {self.target}: {counted}"

    def _choice(self) -> list[str]:
        if self.best is None:
            return ["none is chosen: no candidate that was looked at is right"]
        unchecked = "" if self.best.status == CHOSEN else ", NOT CHECKED"
        lines = [f"the best: {self.best.name}, {time_text(self.best.seconds)}{unchecked}"]
        rivals = self._rivals()
        if rivals:
            lines.append(self._against(rivals[0]))
        if left := self.not_looked_at():
            lines.append(f"{many(left, 'candidate')} not looked at: the budget was over; any of them may be faster")
        return lines

    def _against(self, next_best: TunedRow) -> str:
        more = next_best.seconds / self.best.seconds - 1
        share = uncertainty_of_difference(self.best.uncertainty, next_best.uncertainty)
        amount = "as long" if abs(more) < 5e-4 else f"{abs(more):.1%} {'more' if more > 0 else 'less'}"
        text = f"the next best, {next_best.name}, takes {amount}"
        if share is None:
            return f"{text}; the uncertainty of that difference is not known"
        if not self._is_close(next_best):
            return f"{text}, more than the uncertainty of the difference, {share:.0%}"
        others = len(self.close) - 1
        and_more = f" (nor, of {many(others, 'other')}, whether they are slower)" if others > 0 else ""
        return (
            f"{text}, less than the uncertainty of the difference, {share:.0%}: the model does not say which of the "
            f"two is faster{and_more}"
        )

    def _cells(self, one: TunedRow) -> tuple[str, ...]:
        least = f"at least {time_text(one.least)}" if one.seconds is None and one.least is not None else ""
        return (
            one.name,
            least if one.seconds is None else time_text(one.seconds),
            "" if one.uncertainty is None else f"{one.uncertainty:.0%}",
            one.bound,
            one.status + (f": {one.why}" if one.why else ""),
        )
