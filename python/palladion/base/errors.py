"""The errors and the warning that users meet, but for the library's own (_abi.PalladionError) and a report's
(DefectError).
"""

from palladion.base.printable import printable


class ExportError(Exception):
    """What cannot be written as kernel text. `where` is "file:line" of the user's Python,
    or "" where JAX kept no frame of it.
    """

    __module__ = "palladion"  # where users find it

    def __init__(self, message: str, where: str = ""):
        super().__init__(printable(f"{where}: {message}" if where else message))
        self.where = where


class ToJaxError(Exception):
    """What JAX cannot say. `line` is of the kernel text as it was given, `operation` is what stands there."""

    __module__ = "palladion"  # where users find it

    def __init__(self, why: str, operation: str = "", line: int = 0):
        self.why, self.operation, self.line = why, operation, line
        place = f"line {line}: " if line else ""
        name = f"{operation}: " if operation else ""
        super().__init__(printable(f"{place}{name}{why}"))


class PalladionWarning(UserWarning):
    """A kernel ran and has a defect; the text is its findings."""

    __module__ = "palladion"  # where users find it

    def __init__(self, message: str):
        super().__init__(printable(message))
