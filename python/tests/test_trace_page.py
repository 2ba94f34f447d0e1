"""The page of `palladion trace` in a real browser: it comes to its end without an error, steps to the program that the
address names, and paints what that program reads and writes. What is not looked at: whether it is beautiful."""

import os
import pathlib
import shutil
import struct
import subprocess
import zlib

import pytest

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


def _browser(page: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess:
    browser = shutil.which("chromium-headless-shell")
    assert browser, "chromium-headless-shell is missing: run ./dev setup"
    command = [browser, "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--window-size=1200,900", *arguments]
    return subprocess.run([*command, f"file://{page}#5"], capture_output=True, text=True, timeout=600, check=True)


def _colors(png: bytes) -> set:
    """The colors of a PNG of 8-bit RGB or RGBA."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, data, header = 8, b"", b""
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at : at + 4]), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + length]
        header, data = (body if kind == b"IHDR" else header), data + (body if kind == b"IDAT" else b"")
        at += length + 12
    width, height, depth, color = struct.unpack(">IIBB", header[:10])
    assert depth == 8 and color in (2, 6)
    bpp, raw = (3 if color == 2 else 4), zlib.decompress(data)
    stride, previous, colors = width * bpp, bytearray(width * bpp), set()
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride):
            left, up = (line[i - bpp] if i >= bpp else 0), previous[i]
            corner = previous[i - bpp] if i >= bpp else 0
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 2:
                line[i] = (line[i] + up) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                line[i] = (line[i] + near[2]) & 255
        previous = line
        colors.update(zip(line[0::bpp], line[1::bpp], line[2::bpp]))
    return colors


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("trace")
    (folder / "tiles.pkir").write_text(KERNEL)
    command = [COMMAND, "trace", folder / "tiles.pkir", "--in", "x=iota", "--target", "triton/h100", "--page", folder / "page.html"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "page.html"


def test_the_page_runs_to_its_end(page):
    dom = _browser(page, "--dump-dom").stdout
    assert 'data-ready="yes"' in dom
    assert "program (1, 2)" in dom and "6 of 12" in dom
    assert "read [16:24, 8:16]" in dom and "write [16:24, 8:16]" in dom
    assert "None." in dom


def test_it_paints_reads_and_writes(page, tmp_path):
    _browser(page, f"--screenshot={tmp_path / 'page.png'}")
    colors = _colors((tmp_path / "page.png").read_bytes())
    assert READ in colors and WRITE in colors
