"""What a program gets when it asks JAX's own interpreters what they found (jax_interpreters.py),
and kernels ran in Palladion.

`races_found` is True where a kernel that ran in Palladion since it was last read, or had it forgotten, had
a race: in the `emulate` that this thread is in, else outside of any. It waits for what the thread has dispatched. It is
also True where JAX's own interpreter found one. JAX itself has the answer of the last kernel alone.
"""

import threading

from palladion.bridge.jax_params import RACE_CODES_OF_JAX
from palladion.bridge.params import Params
from palladion.jax import jax_interpreters


class _Asked:
    """What was asked last, and the answer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.clear()

    def clear(self):
        self.report, self.calls, self.state, self.found = None, 0, None, False


_asked = _Asked()


def _report_of_thread():
    """The report that the kernels of the thread go to, complete as far as they were dispatched."""
    from palladion.bridge import (
        session,  # which imports this module; a program may have called nothing but palladion.install
    )

    return session.report_of_thread()


def _found(state_of_jax) -> bool:
    report = _report_of_thread()
    calls = getattr(report, "calls", [])  # `palladion.run` has another kind of report
    with _asked.lock:
        new = calls if report is not _asked.report else calls[_asked.calls :]
        if new:
            _asked.found = any(finding.code in RACE_CODES_OF_JAX for call in new for finding in call.findings)
        elif state_of_jax is not _asked.state:
            _asked.found = False  # kernels ran in JAX's interpreter since
        _asked.report, _asked.calls, _asked.state = report, len(calls), state_of_jax
        return _asked.found


def _forget() -> None:
    report = _report_of_thread()
    with _asked.lock:
        _asked.clear()
        _asked.report, _asked.calls = report, len(getattr(report, "calls", []))


def answer() -> None:
    """Puts the answers in place, in what of JAX is imported by now."""
    jax_interpreters.answer(_found, _forget)
    jax_interpreters.keep_configuration(lambda value: isinstance(value, Params))
