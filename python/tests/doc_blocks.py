"""The code blocks of a page, and running them as a reader would, in one folder and one Python:
docs/develop/contributing.md has the words.

A block's first line says what it is (```LANGUAGE [WORD]...). What runs by itself: python, console and sh; pkir, diff
and case are read by the command. `output` is what the block before it printed. All else has to say `no-run` and why.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 300

# Runs one block of a page after the other, in one namespace, as `python FILE` would; what is not shown comes from
# comments of the page.
_DRIVER = """
import contextlib, io, json, os, sys, traceback
names = {"__name__": "__main__"}
real = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    text = json.loads(line)
    printed, failed = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(open(text, encoding="utf-8").read(), text, "exec"), names)
        except BaseException:
            failed = traceback.format_exc()
    real.write(json.dumps([printed.getvalue(), failed]) + "\\n")
    real.flush()
"""


_BLOCK = re.compile(
    r"(?:^<!-- shown:(?P<shown>[\w-]+) -->\n+)?^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$|"
    r"^<!-- run:\n(?P<setup>.*?)^-->$",
    re.DOTALL | re.MULTILINE,
)


class Wrong(AssertionError):
    """A block that does not do what its page says."""


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str  # "" of none; "setup" of a comment
    words: tuple
    text: str

    def option(self, name: str, otherwise: str = "") -> str:
        return next((word.partition("=")[2] for word in self.words if word.startswith(name + "=")), otherwise)

    @property
    def skipped(self) -> str | None:
        """The reason not to run it; None where it runs."""
        return " ".join(self.words[self.words.index("no-run") + 1 :]) if "no-run" in self.words else None

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages() -> list:
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", *found]


def blocks(page: str, text: str | None = None) -> list:
    """Of a page in order; `<!-- run: ... -->` is Python that a reader need not see, for the blocks behind it."""
    text = (ROOT / page).read_text(encoding="utf-8") if text is None else text
    found = []
    for match in _BLOCK.finditer(text):
        language, *words = (match["info"] or "").split() or [""]
        if match["shown"]:
            language, words = "shown", [match["shown"]]
        elif match["setup"]:
            language = "setup"
        found.append(
            Block(page, text.count("\n", 0, match.start()) + 1, language, tuple(words), match["setup"] or match["text"])
        )
    return found


def matches(shown: str, printed: str, part: bool) -> bool:
    """Whether the output is as shown, where `...` stands for anything; with `part` its lines are parts of printed ones,
    in this order.
    """
    shown, printed = ([line.rstrip() for line in text.strip("\n").splitlines()] for text in (shown, printed))
    patterns = [".*?".join(map(re.escape, line.split("..."))) for line in shown]
    if not part:
        return re.fullmatch("\n".join(patterns), "\n".join(printed), re.DOTALL) is not None
    rest = iter(printed)
    return all(any(re.search(pattern, line) for line in rest) for pattern in patterns)


def _differs(block, shown, printed):
    return Wrong(f"{block}: the page shows\n{shown}\nand what is printed is\n{printed}")


class Reader:
    """A reader that types a page's blocks, in `folder`."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.printed = ""  # by the block that ran last
        self.kernel = None  # the last block of kernel text, or of Python that another test runs
        self.python = None
        self._lay_out()

    def _lay_out(self):
        """What a reader of the README has: the built command, a Python, both found by name too."""
        commands = self.folder / ".bin"
        commands.mkdir()
        module = {
            "python": "",
            "python3": "",
            "pytest": " -m pytest",
            "palladion": " -m palladion",
            "palladion-export": " -m palladion.jax.export_command",
        }
        for name, arguments in module.items():
            (commands / name).write_text(
                f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{arguments} "$@"\n', encoding="utf-8"
            )
            (commands / name).chmod(0o755)
        (self.folder / ".venv").mkdir()
        (self.folder / ".venv/bin").symlink_to(commands)
        for name in ("build", "tools"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "dev").write_text(f'#!/bin/sh\nexec {shlex.quote(str(ROOT / "dev"))} "$@"\n', encoding="utf-8")
        (self.folder / "dev").chmod(0o755)
        self.environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "PATH": f"{commands}:{os.environ['PATH']}"}

    def close(self):
        if self.python is not None:
            self.python.stdin.close()
            self.python.wait(SECONDS)

    def read(self, block: Block):
        """Wrong where the block does not do what it says."""
        if block.skipped == "":
            raise Wrong(f"{block}: no-run needs a reason behind it")
        how = getattr(self, f"_{block.language}", None) if block.skipped is None else self._not_run
        if how is None:
            raise Wrong(
                f"{block}: a block of {block.language or 'no language'} does not run by itself; say what it is "
                f"(python, console, sh, "
                "output, pkir, diff, case, cpp), or `no-run` and why (docs/develop/contributing.md)"
            )
        how(block)

    def _not_run(self, block):
        self.printed = None  # what it would print is not known

    def _command(self, block, line):
        run = subprocess.run(
            ["bash", "-e", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        printed = (run.stdout + run.stderr).replace(f"{self.folder}/", "")
        if run.returncode != int(block.option("exit", "0")):
            raise Wrong(f"{block}: `{line.strip()}` ends with {run.returncode}:\n{printed}")
        return printed.replace(f"{ROOT}/", "")

    def _sh(self, block):
        self.printed = self._command(block, block.text)

    def _console(self, block):
        """Lines behind `$ ` are typed, the others are what they print."""
        for typed, shown in re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
            self.printed = self._command(block, typed)
            if shown and not matches(shown, self.printed, "part" in block.words):
                raise _differs(block, shown, self.printed)

    def _output(self, block):
        if self.printed is not None and not matches(block.text, self.printed, "part" in block.words):
            raise _differs(block, block.text, self.printed)

    def _setup(self, block):
        printed = self.printed
        self._python(block)
        self.printed = printed  # what is compared is what the reader typed

    def _shown(self, block):
        """Behind `<!-- shown:NAME -->`: a tool of the page's name writes it, whose own test compares it."""
        tool = ROOT / "tools" / (pathlib.Path(block.page).stem.replace("-", "_") + ".py")
        if not tool.is_file():
            raise Wrong(f"{block}: there is no {tool.relative_to(ROOT)}, which would print it")

    def _cpp(self, block, text=None):
        """C++, or CMake's language, that a test compiles and runs: it stands in that test's source, word for word.
        So does Python that says so.
        """
        if not block.option("from"):
            raise Wrong(f"{block}: {block.language} needs from=FILE, the test that it is a part of")
        source = ROOT / block.option("from")
        if not source.is_file() or (text or block.text) not in source.read_text(encoding="utf-8"):
            raise Wrong(f"{block}: this is not in {block.option('from')} as it stands here")
        self.printed = None  # what it prints the test compares

    _cmake = _cpp

    def _text(self, block):
        """What a reader puts into a file."""
        if not block.option("file"):
            raise Wrong(f"{block}: text needs file=NAME, where a reader puts it, or no-run and why")
        (self.folder / block.option("file")).write_text(block.text, encoding="utf-8")

    def _python(self, block):
        if block.option("from"):
            self._cpp(block)
            self.kernel = block.text
            return
        path = self.folder / block.option("file", f"line_{block.line}.py")
        path.write_text(block.text, encoding="utf-8")
        if "only-file" in block.words:
            return
        if self.python is None:
            self.python = subprocess.Popen(
                [sys.executable, "-c", _DRIVER],
                cwd=self.folder,
                env=self.environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        self.python.stdin.write(json.dumps(str(path)) + "\n")
        self.python.stdin.flush()
        printed, failed = json.loads(self.python.stdout.readline() or '["", "Python has ended"]')
        if failed:
            raise Wrong(f"{block}: {failed}")
        self.printed = printed.replace(f"{self.folder}/", "")

    def _pkir(self, block, text=None):
        (self.folder / "block.pkir").write_text(text or block.text, encoding="utf-8")
        self._command(block, "build/palladion show block.pkir > /dev/null || [ $? = 3 ]")  # 3: right, and not run yet
        self.kernel = text or block.text

    def _diff(self, block):
        if block.option("from"):
            self._cpp(block, patched(self.kernel, block))
            return
        self._pkir(block, patched(self.kernel, block))

    def _case(self, block):
        (self.folder / "block.case").write_text(block.text, encoding="utf-8")
        self.printed = self._command(block, "build/palladion conformance block.case")


def patched(text: str, block: Block) -> str:
    """`text` with the change that the block shows: its lines stand one behind the other, with others between them left
    out.
    """
    left, result = text.splitlines(), []
    for line in block.text.splitlines():
        mark, line = line[:1], line[2:]
        if mark == "+":
            result.append(line)
            continue
        if line.strip() == "...":
            continue
        while left and left[0] != line:
            result.append(left.pop(0))
        if not left:
            raise Wrong(f"{block}: the text before it has no line {line!r} there")
        kept = left.pop(0)
        if mark != "-":
            result.append(kept)
    return "\n".join([*result, *left]) + "\n"
