"""The page of the site that runs kernels in the browser: an editor around the command as WebAssembly.

    python3 tools/browser_page.py MODULE SOURCE    SOURCE/_extra/browser, from the module in the folder MODULE

SOURCE is what `tools/site_pages.py stage` made; its page guides/browser.md gets the page as a frame, with a link. The
module and the worker's scripts are one script, command.js, because a page that was opened as a file may fetch nothing
and start no worker from a file. `./dev site --browser` runs this.
"""

import base64
import dataclasses
import gzip
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "conformance"))

import case_files  # noqa: E402

FOLDER = ROOT / "docs/site/browser"
# A case, and what the list of examples calls it.
EXAMPLES = {
    "elementwise/add": "Add two arrays",
    "findings/race_rw_wrong": "A race on a GPU (Triton)",
    "findings/uninit_wrong": "Memory that was never written, on a TPU",
    "findings/deadlock_wrong": "A deadlock of barriers (Mosaic GPU)",
    "gpu_corpus/006_ring_no_backpressure_2_clean": "A ring of two slots on Hopper",
}
SEEDS = 16
FRAME = """
## The page

<iframe src="../browser/index.html" title="Palladion in the browser" loading="lazy" class="gallery"></iframe>

<a href="../browser/index.html">Open this page alone</a>
"""


@dataclasses.dataclass(frozen=True)
class Example:
    title: str
    text: str  # why the case is there
    target: str
    seeds: int
    kernel: str
    inputs: str


def example_of(case: str, title: str) -> Example:
    head, _, rest = case_files.text_of(case).partition("--- kernel\n")
    kernel, _, after = rest.partition("--- inputs\n")
    said = dict(re.findall(r"^# (target|schedules): (.*)$", head, re.MULTILINE))
    prose = [line[2:] for line in head.splitlines() if not re.match(r"# [a-z]+: ", line)]
    kernel = re.sub(r"[ \t]*//~[^\n]*", "", kernel)  # the reader shall find it
    inputs = after.partition("--- expect")[0].strip()
    return Example(title, "\n".join(prose), said.get("target", ""), int(said.get("schedules", SEEDS)), kernel, inputs)


def targets() -> list[str]:
    return ["generic", *sorted(path.stem for path in (ROOT / "emu/chip/machines").glob("*.machine"))]


def script(value: object) -> str:
    """JSON that may stand in a <script> of a page."""
    return json.dumps(value).replace("<", "\\u003c")


def page() -> str:
    examples = [dataclasses.asdict(example_of(case, title)) for case, title in EXAMPLES.items()]
    text = (FOLDER / "page.html").read_text(encoding="utf-8")
    return text.replace("/*EXAMPLES*/ []", script(examples)).replace("/*TARGETS*/ []", script(targets()))


def command(module: pathlib.Path) -> str:
    """The script that holds the module: the same bytes of the same module."""
    wasm = gzip.compress((module / "palladion.wasm").read_bytes(), compresslevel=9, mtime=0)
    parts = (module / "palladion.js", FOLDER / "call.js", FOLDER / "worker.js")
    scripts = [path.read_text(encoding="utf-8") + "\n" for path in parts]
    return f"const COMMAND = {{scripts: {script(scripts)}, module: {script(base64.b64encode(wasm).decode())}}};\n"


def main(module: pathlib.Path, source: pathlib.Path) -> None:
    folder = source / "_extra/browser"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page(), encoding="utf-8")
    (folder / "command.js").write_text(command(module), encoding="utf-8")
    for name in ("page.js", "page.css"):
        shutil.copy(FOLDER / name, folder)
    guide = source / "guides/browser.md"
    guide.write_text(guide.read_text(encoding="utf-8") + FRAME, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
