"""Text from kernels, arrays and paths for a terminal, as semantics/base/printable.h does it: control characters and
marks that turn the direction of writing become escapes. Newlines and tabs stay.
"""

import re

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object) -> str:
    return _UNPRINTABLE.sub(_escape, str(text))


def one_line(text: object, width: int = 100) -> str:
    """For a repr: the first of it, newlines escaped."""
    text = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= width else text[: width - 3] + "..."


def _escape(match: re.Match) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
