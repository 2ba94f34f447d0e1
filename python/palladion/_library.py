"""Calls of libpalladion from Python: prepare a kernel text, run it on NumPy arrays, get its report. `_abi`
declares its functions.
"""

import ctypes
import functools
import json
import os

import numpy as np

from palladion._abi import (
    BUDGET,
    CLEAN,
    DEFECT,
    INTERNAL,
    MALFORMED,
    OUTPUTS_DIFFER,
    RESULT_NAMES,
    UNSUPPORTED,
    PalladionError,
    _Array,
    _CallRequest,
    _CompareRequest,
    load,
    options_list,
)
from palladion.base.scalars import dtype_name


def _take_text(library, pointer: ctypes.c_void_p) -> str:
    if not pointer.value:
        return ""
    text = ctypes.string_at(pointer.value).decode("utf-8", "replace")
    library.palladion_free_string(pointer)
    return text


@functools.cache
def _type_text(dtype: np.dtype) -> bytes:
    """Asked of every array of every run; NumPy makes a type's name anew each time."""
    return dtype_name(dtype).encode()


def _described(array: np.ndarray, keep: list) -> _Array:
    """`array` must be C-contiguous. ml_dtypes refuse the buffer protocol, so its bytes are passed."""
    flat = array.reshape(-1).view(np.uint8)
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    keep += [flat, shape]
    return _Array(flat.ctypes.data, shape, array.ndim, _type_text(array.dtype))


class Program:
    """One prepared kernel. `kernel` is needed where the text has several; `target` as in `palladion run --target`.

    launches: so many in a row, as one (docs/spec/tpu-sessions.md#launches-in-a-row).
    """

    def __init__(self, text: str, kernel: str | None = None, target: str | None = None, launches: int = 1):
        self._library = load()
        encoded, message = text.encode(), ctypes.c_void_p()
        self._program = self._library.palladion_prepare_launches(
            encoded,
            len(encoded),
            kernel.encode() if kernel else None,
            target.encode() if target else None,
            launches,
            ctypes.byref(message),
        )
        error = _take_text(self._library, message)
        if not self._program:
            raise PalladionError(error or "the kernel was refused without a message", _code_of(error))

    def run(self, inputs, outputs, budget: int | None = None, legality: str = "on") -> tuple:
        """Fills `outputs` (C-contiguous arrays of the right shape and type); returns (exit code, report).

        The report of a run that did not come to its end has an error, or is marked as interrupted.
        """
        given = options_list({"budget": budget, "legality": legality})

        def call(program, ins, n_ins, outs, n_outs, message):
            return self._library.palladion_run_with(program, ins, n_ins, outs, n_outs, given, message)

        return self._called(inputs, outputs, (CLEAN, DEFECT), call)

    def check(self, inputs, outputs=(), **options) -> tuple:
        """As `run`, under the orders that hardware may choose;
        `outputs` get those of the first or of the replayed one, or are left out.

        `options` are rows of emu/front/options/check_options.cc; PalladionError says which there are.
        """
        given = options_list(options)

        def call(program, ins, n_ins, outs, n_outs, message):
            return self._library.palladion_check(program, ins, n_ins, outs, n_outs, given, message)

        return self._called(inputs, outputs, (CLEAN, DEFECT, OUTPUTS_DIFFER), call)

    def check_seeds(self, inputs, first: int, last: int, **options) -> dict:
        """Some seeds of the check with these options, for the `parts` of another: docs/sweeps.md."""
        given = options_list(options)

        def call(program, ins, n_ins, outs, n_outs, message):
            return self._library.palladion_check_seeds(program, ins, n_ins, given, first, last, message)

        return self._called(inputs, (), (CLEAN,), call)[1]

    def _called(self, inputs, outputs, good, call) -> tuple:
        keep, message = [], ctypes.c_void_p()
        given = [np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a) for a in inputs]
        ins = (_Array * max(len(given), 1))(*[_described(a, keep) for a in given])
        outs = (_Array * max(len(outputs), 1))(*[_described(a, keep) for a in outputs])
        try:
            code = call(self._program, ins, len(given), outs, len(outputs), ctypes.byref(message))
        except KeyboardInterrupt as interrupt:  # on the main thread, as soon as the library has returned
            interrupt.report = _report_of(_take_text(self._library, message))
            raise
        text = _take_text(self._library, message)
        report = _report_of(text)
        if code not in good and "verdict" not in report:
            raise PalladionError(
                report.get("message") or text or RESULT_NAMES.get(code, f"exit code {code}"), code, report
            )
        return code, report

    def __del__(self):
        if getattr(self, "_program", None):
            self._library.palladion_free_program(self._program)
            self._program = None


def _report_of(text) -> dict:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {"message": text}


def call_request(text: str, target: str, options: str, session: int) -> _CallRequest:
    encoded = text.encode()
    return _CallRequest(encoded, len(encoded), b"", target.encode(), options.encode(), session)


def prepare_call(request: _CallRequest):
    """PalladionError where the kernel, the target or the options are wrong."""
    library, message = load(), ctypes.c_void_p()
    code = library.palladion_call_prepare(ctypes.byref(request), ctypes.byref(message))
    text = _take_text(library, message)
    if code != CLEAN:
        raise PalladionError(text, code)


def call(request: _CallRequest, inputs, outputs):
    """Runs into `outputs` and leaves the report in the session; PalladionError where the call is to fail."""
    library, keep, message = load(), [], ctypes.c_void_p()
    ins = (_Array * max(len(inputs), 1))(
        *[_described(np.ascontiguousarray(a).reshape(np.shape(a)), keep) for a in inputs]
    )
    outs = (_Array * max(len(outputs), 1))(*[_described(a, keep) for a in outputs])
    code = library.palladion_call(ctypes.byref(request), ins, len(inputs), outs, len(outputs), ctypes.byref(message))
    text = _take_text(library, message)
    if code != CLEAN:
        raise PalladionError(text, code)


def take_session(session: int) -> dict:
    """The calls of a session since the last time: docs/jax.md."""
    library = load()
    text = _take_text(library, ctypes.c_void_p(library.palladion_session_take(session)))
    return json.loads(text) if text else {"calls": [], "dropped": 0}


def progress() -> list:
    """The runs under way: objects with kernel, session, seconds, unit, done, total, rate, seconds_left, text."""
    library = load()
    return json.loads(_take_text(library, ctypes.c_void_p(library.palladion_progress())))


@functools.cache
def targets() -> tuple:
    """The names of all targets."""
    library = load()
    return tuple(_take_text(library, ctypes.c_void_p(library.palladion_targets())).split("\n"))


@functools.cache
def resolved_target(name: str | None, backend: str | None = None) -> str:
    """The full name of the target that `name` means for a kernel that says `backend`;
    PalladionError with all that is accepted.
    """
    library, message = load(), ctypes.c_void_p()
    texts = [None if text is None else text.encode() for text in (name, backend)]
    full = ctypes.c_void_p(library.palladion_resolve_target(*texts, ctypes.byref(message)))
    if not full.value:
        raise PalladionError(_take_text(library, message).partition(": ")[2], MALFORMED)
    return _take_text(library, full)


@functools.cache
def chips() -> tuple:
    """Every chip that a target may name: objects with name, device_kind, tpu, generation, cores, hbm_bytes."""
    library = load()
    return tuple(json.loads(_take_text(library, ctypes.c_void_p(library.palladion_chips()))))


@functools.cache
def operations() -> tuple:
    """Every operation: objects with dialect, name, spec, backends, effect, unit, status, reason."""
    library = load()
    return tuple(json.loads(_take_text(library, ctypes.c_void_p(library.palladion_operations()))))


@functools.cache
def finding_codes() -> tuple:
    """Every finding code: objects with code, severity, rule."""
    library = load()
    return tuple(json.loads(_take_text(library, ctypes.c_void_p(library.palladion_finding_codes()))))


def _code_of(message: str) -> int:
    """The exit code of a message of the library, which starts with the name of its status."""
    status = message.split(":", 1)[0]
    return {
        "UNIMPLEMENTED": UNSUPPORTED,
        "RESOURCE_EXHAUSTED": BUDGET,
        "INVALID_ARGUMENT": MALFORMED,
        "NOT_FOUND": MALFORMED,
    }.get(status, INTERNAL)


def text_of_text(function_name: str, text: str, *arguments) -> str:
    library, encoded, message = load(), text.encode(), ctypes.c_void_p()
    pointer = ctypes.c_void_p(getattr(library, function_name)(encoded, len(encoded), *arguments, ctypes.byref(message)))
    error = _take_text(library, message)
    if not pointer.value:
        raise PalladionError(error or f"{function_name} failed without a message", _code_of(error))
    return _take_text(library, pointer)


def kernel_names(text: str) -> list:
    """The names of the kernels of a text, in order."""
    return text_of_text("palladion_kernels", text).split("\n")


def canonical(text: str) -> str:
    """The text as the library prints it."""
    return text_of_text("palladion_canonical", text)


def text_json(text: str) -> dict:
    """The text as the library reads it, canonical: its fields are in docs/to-jax.md."""
    return json.loads(text_of_text("palladion_text_json", text))


def tell(request: dict) -> str:
    """A report in the words of the command: emu/front/reports/report_from_json.h."""
    library, encoded = load(), json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
    message = ctypes.c_void_p()
    pointer = ctypes.c_void_p(library.palladion_tell(encoded, len(encoded), ctypes.byref(message)))
    error = _take_text(library, message)
    if error:
        raise PalladionError(error, _code_of(error))
    return _take_text(library, pointer)


def mutants(text: str, kernel: str | None = None, per_kind: int = 0) -> list:
    """Kernels with one mistake each: objects with name, mutation, line, what, text, refused.
    At most `per_kind` of each, or all.
    """
    return json.loads(text_of_text("palladion_mutants", text, kernel.encode() if kernel else None, per_kind))


def golden(text: str, target: str | None, recorded: str, directory: str) -> None:
    """A bundle of a kernel whose inputs palladion.record wrote to the folder `recorded`."""
    library, encoded, message = load(), text.encode(), ctypes.c_void_p()
    code = library.palladion_golden(
        encoded,
        len(encoded),
        target.encode() if target else None,
        os.fsencode(recorded),
        os.fsencode(directory),
        ctypes.byref(message),
    )
    error = _take_text(library, message)
    if code != CLEAN:
        raise PalladionError(error or "the bundle was not written", code)


def compare(directory: str, outputs: dict, out: str, **options) -> tuple:
    """NumPy arrays by name, held against a bundle: the report as a dict, and as text.
    options: signed_zero, causes, hypotheses.
    """
    library, keep = load(), []
    arrays = (_Array * max(1, len(outputs)))(
        *[_described(np.ascontiguousarray(a).reshape(np.shape(a)), keep) for a in outputs.values()]
    )
    names = (ctypes.c_char_p * max(1, len(outputs)))(*[name.encode() for name in outputs])
    request = _CompareRequest(os.fsencode(directory), names, arrays, len(outputs), out=os.fsencode(out), **options)
    text, message = ctypes.c_void_p(), ctypes.c_void_p()
    pointer = ctypes.c_void_p(
        library.palladion_compare(ctypes.byref(request), ctypes.byref(text), ctypes.byref(message))
    )
    error = _take_text(library, message)
    if not pointer.value:
        raise PalladionError(error or "the outputs could not be compared", _code_of(error))
    return json.loads(_take_text(library, pointer)), _take_text(library, text)
