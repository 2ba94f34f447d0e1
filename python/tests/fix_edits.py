"""Fixes that are a change of the kernel text, made: what a finding says is put into the text as an edit, so that a test can look
whether the finding is gone. A fix that names no call, or one that needs more than a line (a new barrier, another algorithm), has none.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "conformance" / "cases"
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))

_AT = r"(?:access|issue) at line (\d+) of the kernel text"
_WORDS = {"plgpu.wgmma_wait(0)": "wgmma_wait(0:i32);", "plgpu.commit_tmem()": "commit_tmem();", "plgpu.wait_load_tmem()": "wait_load_tmem();",
          "plgpu.wait_smem_to_gmem(0)": "wait_smem_to_gmem{wait_read_only=false}(0:~i32);"}


@dataclasses.dataclass
class Edit:
    """One change: `insert` before the line (from 1), or instead of it."""

    line: int
    insert: str
    instead: bool = False


class Text:
    """The lines of a kernel text."""

    def __init__(self, text: str):
        self.lines = text.split("\n")

    def __getitem__(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def indent(self, number: int) -> str:
        return re.match(r" *", self[number])[0]

    def end_of_region(self, number: int) -> int:
        """The `return` of the region that the line is in."""
        own = len(self.indent(number))
        for at in range(number + 1, len(self.lines) + 1):
            if len(self.indent(at)) == own and self[at].strip().startswith("return"):
                return at
            if self[at].strip() and len(self.indent(at)) < own:
                break
        return 0

    def apply(self, edits) -> str:
        lines = list(self.lines)
        for edit in sorted(edits, key=lambda edit: -edit.line):
            new = [self.indent(edit.line) + edit.insert] if edit.insert else [""]
            lines[edit.line - 1:edit.line - 1 + edit.instead] = new
        return "\n".join(lines)


def _issue_line(finding: dict, other_than: int = 0) -> int:
    """Where the operation that is to be awaited is issued."""
    for side in (finding["first"], finding["second"]):
        if side and " issued by " in side["agent"] and side["text_line"] != other_than:
            return side["text_line"]
    return finding["first"]["text_line"] if finding["first"] else 0


def wait_for(call: str, issue: str) -> str:
    """The line that makes the call for the operation that the line `issue` starts."""
    if call in _WORDS:
        return _WORDS[call]
    copy = re.search(r"dma_start\{device_id_type=(\w+), [^}]*\}\((.*)\);", issue)
    if copy and call in ("copy.wait()", "copy.wait_recv()"):
        return f"dma_wait{{device_id_type={copy[1]}, insert_dummy_device=false}}({copy[2]});"
    barrier = re.search(r"barrier=(%\w+(?:\.\w+\[[^\]]*\])?)", issue)
    if barrier and call.startswith("plgpu.barrier_wait("):
        return f"barrier_wait(barrier={barrier[1]});"
    return ""


def _moved(text: Text, before: int, wait: str) -> list[Edit]:
    """The wait before the line, and not where it was after it: a barrier, or a semaphore, takes no more waits than there are completions."""
    edits = [Edit(before, wait)]
    if not wait.startswith(("barrier_wait", "dma_wait")) or _lacks_one(text, wait):
        return edits
    end = text.end_of_region(before) or before
    for at in range(before, end):
        if text[at].split("//")[0].strip() == wait and text.indent(at) == text.indent(before):
            return [*edits, Edit(at, "", instead=True)]
    return edits


def _lacks_one(text: Text, wait: str) -> bool:
    """There are more completions of the barrier, or of the semaphore, than waits for them."""
    of = re.search(r"(?:barrier|dst_sem)=%[^,;)]*", wait)[0]
    told = [line for line in text.lines if re.search(re.escape(of) + r"(?![\w.\[])", line)]
    return sum("_wait" in line for line in told) < sum("_wait" not in line for line in told)


def _wait(finding: dict, text: Text) -> list[Edit]:
    found = re.fullmatch(rf"(\S+\([^)]*\))(?: in [^,]+, the receiver,)? before the {_AT}", finding["fix"])
    if not found:
        return []
    before, issue = int(found[2]), _issue_line(finding, int(found[2]))
    wait = wait_for(found[1], text[issue])
    seen = len(text.indent(issue)) <= len(text.indent(before))  # what it names is defined there too
    return _moved(text, before, wait) if wait and issue < before and seen else []  # else it is of a turn before, of a loop or the grid


def _wait_at_end(finding: dict, text: Text) -> list[Edit]:
    found = re.fullmatch(r"(\S+\([^)]*\)) before the (?:kernel ends|scope of '.*' ends)", finding["fix"])
    issue = _issue_line(finding)
    wait = wait_for(found[1], text[issue]) if found else ""
    end = text.end_of_region(issue)
    if not wait or not end:
        return []
    if wait.startswith(("barrier_wait", "dma_wait")) and _lacks_one(text, wait):
        return [Edit(end, wait)]
    after = next((at for at in range(end, len(text.lines)) if text[at].split("//")[0].strip() == wait), 0)
    return [Edit(end, wait), *([Edit(after, "", instead=True)] if after else [])]


def _fence(finding: dict, text: Text) -> list[Edit]:
    after = re.fullmatch(rf"plgpu\.commit_smem\(\) after the {_AT}(?: and before the {_AT})?", finding["fix"])
    if after:
        return [Edit(int(after[1]) + 1, "commit_smem();")]
    between = re.match(r"(plgpu\.commit_smem|plt\.debug_barrier)\(\) between the two accesses", finding["fix"])
    first, second = finding["first"], finding["second"]
    if not between or not first or first["text_line"] >= second["text_line"]:
        return []
    return [Edit(second["text_line"], between[1].split(".")[1] + "();")]


def _flag(finding: dict, text: Text) -> list[Edit]:
    """Of a barrier or of a wait: one word is another."""
    barrier = re.fullmatch(r"orders_tensor_core=True for the plgpu\.Barrier of (\w+)(?:\[\d+\])?", finding["fix"])
    scope = finding["fix"].startswith('memory_scope="sys" for that wait')
    for number, line in enumerate(text.lines, 1):
        if barrier and f'as "{barrier[1]}"' in line and "orders_tensor_core=false" in line:
            declared = re.sub(rf'orders_tensor_core=false(\}}[^"]*as "{barrier[1]}")', r"orders_tensor_core=true\1", line)
            return [Edit(number, declared.strip(), instead=True)]
        if scope and 'memory_scope="gpu"' in line and "wait" in line:
            return [Edit(number, line.strip().replace('"gpu"', '"sys"'), instead=True)]
    return []


def _arbitrary(finding: dict, text: Text) -> list[Edit]:
    which = re.search(r"they differ in grid dimensions? (\d+)", finding["why"])
    if '"arbitrary" for the dimension' not in finding["fix"] or not which:
        return []
    for number, line in enumerate(text.lines, 1):
        found = re.search(r"dimension_semantics=\[([^\]]*)\]", line)
        if found:
            words = found[1].split(", ")
            words[int(which[1])] = '"arbitrary"'
            return [Edit(number, line.strip().replace(found[1], ", ".join(words)), instead=True)]
    return []


def _zeros(finding: dict, text: Text) -> list[Edit]:
    found = re.fullmatch(r"store to (?:every element of )?'(\w+)' before it is read(?:: zeros under pl.when\(pl.program_id\((\d)\) == 0\))?",
                         finding["fix"])
    for number, line in enumerate(text.lines, 1):
        if not found or not line.lstrip().startswith("body @"):
            continue
        ref = re.search(rf'(%\w+): ref<\w+,(([fi]\d+)\[([\d,]+)\])> as "{found[1]}"', line)
        if not ref or not line.rstrip().endswith("{"):
            return []
        zero = "0.0:" + ref[3] if ref[3][0] == "f" else "0:" + ref[3]
        store = [f"%fix_zero = broadcast_in_dim{{shape=[{ref[4]}], dims=[]}}({zero}) : {ref[2]};", f"_ = swap({ref[1]}, %fix_zero) : {ref[2]};"]
        if found[2]:
            store = [f"%fix_at = program_id{{axis={found[2]}}}() : i32[];", "%fix_first = eq(%fix_at, 0:i32) : bool[];",
                     "cond(%fix_first) { return; } {", *store, "return;", "};"]
        return [Edit(number + 1, "\n".join(store))]
    return []


def _counted(finding: dict, text: Text) -> list[Edit]:
    """A semaphore's or a barrier's rest is awaited at the end of where it was given."""
    semaphore = re.match(r"pl\.semaphore_wait\((\w+)((?:\.at\[\d+\])?), (\d+)\) before the kernel ends", finding["fix"])
    barrier = re.match(r"plgpu\.barrier_wait\((\w+)((?:\.at\[\d+\])?)\) for the last completion", finding["fix"])
    found = semaphore or barrier
    above = "\n".join(text.lines[:finding["first"]["text_line"]]) if found and finding["first"] else ""
    ref = next(reversed(list(re.finditer(rf'(%\w+): ref<[^>]*> as "{found[1]}"', above))), None) if found else None
    end = text.end_of_region(finding["first"]["text_line"]) if ref and finding["first"] else 0
    if not end:
        return []
    if barrier:
        return [Edit(end, f"barrier_wait(barrier={ref[1]}{found[2]});")]
    return [Edit(end, f"semaphore_wait(ref={ref[1]}{found[2]}, value={found[3]}:i32, decrement=true);")]


def edits_of(finding: dict, text: Text) -> list[Edit]:
    """The fix as changes of the text; none where it is no such change."""
    for make in (_wait, _wait_at_end, _fence, _flag, _arbitrary, _zeros, _counted):
        if edits := make(finding, text):
            return edits
    return []


# ---- cases

_OPTIONS = ("target", "launches", "proxy", "links")


@dataclasses.dataclass
class CheckedCase:
    """A conformance case that a check finds something in."""

    path: pathlib.Path
    kernel: str
    arguments: list[str]


def read(path: pathlib.Path) -> CheckedCase | None:
    """None where it is about a text that is refused."""
    head, _, rest = path.read_text(encoding="utf-8").partition("--- kernel\n")
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
    return CheckedCase(path, kernel, arguments)


def kernels(*folders: str, each: int = 1):
    """(name, kernel text, arguments) of the cases that something is found in, or of one of so many."""
    for path in sorted(path for folder in folders for path in (CASES / folder).rglob("*_racy.case" if each > 1 else "*.case"))[::each]:
        case = read(path)
        if case is not None and "//~" in case.kernel:
            yield path.relative_to(CASES).as_posix(), case.kernel, case.arguments


def mutants(folder: pathlib.Path, pattern: str, kinds=("drop_sync",)):
    """The same of mutants of the cases that nothing is found in: each lacks one wait, arrival, signal or fence."""
    for path in sorted(CASES.glob(pattern)):
        case = read(path)
        if case is None or "//~" in case.kernel or "# exit:" in path.read_text(encoding="utf-8"):
            continue
        out = folder / path.stem
        (folder / "right.pkir").write_text(case.kernel, encoding="utf-8")
        subprocess.run([COMMAND, "mutate", str(folder / "right.pkir"), "--out", str(out)], capture_output=True, check=False)
        for mutant in sorted(out.glob("*.pkir")):
            if mutant.stem.rpartition("_")[0] in kinds:
                yield f"{path.relative_to(CASES).as_posix()} {mutant.stem}", mutant.read_text(encoding="utf-8"), case.arguments


def check(kernel: str, arguments, folder: pathlib.Path) -> dict:
    """The report; one without findings and with an error where there is none."""
    (folder / "kernel.pkir").write_text(kernel, encoding="utf-8")
    run = subprocess.run([COMMAND, "check", str(folder / "kernel.pkir"), "--format=json", *arguments], capture_output=True, text=True, check=False)
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
        return f"{self.name}: {self.finding['code']} at line {self.finding['text_line']}: {self.finding['fix']}: {self.outcome} {list(self.found)}"


def judge(name: str, kernel: str, arguments, folder: pathlib.Path) -> list[Judged]:
    """Each finding that counts, with its fix made alone."""
    report, text, judged = check(kernel, arguments, folder), Text(kernel), []
    before = _counted_by_object(report)
    for finding in report["findings"]:
        if finding["severity"] == "note":
            continue
        edits = [] if finding["cause"] else edits_of(finding, text)
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
