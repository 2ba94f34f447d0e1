"""Pages in a real browser, chromium without a window: what it makes of them, and which colors it paints."""

import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import time
import zlib


def found_browser() -> str:
    found = shutil.which("chromium-headless-shell")
    assert found, "chromium-headless-shell is missing: run ./dev setup"
    return found


def browser(page: pathlib.Path, *arguments: str, at: str = "") -> subprocess.CompletedProcess:
    """Opens the page at `at`, which is put behind its name: "#5"."""
    command = [
        found_browser(),
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


class OpenPage:
    """A page that goes on while a test looks at it, which `browser` does not wait for where a worker is at work. Based
    on Chromium's DevTools protocol over pipes: JSON between zero bytes, on its file descriptors 3 and 4."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes, self.number, self.waiting, self.session = reads, writes, 0, b"", None

    def call(self, method: str, **parameters) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            text, zero, rest = self.waiting.partition(b"\0")
            if not zero:
                more = os.read(self.reads, 1 << 16)
                assert more, "the browser has ended"
                self.waiting += more
                continue
            self.waiting = rest
            answer = json.loads(text)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def value(self, expression: str):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, expression: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                shown = self.value("document.documentElement.innerText")
                raise AssertionError(f"not so within {seconds} s: {expression}\n{shown}")
            time.sleep(0.05)


@contextlib.contextmanager
def opened(page: pathlib.Path, at: str = ""):
    """An OpenPage of the file, at `at`."""
    (browser_reads, writes), (reads, browser_writes) = os.pipe(), os.pipe()
    shell = f'exec "$@" 3<&{browser_reads} 4>&{browser_writes}'
    command = [found_browser(), "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", shell, "bash", *command],
        pass_fds=(browser_reads, browser_writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_reads)
    os.close(browser_writes)
    try:
        it = OpenPage(reads, writes)
        target = it.call("Target.createTarget", url=f"file://{page}{at}")["targetId"]
        it.session = it.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        it.until("location.protocol === 'file:' && document.readyState === 'complete'")
        yield it
    finally:
        process.kill()
        process.wait()
        os.close(reads)
        os.close(writes)
