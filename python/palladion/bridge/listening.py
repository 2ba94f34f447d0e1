"""Handlers of signals while kernels run, for as long as a `with` lasts."""

from palladion import _library


class Listening:
    """While it is entered, SIGINT and SIGTERM end kernels early and then reach the handlers set before."""

    def __init__(self):
        self._library = _library.load()

    def __enter__(self):
        self._library.palladion_interrupts_listen()
        self._before = self._library.palladion_interrupt_count()
        return self

    def __exit__(self, *_):
        self._library.palladion_interrupts_ignore()

    @property
    def interrupted(self) -> bool:
        """A signal came since it was entered."""
        return self._library.palladion_interrupt_count() != self._before
