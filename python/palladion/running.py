"""Runs a JAX function with its kernels in Palladion; `record` also writes what each kernel read and wrote.

While the function is lowered, each kernel call becomes a Python callback into the library; all else stays XLA's. The callback
works on NumPy arrays only: it never touches jax, which could wait for the very computation that called it.
"""

import dataclasses
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from palladion import _library, jax_versions, probes
from palladion.carriers import carrier_dtype, from_carrier, storage, to_carrier
from palladion.exporter.errors import ExportError
from palladion.exporter.writer import TextFile
from palladion.interception import lower_with, write_kernel

class PalladionWarning(UserWarning):
    """A kernel ran and has a defect; the text is its findings."""


@dataclasses.dataclass
class KernelRun:
    """One execution of one kernel."""

    name: str
    grid: str
    code: int  # 0 clean, 1 defect; of a check also 2, outputs differ, and 6, stopped early
    report: dict
    prepare_seconds: float  # of the first run of a kernel call, 0 in the later ones
    run_seconds: float


@dataclasses.dataclass
class Execution:
    results: object
    runs: list
    seconds: float  # of the compiled function, all kernels and XLA's part


def _program(text, target):
    return _library.Program(text, None, target)


class _Session:
    """What the callbacks of one run share. Callbacks may come from several threads of XLA."""

    def __init__(self, target, out, check, program):
        self.target = target
        self.out = out
        self.check = check  # the options of a check, None for a plain run
        self.program = program  # (text, target) -> what runs it
        self.runs = []
        self.error = None
        self.lock = threading.Lock()


class _KernelCall:
    """One kernel call of the lowered function: its text, and the program once it has been needed."""

    def __init__(self, session, text, info, in_types, out_avals):
        self.session, self.text, self.info = session, text, info
        self.in_types, self.out_avals = in_types, out_avals
        self.program = None

    def __call__(self, *arrays):
        with self.session.lock:
            try:
                return self._run(arrays)
            except Exception as error:
                if self.session.error is None:
                    self.session.error = error
                raise

    def _run(self, arrays):
        start = time.perf_counter()
        if self.program is None:
            self.program = self.session.program(self.text, self.session.target)
        prepared = time.perf_counter()
        inputs = [np.asarray(a).view(t) for a, t in zip(arrays, self.in_types)]
        outputs = [np.zeros(shape, dtype) for shape, dtype in self.out_avals]
        if self.session.check is None:
            code, report = self.program.run(inputs, outputs)
        else:
            code, report = self.program.check(inputs, outputs, **self.session.check)
        done = time.perf_counter()
        self.session.runs.append(KernelRun(self.info.name, self.info.grid, code, report, prepared - start, done - prepared))
        if self.session.out is not None:
            _write_call(self.session.out, len(self.session.runs) - 1, self.text, self.info, inputs, outputs)
        return tuple(output.view(carrier_dtype(output.dtype)) for output in outputs)


# A primitive of our own, so that JAX converts the operands and results around the callback.
_kernel_p = Primitive("palladion_kernel")
_kernel_p.multiple_results = True


@_kernel_p.def_abstract_eval
def _kernel_abstract_eval(*_, call):
    shapes = []
    for shape, dtype in call.out_avals:
        shapes.append(jax.core.ShapedArray(shape, carrier_dtype(dtype)))
    return shapes


def _kernel_lowering(context, *operands, call):
    return jax_versions.emit_python_callback(
        context, call, operands, context.avals_in, context.avals_out, has_side_effect=True)


mlir.register_lowering(_kernel_p, _kernel_lowering, platform="cpu")


def execute(f, args, target=None, out=None, repeats=1, check=None, program=None) -> Execution:
    """Runs `f(*args)` with its kernels in Palladion. Raises PalladionError where the library refuses a kernel.

    `program(text, target)` makes what runs a kernel, a _library.Program where it is not given.
    With `check`, a dictionary of options, kernels are checked and go on with the outputs of the first schedule.
    With `repeats` the compiled function runs that often and the runs of the fastest time are returned, for measurements.
    """
    session = _Session(target, out, check, program or _program)

    def rule_of(name):
        def rule(context, *nodes, **params):
            file = TextFile()
            info = write_kernel(file, name, context, params)
            call = _KernelCall(session, file.text(), info, [storage(a)[1] for a in context.avals_in],
                               [storage(a) for a in context.avals_out])

            def around(*values):
                results = _kernel_p.bind(*[to_carrier(v) for v in values], call=call)
                return [from_carrier(r, aval) for r, aval in zip(results, context.avals_out)]

            return jax_versions.lower_function(around)(context, *nodes)
        return rule

    with jax.default_device(jax.devices("cpu")[0]):
        with probes.of_target(target):
            compiled = lower_with(f, args, rule_of).compile()
        executions = [_run_once(compiled, args, session) for _ in range(repeats)]
    fastest = min(executions, key=lambda execution: sum(one.run_seconds for one in execution.runs))
    if not fastest.runs:
        raise ExportError(f"no kernel was run by {getattr(f, '__name__', f)!r}")
    for one, first in zip(fastest.runs, executions[0].runs):
        one.prepare_seconds = first.prepare_seconds
    return fastest


def _run_once(compiled, args, session) -> Execution:
    session.runs = []
    start = time.perf_counter()
    try:
        results = jax.block_until_ready(compiled(*args))
    except Exception:
        if session.error is not None:
            raise session.error from None
        raise
    return Execution(results, session.runs, time.perf_counter() - start)


def run(f: Callable, *args: Any, target: str | None = None) -> Any:
    """`f(*args)` with its kernels in Palladion. A kernel with a defect gives a PalladionWarning and its results."""
    execution = execute(f, args, target)
    _warn(execution)
    return execution.results


def record(f: Callable, *args: Any, out: str | os.PathLike, target: str | None = None) -> Any:
    """As `run`; also writes `out/03_name/{kernel.pkir,in_*.npy,out_*.npy}` for each kernel in the order of execution.

    The arrays are named after the kernel's operands, PRNG keys are their words. `out` must be a new or an empty folder.
    Kernels that do not depend on each other may run, and so be numbered, in any order.
    """
    out = os.fspath(out)
    if os.path.isdir(out) and os.listdir(out):
        raise FileExistsError(f"the folder {out!r} is not empty; give a new one")
    os.makedirs(out, exist_ok=True)
    execution = execute(f, args, target, out)
    _warn(execution)
    return execution.results


def _warn(execution):
    for one in execution.runs:
        if one.code == _library.DEFECT:
            warnings.warn(f"kernel {one.name}: {_findings(one.report)}", PalladionWarning, stacklevel=3)


def _findings(report) -> str:
    return "; ".join(f"{f['code']}: {f['message']}" + (f" (at {f['source']})" if f["source"] else "") for f in report["findings"])


def _write_call(out, number, text, info, inputs, outputs):
    """One folder, written under another name first: a full disk leaves no half-written one."""
    temporary = tempfile.mkdtemp(prefix=".part-", dir=out)
    try:
        with open(os.path.join(temporary, "kernel.pkir"), "w", encoding="utf-8") as stream:
            stream.write(text)
        for role, names, arrays in (("in", info.inputs, inputs), ("out", info.outputs, outputs)):
            for name, array in zip(names, arrays):
                np.save(os.path.join(temporary, f"{role}_{name}.npy"), array)
        os.chmod(temporary, 0o755)
        os.rename(temporary, os.path.join(out, f"{number:02d}_{info.name}"))
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
