"""`# palladion: ignore[CODE] reason` on a line of Python: the command, palladion.check and emulate, pytest, SARIF."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import palladion
from palladion import _library

pytest_plugins = "pytester"

KERNEL = """import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def flags_kernel(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0)]{comment}


def flags(x):
    return pl.pallas_call(flags_kernel, out_shape=jax.ShapeDtypeStruct((1,), jnp.int32), grid=(4,))(x){caller}
"""
X = np.arange(4, dtype=np.int32)
TARGET = "triton/h100"
BOTH = "  # palladion: ignore[RACE_WW, NONDET] any of the values will do"
COMMAND = os.environ["PALLADION_COMMAND"] if "PALLADION_COMMAND" in os.environ else None


class Written:
    """A module with the kernel, whose comments can be changed: nothing of it is kept."""

    def __init__(self, folder):
        self.path = folder / "flags_module.py"

    def write(self, comment="", caller=""):
        self.path.write_text(KERNEL.format(comment=comment, caller=caller))

    def flags(self):
        scope = {"__name__": "flags_module"}
        exec(compile(self.path.read_text(), str(self.path), "exec"), scope)
        return scope["flags"]

    def check(self, comment="", caller=""):
        self.write(comment, caller)
        return palladion.check(self.flags(), X, target=TARGET)


@pytest.fixture
def written(tmp_path):
    return Written(tmp_path)


def suppressed(report):
    return {finding.code: finding.suppressed for finding in report.findings}


def test_what_is_found_without_a_comment(written):
    report = written.check()
    assert report.verdict == "defect" and suppressed(report) == {"RACE_WW": "", "NONDET": ""}


def test_check_counts_what_is_suppressed_and_claims_no_proof(written):
    report = written.check(BOTH)
    assert suppressed(report) == dict.fromkeys(("RACE_WW", "NONDET"), "any of the values will do")
    assert report.verdict == "clean" and "verdict: clean: 2 suppressed" in str(report)
    assert "unused suppression" not in str(report)


def test_the_line_of_a_caller_counts_too(written):
    report = written.check(caller="  # noqa  # palladion: ignore[RACE_WW] the caller knows")
    assert report.verdict == "nondeterministic"
    assert suppressed(report) == {"RACE_WW": "the caller knows", "NONDET": ""}


def test_what_matches_nothing_is_reported(written):
    report = written.check("  # palladion: ignore[RACE_WW, OOB] known")
    assert f"unused suppression: {written.path}:7: palladion: ignore[OOB]\n" in str(report) + "\n"
    assert "palladion: ignore[RACE_WW]" not in str(report)


@pytest.mark.parametrize("comment, wrong", [
    ("ignore[RACE_WW]", "a suppression needs a reason: # palladion: ignore[CODE] why this is accepted"),
    ("ignore[RACE_W] r", "unknown finding code 'RACE_W'; did you mean RACE_WW?"),
    ("ignore RACE_WW r", "expected # palladion: ignore[CODE] why this is accepted; found no [CODE] after 'ignore'"),
])  # fmt: skip
def test_a_malformed_one_is_an_error_and_hides_nothing(written, comment, wrong):
    written.write(f"  # palladion: {comment}")
    with pytest.raises(palladion.DefectError) as caught:
        with palladion.emulate(TARGET, seeds=4):
            np.asarray(written.flags()(X))
    assert "error[RACE_WW]" in str(caught.value) and f"{written.path}:7: {wrong}" in str(caught.value)
    with pytest.raises(Exception, match=re.escape(f"{written.path}:7: {wrong}")):
        with palladion.emulate(TARGET, seeds=4, on_defect="collect"):
            np.asarray(written.flags()(X))


def test_emulate_reads_the_line_as_it_is_at_each_call(written):
    """A comment that went must not go on hiding the finding: the kernel's text is the same, and is kept."""
    written.write(BOTH)
    flags = written.flags()
    with palladion.emulate(TARGET, seeds=4) as session:
        np.asarray(flags(X))
    assert session.report.verdict == "clean"
    written.write()
    with palladion.emulate(TARGET, seeds=4, on_defect="collect") as session:
        np.asarray(flags(X))
    assert session.report.verdict == "defect"


def command(*arguments, cwd):
    python = [COMMAND] if COMMAND else [sys.executable, "-m", "palladion"]
    return subprocess.run([*python, *arguments], cwd=cwd, capture_output=True, text=True)


def test_the_command_and_sarif(written, tmp_path):
    written.write(BOTH)
    (tmp_path / "k.pkir").write_text(palladion.export(written.flags(), X, target=TARGET))
    check = ("check", "k.pkir", "--in", "x=iota")
    done = command(*check, cwd=tmp_path)
    assert done.returncode == 0 and "verdict: clean: 2 suppressed" in done.stdout, done
    log = json.loads(command(*check, "--format", "sarif", cwd=tmp_path).stdout)
    assert [result["suppressions"] for result in log["runs"][0]["results"]] == [
        [{"kind": "inSource", "justification": "any of the values will do"}]
    ] * 2
    (tmp_path / "s.txt").write_text("RACE_WW flags_module.py # of the file\n")
    log = json.loads(command(*check, "--suppressions", "s.txt", "--format", "sarif", cwd=tmp_path).stdout)
    assert {result["ruleId"]: result["suppressions"][0]["kind"] for result in log["runs"][0]["results"]} == {
        "RACE_WW": "external", "NONDET": "inSource"}  # fmt: skip
    written.write("  # palladion: ignore[OOB]")
    (tmp_path / "quiet.pkir").write_text((tmp_path / "k.pkir").read_text())
    assert command("run", "quiet.pkir", "--in", "x=iota", "--out", "o", cwd=tmp_path).returncode == 0  # reads no file
    assert command(*check, cwd=tmp_path).returncode == _library.DEFECT


def test_pytest_passes_and_says_how_many(pytester, written):
    pytester.makepyfile(flags_module=KERNEL.format(comment=BOTH, caller=""))
    pytester.makepyfile("""
        import numpy as np
        import flags_module
        def test_flags():
            np.asarray(flags_module.flags(np.arange(4, dtype=np.int32)))
    """)
    run = pytester.runpytest_inprocess("-p", "palladion", f"--palladion={TARGET}", "--palladion-seeds=4", "-rP",
                                       "--palladion-sarif=f.sarif")  # fmt: skip
    run.assert_outcomes(passed=1)
    run.stdout.fnmatch_lines(["*verdict: clean: 2 suppressed*", "1 kernel call in 1 test: 1 clean; 0 findings that*"])
    results = json.loads((pytester.path / "f.sarif").read_text())["runs"][0]["results"]
    assert [result["suppressions"][0]["kind"] for result in results] == ["inSource"] * 2
