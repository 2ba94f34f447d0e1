"""Ctrl-C and SIGTERM while the command runs: in pipes and on a terminal of the test's own, with real signals.

No test measures time: a command that cannot be stopped runs into the timeout.
"""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import time

import pytest

COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "palladion"))
HANGS = 300  # seconds

# An element outside first, then arithmetic for ever.
COUNTS = """pkir 1;
kernel @counts {
  grid [2];
  in %x: i32[4];
  out %o: i32[4];
  body @counts (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {
    %one = get(%xr.at[1]) : i32[];
    %q = add(%one, 8:i32) : i32[];
    _ = swap(%or.at[%q], %one) : i32[];
    %end = while(init=%one) (%v: i32[]) { %go = ne(%v, 0:i32) : bool[]; return %go; }
      (%v: i32[]) { %w = add(%v, 2:i32) : i32[]; return %w; } : i32[];
    return;
  }
}
"""
# More orders than can be tried.
TICKETS = """pkir 1;
kernel @tickets {
  backend triton;
  grid [8];
  in %z: i32[1];
  out %o: i32[1] alias %z;
  out %t: i32[8];
  body @tickets (%zr: ref<default,i32[1]>, %or: ref<default,i32[1]>, %tr: ref<default,i32[8]>) {
    %p = program_id{axis=0}() : i32[];
    %n = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];
    _ = swap(%tr.at[%n], %p) : i32[];
    return;
  }
}
"""


def default_signals():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def stopped(arguments, signum, **streams):
    """The command, which was given the signal when it had computed for a while."""
    process = subprocess.Popen(
        [COMMAND, *arguments],
        text=True,
        preexec_fn=default_signals,
        **(streams or {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}),
    )
    while _computed(process.pid) < 0.3 and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signum)
    return process


def _computed(pid):
    """Seconds of processor time so far."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def counts(tmp_path):
    (tmp_path / "counts.pkir").write_text(COUNTS)
    return [str(tmp_path / "counts.pkir"), "--in", "x=iota", "--target", "triton/h100", "--budget", str(2**62)]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["run", "check", "log"])
def test_what_was_found_is_reported(command, signum, counts, tmp_path):
    more = {
        "run": ["--out", str(tmp_path / "out"), "--format", "json"],
        "check": ["--format", "json"],
        "log": ["-o", str(tmp_path / "log")],
    }
    process = stopped([command, *counts, *more[command]], signum)
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == 1, out + err  # the defect that came first
    if command == "log":
        assert "# defect OOB" in (tmp_path / "log").read_text() and "interrupted" in err
        return
    report = json.loads(out)
    assert report["interrupted"] and [finding["code"] for finding in report["findings"]] == ["OOB"]
    if command == "run":
        assert "interrupted; no outputs were written" in err and not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("command", ["trace", "why"])
def test_a_command_without_a_report_says_that_it_was_interrupted(command, counts, tmp_path):
    more = {"trace": ["--out", str(tmp_path / "t.json"), "--no-check"], "why": ["--element", "o[0]"]}
    process = stopped([command, *counts, *more[command]], signal.SIGINT)
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == 6 and "interrupted" in err, out + err
    assert not (tmp_path / "t.json").exists()


def test_a_search_of_every_schedule(tmp_path):
    (tmp_path / "tickets.pkir").write_text(TICKETS)
    process = stopped(
        ["check", str(tmp_path / "tickets.pkir"), "--in", "z=zeros", "--exhaustive", "--format", "json"], signal.SIGINT
    )
    out, err = process.communicate(timeout=HANGS)
    report = json.loads(out)
    assert report["interrupted"] and report["verdict"] != "proved" and report["schedules"] > 0, out + err
    assert "not all schedules were run" in report["argument"]


def test_a_terminal_shows_progress_and_what_a_second_press_does(counts, tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "run", *counts, "--out", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        preexec_fn=default_signals,
    )
    os.close(theirs)
    shown, pressed, end = "", False, time.monotonic() + HANGS
    while time.monotonic() < end:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            piece = os.read(ours, 4096).decode()
        except OSError:  # closed at the other end
            break
        shown += piece
        if "0 of 2 programs; Ctrl-C stops" in shown and not pressed:
            pressed = True
            process.send_signal(signal.SIGINT)
    os.close(ours)
    assert process.wait(timeout=HANGS) == 1
    assert "\r@counts: " in shown and "stopping; press again to end now" in shown, shown
    assert "interrupted; no outputs were written" in shown, shown


def test_the_cases_stop_between_two():
    # The signal reaches the command alone, as from `kill`, and the runner that it has started ends too.
    process = subprocess.Popen(
        [COMMAND, "conformance"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_signals
    )
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=HANGS)
    assert first.startswith("passed") and process.returncode == 6, first + out[-2000:] + err
    assert "; interrupted, " in out.splitlines()[-1], out[-2000:]
