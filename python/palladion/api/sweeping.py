"""`palladion.sweep`: many checks, each of many seeds, on whatever runs functions: threads, processes, a cluster.

Based on `concurrent.futures`: any Executor will do, and jobs are plain data, so that they run in a fresh process of any
machine that has this version of Palladion. A check of many seeds is cut into jobs of some seeds each, whose parts one
more job joins: that one runs the seeds again that found something (emu/check/seed_parts.h), so its report is that of a
check in one piece, byte for byte, in whatever order the jobs end. A job whose worker is lost runs once more, and is
then reported as lost. What it does not do: end a job that hangs in a worker that still lives; a schedule ends by its
budget, and `timeout` is looked at between schedules.
"""

import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from palladion import _library
from palladion.base.check_options import library_options, whole
from palladion.base.printable import printable
from palladion.bridge.listening import Listening
from palladion.report import refusals
from palladion.report.rendering import many, plain
from palladion.report.reports import VERDICTS, KernelReport, same_call
from palladion.report.short_errors import short_errors

TRIES = 2  # of a job, each on another worker where there is one


class Task:
    """One kernel on its inputs, and how it is checked: plain data that can be pickled, with all that a worker needs.

    kernel: its text, or the path (an os.PathLike) of a file that is read now.
    inputs: arrays, in the order of the kernel's inputs.
    entry: which kernel, where the text has several.
    target: as in `palladion check --target`.
    options: those of `palladion.check` that say how a kernel is checked (seeds, fill, races, ...).
    """

    @short_errors
    def __init__(
        self,
        kernel: str | os.PathLike,
        inputs: Sequence[Any] = (),
        *,
        target: str | None = None,
        name: str | None = None,
        entry: str | None = None,
        **options: Any,
    ):
        if isinstance(kernel, os.PathLike):
            with open(kernel, encoding="utf-8") as stream:
                kernel = stream.read()
        if not isinstance(kernel, str):
            raise TypeError(f"kernel must be a text, or a path as pathlib has them; found {kernel!r}")
        self.text, self.target, self.entry = kernel, target, entry
        self.inputs = [np.asarray(one) for one in inputs]
        self.options = {"threads": 1} | library_options(options)
        self.name = name or entry or next(iter(_library.kernel_names(kernel)), "kernel")

    def __repr__(self) -> str:
        return f"<Task {self.name!r}: {many(self.options['seeds'], 'seed')}>"

    def jobs(self, seeds: int) -> list[tuple[int, int]]:
        """Its parts of at most so many seeds, without seed 0, which each of them begins with;
        none where it is one job.
        """
        last = self.options["seeds"]
        if last <= seeds or self.options["exhaustive"] or "replay" in self.options:
            return []
        return [(first, min(first + seeds, last)) for first in range(1, last, seeds)]


@dataclasses.dataclass
class TaskReport:
    """What came of a task. report: None where nothing did. error: why the kernel was refused.
    lost: which of its jobs, and why.
    """

    name: str
    report: KernelReport | None = None
    error: str | None = None
    lost: list[str] = dataclasses.field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The report's; "unsupported" of a kernel that was refused, "lost" where nothing came back."""
        if self.report is not None:
            return self.report.verdict
        return "unsupported" if self.error is not None else "lost"

    @property
    def ok(self) -> bool:
        """Nothing that counts was found, and everything was tried."""
        return not self.lost and self.report is not None and self.report.exit_code == 0

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.verdict}"]
        parts += [] if self.report is None else [str(self.report)]
        parts += [] if self.error is None else [f"refused: {self.error}"]
        return "\n".join([*parts, *(f"lost: {one}" for one in self.lost)])


@dataclasses.dataclass
class SweepReport:
    """The reports of all tasks, in the order of the tasks. They do not depend on which worker ran what, nor when."""

    tasks: list[TaskReport]

    @property
    def verdict(self) -> str:
        """The worst of the tasks'; "lost" is worse than any other."""
        return max((task.verdict for task in self.tasks), key=(*VERDICTS, "lost").index)

    @property
    def ok(self) -> bool:
        """That of all tasks."""
        return all(task.ok for task in self.tasks)

    @property
    def lost(self) -> list[str]:
        """The jobs that no worker completed, with the names of their tasks."""
        return [f"{task.name}: {one}" for task in self.tasks for one in task.lost]

    def to_json(self) -> str:
        """{"verdict", "ok", "tasks": [{"name", "verdict", "report", "error", "lost"}]};
        a report as in docs/reference/report.schema.json.
        """
        tasks = [
            {
                "name": task.name,
                "verdict": task.verdict,
                "report": None if task.report is None else plain(task.report),
                "error": task.error,
                "lost": task.lost,
            }
            for task in self.tasks
        ]
        return json.dumps({"verdict": self.verdict, "ok": self.ok, "tasks": tasks}, indent=1)

    def __str__(self) -> str:
        verdicts = [task.verdict for task in self.tasks]
        counted = ", ".join(f"{verdicts.count(one)} {one}" for one in (*VERDICTS, "lost") if one in verdicts)
        lost = f"; {many(len(self.lost), 'job')} lost" if self.lost else ""
        return "\n\n".join([*map(str, self.tasks), f"{many(len(self.tasks), 'task')}: {counted}{lost}"])


# ---- what runs in a worker


def run_job(
    task: Task, seeds: tuple[int, int] | None, parts: list[dict] | None, seconds: float | None, tried: int = 0
) -> dict:
    """One job: a part of a check, or (seeds None) all of it, with what came of the parts.
    TimeoutError after so many seconds.

    A kernel that is refused is an answer, the same on every machine; whatever else is raised is the worker's. `tried`
    makes a second try another call, for executors that know one by its arguments.
    """
    del tried
    start = time.monotonic()
    try:
        legality = task.options.get("legality") != "off" and bool(task.options.get("contracts", True))
        program = refusals.program(task.text, task.entry, task.target, legality=legality)
        options = task.options | {"seconds": seconds or 0.0}
        if seeds is not None:
            return {"part": program.check_seeds(task.inputs, *seeds, **options)}
        given = {} if parts is None else {"parts": json.dumps(parts)}
        _, report = program.check(task.inputs, **options, **given)
    except _library.PalladionError as error:
        _raise_if_late(start, seconds)
        if error.interrupted:
            raise InterruptedError("a signal ended it") from None
        if error.out_of_memory:
            raise MemoryError(str(error)) from None
        return {"refused": str(error)}
    if report.get("interrupted"):
        _raise_if_late(start, seconds)
    return {"report": report}


def _raise_if_late(start: float, seconds: float | None) -> None:
    if seconds is not None and time.monotonic() - start >= seconds:
        raise TimeoutError(f"not done after {seconds:g} seconds")


# ---- where a job runs again


class OneEach(concurrent.futures.Executor):
    """Processes on this machine, so many at a time; one that dies takes no job but its own with it."""

    def __init__(self, count: int):
        self._threads = concurrent.futures.ThreadPoolExecutor(count)
        self._mine = threading.local()
        self._pools: list[concurrent.futures.Executor] = []

    def submit(self, fn, /, *args, **kwargs):
        return self._threads.submit(self._call, fn, args, kwargs)

    def _call(self, fn, args, kwargs):
        pool = getattr(self._mine, "pool", None)
        if pool is None:
            pool = self._mine.pool = concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
            self._pools.append(pool)
        try:
            return pool.submit(fn, *args, **kwargs).result()
        except concurrent.futures.BrokenExecutor:
            self._mine.pool = None
            raise

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for pool in self._pools:
            pool.shutdown(wait, cancel_futures=cancel_futures)


# ---- the jobs of each task


@dataclasses.dataclass(frozen=True)
class _Job:
    task: int
    seeds: tuple[int, int] | None = None
    tried: int = 0

    def __str__(self) -> str:
        return "the check" if self.seeds is None else f"seeds {self.seeds[0]} to {self.seeds[1] - 1}"


class _Sweep:
    """The jobs that are running, and the answers so far: no result depends on the order in which they come."""

    def __init__(
        self, tasks: list[Task], executor: concurrent.futures.Executor, seeds_per_job: int, timeout: float | None
    ):
        self.tasks, self.executor, self.timeout = tasks, executor, timeout
        self.again: OneEach | None = None
        self.out: dict[concurrent.futures.Future, _Job] = {}
        self.cuts = [task.jobs(seeds_per_job) for task in tasks]
        self.came: list[dict[_Job, dict]] = [{} for _ in tasks]  # of each task's jobs

    def run(self) -> SweepReport:
        try:
            for number, cut in enumerate(self.cuts):
                for job in [_Job(number, seeds) for seeds in cut] or [_Job(number)]:
                    self._submit(job)
            while self.out:
                done, _ = concurrent.futures.wait(self.out, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    self._take(self.out.pop(future), future)
        finally:
            for future in self.out:
                future.cancel()
            if self.again is not None:
                self.again.shutdown(cancel_futures=True)
        names = _distinct([task.name for task in self.tasks])
        return SweepReport([self._report(number, name) for number, name in enumerate(names)])

    def _submit(self, job: _Job, tried: int = 0) -> None:
        parts = None
        if job.seeds is None and self.cuts[job.task]:
            parts = [came["part"] for came in self.came[job.task].values() if "part" in came]
        arguments = (run_job, self.tasks[job.task], job.seeds, parts, self.timeout)
        if self.again is None:
            try:
                self.out[self.executor.submit(*arguments, tried=tried)] = dataclasses.replace(job, tried=tried)
                return
            except concurrent.futures.BrokenExecutor:  # it takes nothing any more
                self.again = OneEach(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)
        self.out[self.again.submit(*arguments, tried=tried)] = dataclasses.replace(job, tried=tried)

    def _take(self, job: _Job, future: concurrent.futures.Future) -> None:
        try:
            answer = future.result()
        except Exception as error:  # of the worker, whatever it was
            if job.tried + 1 < TRIES:
                return self._submit(job, job.tried + 1)
            answer = {"lost": printable(f"{type(error).__name__}: {error}".rstrip(": "))}
        came = self.came[job.task]
        came[dataclasses.replace(job, tried=0)] = answer
        if job.seeds is not None and len(came) == len(self.cuts[job.task]):
            self._submit(_Job(job.task))

    def _report(self, number: int, name: str) -> TaskReport:
        came = self.came[number]
        whole = came[_Job(number)]
        report = TaskReport(name, error=whole.get("refused"))
        if "report" in whole:
            report.report = KernelReport(whole["report"], same_call("palladion.Task"))
        # Each part is refused for the same reason as the whole: it is reported once.
        amiss = [(job, answer.get("lost") or answer.get("refused")) for job, answer in came.items()]
        report.lost = [
            f"{job}: {why}"
            for job, why in sorted(amiss, key=lambda one: (one[0].seeds is None, one[0].seeds))
            if why is not None and why != report.error
        ]
        return report


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        names[number] = name if seen[name] == 1 else f"{name} #{seen[name]}"
    return names


@short_errors
def sweep(
    tasks: Iterable[Task],
    executor: concurrent.futures.Executor | None = None,
    *,
    seeds_per_job: int = 64,
    timeout: float | None = None,
) -> SweepReport:
    """Checks every task on the workers of `executor`. The report does not depend on which worker runs what.

    executor: threads of this process where it is None; else a concurrent.futures.Executor, or what behaves like one,
        such as dask's `Client.get_executor()`; it is not shut down.
    seeds_per_job: a check of more seeds is cut into jobs of so many.
    timeout: seconds for one job, looked at between its schedules.

    A job whose worker dies, raises or is late runs once more, in a process of its own where the executor is broken, and
    is then listed in `lost`; the rest goes on.
    """
    tasks = list(tasks)
    for task in tasks:
        if not isinstance(task, Task):
            raise TypeError(f"a sweep is of palladion.Task; found {task!r}")
    if not tasks:
        raise ValueError("a sweep needs tasks: one of none is no pass")
    whole("seeds_per_job", seeds_per_job)
    if seeds_per_job is None or (timeout is not None and not timeout > 0):
        raise ValueError(
            f"seeds_per_job must be given and timeout above 0, or None; found {seeds_per_job!r} and {timeout!r}"
        )
    if executor is not None:
        return _Sweep(tasks, executor, seeds_per_job, timeout).run()
    with Listening(), concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return _Sweep(tasks, threads, seeds_per_job, timeout).run()
