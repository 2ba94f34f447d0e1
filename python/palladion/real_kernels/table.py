"""Runs the cases and prints the table. A case that does not run stays in it as a failure, with the reason.

Times are warm, the least of three: Palladion's is the time in its kernels (prepare excluded), JAX's is that of the same
function compiled with its interpreter, so that the parts of the function that are no kernels count for JAX only.
"""

import dataclasses
import time
import traceback
import warnings

import jax
import numpy as np

from palladion import _library
from palladion.api import running
from palladion.base.errors import ExportError
from palladion.real_kernels import blackwell_kernels, hopper_kernels, tpu_kernels

REPEATS = 3


@dataclasses.dataclass
class Row:
    group: int
    kernel: str
    grid: str = ""
    operations: int | None = None
    result: str = ""  # "ok", else why not
    worst: float | None = None  # largest |difference| / (atol + rtol |expected|)
    seconds: float | None = None
    prepare_seconds: float | None = None
    jax_seconds: float | None = None
    oracle: str = ""
    ragged: str = ""
    note: str = ""
    findings: list = dataclasses.field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.result == "ok"

    @property
    def ratio(self):
        """Palladion's time over JAX's."""
        return self.seconds / self.jax_seconds if self.seconds and self.jax_seconds else None


def _triton_cases() -> list:
    """JAX deprecates the modules that these kernels are in (palladion/jax/jax_deprecated.py): left out where it has
    them no more.
    """
    try:
        from palladion.real_kernels import gpu_kernels
    except ImportError as error:
        if error.name is None or not error.name.startswith("jax.experimental.pallas"):
            raise
        warnings.warn(f"JAX's Triton kernels are left out: {error}", stacklevel=2)
        return []
    return list(gpu_kernels.cases())


def all_cases():
    return sorted(
        [*tpu_kernels.cases(), *_triton_cases(), *hopper_kernels.cases(), *blackwell_kernels.cases()],
        key=lambda case: case.group,
    )


def worst_difference(found, expected, atol, rtol) -> float:
    """1.0 is exactly the tolerance; infinite where shapes, NaNs or infinities differ."""
    worst = 0.0
    found, expected = jax.tree.leaves(found), jax.tree.leaves(expected)
    if len(found) != len(expected):
        return float("inf")
    for a, b in zip(found, expected):
        if a.shape != b.shape:
            return float("inf")
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.kind in "iub":
            a, b = a.astype(np.int64), b.astype(np.int64)
        else:
            a, b = a.astype(np.float64), b.astype(np.float64)
        special = ~np.isfinite(a) | ~np.isfinite(b)
        if not np.array_equal(a[special], b[special], equal_nan=a.dtype.kind == "f"):
            return float("inf")
        a, b = a[~special], b[~special]
        difference, bound = np.abs(a - b), atol + rtol * np.abs(b)
        exact = np.where(difference == 0, 0.0, np.inf)
        relative = np.divide(difference, bound, out=exact, where=bound > 0)
        worst = max(worst, float(np.max(relative, initial=0.0)))
    return worst


def timed(function, args) -> tuple:
    """(results, least seconds of the calls after the first)."""
    compiled = jax.jit(lambda *a: function(*a)).lower(*args).compile()
    results, times = jax.block_until_ready(compiled(*args)), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*args))
        times.append(time.perf_counter() - start)
    return results, min(times)


def run_case(case, target=None, measure=True) -> Row:
    """Without `measure` every function runs once, and JAX's interpreter only where it is the oracle."""
    row = Row(case.group, case.name, oracle=case.oracle_name, ragged=case.ragged, note=case.note)
    try:
        problem = case.make()
        peer_results = None
        if problem.peer is not None and measure:
            peer_results, row.jax_seconds = timed(problem.peer, problem.args)
        oracle = problem.oracle or problem.peer
        if peer_results is None or problem.oracle is not None:
            compiled = oracle if problem.in_numpy else jax.jit(lambda *a: oracle(*a))
            expected = jax.block_until_ready(compiled(*problem.args))
        else:
            expected = peer_results
    except Exception as error:
        row.result = f"the oracle failed: {_one_line(error)}"
        return row
    try:
        execution = running.execute(
            problem.function, problem.args, target or case.target, repeats=REPEATS if measure else 1
        )
    except (ExportError, _library.PalladionError) as error:
        row.result = f"failed: {_one_line(error)}"
        return row
    except Exception as error:
        row.result = f"failed: {type(error).__name__}: {_one_line(error)}"
        row.note = traceback.format_exc(limit=-3)
        return row
    _fill(row, execution)
    row.worst = worst_difference(execution.results, expected, case.atol, case.rtol)
    row.result = "ok" if row.worst <= 1.0 else f"differs: {row.worst:.3g} times the tolerance"
    return row


def _fill(row, execution):
    runs = execution.runs
    row.grid = " ".join(dict.fromkeys(one.grid for one in runs))
    counts = [one.report.get("steps") for one in runs]  # instructions of the prepared programs
    row.operations = sum(counts) if all(isinstance(c, int) for c in counts) else None
    row.seconds = sum(one.run_seconds for one in runs)
    row.prepare_seconds = sum(one.prepare_seconds for one in runs)
    row.findings = [finding | {"kernel": one.name} for one in runs for finding in one.report.get("findings") or []]


def _one_line(error) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."


def _milliseconds(seconds) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.1f}"


HEADER = ("group", "kernel", "grid", "operations", "ms", "x JAX", "compared with", "ragged edge", "result")
WIDTHS = (5, 66, 30, 10, 7, 6, 32, 36)


def cells(row) -> tuple:
    return (
        str(row.group),
        row.kernel,
        row.grid,
        "" if row.operations is None else str(row.operations),
        _milliseconds(row.seconds),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        row.oracle,
        row.ragged,
        row.result,
    )


def format_line(texts) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS)) + "  " + "  ".join(texts[len(WIDTHS) :])
