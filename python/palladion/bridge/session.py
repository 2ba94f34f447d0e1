"""`palladion.emulate`: a stretch of a program whose kernels run in Palladion, and its report.

JAX's interpret configuration, which is thread-local and part of jit's key, holds the parameters with the session's
number (channels.py): each call in compiled code knows which session it belongs to,
and what an `emulate` with equal parameters compiled before is not compiled again.
"""

import contextlib
import dataclasses
import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from palladion import _library
from palladion import progress as progress_line
from palladion.base.errors import PalladionWarning
from palladion.base.threads import Inheritance, PlainThread
from palladion.bridge import rules, targets, transport
from palladion.bridge.channels import channels, left_at
from palladion.bridge.listening import Listening
from palladion.bridge.params import Params
from palladion.bridge.session_report import SessionReport
from palladion.jax import jax_programs, jax_versions, probes
from palladion.report.latest import latest, set_latest
from palladion.report.short_errors import short_errors, shortened

_WAIT_MILLISECONDS = 200  # between two looks at Python's signals


class _Open:
    """The sessions that are open, by their number; and in each thread those that were entered there,
    the innermost last.
    """

    def __init__(self):
        self.lock = threading.Lock()
        self.by_number = {}
        self.here = threading.local()

    def entered(self) -> list:
        if not hasattr(self.here, "sessions"):
            self.here.sessions = []
        return self.here.sessions

    def current(self) -> "Session | None":
        """The session that the calls of this thread go to."""
        params = jax_versions.interpret_configuration()
        return self.by_number.get(params.session) if isinstance(params, Params) else None


_open = _Open()
_inheritance = Inheritance(_open.current)

_OVERLAP = (
    "two palladion.emulate of one thread overlapped and neither was inside the other, as where coroutines of one "
    "event loop each have one and await in it; their reports may have each other's calls. Have one emulate around all "
    "of them (around asyncio.run), or run each in a thread of its own (asyncio.to_thread)"
)


class Session:
    """What `emulate` gives. `report` is complete after the `with`; inside, it has the calls that have ended.

    A session can be entered once.
    """

    def __init__(self, params: Params, progress: object = None):
        self._progress = progress_line.checked(progress)
        targets.check_name(params.target)
        self._asked = params
        self.params = None
        self._report = SessionReport()
        self._open = self._cancelled = False
        self._lock = threading.Lock()
        self._started = 0  # threads and tasks of executors that were started here and have not ended

    @property
    def report(self) -> SessionReport:
        """What the kernels did, as far as their calls have ended."""
        if self._open:
            taken, notes = left_at(self.params.session)
            self._report.add(taken)
            self._report.add_elsewhere(notes)
        return self._report

    def __enter__(self):
        if self.params is not None:
            raise RuntimeError("a session can be entered once; make a new one with palladion.emulate(...)")
        rules.register()
        self.params = channels.take(dataclasses.replace(self._asked, target=probes.given(self._asked.target)))
        self._report = SessionReport(replay=self.params.replay_call())
        self._open = True
        _open.by_number[self.params.session] = self
        _open.entered().append(self)
        self._before = jax_versions.swap_interpret_configuration(self.params)
        self._probes = probes.of_target(self.params.target)
        self._probes.__enter__()
        _inheritance.hold()
        self._listening = Listening().__enter__()
        self._shown = progress_line.Shown(self._progress, self.params.session).__enter__()
        return self

    def __exit__(self, kind, error, traceback):
        __tracebackhide__ = True  # of pytest and IPython
        unanswered = None if error is None else probes.explained(error)
        overlapped = not self._leave_thread()
        failed, settled = None, False
        try:
            if error is not None and not isinstance(error, Exception):  # Ctrl-C: what has not begun is not waited for
                self._cancel()
            failed = settle(self.params.session)
            _library.load().palladion_session_end_semaphores(self.params.session)
            settled = True
        finally:
            if not settled:
                self._cancel()
                _library.load().palladion_session_wait(self.params.session, _WAIT_MILLISECONDS)
            self._shown.__exit__()
            self._listening.__exit__()
            self._close()
        number = self.params.session
        if number in transport.interrupted_sessions:
            transport.interrupted_sessions.discard(number)
            if not isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt from error
        if overlapped and error is None:
            raise RuntimeError(_OVERLAP)
        if unanswered is not None:
            raise unanswered from None
        # What the program met is JAX's error about a call that we made fail: ours says more.
        if error is None or isinstance(error, jax.errors.JaxRuntimeError):
            try:
                self._conclude()
            except (_library.PalladionError, AssertionError) as ours:
                raise shortened(ours)
        shortened(error)
        if error is None and failed is not None:
            raise failed
        return False

    def _leave_thread(self) -> bool:
        """Puts this thread back as it was. False: another session was entered or left meanwhile,
        and is not inside this one.
        """
        entered = _open.entered()
        self._probes.__exit__(None, None, None)
        if entered and entered[-1] is self:
            entered.pop()
            jax_versions.restore_interpret_configuration(self._before)
            return True
        if self in entered:  # the one that was entered after it puts back what this one found
            entered[entered.index(self) + 1]._before = self._before
            entered.remove(self)
        return False

    def _close(self):
        report = self.report
        _inheritance.release()
        with self._lock:
            self._open = False
            left = self._started
        del _open.by_number[self.params.session]
        if left:
            warnings.warn(
                f"{left} of the threads and tasks that were started inside palladion.emulate still run; what their "
                "kernels do from now on is not in its report. Wait for them (join, result, await) before it ends",
                PalladionWarning,
                stacklevel=3,
            )
        else:
            self._release_number()
        set_latest(report)

    def _release_number(self):
        (channels.drop if self._cancelled else channels.give_back)(self.params)

    @contextlib.contextmanager
    def _within(self):
        """In this thread, which was started inside the session, kernels run as in it (base/threads.py)."""
        before = jax_versions.swap_interpret_configuration(self.params)
        try:
            with probes.of_target(self.params.target):
                yield
        finally:
            jax_versions.restore_interpret_configuration(before)
            settle()  # the report has what is dispatched here, and the errors

    def _begun(self):
        with self._lock:
            self._started += 1

    def _ended(self):
        with self._lock:
            self._started -= 1
            last = not self._started and not self._open
        if last:
            self._release_number()

    def _cancel(self):
        """Running calls end, and none begins. The number is given to no other session: it stays cancelled."""
        self._cancelled = True
        _library.load().palladion_session_cancel(self.params.session)

    def _conclude(self):
        if self.params.on_defect == "raise":
            self._report.raise_if_defect()
        elif self.params.on_defect == "warn":
            warn_of(self._report, stacklevel=4)


@short_errors
def emulate(
    target: str | None = None,
    *,
    seeds: int | None = None,
    on_defect: str = "raise",
    progress: bool | Callable[[progress_line.Progress], object] | None = None,
    **options: Any,
) -> Session:
    """`with palladion.emulate("h100", seeds=16) as session:` the kernels that this thread calls run in Palladion, and
    those of threads that it starts meanwhile.

    Every kernel, whatever its `interpret` is: JAX lets its configuration win. Without a target it is that of the
    `palladion.target` or `emulate` around, else what each kernel says. Options are the fields of palladion.Params. At
    the end it waits for what is still computed, and then `session.report` is complete; with on_defect="raise" it raises
    DefectError, or PalladionError for a kernel that cannot run. progress: None shows how far long kernels are on a
    terminal and in a notebook, a function is called with a palladion.progress.Progress.
    """
    known = [field.name for field in dataclasses.fields(Params) if field.name != "session"]
    if unknown := [name for name in options if name not in known]:
        raise TypeError(f"palladion.emulate has no option {unknown[0]!r}; it has {', '.join(known)}")
    return Session(Params(target=target, seeds=seeds, on_defect=on_defect, **options), progress)


def warn_of(report: SessionReport, stacklevel):
    for call in report.calls:
        if call.exit_code not in (_library.CLEAN, _library.BUDGET) or call.verdict == "warning":
            warnings.warn(str(call), PalladionWarning, stacklevel=stacklevel)


def current() -> Session | None:
    """The session that the calls of this thread go to."""
    return _open.current()


def last_report() -> SessionReport | None:
    """The report of the kernels that ran last: of the last `emulate`, `run`, `record` or `check` that ended, or of
    calls outside of any since then. It is there after an error and after Ctrl-C, too.

    It waits for what this thread has started. None where nothing ran yet.
    """
    failed = settle(*channels.outside())
    taken = channels.take_outside()
    if taken:
        report = SessionReport()
        for calls, notes in taken:
            report.add(calls)
            report.add_elsewhere(notes)
        set_latest(report)
    elif failed is not None:  # not a kernel's, so that no report has it
        raise failed
    return latest()


@functools.cache
def _mark(device):
    """A small computation on `device`, and its argument.
    It is compiled in a thread of its own, because in this one a mesh may be set.
    """
    made = []

    def make():
        zero = jax.device_put(np.float32(0), device)
        made.append((jax.jit(lambda x: x + 1).lower(zero).compile(), zero))

    thread = PlainThread(target=make)
    thread.start()
    thread.join()
    return made[0]


def settle(*sessions: int):
    """Waits until what this thread has dispatched is through, results without a reference too;
    returns the error of what failed, or None.

    Computations of one thread start in the order of dispatch on each device,
    so that a small one behind them is the end of the queue.
    """
    failed = jax_programs.wait_for_effects()
    for device in jax.local_devices(backend="cpu"):
        compiled, zero = _mark(device)
        jax.block_until_ready(compiled(zero))
    for session in sessions:
        while not _library.load().palladion_session_wait(session, _WAIT_MILLISECONDS):
            pass
    return failed


def report_of_thread() -> SessionReport | None:
    """The report that this thread's kernels go to, complete as far as they were dispatched."""
    session = current()
    if session is None:
        return last_report()
    settle(session.params.session)
    return session.report
