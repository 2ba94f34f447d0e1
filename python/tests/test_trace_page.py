"""The page of programs of `palladion trace` in a real browser: it comes to its end without an error, steps to the
program that the address names, and paints what that program reads and writes; and that a kernel whose chip has a model
of time gets the timeline (test_timeline_page.py). What is not looked at: whether it is beautiful."""

import os
import pathlib
import subprocess

import pytest

from browser_pages import browser, colors

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("PALLADION_COMMAND", ROOT / "build" / "palladion"))
READ, WRITE = (47, 111, 219), (224, 122, 31)

KERNEL = """pkir 1;
kernel @tiles { grid [4, 3]; in %x: f32[24,32]; out %o: f32[24,32];
 body @b (%xr: ref<default,f32[24,32]> as "x_ref", %or: ref<default,f32[24,32]> as "o_ref") {
  %p = program_id{axis=0}() : i32[];
  %q = program_id{axis=1}() : i32[];
  %c = mul(%p, 8:i32) : i32[];
  %r = mul(%q, 8:i32) : i32[];
  %v = get(%xr.at[%r +: 8 : 1, %c +: 8 : 1]) : f32[8,8];
  _ = swap(%or.at[%r +: 8 : 1, %c +: 8 : 1], %v) : f32[8,8];
  return; } }
"""

BLOCKS = """pkir 1;
kernel @add { grid [4];
 in %x: f32[1024,256] block (256, 256) map (%i: i32[]) { return %i, 0:i32; };
 out %o: f32[1024,256] block (256, 256) map (%i: i32[]) { return %i, 0:i32; };
 body @add (%xr: ref<default,f32[256,256]>, %or: ref<default,f32[256,256]>) {
  %a = get(%xr) : f32[256,256];
  %b = add(%a, %a) : f32[256,256];
  _ = swap(%or, %b) : f32[256,256];
  return; } }
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("trace")
    (folder / "tiles.pkir").write_text(KERNEL)
    command = [
        COMMAND,
        "trace",
        folder / "tiles.pkir",
        "--in",
        "x=iota",
        "--target",
        "triton/h100",
        "--page",
        folder / "page.html",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "page.html"


def test_the_page_runs_to_its_end(page):
    dom = browser(page, "--dump-dom", at="#5").stdout
    assert 'data-ready="yes"' in dom
    assert "program (1, 2)" in dom and "6 of 12" in dom
    assert "read [16:24, 8:16]" in dom and "write [16:24, 8:16]" in dom
    assert "None." in dom


def test_it_paints_reads_and_writes(page, tmp_path):
    browser(page, f"--screenshot={tmp_path / 'page.png'}", at="#5")
    painted = colors((tmp_path / "page.png").read_bytes())
    assert READ in painted and WRITE in painted


def test_a_kernel_of_a_chip_with_a_model_of_time_has_a_timeline(tmp_path):
    (tmp_path / "k.pkir").write_text(BLOCKS)
    command = [
        COMMAND,
        "trace",
        tmp_path / "k.pkir",
        "--in",
        "x=iota",
        "--target",
        "mosaic_tpu/v5e",
        "--page",
        tmp_path / "page.html",
    ]
    subprocess.run(command, check=True, capture_output=True)
    dom = browser(tmp_path / "page.html", "--dump-dom").stdout
    assert 'data-ready="yes"' in dom and "core 0" in dom and "steps of the grid" in dom
