"""Pages in a real browser, chromium without a window: what it makes of them, and which colors it paints."""

import pathlib
import shutil
import struct
import subprocess
import zlib


def browser(page: pathlib.Path, *arguments: str, at: str = "") -> subprocess.CompletedProcess:
    """Opens the page at `at`, which is put behind its name: "#5"."""
    found = shutil.which("chromium-headless-shell")
    assert found, "chromium-headless-shell is missing: run ./dev setup"
    command = [
        found,
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=2000",
        "--window-size=1200,900",
        *arguments,
    ]
    return subprocess.run([*command, f"file://{page}{at}"], capture_output=True, text=True, timeout=600, check=True)


def colors(png: bytes) -> set:
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
