"""What is written is whole or not there: the command and the Python side, under real signals, limits and full disks, in
processes of their own.

The moments at which a process is killed are spread over its run, so each test tries several; none depends on how fast
the host is.
"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from palladion.base import whole_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("PALLADION_COMMAND", ROOT / "build" / "palladion"))

COPY = """pkir 1;
kernel @copy { grid []; in %x: f32[SIZE]; out %o: f32[SIZE]; out %p: f32[SIZE];
 body @b (%xr: ref<default,f32[SIZE]>, %or: ref<default,f32[SIZE]>, %pr: ref<default,f32[SIZE]>) {
  %a = get(%xr) : f32[SIZE];
  _ = swap(%or, %a) : f32[SIZE];
  _ = swap(%pr, %a) : f32[SIZE];
  return; } }
"""
SIZE = 4_000_000


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "k.pkir").write_text(COPY.replace("SIZE", str(SIZE)))
    return tmp_path / "k.pkir"


def start(*arguments, cwd, **options):
    return subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def parts(folder):
    return [str(path) for path in folder.rglob(".palladion-*")]


def started_writing(process, folder):
    """Until a part is there, or the process has ended."""
    while process.poll() is None and not parts(folder):
        time.sleep(0.001)


def last_values(folder):
    return {np.load(folder / name, mmap_mode="r")[-1] for name in ("o.npy", "p.npy")}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_signal_leaves_the_old_outputs_or_the_new_ones(kernel, tmp_path, number):
    out = tmp_path / "out"
    assert start("run", kernel, "--in", "x=full(1)", "--out", out, cwd=tmp_path).wait() == 0
    for attempt, delay in enumerate((0, 0.01, 0.02, 0.05, 0.1, 0.2)):
        before = last_values(out)
        process = start("run", kernel, "--in", f"x=full({attempt + 2})", "--out", out, cwd=tmp_path)
        started_writing(process, out)
        time.sleep(delay)
        process.send_signal(number)
        process.communicate()
        values = last_values(out)
        assert values <= before | {attempt + 2}
        if number != signal.SIGKILL:  # that alone can come between two renames (docs/reference/command.md)
            assert len(values) == 1 and parts(tmp_path) == []
    assert start("run", kernel, "--in", "x=full(9)", "--out", out, cwd=tmp_path).wait() == 0
    assert parts(tmp_path) == [] and last_values(out) == {9}


def test_a_folder_that_was_made_for_a_run_goes_with_it(kernel, tmp_path):
    process = start("run", kernel, "--in", "x=zeros", "--out", tmp_path / "a/b/c", cwd=tmp_path)
    started_writing(process, tmp_path)
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert process.returncode in (0, -signal.SIGHUP)
    assert (tmp_path / "a").exists() == (process.returncode == 0)


@pytest.mark.parametrize(
    "arguments", [["log", "-o", "f"], ["check", "--output", "f"], ["trace", "--out", "f"], ["trace", "--page", "f"]]
)
def test_one_file_is_the_old_one_or_the_new_one(tmp_path, arguments):
    (tmp_path / "k.pkir").write_text(COPY.replace("SIZE", "64"))
    command = [arguments[0], "k.pkir", "--in", "x=iota", *arguments[1:]]
    assert start(*command, cwd=tmp_path).wait() == 0
    whole = (tmp_path / "f").read_bytes()
    for delay in (0, 0.002, 0.004, 0.008, 0.016):
        (tmp_path / "f").write_text("old")
        process = start(*command, cwd=tmp_path)
        time.sleep(delay)
        process.kill()
        process.communicate()
        assert (tmp_path / "f").read_bytes() in (b"old", whole)
    assert start(*command, cwd=tmp_path).wait() == 0
    assert (
        sorted(path.name for path in tmp_path.iterdir()) == ["f", "k.pkir"] and (tmp_path / "f").read_bytes() == whole
    )


def limited(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--out", "out"],
        ["log", "-o", "f"],
        ["check", "--output", "f", "--format", "sarif"],
        ["trace", "--out", "f"],
        ["trace", "--page", "f"],
    ],
)
def test_a_limit_on_files_is_a_message_that_names_the_file(tmp_path, arguments):
    (tmp_path / "k.pkir").write_text(COPY.replace("SIZE", "4096"))
    process = start(arguments[0], "k.pkir", "--in", "x=iota", *arguments[1:], cwd=tmp_path, preexec_fn=limited(256))
    message = process.communicate()[1]
    assert (
        process.returncode == 6 and "File too large" in message and ("f: " in message or "out/o.npy: " in message)
    ), message
    assert [path.name for path in tmp_path.iterdir()] == ["k.pkir"]


@pytest.mark.parametrize("arguments", [["ops"], ["log", "k.pkir", "--in", "x=iota"], ["print", "k.pkir"]])
def test_a_full_disk_behind_standard_output_is_an_error(tmp_path, arguments):
    (tmp_path / "k.pkir").write_text(COPY.replace("SIZE", "8"))
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, *arguments], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 6 and "standard output" in done.stderr and "No space left on device" in done.stderr


def test_a_reader_that_stops_reading_ends_the_command_as_any_other(tmp_path):
    command = f"{sys.executable} -m palladion ops | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "PALLADION_COMMAND": str(COMMAND)},
    )
    assert done.stderr == "" and done.stdout.splitlines()[-1] in ("0", str(128 + signal.SIGPIPE))


# ---- the Python side

WRITER = """
import sys, time
from palladion.base import whole_file
if sys.argv[1] == "folder":
    with whole_file.whole_folder("d") as folder:
        open(folder + "/x", "w").write("x")
        print("ready", flush=True)
        time.sleep(60)
else:
    import os
    def wait(handle):
        print("ready", flush=True)
        time.sleep(60)
    os.fsync = wait
    whole_file.write_whole("f", "new")
"""


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_python_program_that_is_killed_while_it_writes(tmp_path, what, number):
    (tmp_path / "f").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, what],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.communicate()
    assert process.returncode == -number or number == signal.SIGINT
    assert (tmp_path / "f").read_text() == "old" and not (tmp_path / "d").exists()
    assert len(parts(tmp_path)) == (number == signal.SIGKILL)
    whole_file.write_whole(str(tmp_path / "f"), "new")
    assert [path.name for path in tmp_path.iterdir()] == ["f"] and (tmp_path / "f").read_text() == "new"


def test_either_side_removes_what_the_other_left(kernel, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    left = [out / ".palladion-999999999-0.part", out / ".palladion-999999999-1.part"]
    for write in (
        lambda: whole_file.write_whole(str(out / "f"), "f"),
        lambda: start("run", kernel, "--in", "x=zeros", "--out", out, cwd=tmp_path).wait(),
    ):
        left[0].write_text("x")
        left[1].mkdir()
        (left[1] / "x").write_text("x")
        write()
        assert parts(out) == []


def test_links_permissions_and_devices(tmp_path):
    (tmp_path / "f").write_text("old")
    (tmp_path / "f").chmod(0o640)
    (tmp_path / "link").symlink_to("f")
    whole_file.write_whole(str(tmp_path / "link"), "new")
    assert (
        (tmp_path / "link").is_symlink()
        and (tmp_path / "f").read_text() == "new"
        and (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    )
    with pytest.raises(OSError, match="No space left"):
        whole_file.write_whole("/dev/full", "x")
    with pytest.raises(FileExistsError, match="may not overwrite an input"):
        whole_file.check_is_no_input(str(tmp_path / "link"), [str(tmp_path / "f")])
