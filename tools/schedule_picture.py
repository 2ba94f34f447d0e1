"""Writes docs/schedule.svg: the picture of the kernel in docs/schedule-pictures.md. By hand, after the drawing has
changed; that the page's blocks run is tested by python/tests/test_doc_blocks.py."""

import importlib
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, PICTURE = ROOT / "docs/schedule-pictures.md", ROOT / "docs/schedule.svg"


def main() -> None:
    source = re.search(r"```python file=handoff.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "handoff.py").write_text(source, encoding="utf-8")
        sys.path[:0] = [folder, str(ROOT / "python")]
        import palladion

        handoff = importlib.import_module("handoff")
        report = palladion.check(handoff.handoff, handoff.x, target="h100")
        palladion.draw_schedule(report).save(PICTURE)


if __name__ == "__main__":
    main()
