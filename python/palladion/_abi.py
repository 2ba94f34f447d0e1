"""The C ABI of libpalladion (emu/c_api.h) as ctypes declares it: structures, signatures, exit codes and the error that
they become. What calls it is `_library`.

The library is looked for in PALLADION_LIBRARY (a file), next to this package, and in build/ of a source tree. Does not
catch: a library of another version, whose structures differ.
"""

import ctypes
import functools
import os
import re

from palladion.base.printable import printable

# Results of palladion_run and palladion_check, the exit codes of the command.
CLEAN, DEFECT, OUTPUTS_DIFFER, UNSUPPORTED, MALFORMED, INTERNAL, BUDGET = 0, 1, 2, 3, 4, 5, 6
RESULT_NAMES = {
    UNSUPPORTED: "unsupported",
    MALFORMED: "malformed input",
    INTERNAL: "internal error",
    BUDGET: "budget spent",
}

FILE_NAME = "libpalladion.so"


# The library's names for kinds of errors, which `code` says. INTERNAL stays: it is a mistake of ours.
_STATUS = re.compile("^(INVALID_ARGUMENT|NOT_FOUND|UNIMPLEMENTED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION): ")


class PalladionError(RuntimeError):
    """The library refused a kernel or its inputs. `code` is the exit code of the command, `report` its JSON or None."""

    __module__ = "palladion"  # where users find it

    def __init__(self, message: str, code: int = INTERNAL, report: dict | None = None):
        super().__init__(printable(_STATUS.sub("", message)))
        self.code = code
        self.report = report


class _Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int),
        ("dtype", ctypes.c_char_p),
    ]


def options_list(options: dict):
    """Options of a run or a check as the library takes them: texts with NULL behind the last. None is left out."""
    words = [
        f"{name}={int(value) if isinstance(value, bool) else value}".encode()
        for name, value in options.items()
        if value is not None
    ]
    return (ctypes.c_char_p * (len(words) + 1))(*words)


class _CallRequest(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("options", ctypes.c_char_p),
        ("session", ctypes.c_int64),
    ]


class _CompareRequest(ctypes.Structure):
    _fields_ = [
        ("directory", ctypes.c_char_p),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("outputs", ctypes.POINTER(_Array)),
        ("n_outputs", ctypes.c_size_t),
        ("signed_zero", ctypes.c_int),
        ("causes", ctypes.c_int),
        ("hypotheses", ctypes.c_int64),
        ("out", ctypes.c_char_p),
    ]


def candidates() -> list:
    """Where the library may be, best first."""
    package = os.path.dirname(os.path.abspath(__file__))
    source = os.path.dirname(os.path.dirname(package))
    found = [os.environ["PALLADION_LIBRARY"]] if os.environ.get("PALLADION_LIBRARY") else []
    return found + [os.path.join(package, FILE_NAME), os.path.join(source, "build", FILE_NAME)]


def find_library() -> str:
    if os.environ.get("PALLADION_LIBRARY") and not os.path.isfile(os.environ["PALLADION_LIBRARY"]):
        raise PalladionError(f"PALLADION_LIBRARY names {os.environ['PALLADION_LIBRARY']!r}, which is not a file")
    for path in candidates():
        if os.path.isfile(path):
            return path
    raise PalladionError(
        f"{FILE_NAME} was not found; looked for {', '.join(candidates())}. Build it (cmake --build build) or "
        "set PALLADION_LIBRARY to the file"
    )


@functools.cache
def load():
    library = ctypes.CDLL(find_library())
    text_out = ctypes.POINTER(ctypes.c_void_p)
    library.palladion_prepare.restype = ctypes.c_void_p
    library.palladion_prepare.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p, text_out]
    library.palladion_prepare_launches.restype = ctypes.c_void_p
    library.palladion_prepare_launches.argtypes = [*library.palladion_prepare.argtypes[:-1], ctypes.c_int64, text_out]
    library.palladion_run_with.restype = ctypes.c_int
    library.palladion_run_with.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_char_p),
        text_out,
    ]
    library.palladion_check.restype = ctypes.c_int
    library.palladion_check.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_char_p),
        text_out,
    ]
    library.palladion_check_seeds.restype = ctypes.c_int
    library.palladion_check_seeds.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_int64,
        ctypes.c_int64,
        text_out,
    ]
    request = ctypes.POINTER(_CallRequest)
    for name, result, arguments in (
        ("palladion_call_prepare", ctypes.c_int, [request, text_out]),
        (
            "palladion_call",
            ctypes.c_int,
            [request, ctypes.POINTER(_Array), ctypes.c_size_t, ctypes.POINTER(_Array), ctypes.c_size_t, text_out],
        ),
        ("palladion_session_open", ctypes.c_int64, []),
        ("palladion_session_take", ctypes.c_void_p, [ctypes.c_int64]),
        ("palladion_session_pending", ctypes.c_int64, [ctypes.c_int64]),
        ("palladion_session_wait", ctypes.c_int, [ctypes.c_int64, ctypes.c_int64]),
        ("palladion_session_close", None, [ctypes.c_int64]),
        ("palladion_session_end_semaphores", None, [ctypes.c_int64]),
        ("palladion_session_use", None, [ctypes.c_int64]),
        ("palladion_session_cancel", None, [ctypes.c_int64]),
        ("palladion_interrupts_listen", None, []),
        ("palladion_interrupts_heard", ctypes.c_int64, []),
        ("palladion_progress", ctypes.c_void_p, []),
        ("palladion_interrupts_ignore", None, []),
        ("palladion_finding_codes", ctypes.c_void_p, []),
        ("palladion_targets", ctypes.c_void_p, []),
        ("palladion_resolve_target", ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p, text_out]),
        ("palladion_chips", ctypes.c_void_p, []),
        (
            "palladion_machines",
            ctypes.c_void_p,
            [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, text_out],
        ),
        ("palladion_operations", ctypes.c_void_p, []),
        ("palladion_fit", ctypes.c_void_p, [*library.palladion_prepare.argtypes[:-1], text_out, text_out]),
        ("palladion_refusal", ctypes.c_void_p, library.palladion_prepare.argtypes),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.palladion_golden.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        text_out,
    ]
    library.palladion_compare.restype = ctypes.c_void_p
    library.palladion_compare.argtypes = [ctypes.POINTER(_CompareRequest), text_out, text_out]
    library.palladion_mutants.restype = ctypes.c_void_p
    library.palladion_mutants.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, text_out]
    for function in (
        library.palladion_kernels,
        library.palladion_canonical,
        library.palladion_text_json,
        library.palladion_tell,
    ):
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, text_out]
    for function in (library.palladion_free_program, library.palladion_free_string):
        function.restype, function.argtypes = None, [ctypes.c_void_p]
    return library
