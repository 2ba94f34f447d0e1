"""Fixes that are a change of the kernel text, made: what a finding has as `edits` is put into the text, so that a test
can look whether the finding is gone. A fix that needs more than a line or two (a new barrier, another algorithm) has
none.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))


class Text:
    """The lines of a kernel text, numbered from 1."""

    def __init__(self, text: str):
        self.lines = text.split("\n")

    def indent(self, number: int) -> str:
        return re.match(r" *", self.lines[number - 1])[0]

    def end_of_statement(self, number: int) -> int:
        return next(
            at for at in range(number, len(self.lines) + 1) if self.lines[at - 1].split("//")[0].rstrip().endswith(";")
        )

    def end_of_region(self, number: int) -> int:
        """The `return` of the region that the line is in."""
        own = self.indent(number)
        return next(at for at in range(number, len(self.lines) + 1) if self.lines[at - 1].startswith(f"{own}return"))

    def set(self, edit: dict) -> None:
        """An attribute has another value: of the next one that has it, or of what is declared as `of`, which may not
        have it yet.
        """
        where, name = re.escape(edit["of"]), edit["name"]
        for at in range(edit["line"] - 1, len(self.lines)):
            line = self.lines[at]
            declared = re.search(rf'ref<[^%]*> as "{where}"', line) if edit["of"] else re.search(rf"\b{name}=.*", line)
            if not declared:
                continue
            value = rf'\b{name}=(\[[^\]]*\]|"[^"]*"|[^,}}]+)'
            new, found = re.subn(value, lambda _: f"{name}={edit['value']}", declared[0], count=1)
            if not found:
                new = declared[0].replace("}", f", {name}={edit['value']}}}", 1)
            self.lines[at] = line[: declared.start()] + new + line[declared.end() :]
            return

    def apply(self, edits: list[dict]) -> str:
        text, places = Text("\n".join(self.lines)), []
        for edit in edits:
            line = edit["line"]
            if edit["where"] == "set":
                text.set(edit)
                continue
            first = {"before": line, "instead": line, "after": self.end_of_statement(line) + 1}.get(
                edit["where"]
            ) or self.end_of_region(line)
            past = self.end_of_statement(line) + 1 if edit["where"] == "instead" else first
            places.append((first, past, [self.indent(line) + new for new in edit["insert"]]))
        for first, past, new in sorted(places, reverse=True):
            text.lines[first - 1 : past - 1] = new
        return "\n".join(text.lines)


# ---- cases

_OPTIONS = ("target", "launches", "proxy", "links")


@dataclasses.dataclass
class CheckedCase:
    """A conformance case that a check finds something in."""

    name: str
    kernel: str
    arguments: list[str]


def read(name: str) -> CheckedCase | None:
    """The case "folder/name". None where it is about a text that is refused."""
    head, _, rest = case_files.text_of(name).partition("--- kernel\n")
    kernel, _, after = rest.partition("--- inputs\n")
    inputs, _, tail = after.partition("--- expect\n")
    if not after:
        kernel, _, tail = rest.partition("--- expect\n")
    said = dict(re.findall(r"(?m)^# (\w+): (.*)$", head + tail))
    if said.get("exit") in ("3", "4") or not kernel:
        return None
    arguments = ["--seeds", said.get("schedules", "16")]
    for name in _OPTIONS:
        if name in said:
            arguments += [f"--{name}", said[name]]
    for name, value in re.findall(r"(?ms)^(\S+) = (.*?)(?=^\S+ = |\Z)", inputs):
        arguments += ["--in", f"{name}={' '.join(value.split())}"]
    return CheckedCase(name, kernel, arguments)


def kernels(*folders: str, each: int = 1):
    """(name, kernel text, arguments) of the cases that something is found in, or of one of so many."""
    for name in [
        name
        for name in case_files.all_texts()
        if name.startswith(tuple(f"{folder}/" for folder in folders)) and name.endswith("_racy" if each > 1 else "")
    ][::each]:
        case = read(name)
        if case is not None and "//~" in case.kernel:
            yield name, case.kernel, case.arguments


def mutants(folder: pathlib.Path, pattern: str, kinds=("drop_sync",)):
    """The same of mutants of the cases that nothing is found in: each lacks one wait, arrival, signal or fence."""
    for name, given in case_files.texts(pattern).items():
        case = read(name)
        if case is None or "//~" in case.kernel or "# exit:" in given:
            continue
        out = folder / name.partition("/")[2]
        (folder / "right.pkir").write_text(case.kernel, encoding="utf-8")
        subprocess.run(
            [COMMAND, "mutate", str(folder / "right.pkir"), "--out", str(out)], capture_output=True, check=False
        )
        for mutant in sorted(out.glob("*.pkir")):
            if mutant.stem.rpartition("_")[0] in kinds:
                yield f"{name} {mutant.stem}", mutant.read_text(encoding="utf-8"), case.arguments


def check(kernel: str, arguments, folder: pathlib.Path, form: str = "json") -> dict:
    """The report; one without findings and with an error where there is none."""
    (folder / "kernel.pkir").write_text(kernel, encoding="utf-8")
    run = subprocess.run(
        [COMMAND, "check", str(folder / "kernel.pkir"), f"--format={form}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(run.stdout) if run.stdout else {"findings": [], "error": {"message": run.stderr}}


def _counted_by_object(report: dict) -> collections.Counter:
    return collections.Counter(_key(finding) for finding in report["findings"] if finding["severity"] != "note")


def _key(finding: dict) -> tuple:
    side = finding["second"] or finding["first"] or {}
    return finding["code"], side.get("object", "")


@dataclasses.dataclass
class Judged:
    """What became of a finding when its fix was made."""

    name: str
    finding: dict
    outcome: str  # "gone", "stays", "another", "refused"; "no edit", "symptom"
    found: tuple = ()  # what is there that was not

    def __str__(self) -> str:
        found = self.finding
        where = f"{self.name}: {found['code']} at line {found['text_line']}"
        return f"{where}: {found['fix']}: {self.outcome} {list(self.found)}"


def judge(name: str, kernel: str, arguments, folder: pathlib.Path) -> list[Judged]:
    """Each finding that counts, with its fix made alone."""
    report, text, judged = check(kernel, arguments, folder), Text(kernel), []
    before = _counted_by_object(report)
    for finding in report["findings"]:
        if finding["severity"] == "note":
            continue
        edits = [] if finding["cause"] else finding["edits"]
        if not edits:
            judged.append(Judged(name, finding, "symptom" if finding["cause"] else "no edit"))
            continue
        after = check(text.apply(edits), arguments, folder)
        counted = _counted_by_object(after)
        new = tuple(sorted(key for key in counted if counted[key] > before.get(key, 0)))
        gone = counted[_key(finding)] < before[_key(finding)]
        outcome = "refused" if after["error"] else "another" if new else "gone" if gone else "stays"
        judged.append(Judged(name, finding, outcome, new))
    return judged
