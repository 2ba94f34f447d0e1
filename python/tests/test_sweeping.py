"""`palladion.sweep`: the report of many jobs is that of checks in one piece, whichever worker runs them and however
they end.

The oracle is a check in one piece. What is not here: machines other than this one.
"""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import random
import signal

import distributed
import numpy as np
import pytest

import palladion
from palladion import _library
from palladion.api import sweeping

TICKETS = """pkir 1;
kernel @tickets {
  grid [4];
  in %x: i32[8];
  out %o: i32[8] alias %x;
  body @b (%xr: ref<default,i32[8]>, %or: ref<default,i32[8]> as "o_ref") {
    %p = program_id{axis=0}() : i32[];
    %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];
    %q = add(%p, 4:i32) : i32[];
    _ = swap(%or.at[INDEX], %t) : i32[];
    return;
  }
}
"""
RACY, OWN = TICKETS.replace("INDEX", "1"), TICKETS.replace("INDEX", "%q").replace("@tickets", "@own")
ALONE = (
    TICKETS.replace("    %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];\n", "")
    .replace("INDEX], %t", "%q], %p")
    .replace("@tickets", "@alone")
)


def tasks(**options) -> list:
    options = {"target": "triton/h100", "seeds": 90} | options
    return [palladion.Task(text, [np.zeros(8, np.int32)], **options) for text in (RACY, OWN, ALONE)]


@pytest.fixture(scope="module")
def whole() -> palladion.SweepReport:
    """Each check in one piece."""
    return palladion.sweep(tasks(), seeds_per_job=1000)


def same(found, expected):
    assert found.to_json() == expected.to_json()
    assert str(found) == str(expected)


class Scrambled(concurrent.futures.Executor):
    """Runs everything at once when asked for the first result, in an order of its own."""

    def __init__(self, seed):
        self.random, self.calls = random.Random(seed), []

    def submit(self, fn, /, *args, **kwargs):
        future = Late(self)
        self.calls.append((future, fn, args, kwargs))
        return future

    def run(self):
        self.random.shuffle(self.calls)
        calls, self.calls = self.calls, []
        for future, fn, args, kwargs in calls:
            future.set_result(fn(*args, **kwargs))


class Late(concurrent.futures.Future):
    def __init__(self, executor):
        super().__init__()
        self.executor = executor


def test_a_report_in_one_piece_is_the_checks(whole):
    for task, report in zip(tasks(), whole.tasks):
        _, expected = _library.Program(task.text, None, task.target).check(task.inputs, **task.options)
        assert json.loads(whole.to_json())["tasks"][whole.tasks.index(report)]["report"] == expected
    assert [task.verdict for task in whole.tasks] == ["defect", "nondeterministic", "proved"]
    assert whole.verdict == "defect" and not whole.ok and not whole.lost


@pytest.mark.parametrize("seeds_per_job", (1, 7, 30, 89))
def test_threads(whole, seeds_per_job):
    same(palladion.sweep(tasks(), seeds_per_job=seeds_per_job), whole)


@pytest.mark.parametrize("seed", range(4))
def test_in_whatever_order_jobs_end(whole, seed, monkeypatch):
    executor = Scrambled(seed)
    wait = concurrent.futures.wait
    monkeypatch.setattr(concurrent.futures, "wait", lambda *args, **kwargs: (executor.run(), wait(*args, **kwargs))[1])
    same(palladion.sweep(tasks(), executor, seeds_per_job=10), whole)


def test_fresh_processes(whole):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        same(palladion.sweep(tasks(), pool, seeds_per_job=30), whole)


@pytest.fixture(scope="module")
def cluster():
    """A client of two workers, each a process."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers:
        with distributed.Client(workers) as client:
            yield client


def test_a_dask_cluster(whole, cluster):
    same(palladion.sweep(tasks(), cluster.get_executor(), seeds_per_job=30), whole)


class Killing(concurrent.futures.Executor):
    """Kills a process when so many jobs are out."""

    def __init__(self, executor, victim, after):
        self.executor, self.victim, self.left = executor, victim, after

    def submit(self, fn, /, *args, **kwargs):
        self.left -= 1
        if self.left == 0:
            os.kill(self.victim, signal.SIGKILL)
        return self.executor.submit(fn, *args, **kwargs)


def test_a_dask_worker_that_is_killed_costs_nothing(whole, cluster):
    victim = next(iter(cluster.run(os.getpid).values()))
    same(palladion.sweep(tasks(), Killing(cluster.get_executor(), victim, 12), seeds_per_job=10), whole)
    assert victim not in cluster.run(os.getpid).values()


class Deadly(palladion.Task):
    """Kills the process that it comes to, the first `times` times."""

    def __init__(self, *args, flags, times, **options):
        super().__init__(*args, **options)
        self.flags, self.times, self.home = flags, times, os.getpid()

    def __setstate__(self, state):
        self.__dict__ |= state
        killed = len(os.listdir(self.flags))
        if os.getpid() != self.home and killed < self.times:
            open(os.path.join(self.flags, str(killed)), "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def deadly(folder, times) -> palladion.Task:
    folder.mkdir()
    return Deadly(
        RACY, [np.zeros(8, np.int32)], flags=str(folder), times=times, name="deadly", target="triton/h100", seeds=60
    )


def test_a_job_whose_worker_was_killed_runs_again(whole, tmp_path):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = palladion.sweep([*tasks(), deadly(tmp_path / "once", 1)], pool, seeds_per_job=30)
    assert not found.lost and found.tasks[3].verdict == "defect"
    same(palladion.SweepReport(found.tasks[:3]), whole)


def test_a_task_that_always_kills_its_worker_is_lost_by_name_and_nothing_else(whole, tmp_path):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = palladion.sweep([deadly(tmp_path / "always", 1000), *tasks()], pool, seeds_per_job=30)
    assert [one.split(": Broken")[0] for one in found.lost] == [
        "deadly: seeds 1 to 30",
        "deadly: seeds 31 to 59",
        "deadly: the check",
    ]
    assert found.tasks[0].report is None and found.verdict == "lost" and not found.ok
    assert "lost: seeds 1 to 30: BrokenProcessPool" in str(found)
    same(palladion.SweepReport(found.tasks[1:]), whole)


class Failing(concurrent.futures.ThreadPoolExecutor):
    """Raises in jobs that begin at one seed, so many times."""

    def __init__(self, first, times):
        super().__init__(2)
        self.first, self.times = first, times

    def submit(self, fn, /, task, seeds, *args, **kwargs):
        if seeds is not None and seeds[0] == self.first and self.times > 0:
            self.times -= 1
            return super().submit(self.fail)
        return super().submit(fn, task, seeds, *args, **kwargs)

    def fail(self):
        raise OSError("no route to host")


def test_seeds_that_did_not_run_are_no_pass(whole):
    one = tasks()[1]
    with Failing(31, 1) as executor:
        assert palladion.sweep([one], executor, seeds_per_job=30).tasks[0].report.schedules == 90
    with Failing(31, 2) as executor:
        found = palladion.sweep([one], executor, seeds_per_job=30)
    assert found.lost == ["own: seeds 31 to 60: OSError: no route to host"]
    report = found.tasks[0].report
    assert report.interrupted and report.schedules == 60 and not found.ok
    assert report.findings[0].replay == whole.tasks[1].report.findings[0].replay


def test_a_job_that_is_late_is_lost():
    def late(seeds_per_job):
        task = palladion.Task(OWN, [np.zeros(8, np.int32)], target="triton/h100", seeds=2 * 10**8)
        return palladion.sweep([task], seeds_per_job=seeds_per_job, timeout=0.3)

    alone = late(2 * 10**8)
    assert alone.lost == ["own: the check: TimeoutError: not done after 0.3 seconds"] and alone.tasks[0].report is None
    cut = late(10**8)
    assert cut.lost == [
        "own: seeds 1 to 100000000: TimeoutError: not done after 0.3 seconds",
        "own: seeds 100000001 to 199999999: TimeoutError: not done after 0.3 seconds",
    ]
    assert cut.tasks[0].report.schedules == 1 and cut.tasks[0].report.interrupted and not cut.ok


def test_a_kernel_that_is_refused_is_reported_once():
    found = palladion.sweep([palladion.Task(OWN, [np.zeros(3, np.int32)], seeds=300), *tasks()[2:]])
    assert found.tasks[0].verdict == "unsupported" and found.tasks[1].verdict == "proved"
    assert found.tasks[0].error == "operand 'x' () must be i32[8]; found i32[3]"
    assert not found.lost


def test_memory_is_a_matter_of_the_host(monkeypatch):
    """Another worker may have more; any other refusal is the same everywhere, whatever its words."""
    for out_of_memory in (True, False):
        error = palladion.PalladionError("out of memory", 6)
        error.out_of_memory = out_of_memory

        def check(*_, error=error, **__):
            raise error

        monkeypatch.setattr(_library.Program, "check", check)
        task = palladion.Task(OWN, [np.zeros(8, np.int32)], target="triton/h100")
        if out_of_memory:
            with pytest.raises(MemoryError, match="out of memory"):
                sweeping.run_job(task, None, None, None)
        else:
            assert sweeping.run_job(task, None, None, None) == {"refused": "out of memory"}


def test_wrong_tasks_are_refused_at_once(tmp_path):
    with pytest.raises(TypeError, match="a check has no option 'sed'"):
        palladion.Task(OWN, sed=3)
    with pytest.raises(TypeError, match="seeds must be a whole number; found '3'"):
        palladion.Task(OWN, seeds="3")
    with pytest.raises(TypeError, match="kernel must be a text, or a path"):
        palladion.Task(3)
    with pytest.raises(FileNotFoundError):
        palladion.Task(tmp_path / "none.pkir")
    with pytest.raises(palladion.PalladionError, match="expected"):
        palladion.Task("no kernel")
    with pytest.raises(TypeError, match="a sweep is of palladion.Task; found 3"):
        palladion.sweep([3])
    with pytest.raises(ValueError, match="seeds_per_job"):
        palladion.sweep(tasks(), seeds_per_job=0)
    with pytest.raises(ValueError, match="timeout above 0"):
        palladion.sweep(tasks(), timeout=0)
    with pytest.raises(ValueError, match="one of none is no pass"):
        palladion.sweep([])


def test_a_task_is_a_file_too_and_can_be_pickled(tmp_path, whole):
    (tmp_path / "own.pkir").write_text(OWN)
    task = pickle.loads(
        pickle.dumps(palladion.Task(tmp_path / "own.pkir", [np.zeros(8, np.int32)], target="triton/h100", seeds=90))
    )
    assert palladion.sweep([task]).tasks[0].report.argument == whole.tasks[1].report.argument


def test_findings_replay(whole):
    finding = next(
        one
        for one in palladion.sweep(tasks(), seeds_per_job=20).tasks[0].report.findings
        if one.replay.startswith("s2:")
    )
    again = palladion.sweep(
        [palladion.Task(RACY, [np.zeros(8, np.int32)], target="triton/h100", replay=finding.replay)]
    )
    assert finding.code in [one.code for one in again.tasks[0].report.findings]
    assert f'the same palladion.Task with replay="{finding.replay}"' in str(whole)
