"""Every conformance case by the WebAssembly module under Node and by the native command: exit code, both streams and
every file must be the same bytes. `./dev site --browser-test`, a part of `./dev test-long`.

    python3 conformance/browser_cases.py [--command FILE] [--module FOLDER] [PATTERN...]

Each case is run (`palladion run`) and checked (`palladion check`). A PATTERN is of names of cases, such as `dot/*`.
"""

import argparse
import base64
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import case_files

ROOT = pathlib.Path(__file__).resolve().parents[1]
CALLS = pathlib.Path(__file__).with_name("browser_calls.js")
# Modules keep their memory until Node collects them, so a process of Node makes no more calls than this.
CALLS_OF_A_PROCESS = 100
SEEDS = "4"  # of a case that says nothing of schedules
# Headers that are options of both commands, and of `check` alone.
SAID, SAID_OF_CHECKS = ("target", "budget"), ("proxy", "links")


@dataclasses.dataclass(frozen=True)
class Call:
    case: str
    arguments: tuple[str, ...]
    kernel: str

    @property
    def name(self) -> str:
        return f"{self.arguments[0]} of {self.case}"


@dataclasses.dataclass(frozen=True)
class Result:
    """What a call gave; `files` are the outputs, by their names."""

    code: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


def words_of(text: str) -> tuple[dict[str, str], str, list[str]]:
    """The headers of a case, its kernel, and `--in` of each input."""
    head, _, rest = text.partition("--- kernel\n")
    kernel, *after = re.split(r"^--- (\w+)\n", rest, flags=re.MULTILINE)
    sections = dict(zip(after[::2], after[1::2], strict=True))
    inputs = re.sub(r"//[^\n]*", "", sections.get("inputs", ""))
    found = re.findall(r"^(\w+)\s*=\s*(\[[^\]]*\]|[^\n]*?)\s*$", inputs, re.MULTILINE)
    words = [word for name, value in found for word in ("--in", f"{name}={''.join(value.split())}")]
    return dict(re.findall(r"^# (\w+): (.*)$", head, re.MULTILINE)), kernel, words


def calls_of(case: str, text: str) -> list[Call]:
    headers, kernel, inputs = words_of(text)
    said, of_checks = (
        [word for name in names if name in headers for word in (f"--{name}", headers[name])]
        for names in (SAID, SAID_OF_CHECKS)
    )
    run = ("run", "kernel.pkir", *inputs, *said, "--legality", "off", "--out", "out")
    check = ("check", "kernel.pkir", *inputs, *said, *of_checks, "--seeds", headers.get("schedules", SEEDS))
    return [Call(case, run, kernel), Call(case, check, kernel)]


def natively(command: list[str], call: Call) -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "kernel.pkir").write_text(call.kernel, encoding="utf-8")
        done = subprocess.run([*command, *call.arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
        written = [path for path in folder.rglob("*") if path.is_file() and path.name != "kernel.pkir"]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in written}
        return Result(done.returncode, done.stdout, done.stderr, files)


def in_module(folder: str, calls: list[Call]) -> list[Result | str]:
    """The results of one process of Node; of a call that failed, why."""
    wanted = [{"arguments": call.arguments, "files": {"kernel.pkir": call.kernel}} for call in calls]
    with tempfile.TemporaryDirectory() as name:
        written = pathlib.Path(name, "results.json")
        command = ["node", "--no-experimental-fetch", str(CALLS), folder, str(written)]
        done = subprocess.run(command, input=json.dumps(wanted), capture_output=True, text=True)
        if done.returncode or not written.exists():
            return [f"Node ended with {done.returncode}: {done.stderr[-2000:]}"] * len(calls)
        results = json.loads(written.read_text(encoding="utf-8"))
    return [found.get("failed") or result_of(found) for found in results]


def result_of(found: dict) -> Result:
    files = {name: base64.b64decode(content) for name, content in found["files"].items()}
    return Result(found["code"], base64.b64decode(found["stdout"]), base64.b64decode(found["stderr"]), files)


def difference(native: Result, module: Result | str) -> str | None:
    """What differs, in a few lines; None: nothing."""
    if isinstance(module, str):
        return f"the module failed: {module}"
    if native.code != module.code:
        return f"exit code {native.code}, in the module {module.code}: {module.stderr.decode(errors='replace')[-500:]}"
    for stream in ("stdout", "stderr"):
        one, other = getattr(native, stream), getattr(module, stream)
        if one != other:
            pairs = zip(one.splitlines() + [b""], other.splitlines() + [b""])
            first = next(((a, b) for a, b in pairs if a != b), (one[-200:], other[-200:]))
            return f"{stream}: {first[0]!r}, in the module {first[1]!r}"
    if sorted(native.files) != sorted(module.files):
        return f"files {sorted(native.files)}, in the module {sorted(module.files)}"
    differ = [name for name, content in native.files.items() if module.files[name] != content]
    return f"the bytes of {', '.join(differ)}" if differ else None


def compare(command: str, module: str, calls: list[Call]) -> list[str]:
    natives = [natively([command], call) for call in calls]
    found = []
    for call, native, other in zip(calls, natives, in_module(module, calls), strict=True):
        what = difference(native, other)
        if what is not None:
            found.append(f"{call.name}: {what}")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev site --browser-test", description=__doc__.split("\n", 1)[0])
    parser.add_argument("pattern", nargs="*", help="names of cases, such as dot/*; without any, all cases")
    parser.add_argument("--command", default=str(ROOT / "build/palladion"), help="the native command")
    parser.add_argument("--module", default=str(ROOT / "build-wasm"), help="the folder with palladion.js")
    options = parser.parse_args(arguments)
    names = {name for pattern in options.pattern or ["*/*"] for name in case_files.texts(pattern)}
    calls = [call for name in sorted(names) for call in calls_of(name, case_files.text_of(name))]
    if not calls:
        parser.error("no case has such a name")
    parts = [calls[at : at + CALLS_OF_A_PROCESS] for at in range(0, len(calls), CALLS_OF_A_PROCESS)]
    jobs = int(os.environ.get("PALLADION_JOBS", os.cpu_count() or 1))
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda part: compare(options.command, options.module, part), parts):
            differ += len(found)
            for line in found:
                print(line, flush=True)
    print(f"{len(calls)} calls of {len(names)} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
