"""conformance/own_includes_test.py: a name without the header that declares it is found, in whatever way it is used."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "conformance"))
import own_includes_test  # noqa: E402

HEADER = "emu/timing/base/ticks.h"  # declares TicksOf


@pytest.fixture(scope="module")
def declared():
    return own_includes_test.declared_by(own_includes_test.sources(".h"))


def lines(text, declared):
    return own_includes_test.missing("a.cc", text, declared)


@pytest.mark.parametrize(
    "use", ["int A() { return TicksOf(1); }", "auto a = timing::TicksOf(1);", "int A(int x) { return x?TicksOf(x):0; }"]
)
def test_a_name_needs_its_header(use, declared):
    assert lines(use, declared) == [f"a.cc uses TicksOf and does not include {HEADER}"]
    assert not lines(f'#include "{HEADER}"\n{use}', declared)
    assert not lines(f'#include "emu/timing/tpu/chip.h"\n{use}', declared)  # which includes it


@pytest.mark.parametrize(
    "use",
    [
        "// TicksOf",
        'const char* a = "TicksOf";',
        "int a = clock.TicksOf(1);",
        "int a = clock->TicksOf(1);",
        "int a = std::TicksOf(1);",
        "int TicksOf(int x);\nint a = TicksOf(1);",
        "enum class E { TicksOf };\nE a = TicksOf;",
        "template <typename TicksOf>\nvoid F(TicksOf a);",
        "TEST(TicksOf, Counts) {}",
    ],
)
def test_its_own_name_and_a_name_of_others_need_none(use, declared):
    assert not lines(use, declared)
