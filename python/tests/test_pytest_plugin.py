"""The pytest plugin, in runs of pytest inside the tests: what fails, what is reported where, parallel workers, wrong
input.
"""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

# Here already, because pytester forgets what an inner run imports, and NumPy and MLIR can be imported once.
import jax.experimental.pallas.tpu  # noqa: F401
import pytest

import palladion.bridge.session
import palladion.pytest_plugin  # noqa: F401
from sarif_checks import SARIF, hold_against_model

pytest_plugins = "pytester"

KERNELS = """
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import palladion

X = np.float32([1, 2, 3, 4])

def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + x_ref[...]

def double(x):
    return pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def past_the_end_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 3, 2)]

def past_the_end(x):
    return pl.pallas_call(past_the_end_kernel, out_shape=jax.ShapeDtypeStruct((2,), x.dtype), grid=(1,))(x)

def race_kernel(o_ref):
    o_ref[...] = jnp.full((1,), pl.program_id(0))

def race():
    whole = pl.BlockSpec((1,), lambda i: (0,))
    return pl.pallas_call(race_kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.int32), grid=(4,), out_specs=whole)()
"""
THREE = (
    KERNELS
    + """
def test_right():
    np.testing.assert_array_equal(double(X), X * 2)

def test_wrong():
    past_the_end(X)

def test_without():
    pass
"""
)
LINE = THREE.strip().splitlines().index("    y_ref[...] = x_ref[pl.ds(pl.program_id(0) + 3, 2)]") + 1
RACE_CODE = "RACE_WW"


@pytest.fixture
def run(pytester, monkeypatch):
    """(text of a file of tests, arguments) -> the result of pytest on it, with the plugin."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run_on(text, *arguments):
        pytester.makepyfile(test_it=text)
        return pytester.runpytest_inprocess("-p", "palladion", "-p", "no:cacheprovider", *arguments)

    return run_on


def log_at(pytester, name="found.sarif") -> dict:
    log = json.loads((pytester.path / name).read_text())
    SARIF.validate(log)
    hold_against_model(log)
    return log


def test_a_defect_fails_its_test_and_shows_its_lines(run):
    result = run(THREE, "--palladion=triton/h100")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "OOB",
            "error[[]OOB[]]: load of 'x_ref'*",
            f"  at *test_it.py:{LINE}:18 in past_the_end_kernel",
            f"*{LINE} |     y_ref[[]...[]] = x_ref[[]pl.ds(*",
            "*|                  ^",
            "  called from *test_it.py:*in past_the_end",
            "  called from *test_it.py:*in test_wrong",
            "kernel @past_the_end_kernel on triton/h100: 1 program ran, not checked (seeds=16 checks it); 1 finding",
            "2 kernel calls in 2 tests: 1 ran, 1 defect; 1 finding that counts; 1 test ran no kernel",
            "FAILED test_it.py::test_wrong - *DefectError: OOB",
        ]
    )
    result.stdout.no_re_match_line("  called from .*(_pytest|pluggy)")  # they run the test


def test_a_passing_test_says_what_is_not_finite(run):
    text = (
        KERNELS
        + """
def inf_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] / (x_ref[...] - x_ref[...])

def test_one():
    pl.pallas_call(inf_kernel, out_shape=jax.ShapeDtypeStruct(X.shape, X.dtype))(X)

def test_right():
    double(X)

def test_two():
    test_one()
"""
    )
    line = text.strip().splitlines().index("    y_ref[...] = x_ref[...] / (x_ref[...] - x_ref[...])") + 1
    result = run(text, "--palladion=triton/h100", "--palladion-seeds=2", "--palladion-sarif=found.sarif")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            f"test_it.py::test_one and 1 more: 'y'[[]0[]] is inf and every operand is finite: div made the first inf "
            f"in the program, "
            f"at *test_it.py:{line}*in inf_kernel"
        ]
    )


def test_nothing_happens_unless_asked(run):
    result = run(THREE)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*Only interpret mode is supported on CPU backend*"])
    result.stdout.no_fnmatch_line("*Palladion*")


def test_the_plugin_alone_does_not_import_jax(pytester):
    pytester.makepyfile(
        "import sys\ndef test_it():\n    assert 'palladion.pytest_plugin' in sys.modules and 'jax' not in sys.modules"
    )
    for name in ("palladion", "palladion.pytest_plugin"):
        result = pytester.runpytest_subprocess("-p", name)
        result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "text, outcomes",
    [
        ("@pytest.mark.palladion('h100')", {"failed": 1}),
        ("@pytest.mark.palladion(target='v5p')", {"failed": 1}),
        ("@pytest.mark.palladion(allow=['OOB'])", {"passed": 1}),
        ("@pytest.mark.palladion(allow='OOB')", {"passed": 1}),
        ("@pytest.mark.palladion(allow=['RACE_WW'])", {"failed": 1}),
        ("@pytest.mark.palladion(on_defect='collect')", {"passed": 1}),
        ("@pytest.mark.palladion(on_defect='warn')", {"passed": 1}),
        ("@pytest.mark.xfail(raises=palladion.DefectError, strict=True)\n@pytest.mark.palladion", {"xfailed": 1}),
    ],
)
def test_markers(run, text, outcomes):
    result = run(f"{KERNELS}\n{text}\ndef test_it():\n    past_the_end(X)\n")
    result.assert_outcomes(**outcomes)


def test_a_warning_names_the_test(run):
    result = run(f"{KERNELS}\n@pytest.mark.palladion(on_defect='warn')\ndef test_it():\n    past_the_end(X)\n")
    result.stdout.fnmatch_lines(
        [
            "test_it.py::test_it",
            "  *test_it.py:*: PalladionWarning: error[[]OOB[]]: *",
            "*at *test_it.py:*in past_the_end_kernel",
        ]
    )


def test_markers_go_over_the_command_line_and_the_nearest_wins(run):
    result = run(
        KERNELS
        + """
@pytest.mark.palladion("v5p", seeds=2)
class TestIt:
    def test_class(self, palladion_session):
        double(X)
        assert (palladion_session.params.target, palladion_session.params.seeds) == ("v5p", 2)

    @pytest.mark.palladion("auto", fill="zero")
    def test_both(self, palladion_session):
        params = palladion_session.params
        assert (params.target, params.seeds, params.fill) == (None, 2, "zero")

def test_neither(palladion_session):
    assert (palladion_session.params.target, palladion_session.params.seeds) == ("h100", 3)
""",
        "--palladion=h100",
        "--palladion-seeds=3",
        "--strict-markers",
    )
    result.assert_outcomes(passed=3)


def test_the_fixture_alone_asks_for_an_emulation_whose_report_the_test_reads(run):
    result = run(
        KERNELS
        + """
def test_it(palladion_session):
    double(X).block_until_ready()
    assert palladion_session.report.calls[0].kernel == "double_kernel"
    with pytest.raises(Exception, match="OOB"):
        jax.block_until_ready(past_the_end(X))
    assert palladion_session.report.findings[0].code == "OOB"

def test_other():
    with pytest.raises(ValueError, match="Only interpret mode"):
        double(X)
"""
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_it - *DefectError: OOB"])


def test_each_test_has_a_report_of_its_own(run, pytester):
    result = run(THREE, "--palladion=auto", "--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=1)
    found = {
        case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    }
    assert found == {
        "test_right": {"palladion_verdict": "ran", "palladion_findings": "0", "palladion_kernels": "1"},
        "test_wrong": {"palladion_verdict": "defect", "palladion_findings": "1", "palladion_kernels": "1"},
        "test_without": {"palladion_verdict": "none", "palladion_findings": "0", "palladion_kernels": "0"},
    }


def test_seeds_find_races(run):
    text = KERNELS + "\ndef test_it():\n    race()\n"
    run(text, "--palladion=triton/h100", "--palladion-seeds=4").assert_outcomes(failed=1)
    result = run(text, "--palladion=triton/h100", "--palladion-seeds=4", "-rA")
    result.stdout.fnmatch_lines(
        [f"error[[]{RACE_CODE}[]]:*", "  (1) write of o_ref*by program*", "  (2) write of o_ref*by program*"]
    )


def test_a_test_that_fails_by_itself_keeps_its_error_and_shows_the_findings(run):
    result = run(
        KERNELS + "\ndef test_it():\n    past_the_end(X)\n    assert 1 == 2\n",
        "--palladion=auto",
        "--palladion-on-defect=collect",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*assert 1 == 2", "*- Palladion -*", "error[[]OOB[]]*", "FAILED test_it.py::test_it - assert 1 == 2"]
    )


def test_what_cannot_run_fails(run):
    tpu = "compiler_params=pltpu.CompilerParams(dimension_semantics=())"
    wrong = KERNELS.replace(
        "from jax.experimental import", "from jax.experimental.pallas import tpu as pltpu\nfrom jax.experimental import"
    )
    result = run(
        wrong.replace("(x.shape, x.dtype))", f"(x.shape, x.dtype), {tpu})") + "\ndef test_it():\n    double(X)\n",
        "--palladion=h100",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the target 'h100' does not fit kernel @double_kernel, which is written for TPUs*"])


UNSUPPORTED = (
    KERNELS
    + """
def calling_back_kernel(x_ref, y_ref):
    jax.debug.callback(lambda v: None, x_ref[0])
    y_ref[...] = x_ref[...] * 3

def calling_back(x):
    return pl.pallas_call(calling_back_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def test_right():
    np.testing.assert_array_equal(double(X), X * 2)

def test_back():
    np.testing.assert_array_equal(calling_back(double(X)), X * 6)
"""
)


def test_what_cannot_run_can_run_in_jax(pytester):
    pytester.makepyfile(
        test_it=UNSUPPORTED
    )  # a process of its own: JAX's interpreter imports parts of MLIR, which can be imported once
    result = pytester.runpytest_subprocess(
        "-p", "palladion", "-p", "no:cacheprovider", "--palladion=auto", "--palladion-on-unsupported=jax", "-rP"
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*kernel calling_back_kernel: JAX's interpreter ran it, nothing was checked*",
            "2 kernel calls in 2 tests: 2 ran; 0 findings that count; 1 kernel call ran in JAX's interpreter, not "
            "checked",
        ]
    )


def test_what_cannot_run_can_skip_its_test(run):
    result = run(UNSUPPORTED, "--palladion=auto", "--palladion-on-unsupported=skip", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*; 1 test skipped, with a kernel that Palladion cannot run",
            "SKIPPED*test_it.py:*Palladion cannot run a kernel of this test: *debug_callback*",
        ]
    )
    marked = UNSUPPORTED.replace("def test_back", "@pytest.mark.palladion(on_unsupported='raise')\ndef test_back")
    result = run(marked, "--palladion=auto", "--palladion-on-unsupported=skip", "-n", "2")
    result.assert_outcomes(passed=1, failed=1)


def test_sarif_has_the_findings_of_all_tests_once(run, pytester):
    result = run(
        THREE
        + """
@pytest.mark.parametrize("n", [1, 2])
def test_again(n):
    past_the_end(X)

@pytest.mark.palladion(allow=["OOB"])
def test_allowed():
    past_the_end(X + 1)
""",
        "--palladion=triton/h100",
        "--palladion-sarif=deep/found.sarif",
    )
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines(["findings: deep/found.sarif"])
    (log,) = log_at(pytester, "deep/found.sarif")["runs"]
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    results = {tuple(r["properties"]["tests"]): r for r in log["results"]}
    assert set(results) == {
        ("test_it.py::test_again[1]", "test_it.py::test_again[2]", "test_it.py::test_wrong"),
        ("test_it.py::test_allowed",),
    }
    for tests, found in results.items():
        assert rules[found["ruleIndex"]] == found["ruleId"] == "OOB" and found["level"] == "error"
        assert found["locations"][0]["physicalLocation"] == {
            "artifactLocation": {"uri": "test_it.py", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": LINE, "startColumn": 18},
        }
        assert found["occurrenceCount"] == len(tests)
        assert ("suppressions" in found) == (tests == ("test_it.py::test_allowed",))
    assert len(rules) == len(set(rules)) > 30 and log["invocations"][0]["executionSuccessful"]


def test_sarif_without_findings_has_no_results(run, pytester):
    run("def test_it():\n    pass\n", "--palladion-sarif=found.sarif").assert_outcomes(passed=1)
    assert log_at(pytester)["runs"][0]["results"] == []


def test_parallel_workers_report_to_one_place(run, pytester):
    many = THREE + "".join(f"\ndef test_more{i}():\n    double(X)\n    race()\n" for i in range(4))
    arguments = ("--palladion=triton/h100", "--palladion-seeds=2", "--junitxml=junit.xml")
    summaries, logs = [], []
    for name, more in (("one.sarif", ()), ("two.sarif", ("-n", "2"))):
        result = run(many, *arguments, f"--palladion-sarif={name}", *more)
        result.assert_outcomes(passed=2, failed=5)
        summaries.append([line for line in result.outlines if "kernel calls in" in line])
        logs.append(log_at(pytester, name))
        verdicts = [
            p.get("value")
            for p in ElementTree.parse(pytester.path / "junit.xml").iter("property")
            if p.get("name") == "palladion_verdict"
        ]
        assert sorted(verdicts) == ["defect"] * 5 + ["none", "proved"]
    assert (
        summaries[0]
        == summaries[1]
        == ["10 kernel calls in 6 tests: 1 proved, 5 defect; 9 findings that count; 1 test ran no kernel"]
    )
    assert logs[0] == logs[1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--palladion=x99"], "*the command line: unknown target 'x99'; give a chip (h100*"),
        (["--palladion=h100", "--palladion-seeds=0"], "*the command line: seeds must be a whole number of at least 1*"),
        (["--palladion-seeds=few"], "*--palladion-seeds*'few'*"),
        (["--palladion-on-defect=ignore"], "*ignore*raise*warn*collect*"),
        (["--palladion-sarif=test_it.py/x.sarif"], "*--palladion-sarif: cannot write 'test_it.py/x.sarif'*"),
        (["--palladion-sarif=."], "*--palladion-sarif: cannot write '.'*folder*"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(run, arguments, message):
    result = run(THREE, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*passed*")


@pytest.mark.parametrize(
    "marker, message",
    [
        ("allow=['OBB']", "*test_it.py::test_it: allow has the unknown finding code 'OBB'; did you mean 'OOB'?"),
        ("'x99'", "*test_it.py::test_it: unknown target 'x99'*"),
        ("seeds=0", "*seeds must be a whole number*"),
        ("'h100', 4", "*one positional argument*'h100', 4"),
        ("session=3", "*'session' is not an option of the marker"),
        ("seed=3", "*the marker palladion got an unexpected keyword argument 'seed'*"),
        ("fill='zero'", "*give seeds as well*"),
        ("allow=3", "*test_it.py::test_it: allow must be a list of finding codes; found 3"),
    ],
)
def test_a_wrong_marker_is_an_error_before_any_test_runs(run, marker, message):
    result = run(
        f"import pytest\ndef test_before():\n    pass\n@pytest.mark.palladion({marker})\ndef test_it():\n    pass\n"
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


def test_a_wrong_marker_is_an_error_in_parallel_workers(run):
    result = run(
        "import pytest\ndef test_before():\n    pass\n@pytest.mark.palladion(seeds=0)\ndef test_it():\n    pass\n",
        "-n",
        "2",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_it.py::test_it: seeds must be a whole number*"])


def test_markers_are_listed(run):
    run("", "--markers").stdout.fnmatch_lines(
        ["@pytest.mark.palladion(target=None*): run the Pallas kernels of this test in Palladion*"]
    )


def test_an_interrupted_run_leaves_what_it_found(pytester):
    pytester.makepyfile(test_it=THREE + "\ndef test_z():\n    raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "palladion", "--palladion=triton/h100", "--palladion-sarif=found.sarif"],
        cwd=pytester.path,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout
    assert [r["ruleId"] for r in log_at(pytester)["runs"][0]["results"]] == ["OOB"]
