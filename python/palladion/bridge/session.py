"""`palladion.emulate`: a stretch of a program whose kernels run in Palladion, and its report.

JAX's interpret configuration, which is thread-local and part of jit's key, holds the parameters with the number of the session:
a function that was compiled before is compiled anew, and each call in compiled code knows whose it is.
"""

import threading
import warnings
from typing import Any

import jax
import numpy as np

from palladion import _library, jax_versions, probes
from palladion.bridge import rules, targets
from palladion.bridge.params import Params
from palladion.bridge.session_report import SessionReport
from palladion.running import PalladionWarning

_WAIT_MILLISECONDS = 200  # between two looks at Python's signals
_OUTSIDE = 0  # the session of calls that belong to none


class _Latest:
    """The report that `last_report` gives."""

    def __init__(self):
        self.lock = threading.Lock()
        self.report = None


_latest = _Latest()


class Session:
    """What `emulate` gives. `report` is complete after the `with`; inside, it has the calls that have ended.

    A session can be entered once.
    """

    def __init__(self, params: Params):
        targets.check_name(params.target)
        self._asked = params
        self.params = None
        self._report = SessionReport()
        self._number = None

    @property
    def report(self) -> SessionReport:
        """What the kernels did, as far as their calls have ended."""
        if self._number is not None:
            self._report.add(_library.take_session(self._number))
        return self._report

    def __enter__(self):
        if self.params is not None:
            raise RuntimeError("a session can be entered once; make a new one with palladion.emulate(...)")
        rules.register()
        self._number = _library.load().palladion_session_open()
        self.params = Params(**{**vars(self._asked), "session": self._number})
        self._before = jax_versions.swap_interpret_configuration(self.params)
        self._probes = probes.of_target(self.params.target)
        self._probes.__enter__()
        self._listens = threading.current_thread() is threading.main_thread()
        if self._listens:
            _library.load().palladion_interrupts_listen()
        return self

    def __exit__(self, kind, error, traceback):
        unanswered = None if error is None else probes.explained(error)
        self._probes.__exit__(None, None, None)
        jax_versions.restore_interpret_configuration(self._before)
        failed = None
        try:
            failed = settle(self._number)
        finally:
            if self._listens:
                _library.load().palladion_interrupts_ignore()
            report = self.report
            _library.load().palladion_session_close(self._number)
            self._number = None
            with _latest.lock:
                _latest.report = report
        if unanswered is not None:
            raise unanswered from error
        # What the program met is JAX's error about a call that we made fail: ours says more.
        if error is None or isinstance(error, jax.errors.JaxRuntimeError):
            try:
                self._conclude()
            except (_library.PalladionError, AssertionError) as ours:
                raise ours from error or failed
        if error is None and failed is not None:
            raise failed
        return False

    def _conclude(self):
        if self.params.on_defect == "raise":
            self._report.raise_if_defect()
        elif self.params.on_defect == "warn":
            warn_of(self._report, stacklevel=4)


def emulate(target: str | None = None, *, seeds: int | None = None, on_defect: str = "raise", **options: Any) -> Session:
    """`with palladion.emulate("h100", seeds=16) as session:` the kernels that this thread calls run in Palladion.

    Every kernel, whatever its `interpret` is: JAX lets its configuration win. Options are the fields of palladion.Params. At the end it
    waits for what is still computed, and then `session.report` is complete; with on_defect="raise" it raises DefectError, or
    PalladionError for a kernel that cannot run.
    """
    return Session(Params(target=target, seeds=seeds, on_defect=on_defect, **options))


def warn_of(report: SessionReport, stacklevel):
    for call in report.calls:
        if call.exit_code not in (_library.CLEAN, _library.BUDGET) or call.verdict == "warning":
            findings = [str(finding) for finding in call.findings] + ([call.error.message] if call.error else [])
            warnings.warn(f"kernel {call.kernel}: {'; '.join(findings)}", PalladionWarning, stacklevel=stacklevel)


def last_report() -> SessionReport | None:
    """The report of the kernels that ran last: of the last `emulate` that ended, or of calls outside of any since then.

    It waits for what this thread has started. None where nothing ran yet.
    """
    failed = settle(_OUTSIDE)
    taken = _library.take_session(_OUTSIDE)
    with _latest.lock:
        if taken["calls"] or taken["dropped"]:
            _latest.report = SessionReport()
            _latest.report.add(taken)
        elif failed is not None:  # not a kernel's, so that no report tells of it
            raise failed
        return _latest.report


@jax.jit
def _next(x):
    return x + 1


def settle(session: int):
    """Waits until what this thread has dispatched is through, results that nobody kept too; returns the error of what failed, or None.

    Computations of one thread start in the order of dispatch on each device, so that a small one behind them is the end of the queue.
    """
    failed = jax_versions.wait_for_effects()
    for device in jax.local_devices(backend="cpu"):
        jax.block_until_ready(_next(jax.device_put(np.float32(0), device)))
    while not _library.load().palladion_session_wait(session, _WAIT_MILLISECONDS):
        pass
    return failed
