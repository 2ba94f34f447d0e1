"""Palladion: runs Pallas kernels on a machine with no GPU or TPU, and says what they compute.

What needs JAX is imported when it is first asked for, so that this package can be imported without it.
"""

import importlib
from typing import TYPE_CHECKING

from palladion._library import PalladionError
from palladion.exporter.errors import ExportError
from palladion.jax_source.errors import ToJaxError
from palladion.report import DefectError
from palladion.sweeping import SweepReport, Task, sweep
from palladion.version import VERSION as __version__

if TYPE_CHECKING:  # for type checkers, which do not follow __getattr__
    from palladion.advising import Advice, advise
    from palladion.bridge.params import Params
    from palladion.bridge.rules import install, uninstall
    from palladion.bridge.session import emulate, last_report
    from palladion.bridge.session_report import SessionReport
    from palladion.checking import check
    from palladion.exporter.inline_code import model_inline
    from palladion.fitting import Fit
    from palladion.fitting_over import FitOver, fit
    from palladion.golden_bundle import Comparison, compare, golden
    from palladion.interception import export
    from palladion.jax_source import to_jax, to_jax_source
    from palladion.probes import target
    from palladion.reducing import Reduced, reduce
    from palladion.running import PalladionWarning, record, run
    from palladion.kernel_time import KernelTime
    from palladion.timing import TimeReport, time

_NEEDS_JAX = {
    "Fit": "fitting", "FitOver": "fitting_over", "fit": "fitting_over",
    "Comparison": "golden_bundle", "compare": "golden_bundle", "golden": "golden_bundle",
    "Params": "bridge.params", "SessionReport": "bridge.session_report", "emulate": "bridge.session", "install": "bridge.rules",
    "last_report": "bridge.session", "uninstall": "bridge.rules", "check": "checking", "export": "interception",
    "target": "probes", "PalladionWarning": "running", "record": "running", "run": "running",
    "model_inline": "exporter.inline_code", "to_jax": "jax_source", "to_jax_source": "jax_source",
    "Reduced": "reducing", "reduce": "reducing",
    "Advice": "advising", "advise": "advising", "KernelTime": "kernel_time", "TimeReport": "timing", "time": "timing",
}

__all__ = ["DefectError", "ExportError", "PalladionError", "SweepReport", "Task", "ToJaxError", "__version__", "sweep", *_NEEDS_JAX]


def __getattr__(name: str) -> object:
    if name not in _NEEDS_JAX:
        raise AttributeError(f"module 'palladion' has no attribute {name!r}")
    try:
        importlib.import_module("jax")
    except ModuleNotFoundError as error:
        raise ImportError(f"palladion.{name} needs JAX, which is not installed: pip install 'jax>=0.8'") from error
    value = getattr(importlib.import_module(f"palladion.{_NEEDS_JAX[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_NEEDS_JAX))
