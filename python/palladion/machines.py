"""Machine descriptions: what the chips are in numbers, each with its source (docs/reference/machines.md). Needs no
JAX."""

import ctypes
import dataclasses
import json
from collections.abc import Mapping

from palladion import _library


@dataclasses.dataclass(frozen=True)
class Number:
    """One number of a machine: as it is written, in the base unit, and what it rests on."""

    name: str
    value: float
    unit: str
    base_value: float
    base_unit: str
    basis: str
    sources: list[str]
    note: str


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine: its name as a target has it, its kind as JAX has it, and its numbers by name."""

    name: str
    kind: str
    family: str
    numbers: dict[str, Number]


def _described(name: str | None, changes: list[str]) -> dict:
    library, error = _library.load(), _library._Error()
    texts = (ctypes.c_char_p * len(changes))(*(change.encode() for change in changes))
    text = ctypes.c_void_p(
        library.palladion_machines(None if name is None else name.encode(), texts, len(changes), ctypes.byref(error))
    )
    _library._expect(error, text.value)
    return json.loads(_library._take_text(library, text))


def names() -> list[str]:
    """The machines that there are."""
    return [machine["name"] for machine in _described(None, [])["machines"]]


def show(name: str, changes: Mapping[str, str | float] | None = None) -> Machine:
    """The description of one machine, where `changes` is given as it would be with other numbers:
    `{"l2.size": "25 MiB"}`.

    PalladionError: there is no such machine or number, or the change contradicts a number that does not follow from it.
    """
    texts = [f"{number}={value}" for number, value in (changes or {}).items()]
    found = _described(name, texts)
    return Machine(
        found["name"], found["kind"], found["family"], {one["name"]: Number(**one) for one in found["numbers"]}
    )
