"""The one error of the exporter: what cannot be written as kernel text, and where the user wrote it."""

from palladion.printable import printable


class ExportError(Exception):
    """`where` is "file:line" of the user's Python, or "" where JAX kept no frame of it."""

    __module__ = "palladion"  # where users find it

    def __init__(self, message: str, where: str = ""):
        super().__init__(printable(f"{where}: {message}" if where else message))
        self.where = where
