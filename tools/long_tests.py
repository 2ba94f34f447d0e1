"""What `./dev test-long` runs: the sweeps of which `./dev test` has a sample, part by part, and how each ended.

    python3 tools/long_tests.py            the parts that have not passed at this commit
    python3 tools/long_tests.py PART...    these, whatever the record says
    python3 tools/long_tests.py --list     the parts, and the last result of each

A part is another command of `./dev`. As soon as one ends, its result is written to tools/long_tests.json and
docs/develop/long-tests.md, so a run that is stopped goes on with the next part. python/tests/test_long_tests.py fails
where a result is older than 30 days.
"""

import argparse
import dataclasses
import datetime
import json
import os
import subprocess
import sys
import time

import measured_part

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = os.path.join(ROOT, "tools/long_tests.json")
PAGE = os.path.join(ROOT, "docs/develop/long-tests.md")
WRITTEN = ("tools/long_tests.json", "docs/develop/long-tests.md", "docs/develop/mutants.md")  # by a run itself
DAYS = 30
PASSED = "passed"


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    what: str
    count: str
    command: tuple[str, ...]


def hunt(family: str, kernels: int, what: str) -> Part:
    words = () if family == "threads" else (family,)
    command = ("hunt", *words, str(kernels))
    return Part(f"hunt-{family}", f"verdicts of random kernels {what}", f"{kernels} kernels", command)


PARTS = (
    hunt("threads", 10000, "of threads, grids and TPU cores"),
    hunt("tensor", 2000, "of Blackwell's tensor memory"),
    hunt("tpu", 2000, "of TPUs"),
    hunt("loops", 2000, "with loops that wait"),
    hunt("pipelines", 2000, "with pipelined blocks"),
    hunt("clusters", 2000, "of clusters"),
    hunt("warps", 2000, "of single warps"),
    hunt("credits", 2000, "with credits"),
    hunt("cancel", 2000, "of cluster launch control"),
    hunt("lanes", 10000, "whose lanes meet in memory"),
    Part("metamorphic", "every case with every harmless operation", "all pairs", ("metamorphic",)),
    Part(
        "metamorphic-shipped",
        "JAX's own kernels with every harmless operation",
        "all pairs",
        ("metamorphic", "--shipped"),
    ),
    Part("differential", "random kernels here and in JAX's interpreters", "3000 kernels", ("differential", "3000")),
    Part("mutants", "which tests notice a broken place", "200 places", ("mutants",)),
    Part("sanitized", "all C++ tests of the build with sanitizers", "all tests", ("test", "sanitized")),
    Part("threads", "what uses host threads, under ThreadSanitizer", "three test programs", ("test-threads",)),
    Part("debian", "both builds and all tests of the release on Debian 13", "all tests", ("test-debian", "13")),
    Part("notebooks", "the course's notebooks in Jupyter's kernel", "15 chapters", ("site", "--notebooks")),
    Part("browser", "every case as WebAssembly and natively, byte for byte", "all cases", ("site", "--browser-test")),
    Part("golden", "what JAX's lowerings refuse, asked again", "all kernels", ("golden",)),
    Part("exhaustive", "functions and conversions over every input of a type", "all inputs", ("exhaustive",)),
)


def git(*words: str, root: str = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True).stdout.strip()


def commit(root: str = ROOT) -> str:
    """The commit that is tested. What a run itself writes is no change of it."""
    changed = git("status", "--porcelain", "--", ".", *(f":!{path}" for path in WRITTEN), root=root)
    return (git("rev-parse", "--short=10", "HEAD", root=root) or "no git checkout") + ("-dirty" if changed else "")


def read(path: str = RECORD) -> dict:
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def table(record: dict) -> str:
    rows = ["| part | what | count | result | commit | date |", "|---|---|---|---|---|---|"]
    for part in PARTS:
        last = record[part.name]
        result, date = last.get("result", "not run yet"), last.get("date", f"listed {last['listed']}")
        rows.append(f"| `{part.name}` | {part.what} | {part.count} | {result} | {last.get('commit', '')} | {date} |")
    return "\n".join(rows) + "\n"


def stale(record: dict, today: datetime.date) -> list[str]:
    """What is wrong with a record on the day `today`: parts that did not pass, or not in the 30 days before it.

    A part that has never run counts from the day on which it was listed.
    """
    found = []
    for part in PARTS:
        last = record.get(part.name)
        again = f"run ./dev test-long {part.name} and commit what it writes"
        if last is None:
            found.append(f"{part.name} is not in tools/long_tests.json: {again}")
            continue
        date = last.get("date", last["listed"])
        if last.get("result", PASSED) != PASSED:
            found.append(f"{part.name} {last['result']} at {last['commit']}: mend it, then {again}")
        elif (today - datetime.date.fromisoformat(date)).days > DAYS:
            was = "was last run" if "date" in last else "has never run and was listed"
            found.append(
                f"{part.name} {was} on {date}, more than {DAYS} days before the last commit ({today}): {again}"
            )
    return found


def waiting(record: dict, at: str) -> list[Part]:
    """The parts that have not passed at the commit `at`; in a tree with changes all of them, as it has no name."""

    def passed(last):
        return not at.endswith("-dirty") and last.get("commit") == at and last.get("result") == PASSED

    return [part for part in PARTS if not passed(record.get(part.name, {}))]


def run(part: Part, dev: str) -> str:
    folder = os.path.join(ROOT, "build/logs")
    os.makedirs(folder, exist_ok=True)
    log = os.path.join(folder, f"long-{part.name}.log")
    began = time.monotonic()
    print(f"{part.name}: ./dev {' '.join(part.command)} (log: build/logs/long-{part.name}.log)", flush=True)
    with open(log, "w", encoding="utf-8") as stream:
        status = subprocess.run(
            [dev, *part.command], stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, check=False
        ).returncode
    result = PASSED if status == 0 else f"failed (exit code {status})"
    print(f"{part.name}: {result} in {(time.monotonic() - began) / 60:.0f} min", flush=True)
    return result


def run_and_record(parts: list[Part], dev: str, record_path: str = RECORD, page: str = PAGE) -> bool:
    good = True
    for part in parts:
        at = commit()
        result = run(part, dev)
        # Read again: another part may have been recorded meanwhile.
        record = read(record_path)
        today = datetime.date.today().isoformat()
        listed = record.get(part.name, {}).get("listed", today)
        record[part.name] = {"listed": listed, "result": result, "commit": at, "date": today}
        with open(record_path, "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=2)
            stream.write("\n")
        measured_part.write(page, "long-tests", table(record))
        good &= result == PASSED
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test-long", description="Runs the long tests, part by part.")
    parser.add_argument("part", nargs="*", help="parts to run; without any, those that have not passed at this commit")
    parser.add_argument("--list", action="store_true", help="print the parts and their last results")
    arguments = parser.parse_args()
    known = {part.name: part for part in PARTS}
    unknown = [name for name in arguments.part if name not in known]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(known)}")
    if arguments.list:
        print(table(read()), end="")
        return 0
    parts = [known[name] for name in arguments.part] or waiting(read(), commit())
    if not parts:
        print("every part has passed at this commit")
    return 0 if run_and_record(parts, os.path.join(ROOT, "dev")) else 1


if __name__ == "__main__":
    sys.exit(main())
