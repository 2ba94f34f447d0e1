"""`palladion conformance`: its options, its reports, shards, a run that is killed and goes on, and Palladion itself
through the protocol of backends.

No test measures time. Backends that misbehave are in conformance/backend_case_test.cc.
"""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import sarif_checks

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

ITSELF = f"{sys.executable} -m palladion.backends.palladion_itself"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
WRONG = """# spec: ref.md#get
# A copy, and another number: it fails.
--- kernel
pkir 1;
kernel @k {
  grid [];
  in %x: f32[1];
  out %o: f32[1];
  body @k (%xr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {
    %a = get(%xr) : f32[1];
    _ = swap(%or, %a) : f32[1];
    return;
  }
}
--- inputs
x = [1.0]
--- expect
o = [2.0]
"""


def conformance(*words, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [COMMAND, "conformance", *map(str, words)],
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def report(*words, **environment) -> dict:
    return json.loads(conformance(*words, "--format", "json", **environment).stdout)


def without_times(cases: list) -> list:
    return [{name: value for name, value in case.items() if name != "seconds"} for case in cases]


def test_help_has_the_options_of_the_runner():
    table = json.loads(
        subprocess.run(
            [COMMAND, "help", "conformance", "--format=json"], capture_output=True, text=True, check=True
        ).stdout
    )
    listed = {
        f"--{option['name']}"
        for command in table["commands"]
        if command["name"] == "conformance"
        for option in command["options"]
    }
    refused = conformance("--shrad=1/2")
    assert refused.returncode == 4
    assert listed | {"--write-hashes"} == set(re.findall(r"--[a-z-]+", refused.stderr.partition("expected one of")[2]))


def test_palladion_passes_its_own_suite_through_the_protocol():
    done = conformance("--exec", ITSELF, "--jobs", 2)
    cases = len(case_files.all_texts())
    refused = [line for line in done.stdout.splitlines() if line.startswith("unsupported")]
    assert (
        done.stdout.splitlines()[-1] == f"{cases - len(refused)} passed, 0 failed, {len(refused)} unsupported"
    ), done.stdout
    # Texts that cannot be prepared, of which the C ABI has no report; and the protocol has no launches.
    others = [line for line in refused if "/limits_gpu/" not in line and "/limits_tpu/" not in line]
    assert [line.rpartition("/")[2] for line in others] == ["launches_in_a_row.case"] and len(refused) < 40
    assert done.returncode == 0


def test_findings_are_compared_by_their_codes():
    cases = report("checks/*_racy", "--exec", ITSELF)["cases"]
    assert cases and all(case["outcome"] == "passed" for case in cases)
    assert {code for case in cases for code in case["codes"]["found"]} >= {"RACE_WW", "RACE_RW"}


def test_shards_are_the_suite():
    whole = {case["case"] for case in report("control")["cases"]}
    parts = [[case["case"] for case in report("control", f"--shard={i}/3")["cases"]] for i in (1, 2, 3)]
    assert len(whole) > 3 and all(parts)
    assert sorted(name for part in parts for name in part) == sorted(whole)


def test_shards_of_googletest(tmp_path):
    status = tmp_path / "status"
    parts = [
        [
            case["case"]
            for case in report(
                "control", GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX=str(i), GTEST_SHARD_STATUS_FILE=str(status)
            )["cases"]
        ]
        for i in (0, 1)
    ]
    assert status.exists()
    assert parts == [[case["case"] for case in report("control", f"--shard={i}/2")["cases"]] for i in (1, 2)]
    assert conformance("control", GTEST_TOTAL_SHARDS="2", GTEST_SHARD_INDEX="2").returncode == 4


def test_a_run_that_is_killed_goes_on_and_says_the_same(tmp_path):
    results = tmp_path / "results"
    words = ["grid", "--exec", ITSELF, "--jobs", "1"]
    whole = report(*words)
    runner = pathlib.Path(COMMAND).with_name("conformance_run")
    running = subprocess.Popen([runner, *words, "--resume", results], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    while not results.exists() or results.read_bytes().count(b"\n") < 4:
        assert running.poll() is None, "it ended before it could be killed"
        time.sleep(0.001)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = results.read_bytes().count(b"\n") - 1
    assert 0 < before < len(whole["cases"])
    resumed = report(*words, "--resume", results)
    assert without_times(resumed["cases"]) == without_times(whole["cases"])
    assert resumed | {"cases": []} == whole | {"cases": []}
    assert results.read_bytes().count(b"\n") == 1 + len(whole["cases"])


def test_an_interrupt_ends_it_with_what_is_known(tmp_path):
    sleeps = tmp_path / "sleeps.sh"
    sleeps.write_text("cat >/dev/null\n", encoding="utf-8")  # never answers
    running = subprocess.Popen(
        [COMMAND, "conformance", "elementwise/add", "--exec", f"sh {sleeps}", "--format", "json"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(0.5)
    running.send_signal(signal.SIGTERM)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 6
    assert json.loads(out)["not_run"] == 1


def shown_on(terminal) -> str:
    """All that was written there, to the end: a read gives no more than a terminal holds at a time."""
    parts = []
    try:
        while part := terminal.read(1 << 12):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    return b"".join(parts).decode()


def test_on_a_terminal_it_says_how_far_it_is():
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        with subprocess.Popen(
            [COMMAND, "conformance", "control", "--format=json"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=theirs
        ) as running:
            os.close(theirs)
            shown = shown_on(terminal)
            cases = json.loads(running.stdout.read())["passed"]
        assert running.returncode == 0
    assert f"{cases} of {cases} cases, 0 failed" in shown
    assert (
        subprocess.run([COMMAND, "conformance", "control"], env=ENVIRONMENT, capture_output=True, check=True).stderr
        == b""
    )


def test_junit_and_sarif_have_what_failed(tmp_path):
    folder = tmp_path / "a <folder> & more"
    folder.mkdir()
    (folder / "wrong.case").write_text(WRONG, encoding="utf-8")
    (folder / "right.case").write_text(WRONG.replace("[2.0]", "[1.0]"), encoding="utf-8")
    done = conformance(folder, "--format=junit")
    assert done.returncode == 1
    suite = ElementTree.fromstring(done.stdout).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    failed = [case for case in suite.findall("testcase") if case.find("failure") is not None]
    assert [(case.get("classname"), case.get("name")) for case in failed] == [("a <folder> & more", "wrong")]
    assert "element [0]: expected 2.0, found 1.0" in failed[0].find("failure").text
    log = report_of_sarif(folder)
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert result["ruleId"] == "conformance.failed" and "expected 2.0" in result["message"]["text"]
    assert (
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        == "a%20%3Cfolder%3E%20%26%20more/wrong.case"
    )
    unsupported = report_of_sarif(
        folder,
        "--exec",
        f"""{sys.executable} -c "
import json, sys
for line in sys.stdin:
    print(json.dumps({{'case': json.loads(line)['case'], 'status': 'not_supported'}}), flush=True)" """,
    )
    assert {result["kind"] for result in unsupported["runs"][0]["results"]} == {"notApplicable"}


def report_of_sarif(*words) -> dict:
    log = json.loads(conformance(*words, "--format=sarif").stdout)
    sarif_checks.SARIF.validate(log)
    sarif_checks.hold_against_model(log)
    return log


def test_a_report_goes_into_a_file(tmp_path):
    done = conformance("elementwise/add", "--format=json", "--output", tmp_path / "report.json")
    assert done.stdout == "1 passed, 0 failed\n"
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["passed"] == 1
    assert conformance("elementwise/add", "--output", tmp_path / "no/such/folder/report").returncode == 4


def test_one_of_several_cases_in_a_file(tmp_path):
    """Each has its line of the file in reports, and what is said of it names the line that an editor shows."""
    right = WRONG.replace("[2.0]", "[1.0]")
    path = tmp_path / "both.case"
    path.write_text(f"=== right\n{right}\n=== wrong\n{WRONG}", encoding="utf-8")
    done = conformance(path)
    assert done.returncode == 1 and done.stdout.splitlines()[:2] == [f"passed  {path}:right", f"FAILED  {path}:wrong"]
    line = len(right.splitlines()) + 2 + 1 + len(WRONG.splitlines())  # the last one
    assert done.stdout.splitlines()[2].strip().startswith(f"{path}:{line}: o: element [0]")
    assert conformance(f"{path}:right").stdout == f"passed  {path}:right\n1 passed, 0 failed\n"
    assert conformance(tmp_path, f"{tmp_path.name}/right").stdout == f"passed  {path}:right\n1 passed, 0 failed\n"
    refused = conformance(f"{path}:wrnog")
    assert refused.returncode == 4 and "both.case has no case wrnog; it has right, wrong" in refused.stderr
    (result,) = report_of_sarif(path)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (
        place["artifactLocation"]["uri"] == f"{tmp_path.name}/both.case"
        and place["region"]["startLine"] == line - len(WRONG.splitlines()) + 1
    )


def test_hashes_are_written_into_the_case_they_are_of(tmp_path):
    """Its neighbours keep their bytes."""
    ulps = WRONG.replace("[2.0]", "[1.0] ulp 1")
    path = tmp_path / "three.case"
    path.write_text(f"=== a\n{WRONG}\n=== b\n{ulps}\n\n=== c\n{WRONG}", encoding="utf-8")
    runner = pathlib.Path(os.environ.get("PALLADION_BUILD", ROOT / "build")) / "conformance_run"
    assert subprocess.run([runner, "--write-hashes", f"{path}:b"], capture_output=True, check=False).returncode == 0
    hashed = case_files.read(path)
    assert re.fullmatch(re.escape(ulps) + r"hash o = [0-9a-f]{16}\n", hashed["b"])
    assert path.read_text(encoding="utf-8") == f"=== a\n{WRONG}\n=== b\n{hashed['b']}\n\n=== c\n{WRONG}"


def test_two_cases_of_one_name_are_refused(tmp_path):
    for folder in ("one/same", "two/same"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.case").write_text(WRONG, encoding="utf-8")
    done = conformance(tmp_path)
    assert done.returncode == 4 and "two cases are called same/a" in done.stderr
