"""What the kernels of a session did: `session.report` and `palladion.last_report()`."""

from collections.abc import Iterable

from palladion import _library
from palladion.bridge import picture
from palladion.bridge.jax_params import RACE_CODES
from palladion.report import VERDICTS, DefectError, Finding, KernelReport, tried


class SessionReport:
    """Every kernel call, equal ones folded.

    calls: one KernelReport for each different call, in the order they first ended, with `count` and `grid` besides.
    dropped: calls whose reports there was no room for; 0 in any but huge programs.
    """

    def __init__(self, calls: Iterable[KernelReport] = (), dropped: int = 0):
        self.calls = list(calls)
        self.dropped = dropped

    def add(self, taken: dict) -> None:
        """What `_library.take_session` gives."""
        self.dropped += taken["dropped"]
        for entry in taken["calls"]:
            call = KernelReport(entry["call"]["report"])
            call.count, call.grid = entry["count"], tuple(entry["call"]["grid"])
            self.calls.append(call)

    @property
    def count(self) -> int:
        """How many kernel calls there were."""
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
        """Kernels ran, nothing that counts was found, and everything was tried."""
        return bool(self.calls) and not self.dropped and all(call.exit_code == 0 for call in self.calls)

    def raise_if_defect(self) -> "SessionReport":
        """PalladionError for a kernel that could not run, DefectError for one that is wrong; returns the report otherwise.

        A kernel that is wrong and then could not go on is wrong: its findings are told with the error.
        """
        for call in self.calls:
            if call.error is not None and call.exit_code != _library.DEFECT:
                found = "".join(f"\n  {finding}" for finding in call.findings)
                raise _library.PalladionError(f"kernel {call.kernel}: {call.error.message}{found}", call.exit_code)
        if any(call.exit_code not in (_library.CLEAN, _library.BUDGET) for call in self.calls):
            raise DefectError(self)
        return self

    def __str__(self) -> str:
        if not self.calls:
            return "no kernel ran"
        lines = []
        for call in self.calls:
            times = f" ({call.count} calls)" if call.count > 1 else ""
            lines.append(f"kernel {call.kernel} on {call.target}: {call.verdict}{tried(call)}{times}")
            lines += [f"  {finding}" for finding in call.findings]
            lines += [f"  {call.error.message}"] if call.error else []
        if self.dropped:
            lines.append(f"and {self.dropped} calls whose reports there was no room for")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return picture.report_html(self)
