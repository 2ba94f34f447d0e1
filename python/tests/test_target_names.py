"""Every target that the library, the command, Python and the docs know is of a machine description
(emu/chip/machines), and each description is known to all of them.

What it does not see: chips that a page names in its prose alone.
"""

import os
import pathlib
import re
import subprocess

import pytest

from palladion import _library, machines

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PALLADION_COMMAND", str(ROOT / "build" / "palladion"))
FILES = sorted((ROOT / "emu/chip/machines").glob("*.machine"))
BACKENDS = {"tpu": ("mosaic_tpu",), "hopper": ("triton", "mosaic_gpu"), "blackwell": ("triton", "mosaic_gpu")}


def families():
    """chip -> family, by the descriptions."""
    lines = [dict(re.findall(r"^(machine|family) = (\S+)", file.read_text(), re.MULTILINE)) for file in FILES]
    assert [one["machine"] for one in lines] == [file.stem for file in FILES]
    return {one["machine"]: one["family"] for one in lines}


FAMILIES = families()
TARGETS = {"generic"} | {f"{backend}/{chip}" for chip, family in FAMILIES.items() for backend in BACKENDS[family]}


def unknown(text):
    """The full names of targets in a text that no description has."""
    found = re.findall(r"(?<![\w/.])((?:triton|mosaic_gpu|mosaic_tpu)/(?:v\d\w*|[a-z]+\d{2,}))(?![\w/.])", text)
    return sorted(set(found) - TARGETS)


def test_the_library_has_these_targets():
    assert FILES and set(_library.targets()) == TARGETS
    assert len(_library.targets()) == len(TARGETS)
    assert {chip["name"] for chip in _library.chips()} == set(FAMILIES) == set(machines.names())


def test_the_command_has_them():
    listed = subprocess.run([COMMAND, "completion", "bash"], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"\b(?:triton|mosaic_gpu|mosaic_tpu)/\w+", listed)) == TARGETS - {"generic"}


def test_the_table_of_targets_has_all_chips():
    [row] = re.findall(r"^\| a chip: (.*?) \|", (ROOT / "docs/reference/python.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == set(FAMILIES)


@pytest.mark.parametrize(
    "folder, pattern",
    [
        ("docs", "*.md"),
        ("python/palladion", "*.py"),
        ("conformance", "*.case"),
        ("conformance", "*.py"),
        ("emu", "*.cc"),
        ("tools", "*.py"),
        ("bench", "*.py"),
    ],
)
def test_what_is_named_is_known(folder, pattern):
    files = [file for file in (ROOT / folder).rglob(pattern) if file != pathlib.Path(__file__)]
    assert files
    named = {str(file.relative_to(ROOT)): unknown(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found for name, found in named.items() if found} == {}


def test_a_name_that_is_none_is_noticed():
    assert unknown("on triton/h100, mosaic_tpu/v9 and mosaic_gpu/x300") == ["mosaic_gpu/x300", "mosaic_tpu/v9"]
