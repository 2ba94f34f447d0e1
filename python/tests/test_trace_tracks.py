"""Traces of several kernels, Hopper's asynchronous copies among them: on one track slices lie within each other or
apart, since viewers draw what overlaps wrongly; and every flow goes from one slice to a later one. What is not looked
at: Perfetto itself."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("PALLADION_COMMAND", ROOT / "build" / "palladion"))
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

# The blocks of the next program are fetched while this one works.
BLOCKS = """pkir 1;
kernel @add {
  grid [4];
  in %x: f32[1024,256] block (256, 256) map (%i: i32[]) { return %i, 0:i32; };
  out %o: f32[1024,256] block (256, 256) map (%i: i32[]) { return %i, 0:i32; };
  body @add (%xr: ref<default,f32[256,256]>, %or: ref<default,f32[256,256]>) {
    %a = get(%xr) : f32[256,256];
    %b = add(%a, %a) : f32[256,256];
    _ = swap(%or, %b) : f32[256,256];
    return;
  }
}
"""


def events_of(tmp_path, text, target, inputs, view="auto"):
    (tmp_path / "k.pkir").write_text(text)
    given = [word for name, value in inputs.items() for word in ("--in", f"{name}={value}")]
    chosen = ["--target", target] if target else []
    done = subprocess.run(
        [COMMAND, "trace", "k.pkir", *given, *chosen, "--out", "t.json", "--no-check", "--view", view],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((tmp_path / "t.json").read_text())["traceEvents"]


def case_of(name):
    """Kernel text, target and inputs of a conformance case whose inputs take a line each."""
    head, _, rest = case_files.text_of(name).partition("--- kernel\n")
    text, _, rest = rest.partition("--- inputs\n")
    inputs = dict(line.split(" = ", 1) for line in rest.partition("---")[0].splitlines() if " = " in line)
    target = next(
        (line.removeprefix("# target: ") for line in head.splitlines() if line.startswith("# target: ")), None
    )
    return text, target, inputs


def check(events):
    """How many slices there are, after looking at each."""
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["tid"]].append((round(event["ts"] * 1000), -round(event["dur"] * 1000), event["name"]))
    for slices in tracks.values():
        open_ends = []
        for begin, negative, name in sorted(slices):
            while open_ends and open_ends[-1][0] <= begin:
                open_ends.pop()
            end = begin - negative
            assert not open_ends or end <= open_ends[-1][0], f"{name} [{begin}, {end}) overlaps {open_ends[-1]}"
            open_ends.append((end, name))
    named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    assert set(tracks) <= named
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    for event in events:
        if event["ph"] == "f":
            assert starts[event["id"]]["ts"] <= event["ts"]
    return sum(map(len, tracks.values()))


HOPPER = sorted(
    name.partition("/")[2]
    for name, text in case_files.texts("gpu_corpus/0[0-4]*_clean").items()
    if any(word in text for word in ("copy_gmem_to_smem", "copy_smem_to_gmem", "wgmma"))
)


def test_there_are_hopper_kernels_to_look_at():
    assert len(HOPPER) > 20


@pytest.mark.parametrize("view", ["auto", "programs"])
@pytest.mark.parametrize("name", HOPPER)
def test_slices_of_hopper_kernels_nest(tmp_path, name, view):
    assert check(events_of(tmp_path, *case_of(f"gpu_corpus/{name}"), view)) > 5


@pytest.mark.parametrize("view", ["auto", "programs"])
@pytest.mark.parametrize("target", ["generic", "triton/h100", "mosaic_tpu/v5e", "mosaic_tpu/v5p", "mosaic_gpu/h100"])
def test_slices_of_blocks_nest(tmp_path, target, view):
    assert check(events_of(tmp_path, BLOCKS, target, {"x": "iota"}, view)) > 10


def test_engines_at_work_at_once_have_tracks_of_their_own(tmp_path):
    text, target, inputs = case_of("gpu_corpus/010_tma_six_stage_wait_last_clean")
    events = events_of(tmp_path, text, target, inputs, "programs")
    names = [event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"]
    assert names[0] == "engines" and len(set(names)) == len(names)
