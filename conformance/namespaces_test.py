"""Fails where a C++ file is in another namespace than its folder's (docs/develop/architecture.md, "Includes").

Standard library only, so it runs without .venv: python3 conformance/namespaces_test.py
"""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tools"))
import includes  # noqa: E402

# Folders whose namespace is `palladion` itself, or one below it that no folder has: `palladion::simd`.
SHARED = ("semantics/", "emu/front/cpp/", "emu/front/ffi/", "emu/testing/")
_FORWARD = re.compile(r"^namespace [\w:]+ \{\n(?:(?:class|struct) \w+;.*\n)+\}.*\n", re.MULTILINE)
_OPENS = re.compile(r"^namespace (palladion\S*) \{$", re.MULTILINE)


def own_namespace(path: str) -> str | None:
    """The namespace that a file's folder has for itself;
    None: it has none, or defines what a header of emu/ declares.
    """
    folder = path.rsplit("/", 1)[0] + "/"
    if folder.startswith(SHARED) or folder == "emu/":
        return None
    if folder.startswith("emu/"):
        stem = os.path.splitext(os.path.basename(path))[0]
        if folder.count("/") == 2 and f"emu/{stem}.h" in includes.PUBLIC_HEADERS:
            return None
        if folder.startswith("emu/timing/"):
            return "palladion::" + "::".join(folder.split("/")[1:-1])  # palladion::timing::gpu
        wing, below = folder.split("/")[1:3]  # below emu/check/ is nothing: palladion::check; or legality/
        return f"palladion::{below or wing}"
    return "palladion::" + folder.split("/")[0] if folder.startswith(("memory_model/", "scheduler/")) else None


def nearest(name: str, owned: set[str]) -> str | None:
    """The folder's namespace that a namespace is, or is in: of palladion::timing::gpu::test palladion::timing::gpu."""
    return max((one for one in owned if name == one or name.startswith(one + "::")), key=len, default=None)


class Namespaces(unittest.TestCase):
    def test_the_namespace_of_each_folder(self):
        self.assertEqual("palladion::check", own_namespace("emu/check/evidence.h"))
        self.assertEqual("palladion::memory_model", own_namespace("memory_model/bytes/memory.h"))
        self.assertEqual("palladion::timing::gpu", own_namespace("emu/timing/gpu/chip.h"))
        self.assertEqual("palladion::timing", own_namespace("emu/timing/time_kernel.h"))
        self.assertIsNone(own_namespace("emu/check/check.cc"))
        self.assertIsNone(own_namespace("semantics/base/ids.h"))

    def test_the_nearest_folder_counts(self):
        owned = {"palladion::timing", "palladion::timing::gpu"}
        self.assertEqual("palladion::timing::gpu", nearest("palladion::timing::gpu::test", owned))
        self.assertEqual("palladion::timing", nearest("palladion::timing::test", owned))
        self.assertIsNone(nearest("palladion::simd", owned))

    def test_every_file_is_in_the_namespace_of_its_folder(self):
        files = [
            path
            for path in includes.cpp_files()
            if path.startswith(("semantics/", "memory_model/", "scheduler/", "emu/"))
        ]
        self.assertGreater(len(files), 400, "no files were read: the test looks in the wrong place")
        owned = {name for name in map(own_namespace, files) if name is not None}
        wrong = []
        for path in files:
            with open(os.path.join(includes.ROOT, path), encoding="utf-8") as file:
                opened = set(_OPENS.findall(_FORWARD.sub("", file.read())))
            own = own_namespace(path)
            of_folders = {nearest(name, owned) for name in opened} - {None}
            if of_folders != ({own} if own and opened else set()):
                wrong.append((path, own, sorted(opened)))
        self.assertEqual([], wrong)


if __name__ == "__main__":
    unittest.main()
