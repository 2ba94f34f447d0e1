"""The test of our own tests: breaks places in semantics/, memory_model/ and scheduler/ one at a time,
and reports which tests notice.

    python3 tools/mutants.py make [--seed N] [--places N]   a copy of the tree in build/mutants/src, with the places as
                                                            switches
    python3 tools/mutants.py build [--jobs N]               its tests, once; places that do not compile are taken back
    python3 tools/mutants.py run [--jobs N] [--tests NAME...]
                                                            for each place the quick tests until one fails; goes on
                                                            where it was
    python3 tools/mutants.py report                         docs/develop/mutants.md from the results

A place is `palladion_mutant(N) ? broken : original`; the environment variable PALLADION_MUTANT says which N is broken,
so one build serves all. Places are found in tokens, not in a syntax tree: conditions, what is returned or assigned, and
whole statements of .cc files. Left out: headers, code that the compiler evaluates, the loops of each SIMD target (they
are held against MPFR and each other over every input), and tests that take more than a second. A survivor is a hole in
the tests or a place where broken means the same; a person decides which of the two.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import includes
import measured_part
from mutant_places import find_places

ROOT = includes.ROOT
FOLDER = os.path.join(ROOT, "build/mutants")
SOURCE = os.path.join(FOLDER, "src")
ORIGINAL = os.path.join(FOLDER, "original")  # the files of the plan as they were: others may be at work on theirs
BUILD = os.path.join(SOURCE, "build")  # inside, so that ccache sees the relative paths of every other build
PLAN, RESULTS, SEED = (os.path.join(FOLDER, name) for name in ("plan.json", "results.json", "seed"))
PARTS = ("semantics", "memory_model", "scheduler")
PER_FILE = 4
SLOW_TEST_SECONDS = 1.0
# Nearest first: most places are noticed by the first that reaches them.
BINARIES = (
    "semantics_port_test",
    "semantics_simd_test",
    "semantics_test",
    "memory_model_test",
    "scheduler_test",
    "conformance_test",
    "emu_test",
    "hunt_test",
)
SWITCH = """// Which place is broken, and which places a process came by. Written by tools/mutants.py.
#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wtype-limits"
struct PalladionMutants {
  int broken = std::getenv("PALLADION_MUTANT") ? std::atoi(std::getenv("PALLADION_MUTANT")) : -1;
  const char* log = std::getenv("PALLADION_MUTANTS_REACHED");
  std::atomic<bool> reached[1024] = {};
  ~PalladionMutants() {
    std::FILE* file = log ? std::fopen(log, "a") : nullptr;
    for (int n = 0; file && n < 1024; ++n) {
      if (reached[n]) std::fprintf(file, "%d\\n", n);
    }
    if (file) std::fclose(file);
  }
};
inline bool palladion_mutant(int n) {
  static PalladionMutants mutants;
  if (mutants.log) mutants.reached[n] = true;
  return n == mutants.broken;
}
"""


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str, text: str) -> None:
    """Leaves a file that has the text already as old as it is: ninja looks at times."""
    if os.path.exists(path) and read(path) == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def sources() -> list[str]:
    paths = [path for part in PARTS for path in glob.glob(f"{part}/**/*.cc", root_dir=ROOT, recursive=True)]
    ours = [path for path in sorted(paths) if not re.search(r"(_test|_main|_fuzz)\.cc$", path)]
    return [path for path in ours if "foreach_target.h" not in read(os.path.join(ROOT, path))]


def choose(seed: int, count: int) -> list[dict]:
    """`count` places that do not overlap, every kind equally often as far as there are enough,
    at most PER_FILE in a file.
    """
    by_kind = collections.defaultdict(list)
    for path in sources():
        for place in find_places(read(os.path.join(ROOT, path))):
            by_kind[place["kind"]].append(place | {"file": path})
    for kind in sorted(by_kind):
        random.Random(f"{seed} {kind}").shuffle(by_kind[kind])
    chosen, in_file = [], collections.defaultdict(list)
    while len(chosen) < count and any(by_kind.values()):
        for kind in sorted(by_kind):
            while by_kind[kind] and len(chosen) < count:
                place = by_kind[kind].pop()
                near = in_file[place["file"]]
                if len(near) < PER_FILE and all(
                    place["end"] < one["begin"] or one["end"] < place["begin"] for one in near
                ):
                    near.append(place)
                    chosen.append(place)
                    break
    chosen.sort(key=lambda place: (place["file"], place["begin"]))
    return [place | {"number": number} for number, place in enumerate(chosen)]


def write_mutated(plan: list[dict]) -> None:
    """Every file of the plan with its places as switches; lines keep their numbers."""
    by_file = collections.defaultdict(list)
    for place in plan:
        by_file[place["file"]].append(place)
    for path, places in by_file.items():
        text = read(os.path.join(ORIGINAL, path))
        for place in sorted((one for one in places if not one.get("dropped")), key=lambda one: -one["begin"]):
            switched = place["switched"].replace("@", f"palladion_mutant({place['number']})")
            text = text[: place["begin"]] + switched + text[place["end"] :]
        write(os.path.join(SOURCE, path), '#include "palladion_mutant.h"\n#line 1\n' + text)


def make(arguments: argparse.Namespace) -> None:
    plan = choose(arguments.seed, arguments.places)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    mutated = {place["file"] for place in plan}
    for path in filter(None, listed.stdout.decode().split("\0")):
        origin, copy = os.path.join(ROOT, path), os.path.join(SOURCE, path)
        if path in mutated or not os.path.isfile(origin):
            continue
        if not os.path.exists(copy) or os.path.getmtime(origin) != os.path.getmtime(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy2(origin, copy)
    write(os.path.join(SOURCE, "palladion_mutant.h"), SWITCH)
    for path in mutated:
        write(os.path.join(ORIGINAL, path), read(os.path.join(ROOT, path)))
    write_mutated(plan)
    write(PLAN, json.dumps(plan, indent=1))
    write(SEED, str(arguments.seed))
    if os.path.exists(RESULTS):
        os.remove(RESULTS)
    kinds = collections.Counter(place["kind"] for place in plan)
    print(
        f"{len(plan)} places in {len(mutated)} files: "
        + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    )


def configure() -> None:
    """With the flags of build/, so that ccache knows all but the files of the plan."""
    cache = os.path.join(ROOT, "build/CMakeCache.txt")
    werror = re.search(r"PALLADION_WERROR:\w+=(\w+)", read(cache))[1] if os.path.exists(cache) else "OFF"
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    command = [
        "cmake",
        "--preset",
        "release",
        "-DPALLADION_BENCH=OFF",
        "-DPALLADION_PYTHON=OFF",
        "-DPALLADION_UNITY=ON",  # most of the time was that of compiling
        f"-DPALLADION_WERROR={werror}",
        *launcher,
    ]
    subprocess.run(command, cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)


def build(arguments: argparse.Namespace) -> None:
    """Takes back what the compiler refuses, and builds again: nearly all places compile."""
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        configure()
    plan = json.loads(read(PLAN))
    for _ in range(8):
        command = ["cmake", "--build", BUILD, "-j", str(arguments.jobs), "--target", *arguments.tests, "--", "-k", "0"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            print(f"built with {sum(not place.get('dropped') for place in plan)} places")
            return
        drop_refused(plan, done.stdout + done.stderr)
        write_mutated(plan)
        write(PLAN, json.dumps(plan, indent=1))
    raise SystemExit(
        "the tests do not build though nothing is left to take back; see the last messages:\n" + done.stdout[-4000:]
    )


def drop_refused(plan: list[dict], messages: str) -> None:
    errors = {
        (path, int(line))
        for path, line in re.findall(r"((?:%s)/[\w/.-]+\.cc):(\d+):\d+: error" % "|".join(PARTS), messages)
    }
    if not errors:
        raise SystemExit("the tests do not build, and no place is why:\n" + messages[-4000:])
    for path in {path for path, _ in errors}:
        there = [place for place in plan if place["file"] == path and not place.get("dropped")]
        guilty = [
            one for one in there if any(one["line"] <= line <= one["last_line"] for at, line in errors if at == path)
        ]
        for place in guilty or there:
            place["dropped"] = True
            print(f"does not compile: {path}:{place['line']} {place['what']}")


def heed_signals() -> None:
    """Tests end themselves by signals, which a shell's background commands ignore."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Tests:
    """The built tests: which of them are quick, how long they take, and which places each binary comes by."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.filters, self.seconds, self.reached = names, {}, {}, {}
        for name in names:
            self.measure(name)

    def measure(self, name: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            record, log = os.path.join(folder, "record.json"), os.path.join(folder, "reached")
            done = self.start(name, [f"--gtest_output=json:{record}"], {"PALLADION_MUTANTS_REACHED": log}, 1200)
            if done.returncode != 0:
                raise SystemExit(f"{name} fails with nothing broken:\n{done.stdout[-3000:]}")
            suites = json.loads(read(record))["testsuites"]
            slow = [
                f"{suite['name']}.{test['name']}"
                for suite in suites
                for test in suite["testsuite"]
                if float(test["time"].rstrip("s")) > SLOW_TEST_SECONDS
            ]
            self.filters[name] = "-" + ":".join(slow) if slow else "*"
            began = time.monotonic()
            if os.path.exists(log):
                os.remove(log)
            self.start(name, [f"--gtest_filter={self.filters[name]}"], {"PALLADION_MUTANTS_REACHED": log}, 600)
            self.seconds[name] = time.monotonic() - began
            self.reached[name] = sorted({int(line) for line in read(log).split()}) if os.path.exists(log) else []
        print(
            f"{name}: {self.seconds[name]:.1f} s, comes by {len(self.reached[name])} places; {len(slow)} slow tests "
            "are left out",
            flush=True,
        )

    @staticmethod
    def start(name: str, options: list[str], variables: dict, limit: float) -> subprocess.CompletedProcess:
        binary = next(
            path
            for path in glob.glob(f"{BUILD}/**/{name}", recursive=True)
            if os.access(path, os.X_OK) and os.path.isfile(path)
        )
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | variables | {"TEST_TMPDIR": folder, "TMPDIR": folder}
            return subprocess.run(
                [binary, "--gtest_color=no", *options],
                cwd=folder,
                env=environment,
                timeout=limit,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                preexec_fn=heed_signals,
            )

    def killer(self, number: int) -> str:
        """The first test that fails, "BINARY: SUITE.TEST", or "" where all pass, or "not reached"."""
        reaching = [name for name in self.names if number in self.reached[name]]
        for name in reaching:
            try:
                done = self.start(
                    name,
                    ["--gtest_fail_fast", f"--gtest_filter={self.filters[name]}"],
                    {"PALLADION_MUTANT": str(number)},
                    20 + 6 * self.seconds[name],
                )
            except subprocess.TimeoutExpired as late:
                output = late.stdout or b""
                return (
                    f"{name}: {last_test(output if isinstance(output, str) else output.decode(errors='replace'))} "
                    "(does not end)"
                )
            if done.returncode != 0:
                failed = re.search(r"\[  FAILED  \] ([\w./]+)", done.stdout)
                return f"{name}: {failed[1]}" if failed else f"{name}: {last_test(done.stdout)} (crash)"
        return "" if reaching else "not reached"


def last_test(output: str) -> str:
    started = re.findall(r"\[ RUN      \] (\S+)", output)
    return started[-1] if started else "at its start"


def run(arguments: argparse.Namespace) -> None:
    plan = [place for place in json.loads(read(PLAN)) if not place.get("dropped")]
    results = json.loads(read(RESULTS)) if os.path.exists(RESULTS) else {}
    todo = [place for place in plan if str(place["number"]) not in results]
    random.Random(0).shuffle(todo)  # what is done when it is stopped is a sample of all
    tests = Tests(arguments.tests)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {pool.submit(tests.killer, place["number"]): place for place in todo}
        for future in concurrent.futures.as_completed(futures):
            place, killer = futures[future], future.result()
            results[str(place["number"])] = killer
            write(RESULTS, json.dumps(results, indent=1))
            print(
                f"{len(results)}/{len(plan)} {place['file']}:{place['line']} {place['what']}: {killer or 'SURVIVES'}",
                flush=True,
            )


def same() -> dict[tuple[str, str], str]:
    """Why a place means the same when broken, by file and what is broken, for those that were looked at."""
    blocks = read(os.path.join(ROOT, "tools/mutants_same.txt")).strip().split("\n\n")[1:]
    return {(file, what): why for file, what, why in (block.split("\n") for block in blocks)}


def report(_: argparse.Namespace) -> None:
    """Without numbers of lines: the page outlives the tree that was broken."""
    results = json.loads(read(RESULTS))
    plan = [
        place | {"killer": results[str(place["number"])]}
        for place in json.loads(read(PLAN))
        if str(place["number"]) in results
    ]
    lines = [
        f"Seed {read(SEED).strip()}, {len(plan)} places.",
        "",
        "| part | places | noticed | survive | not reached |",
        "|---|---|---|---|---|",
    ]
    for part in (*PARTS, "all"):
        ours = [one["killer"] for one in plan if part in ("all", one["file"].split("/")[0])]
        missed, lost = ours.count(""), ours.count("not reached")
        lines.append(f"| {part} | {len(ours)} | {len(ours) - missed - lost} | {missed} | {lost} |")
    noticed = collections.Counter(one["killer"].split(":")[0] for one in plan if ":" in one["killer"])
    lines += [
        "",
        "Who noticed first: " + ", ".join(f"`{name}` {count}" for name, count in noticed.most_common()) + ".",
        "",
    ]
    reasons, survivors = same(), [one for one in plan if one["killer"] == ""]
    explained = [one for one in survivors if (one["file"], one["what"]) in reasons]
    groups = (
        ("Survive", [one for one in survivors if one not in explained]),
        ("Survive, for they mean the same when broken", explained),
        ("Not reached by a quick test", [one for one in plan if one["killer"] == "not reached"]),
    )
    for title, ones in groups:
        lines += [f"{title}:", ""]
        for one in ones:
            why = reasons.get((one["file"], one["what"]), "") if one in explained else ""
            lines.append(f"- `{one['file']}` {one['what']}" + (f": {why}" if why else ""))
        lines.append("")
    lines += ["| place | broken | noticed by |", "|---|---|---|"]
    lines += [
        f"| `{one['file']}` | {one['what']} | {one['killer']} |".replace("||", "\\|\\|")
        for one in plan
        if ":" in one["killer"]
    ]
    measured_part.write(os.path.join(ROOT, "docs/develop/mutants.md"), "mutants", "\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("make", "build", "run", "report"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", nargs="+", default=BINARIES, choices=BINARIES, help="only these, for a quick look")
    arguments = parser.parse_args()
    {"make": make, "build": build, "run": run, "report": report}[arguments.what](arguments)


if __name__ == "__main__":
    sys.exit(main())
