"""Every conformance case by the command for arm64 under QEMU and by the native command: exit code, both streams and
every file must be the same bytes. `./dev test-arm64`.

    python3 conformance/arm64_cases.py [--command FILE] [--arm64 FILE] [--root FOLDER] [--simd TARGET] [PATTERN...]

Each case is run and checked as browser_cases.py does. A PATTERN is of names of cases, such as `dot/*`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys

import browser_cases
import case_files

ROOT = pathlib.Path(__file__).resolve().parents[1]


def compare(command: list[str], arm64: list[str], call: browser_cases.Call) -> str | None:
    results = (browser_cases.natively(words, call) for words in (command, arm64))
    what = browser_cases.difference(*results)
    return f"{call.name}: {what.replace('in the module', 'on arm64')}" if what else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev test-arm64", description=__doc__.split("\n", 1)[0])
    parser.add_argument("pattern", nargs="*", help="names of cases, such as dot/*; without any, all cases")
    parser.add_argument("--command", default=str(ROOT / "build/palladion"), help="the native command")
    parser.add_argument("--arm64", default=str(ROOT / "build-arm64/palladion"), help="the command for arm64")
    parser.add_argument("--root", default=str(ROOT / "build/arm64-root"), help="the libraries that it is linked to")
    parser.add_argument("--simd", default="neon", choices=("neon", "scalar"), help="its SIMD target")
    options = parser.parse_args(arguments)
    names = {name for pattern in options.pattern or ["*/*"] for name in case_files.texts(pattern)}
    calls = [call for name in sorted(names) for call in browser_cases.calls_of(name, case_files.text_of(name))]
    if not calls:
        parser.error("no case has such a name")
    arm64 = ["qemu-aarch64", "-L", options.root, "-E", f"PALLADION_SIMD={options.simd}", options.arm64]
    jobs = int(os.environ.get("PALLADION_JOBS", os.cpu_count() or 1))
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda call: compare([options.command], arm64, call), calls):
            if found:
                differ += 1
                print(found, flush=True)
    print(f"{len(calls)} calls of {len(names)} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
