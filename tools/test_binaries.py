"""Prints the GoogleTest binaries of a build, one a line, without those that `./dev test` runs by ctest in the release
build alone.

    python3 tools/test_binaries.py BUILD

ctest starts a process for each test, which takes longer than most tests do; these binaries are run whole. A test that
is no GoogleTest has a label for the command that runs it (WHOLE), or none would run it: that is an error here.
"""

import json
import subprocess
import sys

ELSEWHERE, WHOLE = "release_only", "whole_program"


def binaries(tests: list[dict]) -> list[str]:
    found = []
    for test in tests:
        labels = {label for one in test.get("properties", []) if one["name"] == "LABELS" for label in one["value"]}
        command = test.get("command", [])
        if labels & {ELSEWHERE, WHOLE}:
            continue
        if not any(word.startswith("--gtest_filter=") for word in command):
            raise SystemExit(f"{test['name']} is no GoogleTest and has neither of the labels {WHOLE} and {ELSEWHERE}")
        if command[0] not in found:
            found.append(command[0])
    return found


def main(build: str) -> None:
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True
    )
    print("\n".join(binaries(json.loads(listed.stdout)["tests"])))


if __name__ == "__main__":
    main(sys.argv[1])
