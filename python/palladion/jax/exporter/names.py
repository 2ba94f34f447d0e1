"""Names that are unique within one kernel or one text, made from the user's own where there are any."""

import re

_NOT_A_NAME = re.compile(r"[^A-Za-z_0-9$]+")


def sanitized(hint: str) -> str:
    """`group_metadata[0]` becomes `group_metadata_0`, `<lambda>` becomes `lambda`."""
    return _NOT_A_NAME.sub("_", hint).strip("_") if _NOT_A_NAME.search(hint) else hint


class Names:
    """`separator` stands between a name and its number: a dot in the names of kernels, not in values,
    whose views have dots.
    """

    def __init__(self, taken=(), separator="_"):
        self.separator = separator
        self.taken = set(taken)
        self._next_number = 0

    def named(self, hint: str) -> str:
        """`hint`, or `hint_1`, `hint_2`, … where it is taken."""
        base = sanitized(hint) or "v"
        name, count = base, 0
        while name in self.taken:
            count += 1
            name = f"{base}{self.separator}{count}"
        self.taken.add(name)
        return name

    def numbered(self) -> str:
        while str(self._next_number) in self.taken:
            self._next_number += 1
        name = str(self._next_number)
        self.taken.add(name)
        return name
