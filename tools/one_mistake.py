"""Writes docs/learn/one-mistake.md anew, or says how it differs: one wrong kernel as text, in Python, in a notebook,
under pytest, in SARIF.

    .venv/bin/python tools/one_mistake.py --write      (./dev docs does)

The page's blocks after a comment `shown:NAME` are what really is printed. Hashes of kernels and inputs, times and
folders are left out of the comparison (python/tests/test_one_mistake.py), because they say nothing of the shape.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/learn/one-mistake.md"
PICTURE = ROOT / "docs/learn/one-mistake.svg"
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
BLOCK = re.compile(
    r"(<!-- shown:(?P<name>[\w-]+) -->\n\n?)(?P<fence>`{3,})(?P<kind>[^\n]*)\n(?P<body>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
PROGRAM = re.compile(r"^```python[^\n]*\n(?P<program>import jax\n.*?)^```$", re.DOTALL | re.MULTILINE)


def plain(text: str, folder: str) -> str:
    """Without what differs from one machine, and one run, to the next."""
    text = text.replace(f"{folder}/", "").replace(folder, "").replace(str(ROOT) + "/", "")
    return re.sub(r" in \d+\.\d+s\b", " in 1.00s", text)


def python(folder: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "110", "PY_COLORS": "0"}
    # pytest prints the whole message in its summary where CI or BUILD_NUMBER is set: the page is the same everywhere.
    for of_the_caller in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        environment.pop(of_the_caller, None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.stderr:
        raise SystemExit(done.stderr)
    return plain(done.stdout, os.path.realpath(folder))


def shown(program: str) -> dict:
    """What each block shows, by its name; `picture` is the SVG of the notebook's page."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        (pathlib.Path(folder) / "scan.py").write_text(program, encoding="utf-8")
        (pathlib.Path(folder) / "test_scan.py").write_text(
            "import scan\n\n\ndef test_last():\n    scan.last(scan.x)\n", encoding="utf-8"
        )
        parts = {
            "python": python(
                folder,
                "-c",
                "import palladion, scan\nprint(palladion.check(scan.last, scan.x, target='triton/h100'))\n",
            )
        }
        python(
            folder,
            "-c",
            "import numpy, palladion, scan\nopen('scan.pkir', 'w').write(palladion.export(scan.last, scan.x))\n"
            "numpy.save('x.npy', scan.x)\n",
        )
        command = [COMMAND, "check", "scan.pkir", "--in", "x=x.npy", "--target", "triton/h100"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.stderr:
            raise SystemExit(done.stderr)
        parts["text"] = plain(done.stdout, folder)
        parts["pytest"] = pytest_failure(
            python(
                folder,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "palladion",
                "--palladion=triton/h100",
                "--palladion-seeds=4",
                "--palladion-sarif=found.sarif",
                "test_scan.py",
            )
        )
        parts["sarif"] = sarif_result((pathlib.Path(folder) / "found.sarif").read_text(encoding="utf-8"))
        page = python(
            folder,
            "-c",
            "import palladion, scan\nwith palladion.emulate('triton/h100', seeds=4, on_defect='collect') as session:\n"
            "    scan.last(scan.x)\nprint(session.report._repr_html_())\n",
        )
    parts["notebook"] = notebook_part(page)
    parts["picture"] = picture(page)
    return parts


def pytest_failure(text: str) -> str:
    """From the first finding to the summary; the second finding is as above."""
    lines = text[text.index("E   ") if "E   " in text else 0 :].splitlines()
    return "\n".join(lines).rstrip() + "\n"


def sarif_result(text: str) -> str:
    (run,) = json.loads(text)["runs"]
    return json.dumps(next(result for result in run["results"] if result["ruleId"] == "RACE_WW"), indent=1) + "\n"


def notebook_part(page: str) -> str:
    """The words of the first finding, without tags."""
    import html

    words = re.sub(r"<svg.*?</svg>", "", page[page.index("<details") :], flags=re.DOTALL)
    words = re.sub(r"<pre[^>]*>", "\n", re.sub(r"</?(?:div|summary|details)[^>]*>", "\n", words))
    words = html.unescape(re.sub(r"<[^>]*>", "", words))
    lines = [line for line in words.split("\n") if line.strip() and line != "callers"]
    return "\n".join(lines[: next(i for i, line in enumerate(lines) if line.startswith("rule"))]) + "\n"


def picture(page: str) -> str:
    """The two pictures of the first finding side by side."""
    found = re.findall(r"<svg xmlns='[^']*' width='([\d.]+)' height='([\d.]+)'[^>]*>(.*?)</svg>", page, re.DOTALL)[:2]
    parts, left = [], 0.0
    for width, _, body in found:
        parts.append(f"<g transform='translate({left:g} 0)'>{body}</g>")
        left += float(width) + 24
    height = max(float(height) for _, height, _ in found)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{left:g}' height='{height:g}' "
        f"color='#808080'>{''.join(parts)}</svg>\n"
    )


def renewed(page: str, parts: dict) -> str:
    def block(match):
        return f"{match[1]}{match['fence']}{match['kind']}\n{parts[match['name']]}{match['fence']}"

    return BLOCK.sub(block, page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    parts = shown(PROGRAM.search(page)["program"])
    new = renewed(page, parts)
    if arguments.write:
        PAGE.write_text(new, encoding="utf-8")
        PICTURE.write_text(parts["picture"], encoding="utf-8")
        return 0
    return int(new != page or PICTURE.read_text(encoding="utf-8") != parts["picture"])


if __name__ == "__main__":
    sys.exit(main())
