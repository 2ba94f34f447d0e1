"""Writes timeline.png, timeline_triton.png and timeline_tpu.png of docs/guides: the pages of the kernels in
docs/guides/timeline.md, in chromium without a window. By hand, after the page or the model has changed: fonts differ
between hosts, so no test compares them."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUIDES, COMMAND = ROOT / "docs/guides", ROOT / "build/palladion"
sys.path.insert(0, str(ROOT / "python/tests"))

from browser_pages import browser  # noqa: E402


def span_of(page: pathlib.Path, what: str, begin: float) -> int:
    """The first span of this text that begins later."""
    data = json.loads(
        re.search(
            r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL
        )[1]
    )
    spans = data["spans"]
    return next(
        i for i, text in enumerate(spans["what"]) if data["texts"][text].startswith(what) and spans["begin"][i] > begin
    )


def draw(name: str, inputs: tuple, picture: str, at: str, select: tuple | None = None) -> None:
    source = re.search(
        rf"```python file={name}.py\n(.*?)```", (GUIDES / "timeline.md").read_text(encoding="utf-8"), re.DOTALL
    )[1]
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
        subprocess.run(
            [ROOT / ".venv/bin/python", f"{name}.py"], cwd=folder, check=True, env={"PYTHONPATH": str(ROOT / "python")}
        )
        given = [word for one in inputs for word in ("--in", f"{one}=zeros")]
        subprocess.run([COMMAND, "time", f"{name}.pkir", *given, "--page", f"{name}.html"], cwd=folder, check=True)
        selected = f"&span={span_of(folder / f'{name}.html', *select)}" if select else ""
        browser(
            folder / f"{name}.html", f"--screenshot={GUIDES / picture}", "--window-size=1360,1100", at=at + selected
        )


def main() -> None:
    draw("ring", ("a", "b"), "timeline.png", "#from=1300&to=4600", ("barrier_wait empty[1]", 2000))
    draw("tiles", ("a", "b"), "timeline_triton.png", "#from=1700&to=6100", ("dot_general waits for a copy", 3000))
    draw("blocks", ("x", "y"), "timeline_tpu.png", "#from=0&to=9000", ("wait for", 1000))


if __name__ == "__main__":
    main()
