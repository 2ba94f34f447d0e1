"""Fails where two types of one namespace have one name: the linker takes either, and neither compiler says so.

Standard library only, so it runs without .venv: python3 conformance/one_definition_test.py
"""

import collections
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import includes  # noqa: E402

_LINE = re.compile(
    r"^(?:template <.*> *)?(?:struct|class|enum class|enum|union) (?:PALLADION_EXPORT )?"
    r"(?P<name>\w+)(?!\w|::)(?P<rest>[^;{]*(?:\{.*)?)$"
    r"|^namespace (?P<opens>[\w:]*) ?\{"
    r"|^\}  // namespace(?: (?P<closes>[\w:]+))?$"
)


def definitions(text: str) -> list[str]:
    """The types that the text defines outside unnamed namespaces, with their namespace;
    nested types are the outer one's.
    """
    found, inside = [], []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        if match["opens"] is not None:
            inside.append(match["opens"])
        elif match["name"] is None:
            if inside:
                inside.pop()
        elif "{" in line and all(inside):
            found.append("::".join([*inside, match["name"]]))
    return found


class OneDefinition(unittest.TestCase):
    maxDiff = None

    def test_what_counts_as_a_definition(self):
        text = (
            "namespace a {\nnamespace {\nstruct Own {\n};\n}  // namespace\nclass B final : public C {\nstruct "
            "D;\n}  // namespace a\n"
        )
        self.assertEqual(definitions(text), ["a::B"])
        self.assertEqual(definitions("namespace a {\nclass PALLADION_EXPORT E {\n};\n"), ["a::E"])
        self.assertEqual(definitions("namespace a {\nenum class F : int { kG, kH };\nenum class I : int;\n"), ["a::F"])

    def test_no_type_is_defined_twice(self):
        where = collections.defaultdict(set)
        for path in includes.cpp_files():
            with open(os.path.join(includes.ROOT, path), encoding="utf-8") as file:
                for name in definitions(file.read()):
                    where[name].add(path)
        self.assertGreater(len(where), 100, "no types were read: the test looks in the wrong place")
        twice = {name: sorted(paths) for name, paths in where.items() if len(paths) > 1}
        self.assertEqual({}, twice)


if __name__ == "__main__":
    unittest.main()
