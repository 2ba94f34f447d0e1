"""The frames of a traceback that are the user's, apart from ours, JAX's and Python's own."""

import os
import types

from palladion.base.package import PACKAGE

OURS = (PACKAGE,)
LIBRARIES = (
    *OURS,
    f"{os.sep}site-packages{os.sep}",
    f"{os.sep}dist-packages{os.sep}",
    f"{os.sep}lib{os.sep}python3.",
    "<frozen ",
)


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
    return made or any(part in file for part in parts)


def without(traceback: types.TracebackType | None, parts: tuple) -> types.TracebackType | None:
    """Those that are not in these folders."""
    left = None
    for one in reversed(frames_of(traceback)):
        if not is_of(one.tb_frame, parts):
            left = types.TracebackType(left, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return left
