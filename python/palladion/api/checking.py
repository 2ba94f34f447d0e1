"""`palladion.check`: a function's kernels under the orders that hardware may choose,
and its results against a reference.
"""

import inspect
import os
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from palladion.api import callers, kernel_texts, running
from palladion.base.check_options import OPTIONS, library_options, whole
from palladion.jax import probes, tensors
from palladion.progress import Progress, checked
from palladion.report.reports import Difference, KernelReport, Report, call_around, launched, same_call
from palladion.report.short_errors import short_errors

# JAX's own tolerances of comparisons in tests, by type; what is not here (integers, bool) is compared exactly.
_TOLERANCE = {
    "float64": 1e-15,
    "float32": 1e-6,
    "float16": 1e-3,
    "bfloat16": 1e-2,
    "complex64": 1e-6,
    "complex128": 1e-15,
    "float8_e4m3fn": 1e-1,
    "float8_e5m2": 1e-1,
}


@short_errors
def check(
    f: Callable | str | os.PathLike,
    *args: Any,
    reference: Callable | None = None,
    seeds: int = 64,
    target: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    exhaustive: bool = False,
    replay: str | None = None,
    fill: str = "nan",
    races: bool = True,
    definedness: bool = True,
    contracts: bool = True,
    strict: bool = False,
    proxy: str = "pallas",
    links: str = "unordered",
    bounds: str = "logical",
    all_seeds: bool = False,
    budget: int | None = None,
    launches: int = 1,
    kernel: str | None = None,
    legality: str = "on",
    progress: bool | Callable[[Progress], object] | None = None,
) -> Report:
    """Runs `f(*args)` and checks every kernel it calls, on the arguments it is called with.
    `target` is as for `palladion.run`.

    `f` may be a kernel text (palladion.export) or the path of one (an os.PathLike, or a str that ends with .pkir);
    `args` are then arrays in the order of the kernel's inputs, `kernel` names one of several,
    and the results are a tuple of NumPy arrays.

    With `reference`, `reference(*args)` is computed by JAX and compared with the results: `|result - expected|` must
    be at most `atol + rtol |expected|`; both are the tolerance of the type in JAX's own tests where they are not given,
    0 for integers.

    budget: loop iterations of one program, and steps of a schedule (docs/explanation/checks.md); None: less than a
        minute of them.
    progress: None shows how far it is on a terminal and in a notebook, a function is called with a
        palladion.progress.Progress.
    bounds: on a TPU, "padded" has accesses in bounds that stay in the tiles of an array (docs/reference/command.md,
        --bounds).
    legality: "off" leaves out what the target refuses and what its chip has no room for (docs/spec/contracts.md);
        "compiler" makes a defect of what its compiler may refuse, which is else a warning.
    launches: kernels that several devices run together are checked once more, so many launches in a row, in which a
        device may be ahead of the others (docs/spec/tpu-sessions.md#launches-in-a-row); PalladionError where a kernel
        has no such form.

    Arguments may be tensors of another library, as for `palladion.run`; the report's results are JAX's arrays. A check
    stops when it has a proof, and with `all_seeds` it goes on. Kernels that are wrong give a report; PalladionError is
    for a kernel that cannot run, and for wrong options.
    """
    given = {
        "seeds": seeds,
        "exhaustive": exhaustive,
        "replay": replay,
        "fill": fill,
        "races": races,
        "definedness": definedness,
        "contracts": contracts,
        "strict": strict,
        "proxy": proxy,
        "links": links,
        "bounds": bounds,
        "all_seeds": all_seeds,
        "budget": budget,
        "legality": legality,
    }
    options = library_options(given)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and (reference is None or not value >= 0):
            raise ValueError(f"{name} must be 0 or more, and needs a reference; found {value!r}")
    target = probes.given(target)
    words = callers.call_words(check, (f, *args))
    args, _ = tensors.as_arrays(args)
    launches, progress = whole("launches", launches) or 1, checked(progress)
    again = _replay_call(words, target, given | {"launches": launches, "kernel": kernel})
    if (source := kernel_texts.source_of(f)) is not None:
        which = kernel_texts.Which(source[1], kernel, target, launches)
        results, found = kernel_texts.check_text(which, args, options, progress)
        report = Report(results, [KernelReport(found, again, source)])
        kept = (source[1], kernel, target, launches)
        report.kernels[0].launched = launched(kept, kernel_texts.arrays_of(args), options, found)
    else:
        kernel_texts.expect_function(kernel)
        execution = running.execute(
            f, args, target, how=running.How(check=options, progress=progress, launches=launches)
        )
        report = Report(execution.results, [_kernel_report(one, again) for one in execution.runs])
    if reference is not None:
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.block_until_ready(jax.jit(lambda *a: reference(*a))(*args))
        report.difference = first_difference(report.results, expected, rtol, atol)
    return report


def _kernel_report(one, again) -> KernelReport:
    report = KernelReport(one.report, again)
    report.launched = one.launched
    sizes = re.match(r"\[([^\]]*)\]", one.grid)
    report.grid = tuple(int(size) if size.isdigit() else -1 for size in sizes[1].split(",") if size) if sizes else ()
    return report


def _replay_call(words, target, options) -> tuple:
    """What a schedule is put between to see a finding again."""
    if words is None:
        return same_call("palladion.check")
    defaults = {name: parameter.default for name, parameter in inspect.signature(check).parameters.items()}
    replayed = [name for name, option in OPTIONS.items() if option.replays]
    kept = {"target": target} | {name: options[name] for name in (*replayed, "launches", "kernel")}
    return call_around(*words, {name: value for name, value in kept.items() if value != defaults[name]})


def first_difference(results, expected, rtol=None, atol=None) -> Difference | None:
    found, wanted = jax.tree.leaves(results), jax.tree.leaves(expected)
    if len(found) != len(wanted):
        raise ValueError(f"the function has {len(found)} results and the reference {len(wanted)}")
    for number, (a, b) in enumerate(zip(found, wanted)):
        if a.shape != b.shape:
            raise ValueError(f"result {number} has shape {list(a.shape)} and the reference's {list(b.shape)}")
        difference = difference_of(number, numbers_of(a), numbers_of(b), *tolerance_of(a.dtype, rtol, atol))
        if difference is not None:
            return difference
    return None


def numbers_of(value) -> np.ndarray:
    """Numbers that can be subtracted without loss: a PRNG key's words, integers of any width, f64 of any float."""
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(object if array.dtype.kind in "iub" else np.float64)  # of any width, without wrapping


def tolerance_of(dtype, rtol, atol) -> tuple:
    """(rtol, atol): what is given, else that of the type in JAX's own tests."""
    default = (
        _TOLERANCE.get(np.dtype(dtype).name, 0.0) if not jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key) else 0.0
    )
    return (default if rtol is None else rtol, default if atol is None else atol)


def difference_of(number, a, b, rtol, atol) -> Difference | None:
    """Of result `number`; rtol and atol are numbers, or arrays of the results' shape."""
    if (a.dtype == object) != (b.dtype == object):  # whole numbers beside others
        a, b = (one.astype(np.float64) if one.dtype == object else one for one in (a, b))
    if a.dtype == object:
        # Of no dimension NumPy gives an int of Python, which has no astype.
        distance = np.asarray(np.abs(a - b), np.float64) if a.size else np.zeros(a.shape)
        bound = atol + rtol * np.asarray(np.abs(b), np.float64) if a.size else np.zeros(a.shape)
    else:
        with np.errstate(invalid="ignore"):
            distance, bound = np.abs(a - b), atol + rtol * np.abs(b)
        both_special = (a == b) | (np.isnan(a) & np.isnan(b))
        distance = np.where(both_special, 0.0, np.where(np.isfinite(a) & np.isfinite(b), distance, np.inf))
        bound = np.where(np.isfinite(bound), bound, 0.0)
    differs = distance > bound
    if not np.any(differs):
        return None
    first = np.unravel_index(int(np.argmax(differs)), differs.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = float(np.max(np.where(differs, distance / bound, 0.0)))
    return Difference(number, tuple(int(i) for i in first), a[first], b[first], int(np.count_nonzero(differs)), worst)
