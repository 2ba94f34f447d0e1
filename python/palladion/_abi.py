"""The C ABI of libpalladion (emu/c_api.h) as ctypes declares it: structures, signatures, codes and the error that they
become. What calls it is `_library`.

The library is looked for in PALLADION_LIBRARY (a file), next to this package, and in build/ of a source tree. Does not
catch: a library of another version, whose structures differ.
"""

import ctypes
import functools
import os

from palladion.base.check_options import DEFAULTS
from palladion.base.printable import printable

# palladion_code: what a function that fails says, and what a report is; the exit codes of the command.
CLEAN, DEFECT, OUTPUTS_DIFFER, UNSUPPORTED, MALFORMED, INTERNAL, BUDGET = 0, 1, 2, 3, 4, 5, 6
RESULT_NAMES = {
    UNSUPPORTED: "unsupported",
    MALFORMED: "malformed input",
    INTERNAL: "internal error",
    BUDGET: "budget spent",
}

FILE_NAME = "libpalladion.so"


# palladion_form: what of a report is rendered.
FORMS = {"text": 0, "findings": 1, "end": 2, "parts": 3}


class PalladionError(RuntimeError):
    """The library refused a kernel or its inputs. `code` is the exit code of the command, `report` its JSON or None.

    interrupted: by a signal, or by the caller. out_of_memory: of this host; another one may have more.
    """

    __module__ = "palladion"  # where users find it

    def __init__(self, message: str, code: int = INTERNAL, report: dict | None = None, interrupted: bool = False):
        super().__init__(printable(message))
        self.code = code
        self.report = report
        self.interrupted = interrupted
        self.out_of_memory = False


class _Error(ctypes.Structure):
    """palladion_error: filled where a function fails."""

    _fields_ = [
        ("code", ctypes.c_int),
        ("interrupted", ctypes.c_int),
        ("out_of_memory", ctypes.c_int),
        ("message", ctypes.c_void_p),
    ]


class _Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int),
        ("dtype", ctypes.c_char_p),
    ]


def options_list(options: dict) -> ctypes.Array:
    """Options of a run or a check as the library takes them: texts with NULL behind the last.

    None is left out, and so is what the library's own table has as the default: most calls pass nothing. The last few
    lists are kept, because a program calls its kernels with the same options again and again.
    """
    try:
        return _options_list(tuple(options), *options.values())
    except TypeError:  # a value that has no hash, which the library refuses by name
        return _options_list.__wrapped__(tuple(options), *options.values())


@functools.lru_cache(maxsize=8, typed=True)
def _options_list(names: tuple[str, ...], *values: object) -> ctypes.Array:
    words = [
        f"{name}={int(value) if isinstance(value, bool) else value}".encode()
        for name, value in zip(names, values)
        if value is not None and not _is_default(name, value)
    ]
    return (ctypes.c_char_p * (len(words) + 1))(*words)


def _is_default(name: str, value: object) -> bool:
    default = DEFAULTS.get(name)
    return type(value) is type(default) and value == default


class _RenderedCall(ctypes.Structure):
    _fields_ = [
        ("report", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("replay_before", ctypes.c_char_p),
        ("replay_after", ctypes.c_char_p),
    ]


class _SourceLine(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_int), ("text", ctypes.c_char_p)]


class _RenderRequest(ctypes.Structure):
    _fields_ = [
        ("form", ctypes.c_int),
        ("calls", ctypes.POINTER(_RenderedCall)),
        ("n_calls", ctypes.c_size_t),
        ("dropped", ctypes.c_int64),
        ("difference", ctypes.c_char_p),
        ("allowed", ctypes.POINTER(ctypes.c_char_p)),
        ("n_allowed", ctypes.c_size_t),
        ("color", ctypes.c_int),
        ("details", ctypes.c_int),
        ("path", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("lines", ctypes.POINTER(_SourceLine)),
        ("n_lines", ctypes.c_size_t),
    ]


class _SarifTest(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("path", ctypes.c_char_p),
        ("allowed", ctypes.POINTER(ctypes.c_char_p)),
        ("n_allowed", ctypes.c_size_t),
        ("calls", ctypes.POINTER(_RenderedCall)),
        ("n_calls", ctypes.c_size_t),
        ("dropped", ctypes.c_int64),
    ]


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
    for name, (result, arguments) in _signatures().items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _signatures() -> dict:
    """The result and the arguments of each function that is called from here; what others add is in api/."""
    text, size, whole = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64
    handle = ctypes.c_void_p  # and texts that are taken over
    out, error = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_Error)
    arrays, of_text = [ctypes.POINTER(_Array), size], [text, size]
    call, options = ctypes.POINTER(_CallRequest), ctypes.POINTER(ctypes.c_char_p)
    run = [handle, *arrays, *arrays]
    return {
        "palladion_prepare": (handle, [*of_text, text, text, error]),
        "palladion_prepare_launches": (handle, [*of_text, text, text, whole, error]),
        "palladion_run_with": (ctypes.c_int, [*run, options, out, error]),
        "palladion_check": (ctypes.c_int, [*run, options, out, error]),
        "palladion_check_seeds": (handle, [handle, *arrays, options, whole, whole, error]),
        "palladion_refusal": (handle, [*of_text, text, text, error]),
        "palladion_report_json": (handle, [handle]),
        "palladion_report_read": (handle, [*of_text, error]),
        "palladion_report_of_findings": (handle, [handle, ctypes.POINTER(size), size, error]),
        "palladion_render": (handle, [ctypes.POINTER(_RenderRequest), error]),
        "palladion_sarif": (handle, [ctypes.POINTER(_SarifTest), size, text, error]),
        "palladion_call_prepare": (ctypes.c_int, [call, error]),
        "palladion_call": (ctypes.c_int, [call, *arrays, *arrays, error]),
        "palladion_session_open": (whole, []),
        "palladion_session_take": (handle, [whole]),
        "palladion_taken_json": (handle, [handle]),
        "palladion_taken_report": (handle, [handle, size]),
        "palladion_taken_inputs": (ctypes.POINTER(_Array), [handle, size, ctypes.POINTER(size)]),
        "palladion_session_pending": (whole, [whole]),
        "palladion_session_wait": (ctypes.c_int, [whole, whole]),
        "palladion_session_close": (None, [whole]),
        "palladion_session_end_semaphores": (None, [whole]),
        "palladion_session_use": (None, [whole]),
        "palladion_session_cancel": (None, [whole]),
        "palladion_interrupts_listen": (None, []),
        "palladion_interrupt_count": (whole, []),
        "palladion_interrupts_ignore": (None, []),
        "palladion_progress": (handle, []),
        "palladion_finding_codes": (handle, []),
        "palladion_explain": (handle, [text, error]),
        "palladion_targets": (handle, []),
        "palladion_resolve_target": (handle, [text, text, error]),
        "palladion_chips": (handle, []),
        "palladion_machines": (handle, [text, ctypes.POINTER(text), size, error]),
        "palladion_operations": (handle, []),
        "palladion_layout": (handle, [handle, error]),
        "palladion_draw_schedule": (handle, [handle, *arrays, error]),
        "palladion_fit": (handle, [*of_text, text, text, out, error]),
        "palladion_golden": (ctypes.c_int, [*of_text, text, text, text, error]),
        "palladion_compare": (handle, [ctypes.POINTER(_CompareRequest), out, error]),
        "palladion_mutants": (handle, [*of_text, text, size, error]),
        "palladion_kernels": (handle, [*of_text, error]),
        "palladion_canonical": (handle, [*of_text, error]),
        "palladion_text_json": (handle, [*of_text, error]),
        "palladion_free_program": (None, [handle]),
        "palladion_free_report": (None, [handle]),
        "palladion_free_taken": (None, [handle]),
        "palladion_free_string": (None, [handle]),
    }
