"""The counts of docs/guides/to-jax.md: how many cases of each family come back from JAX, and why the others do not.

    PYTHONPATH=python .venv/bin/python python/tests/to_jax_page.py    writes them; test_to_jax.py says when they are
    stale

It counts the reasons that apply (not_the_same_in_jax.py); that they hold is the test's to find.
"""

import collections
import functools
import pathlib
import re

import round_trip
from not_the_same_in_jax import REASONS, reason_for
from palladion import _library
from palladion.jax.jax_source import reading
from round_trip import case_files

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/to-jax.md"
_PART = re.compile(r"(<!-- counted:cases -->\n).*?(<!-- /counted:cases -->)", re.DOTALL)


@functools.cache
def cases() -> tuple:
    """("folder/name", text) of every case whose text can be read."""
    return tuple((case, text) for case in case_files.texts() if (text := round_trip.parsed_text(case)) is not None)


def reasons_of(case, text) -> list:
    """One for each kernel of the case, None where it comes back."""
    names = _library.kernel_names(text)
    return [reason_for(case, reading.read_kernel(text, name)) for name in names]


def table() -> str:
    back, total, either, why = (collections.Counter() for _ in range(4))
    for case, text in cases():
        family = case.partition("/")[0]
        for reason in reasons_of(case, text):
            total[family] += 1
            back[family] += reason is None
            either[family] += reason is not None and reason.may_come_back
            why[reason] += 1
    lines = [
        f"{back.total()} of the {total.total()} kernels of the cases come back as they were; {either.total()} more are "
        f"wrong on purpose and "
        "may or may not:",
        "",
        "| family | come back | may or may not | of |",
        "|---|---|---|---|",
    ]
    lines += [f"| {family} | {back[family]} | {either[family]} | {total[family]} |" for family in sorted(total)]
    lines += ["", "The others:", "", "| kernels | why not |", "|---|---|"]
    lines += [
        f"| {why[reason]} | {reason.why} |" for reason in sorted(REASONS, key=lambda reason: (-why[reason], reason.why))
    ]
    return "\n".join(lines) + "\n"


def fresh(page: str) -> str:
    return _PART.sub(lambda match: match[1] + table() + match[2], page)


if __name__ == "__main__":
    PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
