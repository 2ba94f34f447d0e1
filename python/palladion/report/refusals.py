"""What the target of a kernel refuses is said with the error where the kernel cannot be prepared: it is wrong in any
case.
"""

from palladion import _library
from palladion.report.rendering import plain, render
from palladion.report.reports import KernelReport


class Refusal:
    """What the target refuses of a kernel that did not run, as a report; equal where the reports say the same."""

    def __init__(self, report: KernelReport):
        self.report = report

    def __eq__(self, other) -> bool:
        return isinstance(other, Refusal) and plain(self.report) == plain(other.report)

    def __hash__(self) -> int:
        return hash((self.report.kernel, self.report.target, len(self.report.findings)))


def refusal_of(error: Exception) -> Refusal | None:
    """Of an error that `refused` gave; the report is without the reason of the error."""
    report = getattr(error, "report", None)
    return Refusal(KernelReport(report | {"error": None})) if report else None


def refused(
    error: _library.PalladionError, text: str, kernel: str | None, target: str | None, legality: bool = True
) -> _library.PalladionError:
    """The error of a kernel text that was not prepared, or one with the findings too; its report then has them."""
    found = _library.refusal(text, kernel, target) if legality else None
    if found is None:
        return error
    message = f"{error}\nits target refuses it as well:\n{render([KernelReport(found)], 'findings')}".rstrip("\n")
    both = _library.PalladionError(message, error.code, found)
    both.out_of_memory = error.out_of_memory
    both.reason = str(error)  # for callers that show the findings themselves
    return both


def program(
    text: str, kernel: str | None = None, target: str | None = None, launches: int = 1, legality: bool = True
) -> _library.Program:
    """A prepared kernel; PalladionError with all that is known to be wrong with it."""
    try:
        return _library.Program(text, kernel, target, launches)
    except _library.PalladionError as error:
        raise refused(error, text, kernel, target, legality) from None
