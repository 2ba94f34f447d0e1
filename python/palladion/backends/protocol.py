"""A backend's side of the protocol of `palladion conformance --exec` (docs/guides/backends.md): a line of JSON in,
a line of JSON out, arrays as .npy.

    def run(question: Question) -> Answer: ...
    serve(run)

Standard output belongs to the protocol: what a backend prints while it runs goes to its standard error.
"""

import dataclasses
import json
import os
import sys
from collections.abc import Callable

import numpy as np

from palladion.base.scalars import numpy_dtype


@dataclasses.dataclass(frozen=True)
class Operand:
    dtype: np.dtype
    shape: tuple


@dataclasses.dataclass(frozen=True)
class Question:
    """One case. Inputs and outputs are in the order of the kernel's operands; PRNG keys are their u32 words."""

    case: str
    text: str  # of the kernel
    target: str
    inputs: dict[str, np.ndarray]
    outputs: dict[str, Operand]
    schedules: int | None = None  # the case is a check, with so many; its mistakes are what it is about
    budget: int | None = None  # loop iterations that the kernel is to be refused after
    proxy: str | None = None
    links: str | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """outputs: None where the backend has none to show, which only a kernel that is wrong on purpose allows.

    findings: codes of docs/reference/findings.md, None where the backend looks for none; finds: those that it looks
    for, None for all, "RACE_*" for a family. printed: the lines of debug_print.
    """

    outputs: dict[str, np.ndarray] | None = None
    findings: list[str] | None = None
    finds: list[str] | None = None
    printed: list[str] | None = None


class NotSupported(Exception):
    """The backend does not run such a kernel, and says so."""


def stored(array: np.ndarray) -> np.ndarray:
    """As a .npy holds it: NumPy has no names for ml_dtypes' types, whose elements are saved as raw bytes."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    return array.view(f"V{array.itemsize}") if array.dtype.isbuiltin != 1 else array


def _load(path: str, dtype: np.dtype) -> np.ndarray:
    array = np.load(path)
    return array.view(dtype) if array.dtype != dtype else array


def _question(request: dict) -> Question:
    folder = request["folder"]
    with open(os.path.join(folder, request["kernel"]), encoding="utf-8") as stream:
        text = stream.read()
    inputs = {
        name: _load(os.path.join(folder, one["file"]), numpy_dtype(one["dtype"]))
        for name, one in request["inputs"].items()
    }
    outputs = {
        name: Operand(numpy_dtype(one["dtype"]), tuple(one["shape"])) for name, one in request["outputs"].items()
    }
    optional = {name: request.get(name) for name in ("schedules", "budget", "proxy", "links")}
    return Question(request["case"], text, request["target"], inputs, outputs, **optional)


def _answered(request: dict, answer: Answer) -> dict:
    results = {"findings": answer.findings, "finds": answer.finds, "printed": answer.printed}
    fields = {"status": "ran", **{name: value for name, value in results.items() if value is not None}}
    if answer.outputs is None:
        return fields
    fields["outputs"] = {}
    for number, (name, array) in enumerate(answer.outputs.items()):
        fields["outputs"][name] = f"out_{number}.npy"
        np.save(os.path.join(request["folder"], fields["outputs"][name]), stored(np.asarray(array)))
    return fields


def message_of(error: Exception) -> str:
    """A traceback inside the message, as in errors of JAX's callbacks, is left out: the exception stands after it."""
    words = str(error).strip().splitlines() or [""]
    first, last = words[0][:200], words[-1]
    return f"{type(error).__name__}: {first}" + (f" ... {last}" if last != words[0] else "")


def reply(line: str, run: Callable[[Question], Answer]) -> str:
    """The line that answers `line`, without its end."""
    request = json.loads(line)
    try:
        fields = _answered(request, run(_question(request)))
    except NotSupported as error:
        fields = {"status": "not_supported", "message": str(error)}
    except Exception as error:  # whatever a backend throws is its answer to this case
        fields = {"status": "error", "message": message_of(error)}
    return json.dumps({"case": request["case"], **fields})


def serve(run: Callable[[Question], Answer]) -> int:
    """Answers until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(reply(line, run) + "\n")
        answers.flush()
    return 0
