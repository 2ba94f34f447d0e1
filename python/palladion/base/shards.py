"""Which of several machines runs a test: by the test's name alone, so that all agree without speaking, and a new test
moves no other.
"""

import hashlib
import re


def parse_shard(text: str) -> tuple[int, int]:
    """(I, N) of "I/N"; ValueError for what is none."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    part, parts = map(int, found.groups()) if found else (0, 0)
    if not 1 <= part <= parts:
        raise ValueError(f"a shard is I/N, such as 1/4, with I from 1 to N; found {text!r}")
    return part, parts


def part_of(name: str, parts: int) -> int:
    """From 1."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big") % parts + 1
