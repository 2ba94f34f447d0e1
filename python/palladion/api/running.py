"""Runs a JAX function with its kernels in Palladion; `record` also writes what each kernel read and wrote.

While the function is lowered, each kernel call becomes a Python callback into the library; all else stays XLA's. The
callback works on NumPy arrays only: it never touches jax, which could wait for the very computation that called it.
"""

import dataclasses
import functools
import os
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import mlir

from palladion import _library
from palladion import progress as progress_line
from palladion.base.check_options import choice, whole
from palladion.base.errors import ExportError, PalladionWarning
from palladion.base.whole_file import remove_parts_of_dead_programs, whole_folder
from palladion.bridge.listening import Listening
from palladion.bridge.session_report import SessionReport
from palladion.jax import device_mesh, jax_programs, jax_versions, probes, tensors
from palladion.jax.carriers import carrier_dtype, from_carrier, storage, to_carrier
from palladion.jax.interception import call_place, file_for, lower_with, target_of, write_kernel
from palladion.report import refusals
from palladion.report.latest import set_latest
from palladion.report.reports import KernelReport, Launched, launched
from palladion.report.short_errors import short_errors


@dataclasses.dataclass
class KernelRun:
    """One execution of one kernel."""

    name: str
    grid: str
    code: int  # 0 clean, 1 defect, 6 stopped early; of a check also 2, outputs differ
    report: dict
    prepare_seconds: float  # of the first run of a kernel call, 0 in the later ones
    run_seconds: float
    launched: Launched | None = None


@dataclasses.dataclass
class Execution:
    results: object
    runs: list
    seconds: float  # of the compiled function, all kernels and XLA's part


def _program(text, target):
    return _library.Program(text, None, target)


class _Session:
    """What the callbacks of one run share. Callbacks may come from several threads of XLA."""

    def __init__(self, target, out, how, program):
        self.target = target
        self.out = out
        self.check = how.check
        self.budget = how.budget
        self.launches = how.launches
        self.legality = how.legality
        self.replayed = how.replayed or {}
        self.program = program  # (text, target) -> what runs it
        self.runs = []
        self.error = None
        self.listening = None  # while the compiled function runs
        # What outlives the kernels' launches, and the same of calls on further devices that leave no report.
        self.between = self.between_silent = -1
        self.lock = threading.Lock()


class _KernelCall:
    """One kernel call of the lowered function: its text, and the program once it has been needed."""

    def __init__(self, session, text, info, in_types, out_avals):
        self.session, self.text, self.info = session, text, info
        self.in_types, self.out_avals = in_types, out_avals
        self.program = None
        self.counts = True
        self.launched = None  # what the last check ran
        self.devices = info.devices
        self.meeting = device_mesh.Meeting(info.name, info.devices, self._locked) if info.devices else None

    def again(self) -> "_KernelCall":
        """The same on another device of a partitioned program: for its results alone."""
        call = _KernelCall(self.session, self.text, self.info, self.in_types, self.out_avals)
        call.counts = False
        return call

    def __call__(self, *arrays):
        try:
            if self.meeting is not None:  # the first operand is the device's number
                return self.meeting(int(arrays[0]), arrays[1:])
            return self._locked(arrays)
        # Ctrl-C too, where XLA calls on the main thread: it would make it an error of its own
        except BaseException as error:
            with self.session.lock:
                if self.session.error is None:
                    self.session.error = error
            raise

    def _locked(self, arrays):
        with self.session.lock:
            return self._run(arrays)

    def _run(self, arrays):
        start = time.perf_counter()
        if self.session.listening.interrupted:  # since the function began; no kernel was running then
            raise _library.PalladionError(f"kernel {self.info.name}: interrupted", _library.BUDGET)
        if self.program is None:
            self.program = self._prepared(start)
        prepared = time.perf_counter()
        inputs = [np.asarray(a).view(t) for a, t in zip(arrays, self.in_types)]
        parts = (self.devices,) if self.devices else ()
        outputs = [np.zeros(parts + shape, dtype) for shape, dtype in self.out_avals]
        try:
            between = _library.load().palladion_session_use
            between(self.session.between if self.counts else self.session.between_silent)
            replays_a_row = self.devices and self.session.launches > 1 and "replay" in (self.session.check or ())
            if self.session.check is None or not self.counts or replays_a_row:
                plain = self.session.budget, self.session.legality
                code, report = self.program.run(inputs, outputs, *plain, **self.session.replayed)
            else:
                code, report = self.program.check(inputs, outputs, **self.session.check)
                self.launched = self._launched(report, inputs)
        except KeyboardInterrupt as interrupt:
            if "verdict" in getattr(interrupt, "report", ()):
                self._keep(_library.BUDGET, interrupt.report, start, prepared)
            raise
        finally:
            between(-1)
        if not self.counts:
            return tuple(output.view(carrier_dtype(output.dtype)) for output in outputs)
        in_a_row = self.devices and self.session.check is not None and self.session.launches > 1
        if not in_a_row or "replay" not in self.session.check:
            self._keep(code, report, start, prepared)
            self._raise_if_cut_short(code, report)
        if in_a_row:
            self._check_in_a_row(inputs)
        if self.session.out is not None:
            _write_call(self.session.out, len(self.session.runs) - 1, self.text, self.info, inputs, outputs)
        return tuple(output.view(carrier_dtype(output.dtype)) for output in outputs)

    def _prepared(self, start):
        target = target_of(self.info, self.session.target)
        try:
            return self.session.program(self.text, target)
        except _library.PalladionError as error:
            check = self.session.check
            legality = self.session.legality if check is None else check["legality"]
            judged = legality != "off" and (check is None or check["contracts"])
            error = refusals.refused(error, self.text, None, target, judged)
            if error.report is not None:
                self._keep(error.code, error.report, start, time.perf_counter())
            raise error from None

    def _check_in_a_row(self, inputs):
        """The same launch several times, in which a device may be ahead of the others: for its report alone."""
        start = time.perf_counter()
        program = _library.Program(self.text, None, target_of(self.info, self.session.target), self.session.launches)
        prepared = time.perf_counter()
        code, report = program.check(inputs, (), **self.session.check)
        self.launched = self._launched(report, inputs, self.session.launches)
        self._keep(code, report, start, prepared)
        self._raise_if_cut_short(code, report)

    def _launched(self, report, inputs, launches=1):
        which = (self.text, None, target_of(self.info, self.session.target), launches)
        return launched(which, inputs, self.session.check, report)

    def _keep(self, code, report, start, prepared):
        seconds = prepared - start, time.perf_counter() - prepared
        self.session.runs.append(KernelRun(self.info.name, self.info.grid, code, report, *seconds, self.launched))

    def _raise_if_cut_short(self, code, report):
        """A check that ends by an error has a report to give, and a first schedule whose outputs are there."""
        if report.get("interrupted"):
            raise _library.PalladionError(f"kernel {self.info.name}: interrupted", _library.BUDGET, report)
        if report.get("error") and self.session.check is None:
            message = str(KernelReport(report)) if report["findings"] else report["error"]["message"]
            raise _library.PalladionError(message, code, report)


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
        context, call, operands, context.avals_in, context.avals_out, has_side_effect=True
    )


mlir.register_lowering(_kernel_p, _kernel_lowering, platform="cpu")


@dataclasses.dataclass
class How:
    """How kernels are run. check: the options of a check, None for a plain run. progress: as in palladion.check."""

    check: dict | None = None
    budget: int | None = None
    progress: object = False
    launches: int = 1  # in a row, of kernels that several devices run together
    legality: str = "on"  # of a plain run
    replayed: dict | None = None  # of a plain run: the schedule, and its check's options


def execute(f, args, target=None, out=None, repeats=1, how=None, program=None) -> Execution:
    """Runs `f(*args)` with its kernels in Palladion. Raises PalladionError where the library refuses a kernel.

    `program(text, target)` makes what runs a kernel, a _library.Program where it is not given.
    With `how.check` kernels are checked and go on with the outputs of the first schedule. However it ends, what its
    kernels did is what `palladion.last_report` gives.
    With `repeats` the compiled function runs that often and the runs of the fastest time are returned,
    for measurements.
    """
    if not callable(f):
        raise TypeError(f"f is a function, a kernel text or the path of one; found {type(f).__name__}")
    target = probes.given(target)
    how = how or How()
    session = _Session(target, out, how, program or _program)

    def rule_of(name):
        def rule(context, *nodes, **params):
            jax_programs.expect_devices(context, call_place)
            file = file_for(target if out is not None else None)  # what is recorded says what it is for
            info = write_kernel(file, name, context, params, target)
            call = _KernelCall(
                session,
                file.text(),
                info,
                [storage(a)[1] for a in context.avals_in],
                [storage(a) for a in context.avals_out],
            )

            def around(which, *values):
                number = [jax_programs.device_number()] if which.devices else []
                results = _kernel_p.bind(*number, *[to_carrier(v) for v in values], call=which)
                return [from_carrier(r, aval) for r, aval in zip(results, context.avals_out)]

            return jax_programs.lower_once(
                context, nodes, functools.partial(around, call), lambda: functools.partial(around, call.again())
            )

        return rule

    with jax.default_device(jax.devices("cpu")[0]):
        with probes.of_target(target):
            compiled = lower_with(f, args, rule_of).compile()
        with progress_line.Shown(how.progress):
            executions = [_run_once(compiled, args, session) for _ in range(repeats)]
    fastest = min(executions, key=lambda execution: sum(one.run_seconds for one in execution.runs))
    if not fastest.runs:
        raise ExportError(
            f"no kernel was run by {getattr(f, '__name__', f)!r}: it has to call pl.pallas_call or plgpu.kernel"
        )
    for one, first in zip(fastest.runs, executions[0].runs):
        one.prepare_seconds = first.prepare_seconds
    return fastest


def _run_once(compiled, args, session) -> Execution:
    session.runs, session.error = [], None
    start = time.perf_counter()
    library = _library.load()
    session.between, session.between_silent = library.palladion_session_open(), library.palladion_session_open()
    try:
        with Listening() as session.listening:
            results = jax.block_until_ready(compiled(*args))
        _report_left_over(session)
    except Exception:
        jax_programs.wait_for_effects()  # else JAX reports the failure once more when Python ends
        if session.error is not None:
            raise _with_findings(session.error, session.runs) from None
        raise
    finally:
        for number in (session.between, session.between_silent):
            library.palladion_session_close(number)
        set_latest(_report_of(session.runs))
    return Execution(results, session.runs, time.perf_counter() - start)


def _report_left_over(session):
    """Copies and semaphores of kernels that no later kernel has waited for, as runs of their kernels."""
    _library.load().palladion_session_end_semaphores(session.between)
    for call in _library.take_session(session.between)["calls"]:
        report = call["call"]["report"]
        session.runs.append(KernelRun(report["kernel"], "", _library.DEFECT, report, 0.0, 0.0))


def _report_of(runs) -> SessionReport:
    report = SessionReport()
    report.add({"dropped": 0, "calls": [{"count": 1, "call": {"grid": (), "report": one.report}} for one in runs]})
    for call, one in zip(report.calls, runs):
        call.launched = one.launched
    return report


def _with_findings(error, runs):
    """The error with the findings of the kernels that ran before the one that failed."""
    earlier = [
        str(KernelReport(one.report))
        for one in runs
        if one.report is not getattr(error, "report", None) and one.report.get("findings")
    ]
    if earlier:
        error.args = (f"{error.args[0]}\nfound before that:\n" + "\n".join(earlier), *error.args[1:])
    return error


@short_errors
def run(
    f: Callable,
    *args: Any,
    target: str | None = None,
    budget: int | None = None,
    legality: str = "on",
    replay: str | None = None,
    fill: str | None = None,
    proxy: str | None = None,
    links: str | None = None,
    bounds: str = "logical",
    progress: bool | Callable[[progress_line.Progress], object] | None = None,
) -> Any:
    """`f(*args)` with its kernels in Palladion. A kernel with a defect gives a PalladionWarning and its results.

    target: a chip ("h100"), a full name ("triton/h100"), or None: that of the `palladion.target` or `emulate` around,
        else what each kernel says.
    budget: iterations of all loops of one program together (docs/spec/control.md); None: less than a minute of them.
    legality: "off" leaves out what the target refuses, which is else a defect (docs/spec/contracts.md); "compiler"
        makes a defect of what its compiler may refuse, too.
    replay: the schedule that a finding of `palladion.check` names: the results and findings are those of that run. The
        kernel and its inputs must be those of the check, and `fill`, `proxy`, `links` and `bounds` its options;
        the first three go with `replay` alone.
    bounds: on a TPU, "padded" has accesses in bounds that stay in the tiles of an array (docs/reference/command.md,
        --bounds).
    progress: None shows how far long kernels are on a terminal and in a notebook, a function is called with a
        palladion.progress.Progress.

    Arguments may be tensors of a library that has DLPack, such as PyTorch on the CPU;
    results are then its tensors, too.
    """
    args, tensors_of = tensors.as_arrays(args)
    given = {"replay": replay, "fill": fill, "proxy": proxy, "links": links}
    how = How(
        budget=whole("budget", budget),
        progress=progress_line.checked(progress),
        legality=choice("legality", legality),
        replayed={**given, "bounds": choice("bounds", bounds)},
    )
    execution = execute(f, args, target, how=how)
    _warn(execution)
    return tensors_of(execution.results)


@short_errors
def record(
    f: Callable,
    *args: Any,
    out: str | os.PathLike,
    target: str | None = None,
    budget: int | None = None,
    legality: str = "on",
    progress: bool | Callable[[progress_line.Progress], object] | None = None,
) -> Any:
    """As `run`, `target` and `legality` too; also writes `out/03_name/{kernel.pkir,in_*.npy,out_*.npy}` for each kernel
    in the order of execution.

    The arrays are named after the kernel's operands, PRNG keys are their words. `out` must be a new or an empty folder.
    Kernels that do not depend on each other may run, and so be numbered, in any order.
    """
    out = os.fspath(out)
    if os.path.isdir(out):
        remove_parts_of_dead_programs(out)
    if os.path.isdir(out) and os.listdir(out):
        raise FileExistsError(f"the folder {out!r} is not empty; give a new one")
    os.makedirs(out, exist_ok=True)
    how = How(
        budget=whole("budget", budget), progress=progress_line.checked(progress), legality=choice("legality", legality)
    )
    execution = execute(f, args, target, out, how=how)
    _warn(execution)
    return execution.results


def _warn(execution):
    for one in execution.runs:
        if one.code == _library.DEFECT:
            warnings.warn(str(KernelReport(one.report)), PalladionWarning, stacklevel=4)


def _write_call(out, number, text, info, inputs, outputs):
    """One folder, whole or not there."""
    with whole_folder(os.path.join(out, f"{number:02d}_{info.name}")) as folder:
        with open(os.path.join(folder, "kernel.pkir"), "w", encoding="utf-8") as stream:
            stream.write(text)
        for role, names, arrays in (("in", info.inputs, inputs), ("out", info.outputs, outputs)):
            for name, array in zip(names, arrays):
                np.save(os.path.join(folder, f"{role}_{name}.npy"), array)
