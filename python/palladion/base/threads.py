"""Threads that are started inside `emulate` are emulated too, and so is what is handed to an executor there.

JAX's configuration is of one thread, and Python has no way for a thread to inherit: while a session is open,
`threading.Thread.start` and `ThreadPoolExecutor.submit` (and so `asyncio.to_thread` and `run_in_executor`) take along
the session of the calling thread. What they do not
catch: threads that C code starts, other processes, and pools that hand on work without the executors of the standard
library; a kernel without `interpret` is refused there, with a text that says so.
"""

import concurrent.futures
import concurrent.futures.thread
import functools
import threading


class PlainThread(threading.Thread):
    """Takes nothing along."""


class Inheritance:
    """Puts both in place while anybody holds it; `current()` is the session of the calling thread, or None.

    A session has `_within()`, a context in which the thread is the session's, and `_begun()` and `_ended()`,
    which count what was started.
    """

    def __init__(self, current):
        self._current = current
        self._lock = threading.Lock()
        self._holders = 0
        self._before = None

    def hold(self):
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._before = threading.Thread.start, concurrent.futures.ThreadPoolExecutor.submit
                threading.Thread.start = self._starting(self._before[0])
                concurrent.futures.ThreadPoolExecutor.submit = self._submitting(self._before[1])

    def release(self):
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                threading.Thread.start, concurrent.futures.ThreadPoolExecutor.submit = self._before

    def _starting(self, own):
        @functools.wraps(own)
        def start(thread):
            session = self._current()
            # An executor's own thread outlives the session: what is submitted to it takes the session along instead.
            if (
                session is None
                or getattr(thread, "_target", None) is concurrent.futures.thread._worker
                or isinstance(thread, PlainThread)
            ):
                return own(thread)
            run = thread.run

            def run_within():
                try:
                    with session._within():
                        run()
                finally:
                    session._ended()

            thread.run = run_within
            session._begun()
            try:
                return own(thread)
            except BaseException:
                session._ended()
                raise

        return start

    def _submitting(self, own):
        @functools.wraps(own)
        def submit(executor, function, /, *arguments, **named):
            session = self._current()
            if session is None:
                return own(executor, function, *arguments, **named)

            def call_within():
                with session._within():
                    return function(*arguments, **named)

            session._begun()
            try:
                future = own(executor, call_within)
            except BaseException:
                session._ended()
                raise
            future.add_done_callback(lambda _: session._ended())
            return future

        return submit
