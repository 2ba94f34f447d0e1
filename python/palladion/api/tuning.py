"""`palladion.tune`: the fastest of the candidates of a space, among those that are legal, fit and compute the right
values (docs/reference/tune.md).

Every candidate is traced and judged (palladion.fit); the legal ones are timed by the model, the promising ones first,
and one that cannot beat the best time by the bytes that it copies is not; the fastest are checked by values and
findings. Based on: the model of time, with its uncertainty, and a check on these arguments. What it does not catch: a
candidate that is wrong on other arguments, and what the model of time leaves out (docs/explanation/time.md).
"""

import concurrent.futures
import dataclasses
import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from palladion import _library, machines
from palladion.api import checking, fitting, fitting_over, tune_calls, tune_jobs, tune_results
from palladion.api.tune_values import Judge
from palladion.base.check_options import whole
from palladion.bridge.listening import Listening
from palladion.jax import probes, tensors
from palladion.jax.interception import export
from palladion.report import tuned
from palladion.report.short_errors import short_errors
from palladion.report.tuned import Tuned, TunedRow

_HBM = "bytes of main memory (HBM)"
_TRACING_SHARE, _TIMING_SHARE = 0.5, 0.75  # of a budget, at most, until these phases end
_ROUNDING = 1 - 1e-9


@dataclasses.dataclass
class _Candidate:
    """`f` with its sizes; `calls` where they are known without values."""

    row: TunedRow
    f: Callable
    text: str = ""
    runs: int | None = None
    calls: list[tune_calls.KernelCall] | None = None
    error: Exception | None = None  # that it could not be traced, or judged

    def key(self, **more: Any) -> dict:
        """What its results depend on, beside `more`."""
        return {"candidate": self.row.name, "text": tune_results.digest(self.text), **more}


@dataclasses.dataclass(frozen=True)
class _How:
    """The options of one call of `tune`."""

    target: str | None
    seeds: int
    checks: int
    budget_s: float | None
    rtol: float | None
    atol: float | None
    oracle: Callable | None


@short_errors
def tune(
    f: Callable,
    args: Sequence[Any],
    *,
    space: Mapping[str, Iterable] | Iterable[Mapping[str, Any]],
    target: str | None = None,
    oracle: Callable | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seeds: int = 16,
    checks: int = 3,
    executor: concurrent.futures.Executor | None = None,
    resume: str | os.PathLike | None = None,
    budget_s: float | None = None,
) -> Tuned:
    """The best of the candidates `f(*args, **sizes)` on the chip of `target`: every combination of
    {"bm": [64, 128], "stages": [2, 3]}, or those of a list, [{"bm": 64, "stages": 2}, ...].

    A candidate that JAX, the function or the target refuses, or that does not fit, is listed with the reason. The rest
    are timed by the model (palladion.time), least bound first; one whose bound is above the best time is not timed.
    The fastest are checked with so many `seeds`, until `checks` of them are right: with no finding, and the values of
    the first legal candidate that has none, or of `oracle(*args)`, computed by JAX. `rtol` and `atol` are as for
    palladion.check; without them a difference may be as large as another order of summation makes it
    (docs/reference/tune.md).

    executor: a concurrent.futures.Executor, or what behaves like one, for the times, whose jobs are plain data; None:
        threads of this process, one for each core, as the library releases Python's lock.
    resume: a file of results, one line each, that is read and added to: a call that was stopped goes on there.
    budget_s: seconds; the result is then the best until then, and says how many candidates were not looked at. A kernel
        that has begun is timed to its end.

    PalladionError: no candidate is legal, or has a time.
    TypeError: a wrong `executor`, or a keyword that `f` does not take.
    ValueError: a wrong option, or an empty space.
    """
    how = _How(probes.given(target), whole("seeds", seeds), whole("checks", checks), budget_s, rtol, atol, oracle)
    _expect_options(how, executor)
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    candidates = [
        _Candidate(TunedRow(sizes, tuned.NOT_LOOKED_AT), _with_sizes(f, sizes))
        for sizes in fitting_over.candidates_of(space, "space")
    ]
    _expect_keywords(f, args, candidates)
    search = _Search(how, tensors.as_arrays(args)[0], tune_results.Results(resume))
    with Listening():
        search.trace(candidates)
        if executor is not None:
            search.time(candidates, executor)
        else:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
                search.time(candidates, threads)
        best = search.choose(candidates)
    return Tuned([one.row for one in candidates], best, search.target_name, search.notes)


def _with_sizes(f, sizes) -> Callable:
    return lambda *given: f(*given, **sizes)


def _expect_options(how: _How, executor) -> None:
    if how.seeds is None or how.checks is None:
        raise ValueError("seeds and checks must be whole numbers; found None")
    if how.budget_s is not None and not how.budget_s > 0:
        raise ValueError(f"budget_s must be above 0, or None; found {how.budget_s!r}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, or what has its submit; found {executor!r}")
    if how.oracle is not None and not callable(how.oracle):
        raise TypeError(f"oracle must be a function of the arguments; found {how.oracle!r}")
    for name, value in (("rtol", how.rtol), ("atol", how.atol)):
        if value is not None and not value >= 0:
            raise ValueError(f"{name} must be 0 or more, or None; found {value!r}")


def _expect_keywords(f, args, candidates: list[_Candidate]) -> None:
    if not callable(f):
        raise TypeError(f"tune takes a function of the arrays and of the sizes; found {f!r}")
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):  # of what is not written in Python
        return
    for one in candidates:
        try:
            signature.bind(*args, **one.row.sizes)
        except TypeError as error:
            name = getattr(f, "__name__", repr(f))
            raise TypeError(f"{name}{signature} does not take the candidate {one.row.name}: {error}") from None


class _Search:
    """One call of `tune`. Its phases are `trace`, `time` and `choose`."""

    def __init__(self, how: _How, args: tuple, results: tune_results.Results):
        self._how, self._args, self._results = how, args, results
        self._begun = time.monotonic()
        self._inputs = tune_results.digest_of_arrays(args)
        self._shared = tune_calls.SharedInputs()
        self._best: float | None = None
        self.target_name = how.target or "the kernel's own target"
        self.notes: list[str] = []
        if results.passed_over:
            self.notes.append(f"resume: {results.passed_over} lines of the file are no results, and were passed over")

    # ---- which candidates are legal

    def trace(self, candidates: list[_Candidate]) -> None:
        """Their kernels' texts, and what the target says of them."""
        uncertain = []
        for one in candidates:
            if self._is_over(_TRACING_SHARE) and one is not candidates[0]:
                break  # the rest stays "not looked at"
            fit = self._judged(one)
            if fit.ok:
                one.row.status, one.row.least = tuned.NOT_TIMED, self._least_of(fit, one)
            elif fit.verdict in ("may not fit", "may be refused"):
                one.row.status, one.row.why = tuned.UNCERTAIN, f"{fit.verdict}: {fit.why}"
                one.row.least = self._least_of(fit, one)
                uncertain.append(one)
            else:
                one.row.status = tuned.NO_ROOM if fit.verdict == "does not fit" else tuned.REFUSED
                one.row.why = fit.why
        if any(one.row.status == tuned.NOT_TIMED for one in candidates):
            return
        looked_at = [one for one in candidates if one.row.status != tuned.NOT_LOOKED_AT]
        if all(one.error is not None for one in looked_at):
            raise candidates[0].error  # what is wrong with all of them is not the sizes
        if not uncertain:
            raise _library.PalladionError(_none_is_legal(candidates, self.target_name))
        self.notes.append("no candidate is certain to be accepted by the target's compiler: see why of each")
        for one in uncertain:
            one.row.status = tuned.NOT_TIMED

    def _judged(self, one: _Candidate) -> fitting_over.Candidate:
        try:
            one.runs = tune_calls.runs_of_kernels(one.f, self._args, self._how.target)
            if one.runs == 1:
                one.calls = self._shared.of(tune_calls.calls_of(one.f, self._args, self._how.target, once=True))
                one.text, target = one.calls[0].text, one.calls[0].target
            else:
                one.text, target = export(one.f, *self._args, target=self._how.target), self._how.target
            found = fitting.fit_of(one.text, (), target)
        except Exception as error:  # of the function itself, too: what it says of these sizes
            one.error = error
            return fitting_over.Candidate(one.row.sizes, None, fitting_over.first_line(error))
        self.target_name = found[0].target
        return fitting_over.Candidate(one.row.sizes, found)

    def _least_of(self, fit: fitting_over.Candidate, one: _Candidate) -> float | None:
        """The least time by the bytes that the pipelines of a TPU's grids copy; None: not known."""
        copied = [kernel.copied for kernel in fit.fit or () if kernel.copied is not None]
        if one.runs is None or not copied:
            return None
        peak = machines.show(self.target_name.rpartition("/")[2]).numbers["dram.peak"].base_value
        return sum(copied) / peak

    # ---- how long they take

    def time(self, candidates: list[_Candidate], executor: concurrent.futures.Executor) -> None:
        """The times of the legal ones, but for those that cannot be the best."""
        legal = [one for one in candidates if one.row.status == tuned.NOT_TIMED]
        legal.sort(key=lambda one: one.row.least or 0.0)
        jobs = ((lambda one=one: self._job(one)) for one in legal)
        for one, answer in tune_jobs.run_all(executor, jobs, tune_jobs.workers_of(executor)):
            self._results.put(self._time_key(one), answer)
            self._take_time(one, answer)
        if not any(one.row.status in (tuned.TIMED, tuned.NOT_LOOKED_AT) for one in candidates):
            raise _library.PalladionError(_none_has_a_time(legal, self.target_name))

    def _time_key(self, one: _Candidate) -> dict:
        return one.key(what="time", inputs=self._inputs, target=self.target_name)

    def _job(self, one: _Candidate) -> tuple | None:
        row = one.row
        if row.least is not None and self._best is not None and row.least * _ROUNDING > self._best:
            row.why = f"the {_HBM.split(' (')[0]} alone take longer than the best"
            return None
        if (known := self._results.get(self._time_key(one))) is not None:
            self._take_time(one, known)
            return None
        if self._best is not None and self._is_over(_TIMING_SHARE):
            row.status, row.why = tuned.NOT_LOOKED_AT, ""
            return None
        try:
            calls = one.calls or tune_calls.calls_of(one.f, self._args, self._how.target, once=False)
        except Exception as error:
            row.status, row.why = tuned.FAILED, fitting_over.first_line(error)
            return None
        return one, calls, None

    def _take_time(self, one: _Candidate, answer: dict) -> None:
        row = one.row
        if "refused" in answer:
            row.status, row.why = tuned.NO_TIME, answer["refused"].splitlines()[0]
            return
        kernels = answer["kernels"]
        longest = max(kernels, key=lambda kernel: kernel["ns"])
        row.status, row.kernels = tuned.TIMED, len(kernels)
        row.seconds = sum(kernel["ns"] for kernel in kernels) * 1e-9
        shares = [kernel["uncertainty"] for kernel in kernels]
        row.uncertainty = None if None in shares else max(shares)
        limits = [max(kernel["roofline"], key=lambda one: one["ns"], default=None) for kernel in kernels]
        row.least = sum(limit["ns"] for limit in limits if limit is not None) * 1e-9
        limit = limits[kernels.index(longest)]
        row.bound = limit["limit"] if limit is not None else ""
        self._best = row.seconds if self._best is None else min(self._best, row.seconds)

    # ---- which of them is right

    def choose(self, candidates: list[_Candidate]) -> TunedRow | None:
        """Checks the fastest ones; the first that is right is the best."""
        ordered = sorted((one for one in candidates if one.row.status == tuned.TIMED), key=lambda one: one.row.seconds)
        checker = _Checker(self._how, self._args, self._results, self._inputs)
        legal = [one for one in candidates if one.row.status in (tuned.TIMED, tuned.NOT_TIMED)]
        right: list[_Candidate] = []
        for one in ordered:
            if len(right) == self._how.checks:
                break
            if self._is_over(1.0):
                self.notes.append("the budget was over before as many candidates were checked as were to be")
                break
            one.row.status, one.row.why = checker.check(one, legal)
            if one.row.status == tuned.CHECKED:
                right.append(one)
        self.notes += checker.notes + checker.doubts([one.row for one in ordered])
        if right:
            right[0].row.status = tuned.CHOSEN
            return right[0].row
        return next((one.row for one in ordered if one.row.status == tuned.TIMED), None)

    def _is_over(self, share: float) -> bool:
        return self._how.budget_s is not None and time.monotonic() - self._begun >= share * self._how.budget_s


class _Checker:
    """Checks of candidates, against a reference that is computed when it is first needed."""

    def __init__(self, how: _How, args: tuple, results: tune_results.Results, inputs: str):
        self._how, self._args, self._results, self._inputs = how, args, results, inputs
        self._reports: dict[int, checking.Report] = {}  # of candidates, by id
        self._judge: Judge | None = None
        self._reference: _Candidate | None = None
        self._expected: Any = None
        self.notes: list[str] = []

    def check(self, one: _Candidate, legal: list[_Candidate]) -> tuple[str, str]:
        """Its status, and why."""
        findings = self._findings(one)
        if findings["status"] != tuned.CHECKED:
            return findings["status"], findings["why"]
        key = self._key(one, "values") | {
            "against": self._against(legal),
            "tolerance": [self._how.rtol, self._how.atol],
        }
        if (known := self._results.get(key)) is None:
            difference = self._judged(legal).difference(self._report(one).results)
            known = {"status": tuned.WRONG if difference else tuned.CHECKED, "why": difference}
            self._results.put(key, known)
        return known["status"], known["why"]

    def doubts(self, rows: list[TunedRow]) -> list[str]:
        """What to think of a reference that no other candidate agrees with."""
        if self._reference is None or self._how.oracle is not None:
            return []
        others = [one for one in rows if one is not self._reference.row and one.status in (tuned.WRONG, tuned.CHECKED)]
        if self._reference.row.status == tuned.TIMED:
            self._reference.row.status = tuned.CHECKED
        if not others or any(one.status == tuned.CHECKED for one in others):
            return []
        return ["no other candidate agrees with it, so it may be the one that is wrong: give an oracle"]

    def _key(self, one: _Candidate, what: str) -> dict:
        return one.key(what=what, inputs=self._inputs, target=self._how.target, seeds=self._how.seeds)

    def _findings(self, one: _Candidate) -> dict:
        key = self._key(one, "findings")
        if (known := self._results.get(key)) is None:
            try:
                known = _verdict_of(self._report(one))
            except Exception as error:
                if getattr(error, "interrupted", False):
                    raise
                known = {"status": tuned.FAILED, "why": fitting_over.first_line(error)}
            self._results.put(key, known)
        if known["status"] != tuned.CHECKED:
            one.row.status, one.row.why = known["status"], known["why"]
        return known

    def _report(self, one: _Candidate) -> checking.Report:
        if id(one) not in self._reports:
            how = {"seeds": self._how.seeds, "target": self._how.target, "progress": False}
            self._reports[id(one)] = checking.check(one.f, *self._args, **how)
        return self._reports[id(one)]

    def _against(self, legal: list[_Candidate]) -> str:
        """A name for what values are compared with."""
        if self._how.oracle is not None:
            return "oracle " + tune_results.digest_of_arrays(self._oracle())
        return "candidate " + tune_results.digest(self._first(legal).text)

    def _oracle(self) -> Any:
        if self._expected is None:
            with jax.default_device(jax.devices("cpu")[0]):
                oracle = self._how.oracle
                self._expected = jax.block_until_ready(jax.jit(lambda *given: oracle(*given))(*self._args))
        return self._expected

    def _first(self, legal: list[_Candidate]) -> _Candidate:
        """The first legal candidate without a finding."""
        if self._reference is None:
            clean = (one for one in legal if self._findings(one)["status"] == tuned.CHECKED)
            self._reference = next(clean)  # the candidate that is compared is one
            reference = "the oracle" if self._how.oracle is not None else self._reference.row.name
            self.notes.append(f"values are compared with those of {reference}")
            if self._reference is not legal[0]:
                self.notes[-1] += f", because {legal[0].row.name} has a finding"
        return self._reference

    def _judged(self, legal: list[_Candidate]) -> Judge:
        if self._judge is None:
            first = self._first(legal)
            results = self._report(first).results
            self._judge = Judge(results if self._how.oracle is None else self._oracle(), self._how.rtol, self._how.atol)
            self._judge.take_bounds(first.f, self._args, self._how.target, results)
        return self._judge


def _verdict_of(report: checking.Report) -> dict:
    if report.ok:
        return {"status": tuned.CHECKED, "why": ""}
    first = next((one for one in report.mistakes if one.severity == "defect"), next(iter(report.mistakes), None))
    return {"status": tuned.FINDING, "why": report.verdict if first is None else f"{first.code}: {first.message}"}


def _none_is_legal(candidates: list[_Candidate], target: str) -> str:
    looked = [one for one in candidates if one.row.status != tuned.NOT_LOOKED_AT]
    return f"no candidate is legal on {target}:\n" + "\n".join(f"  {one.row}" for one in looked)


def _none_has_a_time(legal: list[_Candidate], target: str) -> str:
    timed = [chip["name"] for chip in _library.chips()]
    tpus = [chip["name"] for chip in _library.chips() if chip["tpu"]]
    gpus = [name for name in timed if name not in tpus]
    return (
        f"no candidate has a time on {target}:\n"
        + "\n".join(f"  {one.row}" for one in legal)
        + f"\nkernels of Mosaic GPU and of Triton have one on {', '.join(gpus)}, "
        + f"and kernels of Mosaic TPU on {', '.join(tpus)}"
    )
