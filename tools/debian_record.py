"""Writes what `./dev test-debian` found into docs/develop/contributing.md, between `measured:debian-N` comments: when,
at which commit, with which compilers and JAX, and how many tests passed.

    python3 tools/debian_record.py RELEASE RESULTS DOCTOR

RESULTS has lines "passed failed skipped name" (checks.sh); DOCTOR is what `./dev doctor` says there.
"""

import datetime
import os
import re
import subprocess
import sys

import measured_part

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSIONS = ("g++", "cmake", "libabsl-dev", "libhwy-dev", "python", "jax")


def commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip() or "no git checkout"


def versions(doctor: str) -> list[str]:
    found = []
    for name in VERSIONS:
        row = re.search(rf"^{re.escape(name)} +(.*)$", doctor, re.MULTILINE)
        number = re.findall(r"\d+(?:\.\d+)+", row[1]) if row else []
        found.append(f"{name} {number[-1] if name == 'g++' else number[0]}" if number else f"{name} unknown")
    return found


def sentence(results: str, doctor: str) -> str:
    passed = failed = 0
    wrong = []
    for line in results.splitlines():
        numbers = line.split()
        passed, failed = passed + int(numbers[0]), failed + int(numbers[1])
        if numbers[1] != "0":
            wrong.append(numbers[3])
    outcome = f"{passed} passed, {failed} failed" + (f" ({', '.join(wrong)})" if wrong else "")
    return f"{datetime.date.today().isoformat()} at {commit()}: {outcome}; {', '.join(versions(doctor))}.\n"


def main(release: str, results_path: str, doctor_path: str) -> None:
    with open(results_path, encoding="utf-8") as results, open(doctor_path, encoding="utf-8") as doctor:
        text = sentence(results.read(), doctor.read())
    measured_part.write(os.path.join(ROOT, "docs/develop/contributing.md"), f"debian-{release}", text)
    print(f"docs/develop/contributing.md: {text}", end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
