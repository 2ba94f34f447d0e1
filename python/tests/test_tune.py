"""`palladion.tune`: the fastest right candidate, against timing every candidate by itself."""

import concurrent.futures
import functools
import inspect
import itertools
import json
import multiprocessing
import pathlib
import signal
import subprocess
import sys
import xml.etree.ElementTree

import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion
import tuned_kernels
from palladion.api import tune_calls, tune_jobs, tune_results, tune_values, tuning
from palladion.report import tuned

TESTS = pathlib.Path(__file__).parent
X = tuned_kernels.random((512, 512))
PRODUCT = {"bm": [128, 256, 512], "bn": [128, 512], "bk": [128, 512]}
ROWS = tuned_kernels.random((512, 128), jnp.float32)
MISTAKES = {"block": [64, 128, 256, 512]}


def exhaustive(f, args, space, target):
    """The time of each combination by itself, with its values; None of one that cannot run."""
    times = []
    for sizes in itertools.product(*space.values()):
        try:
            one = functools.partial(f, **dict(zip(space, sizes)))
            times.append(palladion.time(one, *args, target=target).seconds)
        except (palladion.PalladionError, palladion.ExportError, ValueError, NotImplementedError, AssertionError):
            times.append(None)
    return times


def status_of(result, **sizes):
    (row,) = [one for one in result.rows if one.sizes == sizes]
    return row


HEADS = tuned_kernels.random((1, 2, 512, 128))
FP16 = tuned_kernels.random((256, 256), jnp.float16)
REAL = {
    "matmul": (tuned_kernels.matmul, (X, X), PRODUCT, "v6e"),
    "flash": (
        tuned_kernels.flash_attention,
        (HEADS,) * 3,
        {"block_q": [128, 256, 512], "block_k": [128, 256, 512]},
        "v6e",
    ),
    "splash": (
        tuned_kernels.splash_attention,
        (HEADS[0],) * 3,
        {"block_q": [128, 256], "block_kv": [128, 256, 512]},
        "v5e",
    ),
    "triton": (
        functools.partial(tuned_kernels.triton_product, num_warps=4),
        (FP16, FP16),
        {"tile": [32, 64, 128], "num_stages": [1, 3]},
        "triton/h100",
    ),
    "hopper": (tuned_kernels.hopper_matmul, (FP16, FP16), {"tile_m": [64, 128], "stages": [2, 20]}, "h100"),
}


@pytest.mark.parametrize("name", REAL)
def test_the_chosen_one_is_the_fastest_of_all(name):
    f, args, space, target = REAL[name]
    result = palladion.tune(f, args, space=space, target=target, seeds=2, checks=1)
    times = exhaustive(f, args, space, target)
    assert result.best.status == tuned.CHOSEN
    assert result.best.seconds == pytest.approx(min(filter(None, times)))
    for row, seconds in zip(result.rows, times, strict=True):
        if row.seconds is not None:
            assert seconds == pytest.approx(row.seconds) and row.least < seconds
        elif row.status == tuned.NOT_TIMED:
            assert row.least < seconds and seconds > result.best.seconds
        else:
            assert row.status in (tuned.NO_ROOM, tuned.REFUSED, tuned.UNCERTAIN) and row.why


@pytest.fixture(scope="module")
def product():
    return palladion.tune(tuned_kernels.matmul, (X, X), space=PRODUCT, target="v6e", seeds=2)


def test_what_cannot_beat_the_best_is_not_timed():
    x = tuned_kernels.random((1024, 1024))
    space = {"bm": [128, 1024], "bn": [128, 1024], "bk": [512]}
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        result = palladion.tune(
            tuned_kernels.matmul, (x, x), space=space, target="v6e", seeds=1, checks=1, executor=one
        )
    pruned = [one for one in result.rows if one.status == tuned.NOT_TIMED]
    assert pruned[0].sizes == {"bm": 128, "bn": 128, "bk": 512}, "the one that copies most"
    assert all(one.least > result.best.seconds and one.seconds is None for one in pruned)
    assert (
        palladion.time(functools.partial(tuned_kernels.matmul, **pruned[0].sizes), x, x, target="v6e").seconds
        > pruned[0].least
    )
    assert "not timed: the bytes of main memory alone take longer than the best" in result.table()


def test_values_are_not_computed_to_time(monkeypatch):
    """A kernel that is called once is stopped at its call."""
    monkeypatch.setattr(tune_calls, "_CapturingProgram", None)
    result = palladion.tune(tuned_kernels.matmul, (X, X), space={"bm": [512]}, target="v6e", seeds=1)
    assert result.best.kernels == 1


def twice(x, block=64):
    return tuned_kernels.triple(tuned_kernels.triple(x, block, mistakes=False), block, mistakes=False)


def test_all_kernels_of_a_function_count():
    result = palladion.tune(twice, ROWS, space={"block": [64, 512]}, target="v6e", seeds=2)
    assert result.best.sizes == {"block": 512} and result.best.kernels == 2
    assert result.best.seconds == pytest.approx(
        palladion.time(functools.partial(twice, block=512), ROWS, target="v6e").seconds
    )


# ---- wrong candidates


@pytest.fixture(scope="module")
def mistakes():
    return palladion.tune(tuned_kernels.triple, ROWS, space=MISTAKES, target="v6e", seeds=8)


def test_a_wrong_candidate_is_not_chosen_and_is_named(mistakes):
    assert mistakes.best.sizes == {"block": tuned_kernels.RIGHT}
    assert all(one.seconds < mistakes.best.seconds for one in mistakes.rows[1:]), "each mistake would be chosen by time"
    values = status_of(mistakes, block=tuned_kernels.WRONG_VALUES)
    assert values.status == tuned.WRONG and "the reference says" in values.why
    race = status_of(mistakes, block=tuned_kernels.RACE)
    assert race.status == tuned.FINDING and race.why.startswith("RACE_ASYNC: ")
    outside = status_of(mistakes, block=tuned_kernels.OUT_OF_BOUNDS)
    assert outside.status == tuned.FINDING and outside.why.startswith("OOB: ")
    for one in mistakes.rows[1:]:
        assert f"{one.status}: {one.why}" in mistakes.table()


def test_values_may_be_those_of_an_oracle():
    """The first legal candidate is wrong, and only an oracle knows."""
    space = {"block": [tuned_kernels.WRONG_VALUES, tuned_kernels.RIGHT]}
    result = palladion.tune(tuned_kernels.triple, ROWS, space=space, target="v6e", seeds=2, oracle=lambda x: 3 * x)
    assert result.best.sizes == {"block": tuned_kernels.RIGHT}
    assert result.rows[0].status == tuned.WRONG
    assert "values are compared with those of the oracle" in result.notes


def test_a_first_candidate_that_nothing_agrees_with_is_doubted():
    space = {"block": [tuned_kernels.WRONG_VALUES, tuned_kernels.RIGHT]}
    result = palladion.tune(tuned_kernels.triple, ROWS, space=space, target="v6e", seeds=2)
    assert "no other candidate agrees with it, so it may be the one that is wrong: give an oracle" in result.notes
    agreed = palladion.tune(tuned_kernels.matmul, (X, X), space={"bm": [128, 256]}, target="v6e", seeds=2)
    assert not any("agrees" in one for one in agreed.notes)


def test_a_first_candidate_with_a_finding_is_no_reference():
    space = {"block": [tuned_kernels.RACE, tuned_kernels.RIGHT, tuned_kernels.WRONG_VALUES]}
    result = palladion.tune(tuned_kernels.triple, ROWS, space=space, target="v6e", seeds=8)
    assert result.best.sizes == {"block": tuned_kernels.RIGHT}
    assert result.rows[0].status == tuned.FINDING and result.rows[2].status == tuned.WRONG
    assert "values are compared with those of block=64, because block=256 has a finding" in result.notes


def test_where_all_are_wrong_none_is_chosen():
    space = {"block": [tuned_kernels.RACE]}
    result = palladion.tune(tuned_kernels.triple, ROWS, space=space, target="v6e", seeds=8)
    assert result.best is None and result.close == []
    assert "none is chosen: no candidate that was looked at is right" in result.table()


def test_another_order_of_summation_is_no_other_value():
    x = tuned_kernels.random((512, 512), jnp.float32)
    result = palladion.tune(tuned_kernels.matmul, (x, x), space={"bk": [128, 256, 512]}, target="v6e", seeds=1)
    assert [one.status for one in result.rows].count(tuned.WRONG) == 0
    exact = palladion.tune(
        tuned_kernels.matmul, (x, x), space={"bk": [128, 256, 512]}, target="v6e", seeds=1, rtol=0, atol=0
    )
    assert [one.status for one in exact.rows].count(tuned.WRONG) == 2


def test_bounds_are_those_of_the_golden_bundle():
    judge = tune_values.Judge(2 * ROWS, None, None)
    judge.take_bounds(double, (ROWS,), "v6e", palladion.run(double, ROWS, target="v6e"))
    assert judge.difference(2 * ROWS) == ""
    slightly = np.array(2 * ROWS)
    slightly[7, 5] *= 1 + 1e-6  # one product, rounded once, is no sum: JAX's tolerance would let it pass
    assert judge.difference(jnp.asarray(slightly)).startswith("result 0[7, 5] is")
    assert tune_values.Judge(2 * ROWS, None, None).difference(jnp.asarray(slightly)) == ""


def test_other_shapes_are_other_values():
    judge = tune_values.Judge(ROWS, None, None)
    assert judge.difference(ROWS[:8]) == "result 0 is float32[8, 128] and the reference's float32[512, 128]"
    assert judge.difference((ROWS, ROWS)) == "it has 2 results and the reference 1"


# ---- how sure the choice is


def test_a_difference_below_its_uncertainty_is_reported(product):
    second = min(one.seconds for one in product.rows if one.seconds and one is not product.best)
    assert second < product.best.seconds / (1 - product.best.uncertainty)
    assert product.close and "the model does not say which of the two is faster" in product.table()
    assert all(one.seconds * (1 - one.uncertainty) < product.best.seconds for one in product.close)


def _row(seconds, uncertainty=0.1, status=tuned.TIMED):
    return tuned.TunedRow({"n": seconds}, status, seconds=seconds, uncertainty=uncertainty)


@pytest.mark.parametrize(
    "other, share, message",
    [
        (1.05, 0.1, "takes 5.0% more, less than the uncertainty of the difference, 10%"),
        (1.2, 0.1, "takes 20.0% more, more than the uncertainty of the difference, 10%"),
        (1.2, None, "takes 20.0% more; the uncertainty of that difference is not known"),
        (1.0, 0.1, "takes as long, less than"),
    ],
)
def test_what_is_said_of_the_two_best(other, share, message):
    rows = [_row(1.0, status=tuned.CHOSEN), _row(other, share)]
    assert message in tuned.Tuned(rows, rows[0], "v6e", []).table()


# ---- workers


def test_an_executor_of_processes_finds_the_same(product):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as workers:
        result = palladion.tune(tuned_kernels.matmul, (X, X), space=PRODUCT, target="v6e", seeds=2, executor=workers)
    assert result.best.sizes == product.best.sizes and result.best.seconds == product.best.seconds


def test_a_worker_does_not_need_jax():
    code = "import sys, palladion.api.tune_jobs; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env=tuned_kernels.environment())


class Dying(concurrent.futures.Executor):
    """Takes some jobs, loses the second, and then takes nothing any more."""

    def __init__(self):
        self.taken = 0

    def submit(self, function, /, *arguments, **options):
        self.taken += 1
        if self.taken > 3:
            raise concurrent.futures.BrokenExecutor("no workers are left")
        done = concurrent.futures.Future()
        if self.taken == 2:
            done.set_exception(concurrent.futures.BrokenExecutor("a process died"))
        else:
            done.set_result(function(*arguments, **options))
        return done


def test_what_a_lost_worker_had_is_done_here(product):
    result = palladion.tune(tuned_kernels.matmul, (X, X), space=PRODUCT, target="v6e", seeds=2, executor=Dying())
    assert result.best.sizes == product.best.sizes
    assert not any(one.status in (tuned.NOT_LOOKED_AT, tuned.NO_TIME) for one in result.rows)


# ---- resuming


KILLED = """
import concurrent.futures, os, signal, sys
sys.path.insert(0, {tests!r})
import palladion, test_tune, tuned_kernels

class Killed(concurrent.futures.Executor):
    _max_workers, taken = 0, 0
    def submit(self, function, *arguments):
        Killed.taken += 1
        if Killed.taken == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        done = concurrent.futures.Future()
        done.set_result(function(*arguments))
        return done

palladion.tune(tuned_kernels.matmul, (test_tune.X, test_tune.X), space=test_tune.PRODUCT, target="v6e", seeds=2,
               executor=Killed(), resume={resume!r})
"""


def counted(monkeypatch):
    times = []
    own = tune_jobs.time_calls
    monkeypatch.setattr(tune_jobs, "time_calls", lambda calls, budget: times.append(calls) or own(calls, budget))
    return times


def test_a_run_that_was_killed_goes_on(tmp_path, monkeypatch, product):
    resume = tmp_path / "results.jsonl"
    code = KILLED.format(tests=str(TESTS), resume=str(resume))
    done = subprocess.run(
        [sys.executable, "-c", code], env=tuned_kernels.environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    kept = [json.loads(line) for line in resume.read_text().splitlines()]
    assert len(kept) == 3 and {one["of"]["what"] for one in kept} == {"time"}
    resume.write_text(resume.read_text() + '{"of": {"cand')  # as a line that was being written
    times = counted(monkeypatch)
    how = {"space": PRODUCT, "target": "v6e", "seeds": 2, "resume": resume}
    result = palladion.tune(tuned_kernels.matmul, (X, X), **how)
    timed = [one for one in result.rows if one.seconds is not None]
    assert len(times) == len(timed) - 3
    assert result.best.sizes == product.best.sizes
    assert "resume: 1 lines of the file are no results, and were passed over" in result.notes


def test_a_run_that_is_done_runs_nothing_again(tmp_path, monkeypatch):
    how = {"space": PRODUCT, "target": "v6e", "seeds": 2, "resume": tmp_path / "results.jsonl"}
    first = palladion.tune(tuned_kernels.matmul, (X, X), **how)
    times = counted(monkeypatch)
    monkeypatch.setattr(tuning.checking, "check", None)
    again = palladion.tune(tuned_kernels.matmul, (X, X), **how)
    assert not times and json.loads(again.to_json())["rows"] == json.loads(first.to_json())["rows"]


@pytest.mark.parametrize(
    "other",
    [
        {"target": "v5e"},
        {"args": (X, X + 1)},
        {"version": "0.0"},
        {"f": lambda x, y, **sizes: tuned_kernels.matmul(x, y, bn=256, **sizes)},
    ],
)
def test_results_of_something_else_are_not_taken(tmp_path, monkeypatch, other):
    how = {"f": tuned_kernels.matmul, "args": (X, X), "space": {"bm": [512]}, "target": "v6e", "seeds": 1}
    how["resume"] = tmp_path / "results.jsonl"
    palladion.tune(**how)
    times = counted(monkeypatch)
    if version := other.pop("version", None):
        monkeypatch.setattr(tune_results, "version", lambda: version)
    palladion.tune(**{**how, **other})
    assert len(times) == 1


def test_a_file_of_something_else_is_refused(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("not\nresults\n")
    with pytest.raises(ValueError, match="is not a file of palladion.tune"):
        palladion.tune(tuned_kernels.matmul, (X, X), space=PRODUCT, target="v6e", resume=other)
    assert other.read_text() == "not\nresults\n"


# ---- a budget


class Clock:
    def __init__(self, step):
        self.now, self.step = 0.0, step

    def monotonic(self):
        self.now += self.step
        return self.now


@pytest.mark.parametrize("step, phase", [(2.0, "trace"), (0.45, "time")])
def test_a_budget_gives_the_best_until_then_and_says_what_is_left(monkeypatch, step, phase):
    monkeypatch.setattr(tuning, "time", Clock(step))
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        result = palladion.tune(
            tuned_kernels.matmul, (X, X), space=PRODUCT, target="v6e", seeds=2, budget_s=10, executor=one
        )
    left = sum(row.status == tuned.NOT_LOOKED_AT for row in result.rows)
    assert 0 < left < len(result.rows) and result.not_looked_at() == left
    assert f"{left} candidates not looked at: the budget was over; any of them may be faster" in result.table()
    assert result.best is not None and result.best.seconds == min(row.seconds for row in result.rows if row.seconds)


def test_a_budget_that_is_over_before_a_check_says_so(monkeypatch):
    monkeypatch.setattr(tuning, "time", Clock(1000.0))
    result = palladion.tune(tuned_kernels.matmul, (X, X), space={"bm": [128, 512]}, target="v6e", budget_s=1)
    assert result.best.status == tuned.TIMED and "NOT CHECKED" in result.table()


# ---- wrong input


def tune(f=tuned_kernels.matmul, args=(X, X), space=PRODUCT, target="v6e", **more):
    return palladion.tune(f, args, space=space, target=target, **more)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"space": {}}, ValueError, "space has the sizes to try"),
        ({"space": {"bm": []}}, ValueError, "space has the sizes to try"),
        (
            {"space": {"block": [64]}},
            TypeError,
            "does not take the candidate block=64: got an unexpected keyword argument 'block'",
        ),
        ({"args": X}, TypeError, "missing a required argument: 'y'"),
        ({"f": "kernel.pkir"}, TypeError, "tune takes a function"),
        ({"seeds": 0}, ValueError, "seeds must be a whole number"),
        ({"checks": None}, ValueError, "checks must be whole numbers"),
        ({"budget_s": 0}, ValueError, "budget_s must be above 0"),
        ({"executor": 2}, TypeError, "executor must be"),
        ({"oracle": 3}, TypeError, "oracle must be a function"),
        ({"rtol": -1}, ValueError, "rtol must be 0 or more"),
    ],
)
def test_wrong_input_is_refused(given, kind, message):
    with pytest.raises(kind) as error:
        tune(**given)
    assert message in str(error.value)


def test_no_legal_candidate_is_an_error_with_the_reason_of_each():
    with pytest.raises(palladion.PalladionError) as error:
        tune(space={"bk": [100, 200]})
    assert "no candidate is legal" in str(error.value)
    assert "bk=100, refused: " in str(error.value) and "bk=200, refused: " in str(error.value)


def _double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def double(x, rows=64):
    block = pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(_double, grid=(x.shape[0] // rows,), in_specs=[block], out_specs=block, out_shape=x)(x)


def test_a_target_without_a_chip_is_an_error():
    with pytest.raises(palladion.PalladionError, match="its target is generic, which is no chip"):
        tune(double, ROWS, {"rows": [64]}, "generic")


def test_what_is_wrong_with_every_candidate_is_the_error():
    with pytest.raises(NameError, match="nowhere"):
        tune(lambda x, rows: double(x, rows) + nowhere, ROWS, {"rows": [64, 128]})  # noqa: F821


def test_a_kernel_without_a_time_says_which_targets_have_one(monkeypatch):
    monkeypatch.setattr(tune_jobs, "time_calls", lambda *_: {"refused": "no model"})
    with pytest.raises(palladion.PalladionError) as error:
        tune(double, ROWS, {"rows": [64]}, "v6e")
    assert "no candidate has a time on mosaic_tpu/v6e:\n  rows=64, no time: no model\n" in str(error.value)
    assert (
        "kernels of Mosaic GPU and of Triton have one on b200, h100, h200, and kernels of Mosaic TPU on v4, v5e"
        in str(error.value)
    )


# ---- what is shown


def test_json_has_every_candidate(product):
    written = json.loads(product.to_json())
    assert len(written["rows"]) == len(product.rows) == 12 and written["rows"][written["best"]]["status"] == "chosen"
    assert set(written["rows"][0]) == {"sizes", "status", "why", "seconds", "uncertainty", "bound", "least", "kernels"}
    assert [written["rows"][number]["sizes"] for number in written["tied"]] == [one.sizes for one in product.close]


def test_the_plot_is_a_picture_by_itself(product):
    root = xml.etree.ElementTree.fromstring(product.plot())
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and "http" not in product.plot().replace(
        "http://www.w3.org/2000/svg", ""
    )
    bars = [one for one in root.iter() if one.tag.endswith("rect") and one.get("x")]
    assert len(bars) == sum(one.seconds is not None for one in product.rows)
    widths = [float(one.get("width")) for one in bars]
    assert widths == sorted(widths)


def test_a_name_in_the_picture_is_no_markup():
    row = tuned.TunedRow({"mode": "<b>&"}, tuned.CHOSEN, seconds=1e-6, uncertainty=None)
    xml.etree.ElementTree.fromstring(tuned.Tuned([row], row, "v6e", []).plot())


# ---- the command


def test_the_docstring_names_every_status():
    for status in tuned.STATUSES:
        assert f'"{status}"' in " ".join(inspect.getdoc(tuned.TunedRow).split()), status
