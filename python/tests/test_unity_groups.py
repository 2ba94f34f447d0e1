"""tools/unity_groups.py: files that could clash are never compiled together."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
import unity_groups  # noqa: E402

INNER = "int Helper(int x) { return x; }\nconstexpr int kMost = 3;\n"
OWN = "namespace p {\nnamespace {\n" + INNER + "}  // namespace\n}  // namespace p\n"


def test_files_that_share_nothing_are_one_group():
    assert unity_groups.groups({"a.cc": OWN, "b.cc": "namespace p {\nint B() { return 1; }\n}\n"}) == [["a.cc", "b.cc"]]


def test_a_word_that_another_file_keeps_to_itself_keeps_them_apart():
    for word in ("Helper", "kMost"):
        assert unity_groups.groups({"a.cc": OWN, "b.cc": f"int B() {{ return {word}; }}\n"}) == [["a.cc"], ["b.cc"]]
    assert unity_groups.groups({"a.cc": OWN, "b.cc": "int B();  // not Helper\n"}) == [["a.cc", "b.cc"]]


def test_a_name_that_a_header_declares_keeps_them_apart():
    own = "namespace {\nstruct Range { int begin; };\n}\n"
    reads = '#include "memory_model/sets/box.h"\nint B();\n'
    assert unity_groups.groups({"a.cc": own, "b.cc": reads}) == [["a.cc"], ["b.cc"]]


def test_a_file_with_macros_of_its_own_is_alone():
    assert unity_groups.groups({"a.cc": "#define X 1\n", "b.cc": "int B();\n"}) == [["b.cc"]]


TAKES = "namespace palladion::timing {\nnamespace {\nint Of(machines::Bytes);\n}\nusing machines::Bytes;\n}\n"


def test_a_name_that_both_take_from_the_same_place_separates_no_files():
    other = "namespace palladion::timing {\nusing machines::Bytes;\nBytes F();\n}\n"
    assert unity_groups.groups({"a.cc": TAKES, "b.cc": other}) == [["a.cc", "b.cc"]]
    said = "namespace palladion::timing {\nmachines::Bytes F();\n}\n"
    assert unity_groups.groups({"a.cc": TAKES, "b.cc": said}) == [["a.cc", "b.cc"]]
    for others in ("namespace palladion::timing {\nusing units::Bytes;\nBytes F();\n}\n", "Bytes F();\n"):
        assert unity_groups.groups({"a.cc": TAKES, "b.cc": others}) == [["a.cc"], ["b.cc"]]


def test_a_name_that_a_header_of_the_namespace_uses_bare_keeps_them_apart():
    header = "emu/timing/gpu/links.h"  # its own struct
    takes = "namespace palladion::timing {\nusing machines::Passed;\n}\n"
    assert unity_groups.groups({"a.cc": takes, "b.cc": f'#include "{header}"\nint B();\n'}) == [["a.cc"], ["b.cc"]]
    elsewhere = "namespace palladion::legality {\nusing machines::Passed;\n}\n"
    assert unity_groups.groups({"a.cc": elsewhere, "b.cc": f'#include "{header}"\nint B();\n'}) == [["a.cc", "b.cc"]]


def test_a_number_behind_a_brace_is_no_name():
    shift = "namespace {\nconstexpr long kBig = long{1} << 40;\n}\n"
    assert unity_groups.groups({"a.cc": shift, "b.cc": "int B() { return 40; }\n"}) == [["a.cc", "b.cc"]]
