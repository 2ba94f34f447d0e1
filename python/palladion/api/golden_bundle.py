"""Golden bundles of a JAX function's kernels, and another implementation's outputs held against them
(docs/reference/compare.md).

Thin: `golden` records the function's kernel calls and lets the library write a bundle of each;
`compare` hands arrays over.
"""

import dataclasses
import html
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from palladion import _library
from palladion.api.running import record
from palladion.report.short_errors import short_errors


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What `compare` found. `report` is the JSON of docs/reference/compare.md, `text` the same for people."""

    report: dict
    text: str

    @property
    def ok(self) -> bool:
        """Every output is there and within tolerance."""
        return self.report["code"] == _library.CLEAN

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        word, colour = ("within tolerance", "#3a9d40") if self.ok else ("differs", "#e04848")
        text = f"<pre style='overflow-x:auto'>{html.escape(self.text)}</pre>"
        return f"<div><b style='color:{colour}'>{word}</b>{text}</div>"


@short_errors
def golden(f: Callable, *args: Any, out: str | os.PathLike, target: str | None = None) -> list:
    """Runs `f(*args)` as `palladion.record` does, and writes a golden bundle of each kernel call: `out` itself where
    there is one, else `out/03_name`, in the order of execution. `out` must be a new or an empty folder.
    Returns the folders."""
    out = os.fspath(out)
    if os.path.isdir(out) and os.listdir(out):
        raise FileExistsError(f"the folder {out!r} is not empty; give a new one")
    with tempfile.TemporaryDirectory() as recorded:
        record(f, *args, out=recorded, target=target)
        calls = sorted(os.listdir(recorded))
        folders = [out] if len(calls) == 1 else [os.path.join(out, call) for call in calls]
        for call, folder in zip(calls, folders):
            with open(os.path.join(recorded, call, "kernel.pkir"), encoding="utf-8") as stream:
                text = stream.read()
            _library.golden(text, target, os.path.join(recorded, call), folder)
    return folders


@short_errors
def compare(
    bundle: str | os.PathLike,
    outputs: Any,
    *,
    signed_zero: bool = False,
    causes: bool = True,
    hypotheses: int | None = None,
    out: str | os.PathLike | None = None,
) -> Comparison:
    """Holds `outputs` against the bundle. They are arrays of NumPy, ml_dtypes or JAX, or of whatever else has DLPack,
    in host memory: a mapping by the outputs' names, a sequence in their order, or the one array of a kernel with one
    output. `out`: a folder for error maps, a page, and the kernels that make the likely mistakes."""
    bundle = os.fspath(bundle)
    report, text = _library.compare(
        bundle,
        _by_name(bundle, outputs),
        "" if out is None else os.fspath(out),
        signed_zero=signed_zero,
        causes=causes,
        hypotheses=hypotheses or 0,
    )
    return Comparison(report, text)


def _by_name(bundle, outputs) -> dict:
    if isinstance(outputs, Mapping):
        return {name: _as_numpy(array) for name, array in outputs.items()}
    arrays = list(outputs) if isinstance(outputs, Sequence) else [outputs]
    names = _output_names(bundle)
    if len(arrays) != len(names):
        raise _library.PalladionError(
            f"{bundle}: expected {len(names)} outputs ({', '.join(names)}); found {len(arrays)}; a mapping by name may "
            "leave some out",
            _library.MALFORMED,
        )
    return dict(zip(names, map(_as_numpy, arrays)))


def _output_names(bundle) -> list:
    path = os.path.join(bundle, "manifest.json")
    try:
        with open(path, encoding="utf-8") as stream:
            return [output["name"] for output in json.load(stream)["outputs"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise _library.PalladionError(f"{path}: not a bundle's manifest: {error}", _library.MALFORMED) from error


def _as_numpy(array) -> np.ndarray:
    """NumPy's own protocols first; DLPack through JAX knows types that NumPy's does not, bfloat16 of PyTorch."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__") or hasattr(array, "addressable_shards"):
        return np.asarray(array)
    import jax.dlpack

    return np.asarray(jax.dlpack.from_dlpack(array))
