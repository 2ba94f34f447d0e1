"""Palladion: runs Pallas kernels on a machine with no GPU or TPU, and says what they compute.

What needs JAX is imported when it is first asked for, so that this package can be imported without it.
"""

import importlib
from typing import TYPE_CHECKING

from palladion._library import PalladionError
from palladion.api.sweeping import SweepReport, Task, sweep
from palladion.base.errors import ExportError, ToJaxError
from palladion.report.explained import Explanation, FindingCodes, explain
from palladion.report.reports import DefectError
from palladion.version import VERSION as __version__

if TYPE_CHECKING:  # for type checkers, which do not follow __getattr__
    from palladion.api.advising import Advice, advise
    from palladion.api.checking import check
    from palladion.api.drawing import draw, draw_layout, draw_time
    from palladion.api.fitting import Fit
    from palladion.api.fitting_over import FitOver, fit
    from palladion.api.golden_bundle import Comparison, compare, golden
    from palladion.api.reducing import Reduced, reduce
    from palladion.api.running import record, run
    from palladion.api.schedules import draw_schedule
    from palladion.api.timing import TimeReport, time
    from palladion.api.tuning import tune
    from palladion.base.errors import PalladionWarning
    from palladion.bridge.params import Params
    from palladion.bridge.rules import install, uninstall
    from palladion.bridge.session import emulate, last_report
    from palladion.bridge.session_report import SessionReport
    from palladion.jax.exporter.inline_code import model_inline
    from palladion.jax.interception import export
    from palladion.jax.jax_source import to_jax, to_jax_source
    from palladion.jax.probes import target
    from palladion.learn.notebook import exercise
    from palladion.report.kernel_time import KernelTime
    from palladion.report.pictures.picture import Picture
    from palladion.report.tuned import Tuned, TunedRow

_NEEDS_JAX = {
    "Fit": "api.fitting",
    "FitOver": "api.fitting_over",
    "fit": "api.fitting_over",
    "Picture": "report.pictures.picture",
    "draw": "api.drawing",
    "draw_layout": "api.drawing",
    "draw_time": "api.drawing",
    "Comparison": "api.golden_bundle",
    "compare": "api.golden_bundle",
    "golden": "api.golden_bundle",
    "Params": "bridge.params",
    "SessionReport": "bridge.session_report",
    "emulate": "bridge.session",
    "install": "bridge.rules",
    "last_report": "bridge.session",
    "uninstall": "bridge.rules",
    "check": "api.checking",
    "export": "jax.interception",
    "target": "jax.probes",
    "PalladionWarning": "base.errors",
    "record": "api.running",
    "run": "api.running",
    "draw_schedule": "api.schedules",
    "model_inline": "jax.exporter.inline_code",
    "to_jax": "jax.jax_source",
    "to_jax_source": "jax.jax_source",
    "Reduced": "api.reducing",
    "reduce": "api.reducing",
    "Advice": "api.advising",
    "advise": "api.advising",
    "KernelTime": "report.kernel_time",
    "TimeReport": "api.timing",
    "time": "api.timing",
    "Tuned": "report.tuned",
    "TunedRow": "report.tuned",
    "tune": "api.tuning",
    "exercise": "learn.notebook",
}

__all__ = [
    "DefectError",
    "Explanation",
    "ExportError",
    "FindingCodes",
    "PalladionError",
    "SweepReport",
    "Task",
    "ToJaxError",
    "__version__",
    "explain",
    "sweep",
    *_NEEDS_JAX,
]


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
