"""The one error of kernel text that cannot be written in JAX: which operation, on which line of the text, and why."""

from palladion.printable import printable


class ToJaxError(Exception):
    """`line` is of the kernel text as it was given, `operation` is what stands there."""

    __module__ = "palladion"  # where users find it

    def __init__(self, why: str, operation: str = "", line: int = 0):
        self.why, self.operation, self.line = why, operation, line
        place = f"line {line}: " if line else ""
        name = f"{operation}: " if operation else ""
        super().__init__(printable(f"{place}{name}{why}"))
