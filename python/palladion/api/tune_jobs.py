"""What runs in a worker of `palladion.tune`: the times of the kernels of one candidate. Plain data in and out, and no
JAX, so that it runs in a thread, in a fresh process, or on any machine that has this version of Palladion.
"""

import concurrent.futures
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from palladion import _library
from palladion.api import time_requests


def time_calls(calls: list, budget: int | None) -> dict:
    """Of each kernel call its name and what `palladion time --format json` says; or "refused" and why.

    A kernel that is refused is an answer, the same on every machine; whatever else is raised is the worker's.
    """
    kernels = []
    try:
        for one in calls:
            request = time_requests.request_of(one.text, one.target, [], budget)
            data, text = _library.answer("palladion_time", request, one.inputs)
            kernels.append({"kernel": text.partition(" ")[0], "ns": data["ns"], "uncertainty": data["uncertainty"]})
            kernels[-1]["roofline"] = data["roofline"]
    except _library.PalladionError as error:
        if error.interrupted:
            raise InterruptedError("a signal ended it") from None
        return {"refused": str(error)}
    return {"kernels": kernels}


def run_all(
    executor: concurrent.futures.Executor, jobs: Iterable[Callable[[], tuple]], workers: int
) -> Iterator[tuple[Any, dict]]:
    """(key, answer) of each job as it ends; a job is made, (key, calls, budget) or None, when there is room for it.

    What a worker fails at is done again here: a lost process, or an executor that takes nothing any more.
    """
    waiting, out = iter(jobs), {}
    while True:
        while len(out) < workers and (make := next(waiting, None)) is not None:
            if (job := make()) is not None:
                key, calls, budget = job
                out[_submitted(executor, calls, budget)] = (key, calls, budget)
        if not out:
            return
        done, _ = concurrent.futures.wait(out, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            key, calls, budget = out.pop(future)
            yield key, _answer(future, calls, budget)


def _submitted(executor, calls, budget) -> concurrent.futures.Future:
    try:
        return executor.submit(time_calls, calls, budget)
    except (concurrent.futures.BrokenExecutor, RuntimeError) as error:
        broken: concurrent.futures.Future = concurrent.futures.Future()
        broken.set_exception(error)
        return broken


def _answer(future, calls, budget) -> dict:
    try:
        return future.result()
    except InterruptedError:
        raise
    except Exception:  # of the worker, whatever it was
        return time_calls(calls, budget)


def workers_of(executor: concurrent.futures.Executor) -> int:
    """How many jobs are out at once: one more than it has workers, so that none waits for the next job."""
    return (getattr(executor, "_max_workers", None) or os.cpu_count() or 1) + 1
