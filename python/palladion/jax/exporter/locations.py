"""The tables of files and locations of one text: each instruction's line of the user's Python, with its callers."""

import os

from palladion.base.package import PACKAGE
from palladion.jax import jax_versions
from palladion.jax.exporter.attributes import string_text

ENTRY_FUNCTIONS_FILE = os.path.join(PACKAGE, "jax", "interception.py")
_KERNELS = PACKAGE + "real_kernels" + os.sep
_RUNNERS = tuple(f"{os.sep}{package}{os.sep}" for package in ("_pytest", "pluggy", "IPython", "ipykernel", "marimo"))


def _is_outside(path: str) -> bool:
    """Callers of palladion.export, or what runs a test or a notebook's cell, are not among the frames of a kernel."""
    return path == ENTRY_FUNCTIONS_FILE or any(runner in path for runner in _RUNNERS)


def _is_own(path: str) -> bool:
    """Of Palladion, which writes parts of kernels as JAX's lowering would; the kernels it ships are as a user's."""
    return path.startswith(PACKAGE) and not path.startswith(_KERNELS)


class Locations:
    """`caller` of a method is (name, outermost frame, user's place) of the call that the equation is inside of,
    or None.

    JAX cuts a traceback at the function it traces (from 0.9), so that the chain is joined here: body of a loop, loop,
    kernel, call of the kernel. A traceback that is whole already, as older versions have it,
    starts at its caller's outermost frame.
    """

    def __init__(self):
        self.lines = []  # declarations, in the order of the text
        self._files = {}
        self._locations = {}  # (frame, caller) -> name
        self._frames_of = {}  # traceback -> frames

    def name(self, source_info, caller=None) -> str:
        """`#l7`; the caller's where JAX kept no frame of the user's Python, "" without any."""
        return self._chain(self._frames(source_info.traceback), caller)

    def function_name(self, frame, caller=None) -> str:
        """`#l7` of a function's own line, the caller's where `frame` is None."""
        return self._chain((frame,) if frame else (), caller)

    def place(self, source_info, caller=None) -> str:
        """`file.py:12` of the user's Python, for messages."""
        return self._place(self._frames(source_info.traceback), caller)

    def as_caller(self, traceback, caller=None):
        """What the equations inside the call that `traceback` made have as their caller."""
        frames = self._frames(traceback)
        return (self._chain(frames, caller), frames[-1], self._place(frames, caller)) if frames else caller

    def _place(self, frames, caller) -> str:
        users = [frame for frame in frames if not jax_versions.is_helper_file(frame[0])]
        if users:
            return f"{users[0][0]}:{users[0][2]}"
        return caller[2] if caller else ""

    def _frames(self, traceback):
        if traceback is None:
            return ()
        if traceback not in self._frames_of:
            frames = []
            for frame in jax_versions.user_frames(traceback):
                if _is_outside(frame[0]):
                    break
                if not _is_own(frame[0]):
                    frames.append(frame)
            self._frames_of[traceback] = tuple(frames)
        return self._frames_of[traceback]

    def _chain(self, frames, caller) -> str:
        if not frames:
            return caller[0] if caller else ""
        name = caller[0] if caller and caller[1] != frames[-1] else ""
        for frame in reversed(frames):
            name = self._location(frame, name)
        return name

    def _file(self, path: str) -> str:
        if path not in self._files:
            self._files[path] = f"#f{len(self._files)}"
            self.lines.append(f"file {self._files[path]} = {string_text(path)};")
        return self._files[path]

    def _location(self, frame, caller: str) -> str:
        key = (frame, caller)
        if key not in self._locations:
            path, function, line, column = frame
            file_name = self._file(path)
            self._locations[key] = f"#l{len(self._locations)}"
            via = f" via {caller}" if caller else ""
            at = f"{line}:{column}" if column else str(line)
            self.lines.append(f"loc {self._locations[key]} = {file_name}:{at} fn {string_text(function)}{via};")
        return self._locations[key]
