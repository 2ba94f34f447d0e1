"""tools/link_arrows.py: what a library needs of one above it is found in the archives' symbols."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import link_arrows  # noqa: E402

LOW = "namespace low { int Base() { return 1; } }"
SHARED = "inline int Both() { return 2; } int (*take%d)() = &Both;"  # weak, in both archives


@pytest.fixture
def archives(tmp_path):
    def build(**sources):
        made = []
        for name, source in sources.items():
            (tmp_path / f"{name}.cc").write_text(source)
            subprocess.run(["g++", "-c", f"{name}.cc", "-o", f"{name}.o"], cwd=tmp_path, check=True)
            subprocess.run(["ar", "rc", f"{name}.a", f"{name}.o"], cwd=tmp_path, check=True)
            made.append((name, str(tmp_path / f"{name}.a")))
        return made

    return build


def test_a_need_from_below_is_allowed(archives):
    high = "namespace low { int Base(); } int High() { return low::Base(); }"
    assert link_arrows.wrong_needs(archives(low=LOW, high=high)) == []


def test_what_is_declared_low_and_defined_high_is_found(archives):
    low = "namespace high { int Top(); } int Low() { return high::Top(); }"
    found = link_arrows.wrong_needs(archives(low=low, high="namespace high { int Top() { return 3; } }"))
    assert found == ["low needs high::Top(), which high defines"]


def test_an_inline_function_belongs_to_each_that_has_it(archives):
    assert link_arrows.wrong_needs(archives(low=SHARED % 1, high=SHARED % 2)) == []
