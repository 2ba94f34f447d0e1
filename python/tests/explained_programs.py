"""Runs the Python of `palladion explain`, as its reader would, and prints which findings each program reports. Run by
test_each_finding.py in a process of its own: one program wants two devices, which JAX makes before its first use only.
Does not catch: a program that runs only behind another one, for all share one process.

    python explained_programs.py < PAGES    as `palladion explain --format=json` gives them
"""

import contextlib
import io
import json
import re
import sys

import palladion


def codes_of(program: str, name: str) -> dict:
    """What its last check found: code -> the highest severity; or the error that it ended with."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(program, name, "exec"), {"__name__": "__main__"})
    except Exception as error:
        return {f"{type(error).__name__}: {error}": "error"}
    found = {finding.code: finding.severity for finding in palladion.last_report().findings}
    shown = set(re.findall(r"^ *(?:error|warning|note)\[(\w+)\]: ", printed.getvalue(), re.MULTILINE))
    if shown != set(found) or "verdict: " not in printed.getvalue():
        return {f"it prints something else than its report: {printed.getvalue()}": "error"}
    return found


def main():
    pages = json.load(sys.stdin)
    found = {}
    for page in sorted(pages, key=lambda page: "jax_num_cpu_devices" not in page["python"]["wrong"]):
        found[page["code"]] = {
            side: codes_of(page["python"][side], f"{page['code']}_{side}.py") for side in ("wrong", "right")
        }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
