"""A learner's file as a module, and what is wrong with it in one line that names the learner's line. A mistake of
Palladion's own stays the exception that it is.

What a file does when it is read, or when its kernel is traced, may never end: an alarm of the process ends it, in the
main thread and where the system has alarms. Elsewhere only the kernels' own budget ends a loop.
"""

import contextlib
import dataclasses
import linecache
import os
import pathlib
import re
import signal
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax

from palladion._library import BUDGET, PalladionError
from palladion.base.errors import ExportError
from palladion.report.frames import LIBRARIES, is_in
from palladion.report.short_errors import is_mistake_of_ours

# What JAX calls the function that it was given by us, and not by the learner.
_TRACED = re.compile(r"function <lambda> at \S*interception\.py:\d+")
# JAX's words where a ref stands for the array that is in it.
_OF_A_REF = re.compile(r"'AbstractRef' object has no|requires ndarray or scalar arguments, got \S+ '\S+Tracer'")
SECONDS = 60  # of one answer; the slowest solution takes a tenth


class Wrong(Exception):
    """The answer is wrong: a code, one line of what and one of where."""

    def __init__(self, code: str, message: str, where: "Where | None" = None):
        super().__init__(message)
        self.code, self.where = code, where


@dataclasses.dataclass(frozen=True)
class Where:
    file: str
    line: int

    def __str__(self) -> str:
        """From the folder that the process is in, where the file is in it."""
        path = os.path.relpath(self.file)
        return f"{os.path.basename(path) if path.startswith(os.pardir) else path}:{self.line}"


class _Endless(BaseException):
    """Not an Exception: the learner's own `except Exception` must not catch it."""


def load(path: pathlib.Path, text: str | None = None) -> types.ModuleType:
    """The module, read anew each time: nothing of it is cached. Wrong where it cannot be read.

    `text` is that of a file that is not at `path`: lines of files in this package are not the user's, so reports leave
    them out.
    """
    linecache.checkcache(str(path))
    module = types.ModuleType("palladion_answer")
    module.__file__ = str(path)
    if text is None:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise Wrong("SYNTAX", f"the file is not UTF-8: {error.reason}", Where(str(path), 1)) from None
    with errors_of(path):
        try:
            code = compile(text, str(path), "exec")
        except ValueError as error:  # Python 3.11, of a NUL
            raise Wrong("SYNTAX", str(error), Where(str(path), 1)) from None
        sys.modules[module.__name__] = module  # dataclasses look their module up
        exec(code, module.__dict__)
    return module


def function_of(module: types.ModuleType, name: str) -> Callable:
    path = module.__file__
    found = module.__dict__.get(name)
    if not callable(found):
        raise Wrong("MISSING", f"the file has to define the function {name}", Where(path, 1))
    return found


@contextlib.contextmanager
def errors_of(path: os.PathLike | str | None, otherwise: Where | None = None) -> Iterator[None]:
    """Any exception inside of it is Wrong, at the last line of `path` that it passed, or `otherwise`; a mistake of
    Palladion's is not. None: of any file of the user.
    """

    def where(error):
        return _where(error, path) or otherwise

    try:
        with _alarm(), _all_frames():
            yield
    except Wrong as error:
        error.where = error.where or otherwise
        raise
    except _Endless as error:
        raise Wrong("ENDLESS", f"did not end within {SECONDS} seconds", where(error)) from None
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError) and is_learners(error.filename or str(path), path):
            raise Wrong("SYNTAX", error.msg, Where(error.filename or str(path), error.lineno or 1)) from None
        if is_mistake_of_ours(error):
            raise
        raise _wrong(error, path, where(error)) from None


def _wrong(error: BaseException, path: os.PathLike | str | None, where: Where | None) -> Wrong:
    if isinstance(error, (PalladionError, ExportError)):
        place = _named_in(str(error), path) or where
        if getattr(error, "code", None) == BUDGET:
            return Wrong("ENDLESS", "the kernel did not end; a loop, or a wait in one, goes on", place)
        return Wrong("CANNOT_RUN", _first_line(error), place)
    last = traceback.extract_tb(error.__traceback__)[-1]
    if isinstance(error, NotImplementedError) and is_learners(last.filename, path):  # JAX has it for other things
        return Wrong("UNFINISHED", str(error) or "is not written yet", where)
    words = _TRACED.sub("the function", _first_line(error))
    if _OF_A_REF.search(words):
        words += " (a ref is memory: x_ref[...] is the array that is in it)"
    return Wrong("RAISES", f"{type(error).__name__}: {words}", where)


def _first_line(error: Any) -> str:
    """With the second one, where the first only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def _named_in(message: str, path: os.PathLike | str | None) -> Where | None:
    """The learner's line that a message of the library names."""
    places = [Where(file, int(line)) for file, line in re.findall(r"([^\s:]+\.py):(\d+)", message)]
    return next((place for place in places if is_learners(place.file, path)), None)


def _where(error: BaseException, path: os.PathLike | str | None) -> Where | None:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if is_learners(frame.filename, path)]
    return Where(mine[-1].filename, mine[-1].lineno or 1) if mine else None


def is_learners(file: str, path: os.PathLike | str | None) -> bool:
    if path is not None:
        return os.path.abspath(file) == os.path.abspath(path)
    return not is_in(file, LIBRARIES)


@contextlib.contextmanager
def _all_frames() -> Iterator[None]:
    """JAX's too, which it leaves out of tracebacks: the last one says whose mistake an error is."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    try:
        yield
    finally:
        jax.config.update("jax_traceback_filtering", before)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_):
        raise _Endless

    before = signal.signal(signal.SIGALRM, ring)
    # Again each second: what is raised in a finalizer or in a callback of the garbage collector is lost.
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
