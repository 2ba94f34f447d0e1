"""What docs/learn/cpp-kernels.md says to type is there: the preset, and what an installation takes from a build."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_preset_that_the_page_names_builds_no_tests():
    page = (ROOT / "docs/learn/cpp-kernels.md").read_text(encoding="utf-8")
    command = re.search(r"cmake --preset (\w+) && cmake --build --preset (\w+) && cmake --install (\S+) --prefix", page)
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    (configured,) = [one for one in presets["configurePresets"] if one["name"] == command[1]]
    assert (
        configured["cacheVariables"] | {"PALLADION_TESTS": "OFF", "PALLADION_BENCH": "OFF"}
        == configured["cacheVariables"]
    )
    assert command[2] in [one["name"] for one in presets["buildPresets"] if one["configurePreset"] == command[1]]
    assert command[3] == f"build-{command[1]}"


def test_dev_run_builds_all_that_is_installed():
    installed = set()
    for targets in re.findall(
        r"install\(TARGETS ([^)]*?)(?: EXPORT| RUNTIME| LIBRARY)",
        (ROOT / "cmake" / "PalladionInstall.cmake").read_text(encoding="utf-8"),
    ):
        installed |= set(targets.split())
    command_run = re.search(
        r"^command_run\(\) \{.*?^\}", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )[0]
    built = set(re.search(r"build_preset release ([^#\n]*)", command_run)[1].split())
    assert {"palladion", "palladion_shared", "conformance_run"} <= installed == built
