"""What python/requirements.txt pins for one Python: `name==version`, with or without a marker
`; python_version < "3.12"`.

python3 tools/pins.py NAME      the version of NAME for the interpreter that runs this
"""

import operator
import os
import re
import sys

REQUIREMENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python/requirements.txt")
PIN = re.compile(r'(?P<name>[\w.-]+)==(?P<version>[\w.]+)(; python_version (?P<compare><|>=) "(?P<python>[\d.]+)")?')
COMPARE = {"<": operator.lt, ">=": operator.ge}


def pins() -> list[re.Match]:
    """A line that is neither a comment nor a pin is an error."""
    with open(REQUIREMENTS, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    found = [PIN.fullmatch(line) for line in lines]
    if None in found:
        raise ValueError(f"python/requirements.txt: expected name==version, found {lines[found.index(None)]!r}")
    return found


def version_for(name: str, python: tuple[int, int]) -> str:
    for pin in pins():
        if pin["name"] == name and (
            pin["compare"] is None or COMPARE[pin["compare"]](python, tuple(map(int, pin["python"].split("."))))
        ):
            return pin["version"]
    return "none"


if __name__ == "__main__":
    print(version_for(sys.argv[1], sys.version_info[:2]))
