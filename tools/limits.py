"""Fails on C++ functions over 60 lines, unless tools/limits_waivers.txt says why, and on C++ functions with more than
five parameters always, but for those of the C ABI (emu/c_api.h), which has no struct that may grow.

A file is as long as its idea: `--files` lists those over 400 lines, longest first, to look at whether one holds two.

A function is found by layout, which clang-format fixes: in a namespace, a definition starts in column 0 (in a class,
deeper) and its closing brace stands alone in the column of its first line. Lambdas count towards their function. A
waiver that is no longer needed is an error too, so the list can only shrink to what is true.
"""

import os
import re
import subprocess
import sys

import parameter_lists

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WAIVERS = os.path.join(ROOT, "tools/limits_waivers.txt")
C_ABI = os.path.join(ROOT, "emu/c_api.h")
LONG_FILE, FUNCTION_LINES, PARAMETERS = 400, 60, 5

# Blocks that open with a brace and are no function.
_NOT_A_FUNCTION = re.compile(
    r"\s*(//|namespace|class|struct|enum|union|extern|using|if|for|while|switch|else|do|try|case|default|return)\b|\s*//"
)
_NO_NAME = {"decltype", "noexcept", "requires", "alignas", "explicit", "constexpr"}


def listed(*patterns: str) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    paths = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return sorted(path for path in set(paths) if os.path.isfile(os.path.join(ROOT, path)))


def functions(lines: list[str]):
    """(name, first line from 1, number of lines) of each function definition, by layout."""
    start = None
    for number, line in enumerate(lines):
        if start is None:
            if not re.search(r"\{$", line) or re.search(r"[=,({\[]\s*\{+$", line):
                continue
            first = _signature_start(lines, number)
            name = _name(" ".join(lines[first : number + 1]))
            if name and not _NOT_A_FUNCTION.match(lines[first]) and not _NOT_A_FUNCTION.match(line):
                start, indent = first, len(lines[first]) - len(lines[first].lstrip())
        elif re.fullmatch(r" {%d}\}.*" % indent, line):
            yield (name, start + 1, number - start + 1)
            start = None


def _signature_start(lines: list[str], number: int) -> int:
    # Continuation lines of a signature are indented by 4, or to the bracket; an initializer list starts with a colon.
    while number > 0 and re.match(r"\s", lines[number]):
        continues = lines[number].lstrip().startswith((": ", "-> "))
        if not continues and not re.search(r"[,(=]$|&&$|\|\|$", lines[number - 1]):
            break
        number -= 1
    return number


def _name(signature: str) -> str | None:
    found = re.findall(r"([A-Za-z_][\w:~]*|operator\s*[^\s(]+)\s*(?:<[^()]*>)?\(", signature)
    return next((name for name in found if name not in _NO_NAME), None)


def measure() -> dict[str, tuple[int, str]]:
    """What is over a limit: key of the waiver list to (lines, message)."""
    over = {}
    for path in listed("*.cc", "*.h"):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            lines = file.read().splitlines()
        for name, first, length in functions(lines):
            if length > FUNCTION_LINES:
                key = f"{path}:{name}"
                over[key] = (length, f"{path}:{first}: {name}: {length} lines, {FUNCTION_LINES} are allowed")
    return over


def long_files() -> list[tuple[int, str]]:
    def lines_of(path: str) -> int:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read().count("\n")

    found = [(lines_of(path), path) for path in listed("*.cc", "*.h", "*.py", "*.sh", "dev")]
    return sorted((each for each in found if each[0] > LONG_FILE), reverse=True)


def too_many_parameters() -> list[str]:
    def long_lists(path: str):
        with open(path, encoding="utf-8") as file:
            return list(parameter_lists.longer_than(PARAMETERS, file.read()))

    abi = {name for name, _, _ in long_lists(C_ABI)}
    return [
        f"{path}:{line}: {name}: {count} parameters, {PARAMETERS} are allowed: what belongs together is a struct"
        for path in listed("*.cc", "*.h")
        for name, line, count in long_lists(os.path.join(ROOT, path))
        if name not in abi
    ]


def waivers() -> dict[str, str]:
    found = {}
    with open(WAIVERS, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                key, _, reason = line.strip().partition("  ")
                if not reason.strip():
                    raise SystemExit(f"tools/limits_waivers.txt: {key}: a waiver needs a reason, after two spaces")
                found[key] = reason.strip()
    return found


def main() -> int:
    if sys.argv[1:] == ["--files"]:
        for lines, path in long_files():
            print(f"{lines:5} {path}")
        return 0
    over, waived = measure(), waivers()
    wrong = [message for key, (_, message) in sorted(over.items()) if key not in waived]
    wrong += [
        f"tools/limits_waivers.txt: {key} is within the limits now: remove it" for key in waived if key not in over
    ]
    wrong += too_many_parameters()
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
