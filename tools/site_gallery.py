"""The site's gallery: pages that the product makes of kernels which stand in docs/, each with the command that made it.

    python3 tools/site_gallery.py FOLDER    the pages in FOLDER, and gallery.md beside it

Programs and commands run in a folder of their own, as a reader would run them. A command that fails, or that does not
write its page, is an error.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
INTRODUCTION = """# Gallery

Pages that Palladion writes, made of kernels in these docs when this site was built. Each is one file without anything
from elsewhere: click in it, or open it alone.
"""


@dataclasses.dataclass(frozen=True)
class Picture:
    """`program` is a block of the page `of` in docs/ (`file=NAME`); `command` writes the page `name`.html: a command
    line, or Python behind that program.
    """

    name: str
    title: str
    text: str
    of: str
    program: str
    command: str


PICTURES = (
    Picture(
        "failing-schedule",
        "The schedule in which a kernel fails",
        "Who did what in which order, and the edge that is missing; the arrow keys step through the operations.",
        "guides/schedule-pictures.md",
        "handoff.py",
        'palladion.draw_schedule(handoff, x, target="h100").save("failing-schedule.html")',
    ),
    Picture(
        "hopper-timeline",
        "Where the time of a Hopper kernel goes",
        "Threads, barriers, copies and tensor cores of one SM; click a wait to see what ended it.",
        "guides/timeline.md",
        "ring.py",
        "palladion time ring.pkir --in a=zeros --in b=zeros --page hopper-timeline.html",
    ),
    Picture(
        "tpu-timeline",
        "Where the time of a TPU kernel goes",
        "Steps of the grid, the buffers of its blocks, copies and units of one core.",
        "guides/timeline.md",
        "blocks.py",
        "palladion time blocks.pkir --in x=zeros --in y=zeros --page tpu-timeline.html",
    ),
    Picture(
        "programs",
        "What each program of the grid touches",
        "Step through the programs with the arrow keys: what each reads and writes of every operand.",
        "guides/timeline.md",
        "blocks.py",
        "palladion trace blocks.pkir --view programs --in x=zeros --in y=zeros --page programs.html",
    ),
)


def program_of(picture: Picture) -> str:
    text = (ROOT / "docs" / picture.of).read_text(encoding="utf-8")
    found = re.search(rf"^```python[^\n]*file={re.escape(picture.program)}[^\n]*\n(.*?)^```", text, re.M | re.S)
    if not found:
        raise SystemExit(f"docs/{picture.of} has no block file={picture.program}")
    return found[1]


def is_python(picture: Picture) -> bool:
    return not picture.command.startswith("palladion ")


def made(picture: Picture, folder: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        at = pathlib.Path(name)
        (at / picture.program).write_text(program_of(picture), encoding="utf-8")
        if is_python(picture):
            (at / picture.program).write_text(f"{program_of(picture)}\nimport palladion\n\n{picture.command}\n")
            steps = [[sys.executable, picture.program]]
        else:
            steps = [[sys.executable, picture.program], [sys.executable, "-m", *picture.command.split()]]
        for step in steps:
            done = subprocess.run(step, cwd=at, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{picture.name}: {' '.join(step)} failed:\n{done.stdout}{done.stderr}")
        (folder / f"{picture.name}.html").write_bytes((at / f"{picture.name}.html").read_bytes())


def entry(picture: Picture) -> str:
    page = f"gallery/{picture.name}.html"
    stem = pathlib.PurePath(picture.of).stem
    return f"""
## {picture.title}

{picture.text} The kernel is that of [{stem}]({picture.of}).

```{"python" if is_python(picture) else "sh"}
{picture.command}
```

<iframe src="{page}" title="{picture.title}" loading="lazy" class="gallery"></iframe>

<a href="{page}">Open this page alone</a>
"""


def main(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        made(picture, folder)
    page = folder.parent.parent / "gallery.md"
    page.write_text(INTRODUCTION + "".join(map(entry, PICTURES)), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
