"""The frames of a traceback that are the user's, apart from ours, JAX's and Python's own."""

import os
import types

from palladion.base.package import PACKAGE

OURS = (PACKAGE,)
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PYTHONS = (f"{os.sep}lib{os.sep}python3.", "<frozen ")
LIBRARIES = (*OURS, *_PACKAGES, *_PYTHONS)


def frames_of(traceback: types.TracebackType | None) -> list[types.TracebackType]:
    """Outermost first."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    return frames


def is_of(frame: types.FrameType, parts: tuple) -> bool:
    """Whether its file is in one of these folders."""
    file = frame.f_code.co_filename
    # methods of dataclasses
    made = file == "<string>" and str(frame.f_globals.get("__name__")).startswith("palladion.")
    return made or is_in(file, parts)


def is_in(file: str, parts: tuple) -> bool:
    """Whether a file is in one of these folders."""
    return any(part in file for part in parts)


def raised_by_us(traceback: types.TracebackType | None) -> bool:
    """Whether our code raised it, or Python's own library on our behalf: ctypes, which finds no symbol, for one."""
    frames = [one.tb_frame for one in frames_of(traceback)]
    while frames and is_in(frames[-1].f_code.co_filename, _PYTHONS) and not is_of(frames[-1], (*OURS, *_PACKAGES)):
        frames.pop()
    return bool(frames) and is_of(frames[-1], OURS)


def without(traceback: types.TracebackType | None, parts: tuple) -> types.TracebackType | None:
    """Those that are not in these folders."""
    left = None
    for one in reversed(frames_of(traceback)):
        if not is_of(one.tb_frame, parts):
            left = types.TracebackType(left, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return left
