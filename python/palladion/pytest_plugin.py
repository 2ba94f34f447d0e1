"""The pytest plugin: the Pallas kernels of each test run in Palladion, and a defect fails the test.
For users: docs/guides/pytest.md.

It does nothing unless a run has --palladion or a test has the marker or the fixture; JAX is imported by the first test
that it concerns. Only the call of a test is emulated, not its fixtures: an emulation has to end before whatever began
before it. What a test found travels with pytest's report of it, so that parallel workers need nothing else.
"""

import collections
import dataclasses
import difflib
import importlib.util
import json
import os
import warnings

import pytest

from palladion import _library
from palladion.base.errors import PalladionWarning
from palladion.base.shards import parse_shard, part_of
from palladion.base.whole_file import check_writable, write_whole
from palladion.bridge import targets
from palladion.bridge.params import ON_DEFECT, ON_UNSUPPORTED, Params
from palladion.report.rendering import as_calls, calls_of, many, render
from palladion.report.reports import VERDICTS, DefectError, of_kernel

_MARKER = (
    "palladion(target=None, *, seeds=None, allow=(), on_defect=None, **options): run the Pallas kernels of this test "
    "in Palladion; findings fail it, but for those whose codes are in allow; options are fields of palladion.Params"
)
_MOST_REMARKS = 10  # lines of the summary
AUTO = "auto"  # the target that each kernel itself says
_OF_THE_PLUGIN = ("session", "raise_codes")  # fields of Params that are no option of a marker


@dataclasses.dataclass(frozen=True)
class _Plan:
    """How one test is emulated."""

    params: Params  # on_defect is what the test asked for
    allow: frozenset

    def counts(self, finding, call) -> bool:
        heavy = finding.severity == "defect" or (finding.severity == "warning" and call.strict)
        return heavy and not finding.suppressed and finding.code not in self.allow

    def session_params(self) -> Params:
        """The session only collects: whether the test fails is said here, where `allow` is known."""
        raised = ()
        if self.params.on_defect == "raise":
            raised = tuple(row["code"] for row in _library.finding_codes() if row["code"] not in self.allow)
        # the test is skipped, no kernel
        unsupported = "raise" if self.params.on_unsupported == "skip" else self.params.on_unsupported
        return dataclasses.replace(self.params, on_defect="collect", on_unsupported=unsupported, raise_codes=raised)


_PLAN = pytest.StashKey[_Plan]()
_SESSION = pytest.StashKey()
_ENTRY = pytest.StashKey[dict]()  # what a test found, as it travels
_TEXT = pytest.StashKey[str]()
_ERROR = pytest.StashKey[Exception]()
_SHARD = pytest.StashKey[tuple]()
_OTHERS = pytest.StashKey[int]()  # tests that other shards run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("palladion", "Pallas kernels in Palladion")
    group.addoption(
        "--palladion",
        metavar="TARGET",
        help="run the Pallas kernels of every test in Palladion, on a chip (h100, v5p), "
        f"a full name (mosaic_tpu/v5p), generic, or {AUTO}: what each kernel says",
    )
    group.addoption(
        "--palladion-seeds",
        metavar="N",
        type=int,
        help="check each kernel under N schedules; else it runs in program order",
    )
    group.addoption(
        "--palladion-on-defect",
        choices=ON_DEFECT,
        help="raise (the default): the kernel call fails, and the test with it; "
        "warn: a warning; collect: only in reports",
    )
    group.addoption(
        "--palladion-on-unsupported",
        choices=ON_UNSUPPORTED,
        help="a kernel that Palladion cannot run: raise (the default): an "
        "error of its test; jax: JAX's own interpreter runs it; skip: the test is skipped",
    )
    group.addoption(
        "--palladion-shard",
        metavar="I/N",
        help="run only the I-th of N parts of all tests, which their names divide: each machine runs another",
    )
    group.addoption("--palladion-sarif", metavar="FILE", help="write the findings of all tests to FILE, as SARIF")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    options = _command_line(config)
    if options:
        _plan_of(options, "the command line")
    shard = config.getoption("palladion_shard")
    if shard is not None:
        try:
            config.stash[_SHARD] = parse_shard(shard)
        except ValueError as error:
            raise pytest.UsageError(f"--palladion-shard: {error}") from error
    if _is_worker(config):
        return
    config.pluginmanager.register(_AllTests(config), "palladion-all-tests")
    path = config.getoption("palladion_sarif")
    if path:
        try:
            check_writable(path)
        except OSError as error:
            raise pytest.UsageError(
                f"--palladion-sarif: cannot write {path!r}: {error.strerror}; give a file in a folder that can be "
                "written"
            ) from error


def _command_line(config: pytest.Config) -> dict:
    given = {
        name: config.getoption(f"palladion{suffix}")
        for name, suffix in (
            ("target", ""),
            ("seeds", "_seeds"),
            ("on_defect", "_on_defect"),
            ("on_unsupported", "_on_unsupported"),
        )
    }
    return {name: value for name, value in given.items() if value is not None}


def _is_worker(config: pytest.Config) -> bool:
    """One of pytest-xdist's, whose reports the controller gets."""
    return hasattr(config, "workerinput")


def _plan_of(options: dict, where: str) -> _Plan:
    """UsageError, which starts with `where`, for options that no test could have."""
    options = dict(options)
    if options.get("target") == AUTO:
        options["target"] = None
    try:
        allow = _checked_codes(options.pop("allow", ()))
        if wrong := [name for name in options if name in _OF_THE_PLUGIN]:
            raise TypeError(f"{wrong[0]!r} is not an option of the marker")
        plan = _Plan(Params(**options), allow)
        targets.check_name(plan.params.target)
    except (TypeError, ValueError, _library.PalladionError) as error:
        message = str(error).replace("Params.__init__()", "the marker palladion")
        raise pytest.UsageError(f"palladion, {where}: {message}") from error
    if importlib.util.find_spec("jax") is None:
        raise pytest.UsageError(f"palladion, {where}: JAX is not installed: pip install 'jax>=0.8'")
    return plan


def _checked_codes(allow) -> frozenset:
    if not isinstance(allow, (str, list, tuple, set, frozenset)):
        raise TypeError(f"allow must be a list of finding codes; found {allow!r}")
    allow = frozenset((allow,) if isinstance(allow, str) else allow)
    known = [row["code"] for row in _library.finding_codes()]
    for code in sorted(map(str, allow)):
        if code not in known:
            near = difflib.get_close_matches(code, known, 1)
            raise ValueError(
                f"allow has the unknown finding code {code!r}; "
                + (f"did you mean {near[0]!r}?" if near else "`palladion explain` lists them")
            )
    return allow


def _options_of(item: pytest.Item) -> dict | None:
    """The command line's, and over them those of the markers, the nearest last; None for a test that is not ours."""
    markers = list(item.iter_markers("palladion"))
    if (
        not markers
        and item.config.getoption("palladion") is None
        and "palladion_session" not in getattr(item, "fixturenames", ())
    ):
        return None
    options = _command_line(item.config)
    for marker in reversed(markers):
        if len(marker.args) > 1:
            raise pytest.UsageError(
                f"palladion, {item.nodeid}: the marker palladion takes one positional argument, the target; "
                f"found {', '.join(map(repr, marker.args))}"
            )
        options |= ({"target": marker.args[0]} if marker.args else {}) | marker.kwargs
        if options.get("on_defect", "") is None:
            del options["on_defect"]
    return options


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    """A wrong marker is an error of collecting its file, as an unknown one is: no test runs,
    and parallel workers can say so.
    """
    report = yield
    if report.passed:
        for item in report.result:
            if isinstance(item, pytest.Item) and (error := _error_of(item)):
                report.outcome, report.longrepr, report.result = "failed", error, []
                break
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list) -> None:
    """After all others: a test that -k leaves out is in no shard."""
    if _SHARD not in config.stash:
        return
    part, parts = config.stash[_SHARD]
    others = [item for item in items if part_of(item.nodeid, parts) != part]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if part_of(item.nodeid, parts) == part]
    config.stash[_OTHERS] = len(others)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A shard without a test passes where others have some; a run without any test does not."""
    if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(_OTHERS, 0):
        session.exitstatus = pytest.ExitCode.OK


def _error_of(item: pytest.Item) -> str:
    try:
        _plan(item)
    except pytest.UsageError as error:
        return str(error)
    return ""


def _plan(item: pytest.Item) -> _Plan | None:
    options = _options_of(item)
    return None if options is None else _plan_of(options, item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    plan = _plan(item)  # again, because a conftest.py may have given it a marker since
    if plan is not None:
        from palladion.bridge.session import Session  # JAX, which other runs do without

        item.stash[_PLAN], item.stash[_SESSION] = plan, Session(plan.session_params())


@pytest.fixture
def palladion_session(request: pytest.FixtureRequest):
    """The emulation that this test's kernels run in;
    `palladion_session.report` has the kernel calls that have ended.
    """
    return request.node.stash[_SESSION]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    __tracebackhide__ = True
    if _PLAN not in item.stash:
        return (yield)
    session, plan = item.stash[_SESSION], item.stash[_PLAN]
    try:
        with session:
            result = yield
    except Exception as error:
        _record(item, session.report, plan)
        if plan.params.on_unsupported == "skip" and _is_unsupported(error):
            _conclude(item, session.report, plan)  # what the target refuses of the kernel fails the test
            raise _skipped(item, str(error)) from error
        if _is_from_a_kernel(error):
            _conclude(item, session.report, plan)
        raise
    except BaseException:  # Ctrl-C, pytest.skip and their kin
        _record(item, session.report, plan)
        raise
    _record(item, session.report, plan)
    _conclude(item, session.report, plan)
    return result


def _is_unsupported(error: Exception) -> bool:
    from palladion.bridge.elsewhere import is_unsupported

    return is_unsupported(error)


def _skipped(item: pytest.Item, reason: str) -> BaseException:
    item.stash[_ENTRY]["skipped"] = True
    return pytest.skip.Exception(f"Palladion cannot run a kernel of this test: {reason}", _use_item_location=True)


def _is_from_a_kernel(error: Exception) -> bool:
    """JAX's own error about a kernel call that was made to fail, of which the findings say more."""
    import jax

    return isinstance(error, jax.errors.JaxRuntimeError)


def _record(item: pytest.Item, report, plan: _Plan) -> None:
    findings = sum(plan.counts(f, call) for call in report.calls for f in call.findings)
    item.user_properties += [
        ("palladion_verdict", report.verdict),
        ("palladion_findings", str(findings)),
        ("palladion_kernels", str(report.count)),
    ]
    item.stash[_TEXT] = _text_of(report.calls, plan) if report.calls else ""
    item.stash[_ENTRY] = {
        "test": item.nodeid,
        "path": str(item.path),
        "allow": sorted(plan.allow),
        "verdict": report.verdict,
        "counting": findings,
        "kernels": report.count,
        "dropped": report.dropped,
        "calls": as_calls(report.calls),
        "remarks": _remarks(report.calls),
    }
    for call in report.calls:
        call.launched = None  # pytest holds reports to its end, and inputs may be large
    if report.elsewhere:
        item.stash[_TEXT] = "\n\n".join(filter(None, (item.stash[_TEXT], *map(str, report.elsewhere))))
    item.stash[_ENTRY] |= {"ran": report.ran, "skipped": False}


def _remarks(calls: list) -> list[str]:
    if not any(call.remarks for call in calls):
        return []
    return json.loads(render(calls, "parts"))["remarks"]


def _text_of(calls: list, plan: _Plan) -> str:
    replay = plan.params.replay_call("@pytest.mark.palladion")
    return render(calls, replay=replay, allow=sorted(plan.allow)).rstrip("\n")


def _conclude(item: pytest.Item, report, plan: _Plan) -> None:
    """Fails the test where it has to."""
    __tracebackhide__ = True
    for call in report.calls:
        if call.error is not None and call.exit_code != _library.DEFECT:
            if plan.params.on_unsupported == "skip" and call.exit_code == _library.UNSUPPORTED:
                raise _skipped(item, of_kernel(call)) from None
            item.stash[_ERROR] = _library.PalladionError(of_kernel(call), call.exit_code)
            raise item.stash[_ERROR] from None
    counting = [call for call in report.calls if any(plan.counts(f, call) for f in call.findings)]
    if counting and plan.params.on_defect == "raise":
        codes = dict.fromkeys(f.code for call in counting for f in call.findings if plan.counts(f, call))
        item.stash[_ERROR] = DefectError(report, f"{', '.join(codes)}\n\n{_text_of(counting, plan)}")
        raise item.stash[_ERROR] from None
    warned = [call for call in report.calls if call in counting or call.verdict == "warning"]
    if warned and plan.params.on_defect == "warn":
        for call in warned:
            warnings.warn_explicit(
                _text_of([call], plan), PalladionWarning, str(item.path), (item.reportinfo()[1] or 0) + 1
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if call.when == "call" and _ENTRY in item.stash:
        report.palladion = item.stash[_ENTRY]
        error = call.excinfo.value if call.excinfo is not None else None
        if report.failed and error is not None and error is item.stash.get(_ERROR, None):
            # the findings have the user's lines; a traceback has ours
            report.longrepr = call.excinfo.getrepr(style="value", chain=False)
        elif item.stash[_TEXT]:
            report.sections.append(("Palladion", item.stash[_TEXT]))
    return report


class _AllTests:
    """What the tests found, of parallel workers too: their reports come to the controller, where this is registered."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.tests = []
        self.sarif = config.getoption("palladion_sarif")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and hasattr(report, "palladion"):
            self.tests.append(report.palladion)

    def pytest_sessionfinish(self) -> None:
        if self.sarif:
            tests = sorted(self.tests, key=lambda test: test["test"])
            log = _library.sarif([_sarif_test(test) for test in tests], str(self.config.rootpath))
            try:
                write_whole(self.sarif, log)
            except OSError as error:
                raise pytest.UsageError(f"--palladion-sarif: cannot write {self.sarif!r}: {error.strerror}") from error

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        shard = self.config.getoption("palladion_shard")
        if not self.tests and self.config.getoption("palladion") is None and not self.sarif and not shard:
            return
        terminalreporter.write_sep("-", "Palladion")
        if shard:
            terminalreporter.write_line(f"shard {shard}: the other tests are in other shards")
        terminalreporter.write_line(summary_of(self.tests) + elsewhere_of(self.tests))
        for line in remarks_of(self.tests):
            terminalreporter.write_line(line)
        if self.sarif:
            terminalreporter.write_line(f"findings: {os.path.relpath(self.sarif)}")


def remarks_of(tests: list) -> list[str]:
    """What reports say beside findings, which passing tests do not show: a line each,
    with the first test that has it and how many have.
    """
    having = {}
    for test in sorted(tests, key=lambda test: test["test"]):
        for remark in test["remarks"]:
            having.setdefault(remark, []).append(test["test"])
    lines = [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {remark}"
        for remark, names in having.items()
    ]
    return lines[:_MOST_REMARKS] + (
        [f"and {len(lines) - _MOST_REMARKS} more remarks"] if len(lines) > _MOST_REMARKS else []
    )


def _sarif_test(test: dict) -> _library.SarifTest:
    return _library.SarifTest(test["test"], test["path"], test["allow"], calls_of(test["calls"]), test["dropped"])


def summary_of(tests: list) -> str:
    """One line: how many kernel calls in how many tests, the tests by verdict, the findings that count."""
    verdicts = collections.Counter(test["verdict"] for test in tests if test["kernels"])
    by_verdict = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
    kernels, counting = sum(test["kernels"] for test in tests), sum(test["counting"] for test in tests)
    line = f"{many(kernels, 'kernel call')} in {many(verdicts.total(), 'test')}" + (
        f": {by_verdict}" if by_verdict else ""
    )
    without = len(tests) - verdicts.total()
    return (
        f"{line}; {many(counting, 'finding')} that count"
        + ("s" if counting == 1 else "")
        + (f"; {many(without, 'test')} ran no kernel" if without else "")
    )


def elsewhere_of(tests: list) -> str:
    """What the line of `summary_of` ends with: what did not run in Palladion."""
    in_jax, skipped = sum(test["ran"]["jax"] for test in tests), sum(test["skipped"] for test in tests)
    return (f"; {in_jax} kernel call{'s' * (in_jax != 1)} ran in JAX's interpreter, not checked" if in_jax else "") + (
        f"; {skipped} test{'s' * (skipped != 1)} skipped, with a kernel that Palladion cannot run" if skipped else ""
    )
