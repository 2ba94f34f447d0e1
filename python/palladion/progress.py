"""How far the kernels are that run now: a line that is drawn anew on a terminal and in a notebook,
or calls of a function.

The library keeps the numbers and is asked for them from a thread, so that nothing is called from inside a kernel. What
is over in a moment is not shown.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable

from palladion import _library
from palladion.base.threads import PlainThread

_FIRST_SECONDS, _NEXT_SECONDS = 0.7, 0.2


@dataclasses.dataclass
class Progress:
    """One kernel call in progress.

    unit: what is counted: "schedules" of a check, "programs" of a run, or "budget": a run of one program, of which only
    is known how much of its budget it has spent. total: 0 where it is not known. rate: units a second. seconds_left:
    about; of a budget at most so many; None where it is not known. text: all of it, for people.
    """

    kernel: str
    unit: str
    done: int
    total: int
    rate: float
    seconds: float
    seconds_left: float | None
    text: str


def under_way(session: int | None = None) -> list[Progress]:
    """The kernel calls in progress, of one session or of all."""
    runs = []
    for run in _library.progress():
        if session is None or run.pop("session") == session:
            run.pop("session", None)
            run["seconds_left"] = run["seconds_left"] if run["seconds_left"] >= 0 else None
            runs.append(Progress(**run))
    return runs


def checked(progress: object) -> object:
    """`progress` as it was given, where it is something that can be: None, a bool or a function."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(
            f"progress must be True, False, None (on a terminal and in a notebook) or a function; found {progress!r}"
        )
    return progress


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


class _Line:
    """Drawn over itself on stderr."""

    def __init__(self):
        self._shown = 0

    def __call__(self, text: str):
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def clear(self):
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()


class Shown:
    """Shows the calls in progress while it is entered. `progress` as in palladion.check."""

    def __init__(self, progress: bool | Callable[[Progress], object] | None, session: int | None = None):
        wanted = (
            progress if progress is not None else sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())
        )
        self._tell = progress if callable(progress) else None
        self._session = session
        self._over = threading.Event()
        self._thread = PlainThread(target=self._show, name="palladion progress", daemon=True) if wanted else None

    def __enter__(self):
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=1)

    def _show(self):
        line = _Line()
        while not self._over.wait(_NEXT_SECONDS):
            runs = [run for run in under_way(self._session) if run.seconds >= _FIRST_SECONDS]
            if self._tell is not None:
                for run in runs:
                    self._tell(run)
            elif runs:
                others = f" (and {len(runs) - 1} more)" if len(runs) > 1 else ""
                line(f"{runs[0].text}{others}; Ctrl-C stops")
            else:
                line.clear()
        line.clear()
