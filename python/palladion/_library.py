"""Calls of libpalladion from Python: prepare a kernel text, run it on NumPy arrays, get its report. `_abi`
declares its functions. A report stays the library's, which renders it; Python has its JSON beside the handle, to read.
"""

import ctypes
import functools
import json
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

# The names that callers of this module use.
from palladion._abi import BUDGET as BUDGET
from palladion._abi import (
    CLEAN,
    FORMS,
    INTERNAL,
    RESULT_NAMES,
    PalladionError,
    _Array,
    _CallRequest,
    _CompareRequest,
    _Error,
    _RenderedCall,
    _RenderRequest,
    _SarifTest,
    _SourceLine,
    load,
    options_list,
)
from palladion._abi import DEFECT as DEFECT
from palladion._abi import MALFORMED as MALFORMED
from palladion._abi import UNSUPPORTED as UNSUPPORTED
from palladion.base.scalars import dtype_name, numpy_dtype


def _take_text(library, pointer: ctypes.c_void_p) -> str:
    if not pointer.value:
        return ""
    text = ctypes.string_at(pointer.value).decode("utf-8", "replace")
    library.palladion_free_string(pointer)
    return text


def _expect(error: _Error, done: object, otherwise: str = "the library failed without a message") -> None:
    """PalladionError where a function failed: `done` is its result, nothing then. `error` is what it was given."""
    message = _take_text(load(), ctypes.c_void_p(error.message))
    if not done:
        failed = PalladionError(message or otherwise, error.code or INTERNAL, interrupted=bool(error.interrupted))
        failed.out_of_memory = bool(error.out_of_memory)
        raise failed


class Handle:
    """A report in the library. It stays in its process: a copy in another one, or a pickled one, is None."""

    def __init__(self, pointer: int):
        self.pointer, self._free = pointer, load().palladion_free_report

    def __reduce__(self) -> tuple:
        return type(None), ()

    def __del__(self):
        self._free(self.pointer)


class ReportJson(dict):
    """A report as JSON has it, and the library's `handle` to it, which renders it."""

    handle: Handle | None = None

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


def _report_of(pointer: ctypes.c_void_p) -> ReportJson:
    library, handle = load(), Handle(pointer.value)
    report = ReportJson(json.loads(_take_text(library, ctypes.c_void_p(library.palladion_report_json(pointer)))))
    report.handle = handle
    return report


def read_report(report: dict) -> Handle:
    """A handle to a report that another process has written as JSON."""
    encoded, error = json.dumps(report, ensure_ascii=False).encode("utf-8", "replace"), _Error()
    pointer = load().palladion_report_read(encoded, len(encoded), ctypes.byref(error))
    _expect(error, pointer)
    return Handle(pointer)


def findings_alone(report: Handle, numbers: Sequence[int]) -> Handle:
    """A handle to these findings of a report and nothing else."""
    listed, error = (ctypes.c_size_t * max(len(numbers), 1))(*numbers), _Error()
    pointer = load().palladion_report_of_findings(report.pointer, listed, len(numbers), ctypes.byref(error))
    _expect(error, pointer)
    return Handle(pointer)


class RenderedCall(NamedTuple):
    """A report, how many calls are like it, and the texts before and after a schedule that shows a finding again."""

    report: Handle
    count: int = 1
    replay: Sequence[str] = ()


def _rendered(calls: Sequence[RenderedCall]) -> ctypes.Array:
    listed = [
        _RenderedCall(call.report.pointer, call.count, *(text.encode("utf-8", "replace") for text in call.replay))
        for call in calls
    ]
    return (_RenderedCall * max(len(listed), 1))(*listed)


def _texts(texts: Sequence[str]) -> ctypes.Array:
    return (ctypes.c_char_p * max(len(texts), 1))(*(text.encode("utf-8", "replace") for text in texts))


def render(
    form: str,
    calls: Sequence[RenderedCall],
    *,
    source: tuple[str, str] = ("", ""),
    lines: Sequence[tuple[str, int, str]] = (),
    allow: Sequence[str] = (),
    dropped: int = 0,
    difference: str = "",
    details: bool = False,
) -> str:
    """Reports in the words and the shape of the command; `form` is one of FORMS.

    source: (name, text) of the kernel, where the reader has that and no Python. lines: (file, line, text) of files that
    are on no disk. allow: codes that the reader lets pass.
    """
    library, error = load(), _Error()
    request = _RenderRequest(
        FORMS[form],
        _rendered(calls),
        len(calls),
        dropped,
        _utf8(difference),
        _texts(allow),
        len(allow),
        0,
        details,
        *map(_utf8, source),
        source_lines(lines),
        len(lines),
    )
    pointer = ctypes.c_void_p(library.palladion_render(ctypes.byref(request), ctypes.byref(error)))
    _expect(error, pointer.value)
    return _take_text(library, pointer)


@functools.cache
def _function_of_request(name: str) -> Callable:
    function = getattr(load(), name)
    function.restype = ctypes.c_void_p
    function.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(_Array),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.POINTER(_Error),
    ]
    return function


def answer(name: str, request: ctypes.Structure, inputs: Sequence) -> tuple[dict, str]:
    """Of a function of the C ABI that takes a request and arrays: its JSON, and its text for people."""
    held, text, error = [], ctypes.c_void_p(), _Error()
    arrays = _listed(_contiguous(inputs), held)
    result = ctypes.c_void_p(
        _function_of_request(name)(ctypes.byref(request), arrays, len(inputs), ctypes.byref(text), ctypes.byref(error))
    )
    _expect(error, result.value)
    return json.loads(_take_text(load(), result)), _take_text(load(), text)


def source_lines(lines: Sequence[tuple[str, int, str]]) -> ctypes.Array:
    """(file, line, text) as the library is given them."""
    return (_SourceLine * max(len(lines), 1))(
        *[_SourceLine(_utf8(file), line, _utf8(text)) for file, line, text in lines]
    )


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class SarifTest(NamedTuple):
    """The calls of a test, and the codes that its marker allows."""

    name: str
    path: str
    allow: Sequence[str]
    calls: Sequence[RenderedCall]
    dropped: int


def sarif(tests: Sequence[SarifTest], root: str) -> str:
    """A SARIF log of tests; files below `root` are named from there."""
    library, error = load(), _Error()
    listed = [
        _SarifTest(
            _utf8(test.name),
            _utf8(test.path),
            _texts(test.allow),
            len(test.allow),
            _rendered(test.calls),
            len(test.calls),
            test.dropped,
        )
        for test in tests
    ]
    given = (_SarifTest * max(len(listed), 1))(*listed)
    pointer = ctypes.c_void_p(library.palladion_sarif(given, len(listed), _utf8(root), ctypes.byref(error)))
    _expect(error, pointer.value)
    return _take_text(library, pointer)


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
        encoded, error = text.encode(), _Error()
        self._program = self._library.palladion_prepare_launches(
            encoded,
            len(encoded),
            kernel.encode() if kernel else None,
            target.encode() if target else None,
            launches,
            ctypes.byref(error),
        )
        _expect(error, self._program, "the kernel was refused without a message")

    def run(self, inputs, outputs, budget: int | None = None, legality: str = "on", **options) -> tuple:
        """Fills `outputs` (C-contiguous arrays of the right shape and type); returns (exit code, ReportJson).

        The report of a run that did not come to its end has an error, or is marked as interrupted. `options` are the
        rows of emu/front/options/check_options.cc that a run has besides: with `replay` it is that schedule's.
        """
        given = options_list({"budget": budget, "legality": legality, **options})
        return self._called(self._library.palladion_run_with, given, inputs, outputs)

    def check(self, inputs, outputs=(), **options) -> tuple:
        """As `run`, under the orders that hardware may choose;
        `outputs` get those of the first or of the replayed one, or are left out.

        `options` are rows of emu/front/options/check_options.cc; PalladionError says which there are.
        """
        return self._called(self._library.palladion_check, options_list(options), inputs, outputs)

    def check_seeds(self, inputs, first: int, last: int, **options) -> dict:
        """Some seeds of the check with these options, for the `parts` of another: docs/guides/sweeps.md."""
        given, keep, error = options_list(options), [], _Error()
        ins = _listed(_contiguous(inputs), keep)
        part = ctypes.c_void_p(
            self._library.palladion_check_seeds(
                self._program, ins, len(inputs), given, first, last, ctypes.byref(error)
            )
        )
        _expect(error, part.value)
        return json.loads(_take_text(self._library, part))

    def _called(self, function, how, inputs, outputs) -> tuple:
        keep, found, error = [], ctypes.c_void_p(), _Error()
        ins, outs = _listed(_contiguous(inputs), keep), _listed(outputs, keep)
        try:
            code = function(
                self._program,
                ins,
                len(inputs),
                outs,
                len(outputs),
                how,
                ctypes.byref(found),
                ctypes.byref(error),
            )
        except KeyboardInterrupt as interrupt:  # on the main thread, as soon as the library has returned
            interrupt.report = _report_of(found) if found.value else {}
            raise
        _expect(error, found.value, RESULT_NAMES.get(code, f"exit code {code}"))
        return code, _report_of(found)

    def __del__(self):
        if getattr(self, "_program", None):
            self._library.palladion_free_program(self._program)
            self._program = None


def _contiguous(arrays) -> list:
    return [np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a) for a in arrays]


def _listed(arrays, keep: list) -> ctypes.Array:
    """`keep` holds what they point to."""
    return (_Array * max(len(arrays), 1))(*[_described(a, keep) for a in arrays])


def call_request(text: str, target: str, options: str, session: int) -> _CallRequest:
    encoded = text.encode()
    return _CallRequest(encoded, len(encoded), b"", target.encode(), options.encode(), session)


def prepare_call(request: _CallRequest):
    """PalladionError where the kernel, the target or the options are wrong."""
    error = _Error()
    _expect(error, load().palladion_call_prepare(ctypes.byref(request), ctypes.byref(error)) == CLEAN)


def call(request: _CallRequest, inputs, outputs):
    """Runs into `outputs` and leaves the report in the session; PalladionError where the call is to fail."""
    keep, error = [], _Error()
    ins = _listed([np.ascontiguousarray(a).reshape(np.shape(a)) for a in inputs], keep)
    outs = _listed(outputs, keep)
    code = load().palladion_call(ctypes.byref(request), ins, len(inputs), outs, len(outputs), ctypes.byref(error))
    _expect(error, code == CLEAN)


def take_session(session: int) -> dict:
    """The calls of a session since the last time: docs/guides/jax.md. Their reports are ReportJson."""
    library = load()
    taken = library.palladion_session_take(session)
    if not taken:
        return {"calls": [], "dropped": 0}
    contents = json.loads(_take_text(library, ctypes.c_void_p(library.palladion_taken_json(taken))))
    for number, entry in enumerate(contents["calls"]):
        report = ReportJson(entry["call"]["report"])
        report.handle = Handle(library.palladion_taken_report(taken, number))
        entry["call"]["report"] = report
        if "launched" in entry:
            entry["launched"]["inputs"] = _taken_inputs(taken, number)
    library.palladion_free_taken(taken)
    return contents


def _taken_inputs(taken, number: int) -> list[np.ndarray]:
    """Copies: what they are of is freed with what was taken."""
    count = ctypes.c_size_t()
    arrays = load().palladion_taken_inputs(taken, number, ctypes.byref(count))
    copies = []
    for one in (arrays[i] for i in range(count.value)):
        copy = np.empty(one.shape[: one.rank], numpy_dtype(one.dtype.decode()))
        if copy.nbytes:
            ctypes.memmove(copy.ctypes.data, one.data, copy.nbytes)
        copies.append(copy)
    return copies


def progress() -> list:
    """The runs in progress: objects with kernel, session, seconds, unit, done, total, rate, seconds_left, text."""
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
    library, error = load(), _Error()
    texts = [None if text is None else text.encode() for text in (name, backend)]
    full = ctypes.c_void_p(library.palladion_resolve_target(*texts, ctypes.byref(error)))
    _expect(error, full.value)
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


def explained(name: str) -> dict:
    """What a finding code means, or a limit, as `palladion_explain` has it; an error says which names are near."""
    library, error = load(), _Error()
    page = ctypes.c_void_p(library.palladion_explain(name.encode("utf-8", "replace"), ctypes.byref(error)))
    _expect(error, page.value)
    return json.loads(_take_text(library, page))


def text_of_text(function_name: str, text: str, *arguments) -> str:
    library, encoded, error = load(), text.encode(), _Error()
    pointer = ctypes.c_void_p(getattr(library, function_name)(encoded, len(encoded), *arguments, ctypes.byref(error)))
    _expect(error, pointer.value, f"{function_name} failed without a message")
    return _take_text(library, pointer)


def refusal(text: str, kernel: str | None, target: str | None) -> ReportJson | None:
    """What the target refuses of a kernel that cannot be prepared; None where that is nothing."""
    library, encoded, error = load(), text.encode(), _Error()
    names = [None if name is None else name.encode() for name in (kernel or None, target or None)]
    pointer = ctypes.c_void_p(library.palladion_refusal(encoded, len(encoded), *names, ctypes.byref(error)))
    _expect(error, pointer.value or not error.code)
    return _report_of(pointer) if pointer.value else None


def kernel_names(text: str) -> list:
    """The names of the kernels of a text, in order."""
    return text_of_text("palladion_kernels", text).split("\n")


def canonical(text: str) -> str:
    """The text as the library prints it."""
    return text_of_text("palladion_canonical", text)


def text_json(text: str) -> dict:
    """The text as the library reads it, canonical: its fields are in docs/guides/to-jax.md."""
    return json.loads(text_of_text("palladion_text_json", text))


def mutants(text: str, kernel: str | None = None, per_kind: int = 0) -> list:
    """Kernels with one mistake each: objects with name, mutation, line, what, text, refused.
    At most `per_kind` of each, or all.
    """
    return json.loads(text_of_text("palladion_mutants", text, kernel.encode() if kernel else None, per_kind))


def golden(text: str, target: str | None, recorded: str, directory: str) -> None:
    """A bundle of a kernel whose inputs palladion.record wrote to the folder `recorded`."""
    encoded, error = text.encode(), _Error()
    code = load().palladion_golden(
        encoded,
        len(encoded),
        target.encode() if target else None,
        os.fsencode(recorded),
        os.fsencode(directory),
        ctypes.byref(error),
    )
    _expect(error, code == CLEAN, "the bundle was not written")


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
    text, error = ctypes.c_void_p(), _Error()
    pointer = ctypes.c_void_p(library.palladion_compare(ctypes.byref(request), ctypes.byref(text), ctypes.byref(error)))
    _expect(error, pointer.value, "the outputs could not be compared")
    return json.loads(_take_text(library, pointer)), _take_text(library, text)
