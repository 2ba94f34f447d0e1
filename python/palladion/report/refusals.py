"""What the target of a kernel refuses is said with the error where the kernel cannot be prepared: it is wrong in any
case.
"""

from palladion import _library
from palladion.report.rendering import render
from palladion.report.reports import KernelReport


def refused(
    error: _library.PalladionError, text: str, kernel: str | None, target: str | None, legality: bool = True
) -> _library.PalladionError:
    """The error of a kernel text that was not prepared, or one with the findings too; its report then has them."""
    found = _library.refusal(text, kernel, target) if legality else None
    if found is None:
        return error
    message = f"{error}\nits target refuses it as well:\n{render([KernelReport(found)], 'findings')}".rstrip("\n")
    both = _library.PalladionError(message, error.code, found)
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
