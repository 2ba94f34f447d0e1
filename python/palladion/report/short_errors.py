"""Errors that say all in their message: without our own frames, JAX's and the errors they come from,
which repeat the message.

So are refusals of arguments (TypeError, ValueError) and files that cannot be read.
What goes wrong in Palladion itself keeps its frames.

PALLADION_TRACEBACK=full keeps them, for work on Palladion itself.
"""

import dis
import functools
import os

from palladion._library import INTERNAL, PalladionError
from palladion.base.errors import ExportError, ToJaxError
from palladion.report.frames import LIBRARIES, OURS, frames_of, is_of, raised_by_us, without
from palladion.report.reports import DefectError

_OURS = (PalladionError, ExportError, ToJaxError, DefectError)


def given_function(function, arguments):
    """What a user gave, on what was given with it: where its name stands in a TypeError, the arguments are wrong."""
    return function(*arguments)


def is_ours(error: BaseException | None) -> bool:
    return isinstance(error, _OURS)


def shortened(error: BaseException) -> BaseException:
    """The error with no frames but the user's; one that came through our frames from elsewhere without these."""
    if os.environ.get("PALLADION_TRACEBACK") == "full":
        return error
    if is_ours(error) or _is_refusal(error):
        error.__cause__, error.__suppress_context__ = None, True
        error.__traceback__ = without(error.__traceback__, LIBRARIES)
        if getattr(error, "__notes__", None):  # JAX's, that it has removed frames of its own
            error.__notes__ = [note for note in error.__notes__ if "JAX has removed its internal frames" not in note]
    elif error is not None and not raised_by_us(error.__traceback__):
        error.__traceback__ = without(error.__traceback__, OURS)
    return error


def short_errors(function):
    """Of a function that users call."""

    @functools.wraps(function)
    def called(*args, **options):
        __tracebackhide__ = True
        try:
            return function(*args, **options)
        except Exception as error:
            raise shortened(error)

    return called


def is_mistake_of_ours(error: BaseException) -> bool:
    """Whether Palladion itself is wrong, or cannot find its library: not the kernel, and not what was asked for.

    Does not catch: what NumPy raises of a wrong call of ours.
    """
    if is_ours(error):
        return getattr(error, "code", None) == INTERNAL
    return raised_by_us(error.__traceback__) and not _is_refusal(error)


def _is_refusal(error: BaseException) -> bool:
    """A file that is not there, or an argument that a `raise` of ours refuses: the message says what is wrong,
    and it lies with the caller.
    """
    frames = frames_of(error.__traceback__) if error is not None else []
    if not any(is_of(one.tb_frame, OURS) for one in frames):
        return False
    if isinstance(error, OSError):
        return all(is_of(one.tb_frame, LIBRARIES) for one in frames[-1:])
    if not isinstance(error, (TypeError, ValueError)) or not is_of(frames[-1].tb_frame, OURS):
        return False
    last = frames[-1].tb_frame.f_code
    raised = last.co_code[frames[-1].tb_lasti] == dis.opmap["RAISE_VARARGS"]
    # other arguments than it takes
    return raised or (last.co_name == given_function.__name__ and isinstance(error, TypeError))
