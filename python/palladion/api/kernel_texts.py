"""Kernel texts where a function of JAX may be given, too: what `palladion.export` returns,
or the path of a file of it.
"""

import dataclasses
import math
import os
from collections.abc import Sequence

import numpy as np

from palladion import _library
from palladion.base.scalars import numpy_dtype
from palladion.bridge.listening import Listening
from palladion.bridge.session_report import SessionReport
from palladion.progress import Shown
from palladion.report import refusals
from palladion.report.latest import set_latest


@dataclasses.dataclass(frozen=True)
class Which:
    """One kernel of a text."""

    text: str
    kernel: str | None = None
    target: str | None = None
    launches: int = 1


def source_of(given: object) -> tuple[str, str] | None:
    """(name, text) of a text, or of the file whose path is given: an os.PathLike, or a str that ends with .pkir.
    None: neither.
    """
    if isinstance(given, str) and ("\n" in given or not given.endswith(".pkir")):
        return "<text>", given
    if isinstance(given, (str, os.PathLike)):
        with open(given, encoding="utf-8") as stream:
            return os.fspath(given), stream.read()
    return None


def expect_function(kernel: str | None) -> None:
    if kernel is not None:
        raise ValueError(f"kernel names one of several kernels of a text; found {kernel!r} beside a function")


def arrays_of(inputs: Sequence) -> list[np.ndarray]:
    return [np.asarray(one) for one in inputs]


def check_text(which: Which, inputs: Sequence, options: dict, progress: object) -> tuple[tuple, dict]:
    """(outputs of the first schedule, report) of a check of one kernel."""
    legality = options.get("legality") != "off" and bool(options.get("contracts", True))
    program = refusals.program(which.text, which.kernel, which.target, which.launches, legality)
    outputs = [np.zeros(shape, dtype) for shape, dtype in _outputs_of(which)] if which.launches == 1 else []
    with Shown(progress), Listening():
        _, report = program.check(arrays_of(inputs), outputs, **options)
    found = SessionReport()
    found.add({"dropped": 0, "calls": [{"count": 1, "call": {"grid": (), "report": report}}]})
    set_latest(found)
    if report.get("interrupted"):
        raise _library.PalladionError(f"kernel @{report['kernel']}: interrupted", _library.BUDGET, report)
    return tuple(outputs), report


def _outputs_of(which: Which) -> list[tuple[tuple, np.dtype]]:
    """The shape and the type of each output; none where one is of keys, which NumPy does not have."""
    kernels = _library.text_json(which.text)["kernels"]
    chosen = next(one for one in kernels if which.kernel is None or one["name"] == which.kernel.removeprefix("@"))
    types = [operand["type"] for operand in chosen["operands"] if operand["role"] == "out"]
    if any(one["kind"] != "array" for one in types):
        return []
    devices = chosen["other"].get("devices")
    parts = (math.prod(devices["map"].values()),) if devices else ()
    return [(parts + tuple(one["shape"]), numpy_dtype(one["dtype"])) for one in types]
