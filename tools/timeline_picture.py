"""Writes docs/timeline.png: the page of the kernel in docs/timeline.md, with a wait selected, in chromium without a
window. By hand, after the page or the model has changed: fonts differ between hosts, so no test compares it."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURE, COMMAND = ROOT / "docs/timeline.png", ROOT / "build/palladion"
sys.path.insert(0, str(ROOT / "python/tests"))

from browser_pages import browser  # noqa: E402


def main() -> None:
    kernel = re.search(r"```python file=ring.py\n(.*?)```", (ROOT / "docs/timeline.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ring.py").write_text(kernel, encoding="utf-8")
        subprocess.run([ROOT / ".venv/bin/python", "ring.py"], cwd=folder, check=True, env={"PYTHONPATH": str(ROOT / "python")})
        subprocess.run([COMMAND, "time", "ring.pkir", "--in", "a=zeros", "--in", "b=zeros", "--page", "ring.html"], cwd=folder, check=True)
        browser(folder / "ring.html", f"--screenshot={PICTURE}", "--window-size=1360,820", at="#from=1300&to=4600&span=115")


if __name__ == "__main__":
    main()
