"""Reports of every kind against what reads them: JSON against its published schema, SARIF against the specification and
against the object model that Microsoft generated from the official schema (sarif-om), JUnit against the rules CI
systems apply. The official SARIF schema itself is in no package that can be installed here, so the part that is used is
written down in sarif_schema.json.
"""

import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

from sarif_checks import SARIF, hold_against_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))


def closed(schema):
    """The same schema, that refuses members it does not describe: a reader may ignore these, what we write has none."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: value if key == "allOf" else closed(value) for key, value in schema.items()}
    return (
        {**parts, "additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else parts
    )


PUBLISHED = json.loads((ROOT / "docs/reference/report.schema.json").read_text(encoding="utf-8"))
REPORT = jsonschema.Draft202012Validator(closed(PUBLISHED))

RACE = """pkir 1;
file #f = "dir with space/k\\"ern<&>.py";
loc #c = #f:20:3 fn "train";
loc #l = #f:6:5 fn "body" via #c;
kernel @k { backend triton; grid [4]; in %x: i32[4]; out %o: i32[4];
  body @b (%xr: ref<default,i32[4]> as "x_ref", %or: ref<default,i32[4]> as "o_ref") {
    %p = program_id{axis=0}() : i32[];
    debug_print{fmt="<{}> & \\"quoted\\""}(%p);
    %never = eq(%p, 9:i32) : bool[];
    cond(%never) { return; } {
      _ = swap(%or.at[1], %p) : i32[] #l;
      return;
    } #l;
    %q = get(%xr.at[%p]) : i32[];
    %far = mul(%p, 2:i32) : i32[];
    _ = get(%xr.at[%far]) : i32[];
    _ = swap(%or.at[0], %q) : i32[] #l;
    return; } }
"""
CLEAN = """pkir 1;
kernel @clean { backend mosaic_tpu; grid [2]; in %x: i32[4]; out %o: i32[4];
  body @b (%xr: ref<default,i32[4]> as "x_ref", %or: ref<default,i32[4]> as "o_ref") {
    %q = get(%xr) : i32[4];
    _ = swap(%or, %q) : i32[4];
    return; } }
"""
UNSUPPORTED = CLEAN.replace("%q = get(%xr) : i32[4];", "%w = matmul_pop_fifo() : i32[4]; %q = get(%xr) : i32[4];")
ENDLESS = CLEAN.replace(
    "%q = get", "%r = while(init=0:i32) (%a: i32[]) { return true; } (%a: i32[]) { return %a; } : i32[]; %q = get"
)


def pages() -> list:
    """Every kernel of `palladion explain`, wrong and right, with its options."""
    text = subprocess.run([COMMAND, "explain", "--format=json"], check=True, capture_output=True, text=True).stdout
    return [
        (f"{page['code']}-{form}", page[form], page["options"])
        for page in json.loads(text)
        for form in ("wrong", "right")
    ]


def shapes() -> list:
    """(name, kernel text, options): at least one of every shape that a report can have."""
    given = ["--in", "x=iota"]
    return pages() + [
        ("race", RACE, given),
        ("race-strict", RACE, [*given, "--strict"]),
        ("clean", CLEAN, given),
        ("race-suppressed", RACE, [*given, "--suppressions", "suppressions"]),
        ("unsupported", UNSUPPORTED, given),
        ("malformed", "pkir 1;\nkernel @k {", given),
        ("empty", "", []),
        ("bytes", "pkir 1;\x00\x01\ud800", []),
        ("no-seeds", CLEAN, [*given, "--seeds", "0"]),
        ("no-input", CLEAN, []),
        ("budget", ENDLESS, [*given, "--budget", "100"]),
        ("empty-grid", CLEAN.replace("grid [2]", "grid [0]"), given),
        ("no-checks", RACE, [*given, "--checks=bounds"]),
    ]


def check(folder, text, options, form):
    """(exit code, what `check` prints in that format)."""
    (folder / "k.pkir").write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / "suppressions").write_text(
        "OOB @k # seen\nNONDET @k # seen\nRACE_WW k*.py:6 # seen\nSHIFT a.py # unused\n"
    )
    done = subprocess.run(
        [COMMAND, "check", "k.pkir", *options, "--format", form],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("name, text, options", [pytest.param(*s, id=s[0]) for s in shapes()])
def test_json_follows_its_schema(tmp_path, name, text, options):
    code, out = check(tmp_path, text, options, "json")
    report = json.loads(out)
    REPORT.validate(report)
    assert report["exit_code"] == code and out.count("\n") == 1
    if name in ("unsupported", "malformed", "budget", "no-seeds", "no-input", "empty", "bytes"):
        assert report["verdict"] == "unsupported" and code >= 3


def test_the_shapes_are_all_there(tmp_path):
    """Each verdict that can be had, and each optional part at least once filled and once empty: else the tests above
    say little.
    """
    seen, filled, empty = set(), set(), set()
    for _, text, options in shapes():
        report = json.loads(check(tmp_path, text, options, "json")[1])
        seen.add(report["verdict"])
        for part in (report, *report["findings"], *(f["second"] for f in report["findings"] if f["second"])):
            for key, value in part.items():
                (filled if value else empty).add(key)
    assert seen >= {"clean", "nondeterministic", "defect", "unsupported"} or seen >= {"proved", "defect", "unsupported"}
    assert filled >= {
        "first",
        "second",
        "never_ran",
        "unused_suppressions",
        "suppressed",
        "strict",
        "error",
        "printed",
        "box",
        "why",
        "frames",
        "source",
    }
    assert empty >= {
        "first",
        "never_ran",
        "unused_suppressions",
        "suppressed",
        "strict",
        "error",
        "printed",
        "frames",
        "source",
    }


def test_a_run_has_the_same_schema(tmp_path):
    (tmp_path / "k.pkir").write_text(RACE)
    done = subprocess.run(
        [COMMAND, "run", "k.pkir", "--in", "x=iota", "--out", "out", "--format=json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    REPORT.validate(report)
    assert not report["checked"] and report["exit_code"] == done.returncode == 1
    assert report["printed"] == [f'<{i}> & "quoted"' for i in range(4)]


# NaN is born in the left half, and every program reads memory that was never written.
LOOKED_AT = """pkir 1;
kernel @looked { backend mosaic_tpu; grid [2]; in %x: f32[8,256] block (8, 128) map (%i: i32[]) { return 0:i32, %i; };
  out %o: f32[8,256] block (8, 128) map (%i: i32[]) { return 0:i32, %i; }; scratch %s: ref<vmem,f32[8,128]>;
  body @b (%xr: ref<default,f32[8,128]> as "x_ref", %or: ref<default,f32[8,128]> as "o_ref", %sr: ref<vmem,f32[8,128]> as "acc") {
    %a = get(%sr) : f32[8,128];
    %v = get(%xr) : f32[8,128];
    %w = sub(%v, 65.0:f32) : f32[8,128];
    %l = log(%w) : f32[8,128];
    _ = swap(%or, %l) : f32[8,128];
    return; } }
"""


def test_what_a_run_is_asked_for_is_in_the_schema(tmp_path):
    """Each member that an option of `run` adds, filled and, where it can be, empty."""
    (tmp_path / "k.pkir").write_text(LOOKED_AT)

    def run(*options):
        done = subprocess.run(
            [COMMAND, "run", "k.pkir", "--out", "out", "--format=json", *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout, done.stderr
        report = json.loads(done.stdout)
        REPORT.validate(report)
        return done.returncode, report

    code, report = run("--in", "x=iota", "--trap", "nan", "--stats", "--dump", "o_ref@8")
    assert code == 1 and report["trap"]["born"]["op"] == "log" and report["trap"]["undefined"]["op"] == "get"
    assert report["trap"]["born"]["operands"] and report["dumps"] and "only_program" not in report
    assert report["stats"]["operands"] and report["stats"]["operations"] and report["stats"]["spaces"]
    code, report = run("--in", "x=full(99)", "--trap", "inf", "--program", "1")
    assert code == report["exit_code"] == 0 and report["trap"]["born"] is None and report["only_program"]
    for part in ("trap", "stats", "dumps"):
        assert not REPORT.is_valid({**report, part: 0}), part
    assert not REPORT.is_valid({**report, "unheard_of": 0})


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("argument"),
        lambda r: r.update(verdict="fine"),
        lambda r: r.update(verdict="clean"),
        lambda r: r["findings"][0].update(count=0),
        lambda r: r["findings"][0]["second"].update(kind="look"),
        lambda r: r["findings"][0].pop("fingerprint"),
        lambda r: r.update(error={"kind": "bad", "message": "m"}),
        lambda r: r.update(exit_code=0),
    ],
)
def test_the_schema_refuses_what_is_wrong(tmp_path, change):
    report = json.loads(check(tmp_path, RACE, ["--in", "x=iota"], "json")[1])
    report["findings"].sort(key=lambda f: f["second"] is None)
    REPORT.validate(report)
    change(report)
    assert not REPORT.is_valid(report)


# ---- SARIF


@pytest.mark.parametrize("name, text, options", [pytest.param(*s, id=s[0]) for s in shapes()])
def test_sarif_follows_the_specification(tmp_path, name, text, options):
    code, out = check(tmp_path, text, options, "sarif")
    log = json.loads(out)
    SARIF.validate(log)
    hold_against_model(log)
    (run,) = log["runs"]
    assert run["invocations"][0]["exitCode"] == code
    report = json.loads(check(tmp_path, text, options, "json")[1])
    assert [r["ruleId"] for r in run["results"]] == [f["code"] for f in report["findings"]]
    for result, finding in zip(run["results"], report["findings"]):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["partialFingerprints"] == {"palladion/v1": finding["fingerprint"]}
        assert [s["justification"] for s in result.get("suppressions", [])] == (
            [finding["suppressed"]] if finding["suppressed"] else []
        )
        ids = [place["id"] for place in result["relatedLocations"]]
        assert len(ids) == len(set(ids))
        assert [i for i in ids if i in (1, 2)] == [i for i, side in ((1, "first"), (2, "second")) if finding[side]]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.update(severity="error"),
        lambda r: r.update(level="defect"),
        lambda r: r.pop("message"),
        lambda r: r["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda r: r["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b"),
        lambda r: r.update(suppressions=[{"kind": "accepted"}]),
    ],
)
def test_the_sarif_schema_refuses_what_is_wrong(tmp_path, change):
    log = json.loads(check(tmp_path, RACE, ["--in", "x=iota"], "sarif")[1])
    change(log["runs"][0]["results"][0])
    assert not SARIF.is_valid(log)


FIXED = """pkir 1;
kernel @k {
  backend mosaic_tpu;
  in %x: f32[8,128] space any;
  out %o: f32[8,128] space any;
  grid [];
  scratch %v: ref<vmem,f32[8,128]>;
  scratch %sem: ref<semaphore,dma_sem[]>;
  body @k (%xr: ref<any,f32[8,128]>, %or: ref<any,f32[8,128]>, %vr: ref<vmem,f32[8,128]>, %sr: ref<semaphore,dma_sem[]>) {
    dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr, dst=%vr, dst_sem=%sr, src_sem=none, device_id=none);
    %a = get(%vr) : f32[8,128];
    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr, dst=%vr, dst_sem=%sr, src_sem=none, device_id=none);
    _ = swap(%vr, %a) : f32[8,128];
    dma_start{device_id_type=mesh, priority=0, add=false}(src=%vr, dst=%or, dst_sem=%sr, src_sem=none, device_id=none);
    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%vr, dst=%or, dst_sem=%sr, src_sem=none, device_id=none);
    return;
  }
}
"""


def results(folder, text):
    log = json.loads(check(folder, text, ["--in", "x=iota"], "sarif")[1])
    SARIF.validate(log)
    hold_against_model(log)
    return log["runs"][0]["results"]


def test_a_sarif_fix_mends_the_file_that_it_names(tmp_path):
    (result,) = [one for one in results(tmp_path, FIXED) if "fixes" in one]  # the others are its symptoms
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == result["properties"]["fix"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "k.pkir", "uriBaseId": "%SRCROOT%"}
    lines = FIXED.split("\n")
    for replaced in reversed(change["replacements"]):  # whole lines, in the order of the text
        region = replaced["deletedRegion"]
        assert region["startColumn"] == region["endColumn"] == 1
        new = replaced.get("insertedContent", {"text": ""})["text"]
        lines[region["startLine"] - 1 : region["endLine"] - 1] = new.split("\n")[:-1]
    assert lines != FIXED.split("\n") and results(tmp_path, "\n".join(lines)) == []


def test_a_sarif_fix_needs_a_file_of_the_users_and_a_line_for_each_statement(tmp_path):
    python = FIXED.replace("pkir 1;", 'pkir 1;\nfile #f = "k.py";\nloc #l = #f:6:5 fn "k";').replace(
        ";\n    ", " #l;\n    "
    )
    on_one_line = FIXED.replace(";\n    ", "; ")
    for text in (python, on_one_line):
        found = results(tmp_path, text)
        assert any(one["properties"]["fix"] for one in found) and not any("fixes" in one for one in found)


def test_sarif_places_are_uris(tmp_path):
    log = json.loads(check(tmp_path, RACE, ["--in", "x=iota"], "sarif")[1])
    places = [r["locations"][0]["physicalLocation"] for r in log["runs"][0]["results"]]
    assert {
        "artifactLocation": {"uri": "dir%20with%20space/k%22ern%3C%26%3E.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 6, "startColumn": 5},
    } in places


def test_sarif_paths_below_the_folder_are_relative_and_others_are_not(tmp_path):
    for path, expected in (
        (f"{tmp_path}/a/k.py", {"uri": "a/k.py", "uriBaseId": "%SRCROOT%"}),
        ("./k.py", {"uri": "k.py", "uriBaseId": "%SRCROOT%"}),
        ("/elsewhere/k.py", {"uri": "file:///elsewhere/k.py"}),
    ):
        log = json.loads(
            check(tmp_path, RACE.replace('dir with space/k\\"ern<&>.py', path), ["--in", "x=iota"], "sarif")[1]
        )
        SARIF.validate(log)
        assert expected in [
            r["locations"][0]["physicalLocation"]["artifactLocation"] for r in log["runs"][0]["results"]
        ]
    assert list(log["runs"][0]["originalUriBaseIds"]) == ["%SRCROOT%"]


def test_sarif_has_both_sides_of_a_race_as_threads(tmp_path):
    log = json.loads(check(tmp_path, RACE, ["--in", "x=iota"], "sarif")[1])
    (race,) = [r for r in log["runs"][0]["results"] if r["ruleId"] == "RACE_WW"]
    (flow,) = race["codeFlows"]
    assert [thread["id"] for thread in flow["threadFlows"]] == ["1", "2"]
    for number, thread in enumerate(flow["threadFlows"], 1):
        assert thread["message"]["text"].startswith("program (")
        calls, access = thread["locations"]
        assert calls["location"]["physicalLocation"]["region"]["startLine"] == 20 and calls["nestingLevel"] == 0
        assert (
            access["location"]["message"]["text"].startswith(f"({number}) write of o_ref[")
            and access["executionOrder"] == number
        )
    assert race["properties"]["fix"] and race["message"]["text"].endswith(f"Fix: {race['properties']['fix']}")
    assert all(rule["helpUri"].endswith(rule["id"].lower()) for rule in log["runs"][0]["tool"]["driver"]["rules"])


def test_fingerprints_survive_moved_lines(tmp_path):
    def prints(text):
        report = json.loads(check(tmp_path, text, ["--in", "x=iota"], "json")[1])
        return [f["fingerprint"] for f in report["findings"]]

    before = prints(RACE)
    assert len(before) == len(set(before)) >= 2
    assert (
        prints(RACE.replace("#f:6:5", "#f:16:5").replace("#f:20:3", "#f:40:3").replace("kernel @k", "\n\n\nkernel @k"))
        == before
    )
    assert prints(RACE.replace('"o_ref"', '"out_ref"')) != before


# ---- JUnit


@pytest.mark.parametrize("name, text, options", [pytest.param(*s, id=s[0]) for s in shapes()])
def test_junit_counts_what_it_holds(tmp_path, name, text, options):
    code, out = check(tmp_path, text, options, "junit")
    root = ElementTree.fromstring(out)
    assert root.tag == "testsuites"
    (suite,) = root
    cases = suite.findall("testcase")
    assert all(case.get("name") and case.get("classname") is not None for case in cases)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(attribute)) == int(root.get(attribute)) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests")) == int(root.get("tests")) == len(cases)
    assert (code == 0) == (not suite.findall("testcase/failure") and not suite.findall("testcase/error"))
    assert {child.tag for case in cases for child in case} <= {
        "properties",
        "failure",
        "error",
        "skipped",
        "system-out",
    }
    assert all(
        child.get("message") and (child.get("type") or child.tag == "skipped")
        for case in cases
        for child in case
        if child.tag not in ("system-out", "properties")
    )
    assert all(float(part.get("time")) >= 0 for part in (root, suite, *cases)) and float(suite.get("time")) == float(
        root.get("time")
    )
    properties = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    assert set(properties) == {
        "palladion.version",
        "palladion.kernel",
        "palladion.target",
        "palladion.verdict",
        "palladion.schedules",
    }
    assert cases[0].find("system-out").text.startswith(f"verdict: {properties['palladion.verdict']}\n")


# ---- what is not fit for a terminal or for XML

WILD = "\x1b[31mred\x07\x0c\r\x7f\u009b2J\u202e\u2066\ufffe<&>'"
WILD_KERNEL = RACE.replace("o_ref", WILD).replace('fn "body"', f'fn "{WILD}"').replace('& \\"quoted\\"', WILD)


def strings(value) -> list:
    if isinstance(value, (dict, list)):
        return [text for part in (value.values() if isinstance(value, dict) else value) for text in strings(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
@pytest.mark.parametrize("color", ["always", "never"])
def test_control_bytes_of_a_kernel_never_leave_raw(tmp_path, form, color):
    code, out = check(tmp_path, WILD_KERNEL, ["--in", "x=iota", f"--color={color}"], form)
    assert code == 1 and "red" in out
    ours = re.sub("\x1b\\[[0-9;]+m", "", out) if form == "text" and color == "always" else out
    assert not [c for c in ours if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) <= 0x9F or c in "\u202e\u2066")]
    if form == "junit":
        assert "\\x1b[31mred" in "".join(ElementTree.fromstring(out).itertext())
    elif form != "text":
        assert [text for text in strings(json.loads(out)) if WILD in text]


def test_an_error_that_quotes_the_kernel_is_escaped(tmp_path):
    (tmp_path / "k.pkir").write_text(WILD_KERNEL.replace("get(", "no_such_operation("))
    done = subprocess.run(
        [COMMAND, "run", "k.pkir", "--in", f"{WILD.replace(chr(0), '')}=iota", "--out", "o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        done.returncode in (3, 4)
        and done.stderr
        and not [c for c in done.stderr if c != "\n" and not c.isprintable() and ord(c) < 0xA0]
    )
