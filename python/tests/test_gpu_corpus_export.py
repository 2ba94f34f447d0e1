"""The kernels of the GPU corpus, exported by the JAX that is installed: each has the findings and the results that its
case says, whatever the version. Exported by JAX 0.10 they are the case files, to the letter.

What it does not catch: an exporter that leaves out what neither a finding nor a result depends on.
"""

import os
import pathlib
import subprocess
import sys

import jax
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFORMANCE_RUN = pathlib.Path(os.environ.get("PALLADION_BUILD", ROOT / "build")) / "conformance_run"
sys.path.insert(0, str(ROOT / "conformance" / "gpu_corpus"))
sys.path.append(str(ROOT / "conformance"))
import case_files  # noqa: E402
import families  # noqa: E402 - it lies outside of the package

VERSION = jax.__version_info__[:2]
# What JAX 0.12 sees otherwise.
REFUSED = {"068_copy_longer_clean": "Out of bound slice"} if VERSION >= (0, 12) else {}
OTHERWISE = (
    {
        "062_illegal_tma_bytes_racy": "its kernels have warpgroup semantics where they don't say, whose copies have no "
        "such rule",
        **dict.fromkeys(
            (f"192_tmem_union_{name}" for name in ("clean", "racy")),
            "the same; with these semantics no member of a union in tensor memory is loaded",
        ),
        **dict.fromkeys(
            ("091_xdev_copy_in_clean", "091_xdev_copy_in_racy"),
            "the same; with these semantics JAX 0.10 has no copy from another device, and a case does not name the JAX "
            "that wrote it",
        ),
    }
    if VERSION >= (0, 12)
    else {}
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """(folder of case files by this JAX, name -> file's text, name -> why it was refused)."""
    folder, texts, refused = tmp_path_factory.mktemp("corpus"), {}, {}
    for family, case in families.cases():
        try:
            texts[f"{family}/{case.name}"] = text = case.text()
        except ValueError as error:
            refused[case.name] = str(error)
            continue
        (folder / f"{case.name}.case").write_text(text, encoding="utf-8")
    return folder, texts, refused


def test_what_jax_refuses(exported):
    refused = exported[2]
    assert refused.keys() == REFUSED.keys()
    assert all(REFUSED[name] in why for name, why in refused.items())


def test_findings_and_results(exported):
    folder, texts, _ = exported
    run = subprocess.run([CONFORMANCE_RUN, folder], capture_output=True, text=True)
    failed = {pathlib.Path(line.split()[1]).stem for line in run.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == set(OTHERWISE), run.stdout[-4000:] + run.stderr
    assert f"{len(texts) - len(failed)} passed" in run.stdout


if VERSION == (0, 10):

    def test_the_case_files_are_fresh(exported):
        stale = [name for name, text in exported[1].items() if case_files.text_of(name) != text]
        assert not stale, "run python conformance/make_gpu_cases.py conformance/cases, and review"
