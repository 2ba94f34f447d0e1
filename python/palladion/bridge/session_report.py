"""What the kernels of a session did: `session.report` and `palladion.last_report()`."""

import dataclasses
import html
from collections.abc import Iterable

from palladion import _library
from palladion.bridge.elsewhere import REFUSED, Elsewhere
from palladion.bridge.jax_params import RACE_CODES
from palladion.report import report_html
from palladion.report.rendering import many, render
from palladion.report.reports import (
    KEPT_BYTES,
    VERDICTS,
    DefectError,
    Finding,
    KernelReport,
    Launched,
    call_around,
    of_kernel,
)


class SessionReport:
    """Every kernel call, equal ones folded.

    calls: one KernelReport for each different call, in the order they first ended, with `count` and `grid` besides.
    dropped: calls whose reports there was no room for; 0 in any but huge programs.
    replay: what a schedule is put between in a line that shows a finding again, where it is not the target alone.
    elsewhere: one Elsewhere (kernel, where, reason, count) for each kernel that Palladion did not run (on_unsupported).
    """

    def __init__(self, calls: Iterable[KernelReport] = (), dropped: int = 0, replay: tuple = ()):
        self.calls = list(calls)
        self.dropped = dropped
        self._replay = replay
        self.elsewhere = []
        self._refused = set()
        self._kept_bytes = 0

    def add_elsewhere(self, notes: list) -> None:
        """What `elsewhere.take` gives."""
        for one in notes:
            self._add_refused(one)
            if one.where == REFUSED:
                continue
            same = [known for known in self.elsewhere if dataclasses.replace(known, count=one.count) == one]
            self.elsewhere = [known for known in self.elsewhere if known not in same]
            self.elsewhere.append(dataclasses.replace(one, count=one.count + sum(known.count for known in same)))

    def _add_refused(self, one: Elsewhere) -> None:
        """What the target refuses of a kernel that did not run, once."""
        if one.refusal is None or one.refusal in self._refused:
            return
        self._refused.add(one.refusal)
        call = one.refusal.report
        call.count, call.grid = 0, ()
        self.calls.append(call)

    @property
    def ran(self) -> dict:
        """How many kernel calls ran where: {"palladion": 3, "jax": 1, "skipped": 0}."""
        by = {where: sum(one.count for one in self.elsewhere if one.where == where) for where in ("jax", "skipped")}
        return {"palladion": self.count, **by}

    def add(self, taken: dict) -> None:
        """What `_library.take_session` gives."""
        self.dropped += taken["dropped"]
        for entry in taken["calls"]:
            report = entry["call"]["report"]
            before, after = self._replay or call_around("palladion.emulate", [f'"{report["target"]}"'], {})
            if (launches := entry["call"].get("launches", 1)) > 1:
                after = f'", launches={launches})'
            call = KernelReport(report, (before, after))
            call.count, call.grid = entry["count"], tuple(entry["call"]["grid"])
            call.add_time(entry["call"])
            if "launched" in entry:
                self._keep(call, entry["launched"])
            self.calls.append(call)

    def _keep(self, call: KernelReport, launched: dict) -> None:
        """What replays its findings, while the inputs of all calls are not too much."""
        size = sum(one.nbytes for one in launched["inputs"])
        if self._kept_bytes + size > KEPT_BYTES:
            return
        self._kept_bytes += size
        options = dict(one.split("=", 1) for one in launched["options"].split(";") if one)
        names = launched["kernel"] or None, launched["target"] or None
        call.launched = Launched(launched["text"], *names, launched["launches"], launched["inputs"], options)

    @property
    def count(self) -> int:
        """How many kernel calls there were in Palladion."""
        return sum(call.count for call in self.calls) + self.dropped

    @property
    def verdict(self) -> str:
        """The worst of the calls'; "none" where no kernel ran, which is no pass."""
        return max((call.verdict for call in self.calls), key=VERDICTS.index, default="none")

    @property
    def findings(self) -> list[Finding]:
        """Those of all calls."""
        return [finding for call in self.calls for finding in call.findings]

    @property
    def races_found(self) -> bool:
        """Some finding is a race."""
        return any(finding.code in RACE_CODES for finding in self.findings)

    @property
    def ok(self) -> bool:
        """Kernels ran, all of them in Palladion, nothing that counts was found, and everything was tried."""
        return (
            bool(self.calls)
            and not self.dropped
            and not self.elsewhere
            and all(call.exit_code == 0 for call in self.calls)
        )

    def raise_if_defect(self) -> "SessionReport":
        """PalladionError for a kernel that could not run, DefectError for one that is wrong;
        returns the report otherwise.

        A kernel that has a defect and then could not go on counts as defective: the error has its findings.
        """
        __tracebackhide__ = True  # of pytest and IPython
        for call in self.calls:
            if call.error is not None and call.exit_code != _library.DEFECT:
                found = "\n\n" + render([call], "findings") if call.findings else ""
                raise _library.PalladionError(f"{of_kernel(call)}{found}", call.exit_code)
        if any(call.exit_code not in (_library.CLEAN, _library.BUDGET) for call in self.calls):
            raise DefectError(self)
        return self

    def __str__(self) -> str:
        calls = [self._calls_text()] if self.calls or not self.elsewhere else []
        return "\n".join(calls + [str(one) for one in self.elsewhere])

    def _calls_text(self) -> str:
        if not self.calls:
            return "no kernel ran"
        return "\n".join([render(self.calls, dropped=self.dropped).rstrip("\n"), *self._times()])

    def _times(self) -> list[str]:
        """A line for each call whose time was asked for."""
        lines = [one.time.text.partition("\n")[0] for one in self.calls if one.time]
        return lines + [
            f"{one.kernel}: its time is not known: {one.time_refused}" for one in self.calls if one.time_refused
        ]

    def __repr__(self) -> str:
        return (
            f"<SessionReport {self.verdict}, {many(self.count, 'kernel call')}, {many(len(self.findings), 'finding')}>"
        )

    def _repr_html_(self) -> str:
        elsewhere = "".join(f"<div>{html.escape(str(one))}</div>" for one in self.elsewhere)
        return report_html.report_html(self.calls, dropped=self.dropped) + elsewhere
