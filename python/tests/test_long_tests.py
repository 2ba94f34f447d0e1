"""The long tests (tools/long_tests.py): no last result is older than 30 days, and parts are run and recorded."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import long_tests  # noqa: E402


def test_the_last_results_are_not_old():
    """The day of the last commit, not of the clock: a clone of a commit says the same on any day."""
    day = long_tests.git("log", "-1", "--format=%cs")
    if not day:
        pytest.skip("this tree has no commits: a copy of another checkout, which has this test itself")
    assert not long_tests.stale(long_tests.read(), datetime.date.fromisoformat(day))


def test_the_page_shows_the_record():
    page = pathlib.Path(long_tests.PAGE).read_text()
    assert long_tests.table(long_tests.read()) in page


def test_every_part_and_every_command_of_the_help_is_one_that_dev_knows():
    dev = (ROOT / "dev").read_text(encoding="utf-8")
    known = re.search(r"^    (run \| test \|[^)]*)\)", dev, re.MULTILINE).group(1).split(" | ")
    assert [part.name for part in long_tests.PARTS if part.command[0] not in known] == []
    in_help = re.findall(r"^  ([a-z][a-z-]*) ", re.search(r"HELP'\n(.*?)\nHELP", dev, re.DOTALL).group(1), re.MULTILINE)
    assert sorted(set(in_help) - set(known)) == []


def recorded(**last):
    passed = {"listed": "2026-01-01", "result": "passed", "commit": "c", "date": "2026-03-01"}
    return {part.name: passed | last for part in long_tests.PARTS}


def test_what_is_old_is_named():
    within, after = datetime.date(2026, 3, 31), datetime.date(2026, 4, 1)
    assert long_tests.stale(recorded(), within) == []
    old = long_tests.stale(recorded(), after)
    assert len(old) == len(long_tests.PARTS)
    assert old[0] == (
        "hunt-threads was last run on 2026-03-01, more than 30 days before the last commit (2026-04-01): "
        "run ./dev test-long hunt-threads and commit what it writes"
    )
    failed = long_tests.stale(recorded(result="failed (exit code 1)"), within)
    assert failed[0].startswith("hunt-threads failed (exit code 1) at c: mend it, then run ./dev test-long hunt-")
    new = {part.name: {"listed": "2026-03-01"} for part in long_tests.PARTS}
    assert long_tests.stale(new, within) == []
    assert "has never run and was listed on 2026-03-01" in long_tests.stale(new, after)[0]
    assert long_tests.stale({}, within)[0].startswith("hunt-threads is not in tools/long_tests.json")


def test_every_part_is_a_command():
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for part in long_tests.PARTS:
        assert re.search(rf"^  {part.command[0]}\b", usage, re.M), part


def test_a_run_goes_on_behind_what_has_passed(tmp_path, monkeypatch):
    record, page, dev = tmp_path / "record.json", tmp_path / "page.md", tmp_path / "dev"
    record.write_text(json.dumps({part.name: {"listed": "2026-01-01"} for part in long_tests.PARTS}))
    page.write_text("# Page\n\n<!-- measured:long-tests -->\n<!-- /measured:long-tests -->\n")
    dev.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/ran\n[ "$1" != mutants ]\n')
    dev.chmod(0o755)
    monkeypatch.setattr(long_tests, "ROOT", str(tmp_path))
    monkeypatch.setattr(long_tests, "commit", lambda: "abc")
    named = {part.name: part for part in long_tests.PARTS}
    assert not long_tests.run_and_record([named["hunt-tpu"], named["mutants"]], str(dev), str(record), str(page))
    assert (tmp_path / "ran").read_text() == "hunt tpu 2000\nmutants\n"
    kept = json.loads(record.read_text())
    assert kept["hunt-tpu"]["result"] == "passed" and kept["mutants"]["result"] == "failed (exit code 1)"
    assert "failed (exit code 1) | abc |" in page.read_text()
    left = long_tests.waiting(kept, "abc")
    assert named["hunt-tpu"] not in left and named["mutants"] in left and len(left) == len(long_tests.PARTS) - 1
    assert long_tests.waiting(kept, "abc-dirty") == list(long_tests.PARTS)


def test_what_a_run_writes_is_no_change_of_the_commit(tmp_path):
    def git(*words):
        as_one = ("-c", "user.name=n", "-c", "user.email=e")
        subprocess.run(["git", *as_one, *words], cwd=tmp_path, check=True, capture_output=True)

    for name in ("tools/long_tests.json", "docs/develop/long-tests.md", "a.cc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    named = long_tests.commit(str(tmp_path))
    assert re.fullmatch("[0-9a-f]{10}", named)
    (tmp_path / "tools/long_tests.json").write_text("2")
    (tmp_path / "docs/develop/long-tests.md").write_text("2")
    assert long_tests.commit(str(tmp_path)) == named
    (tmp_path / "a.cc").write_text("2")
    assert long_tests.commit(str(tmp_path)) == f"{named}-dirty"
    assert os.path.samefile(long_tests.RECORD, ROOT / "tools/long_tests.json")
