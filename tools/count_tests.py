"""Reads the JUnit file of a test runner and prints "passed failed skipped name"; exits 1 if anything failed.

A runner that exits nonzero without naming a failed test, or that wrote no file, counts as one failure. ctest marks a
test whose binary is missing as "notrun", which looks like a skip: only a skip that the test itself asked for is one
here.
"""

import sys
import xml.etree.ElementTree as ElementTree

ASKED_FOR = ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE")


def outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    from_ctest = case.get("status") is not None
    return "skipped" if not from_ctest or skipped.get("message", "").startswith(ASKED_FOR) else "failed"


def main(name: str, exit_status: int, path: str) -> int:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                print(f"{result}: {name}: {case.get('classname', '')} {case.get('name')}", file=sys.stderr)
    except (OSError, ElementTree.ParseError) as error:
        print(f"{name}: no test results: {error}", file=sys.stderr)
        counts["failed"] += 1
    if exit_status != 0 and counts["failed"] == 0:
        print(f"{name}: the runner exited {exit_status} and named no failed test", file=sys.stderr)
        counts["failed"] += 1
    print(counts["passed"], counts["failed"], counts["skipped"], name)
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
