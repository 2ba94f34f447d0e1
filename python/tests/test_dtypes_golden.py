"""The golden files of conformance/golden are what the installed NumPy, ml_dtypes and JAX give today."""

import pathlib
import subprocess
import sys

import jax
import ml_dtypes
import numpy as np
import pytest

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "conformance" / "golden"
sys.path.append(str(GOLDEN))
import golden_files  # noqa: E402 - it lies outside of the package


def run(script, out, *options):
    subprocess.run([sys.executable, GOLDEN / script, "--out", out, *options], check=True)


def test_a_sample_of_the_conversion_hashes_is_fresh(tmp_path):
    """Every third type converted to all others; all of them are a part of `./dev golden`."""
    run("make_dtype_golden.py", tmp_path / "dtypes.txt", "--every", "3")
    made = (tmp_path / "dtypes.txt").read_text().splitlines()
    kept = set((GOLDEN / "dtypes.txt").read_text().splitlines())
    stale = [line for line in made if line not in kept]
    assert len(made) > 250
    assert not stale, "run conformance/golden/make_dtype_golden.py and review: " + "; ".join(stale[:5])


def test_npy_files_are_fresh(tmp_path):
    run("make_npy_golden.py", tmp_path / "npy")
    made = {p.name: p.read_bytes() for p in (tmp_path / "npy").iterdir()}
    kept = {p.name: p.read_bytes() for p in (GOLDEN / "npy").iterdir()}
    assert made == kept, "run conformance/golden/make_npy_golden.py and review"


# The kernels of these files are written for, and lowered by, JAX 0.10. Others export the same kernels with other
# defaults.
if jax.__version_info__[:2] == (0, 10):

    def test_legality_is_fresh(tmp_path):
        """What JAX's lowerings refuse: the tests of emu/check/legality/*_golden_test.cc compare."""
        run("make_legality_golden.py", tmp_path / "legality.txt")
        assert (tmp_path / "legality.txt").read_text() == golden_files.read(
            GOLDEN / "legality.txt.gz"
        ), "run conformance/golden/make_legality_golden.py, then conformance/golden/golden_files.py diff, and review"

    # All kernels of these take JAX minutes, and are `./dev golden`, a part of test-long.
    @pytest.mark.parametrize(
        ("name", "every", "least"), [("gpu_legality", 16, 30), ("layout_legality", 16, 30), ("sweep_legality", 32, 60)]
    )
    def test_a_sample_of_what_is_refused_is_fresh(name, every, least, tmp_path):
        run(f"make_{name}_golden.py", tmp_path / "made.txt", "--every", str(every))
        made, kept = (
            kernels_of(golden_files.read(path)) for path in (tmp_path / "made.txt", GOLDEN / f"{name}.txt.gz")
        )
        assert len(made) > least
        stale = [name for name, kernel in made.items() if kept.get(name) != kernel]
        assert (
            not stale
        ), f"run conformance/golden/make_{name}_golden.py, then golden_files.py diff, and review: {stale[:5]}"


def kernels_of(text):
    """{target, name: how it begins, and the rest}"""
    kernels = {}
    for entry in ("\n" + text).split("\n=== ")[1:]:
        title, kernel = entry.split("\n", 1)
        name, target, verdict = title.split()
        kernels[target, name] = (verdict, kernel.strip())
    for group in ("\n" + text).split("\n@ ")[1:]:
        begin, *lines = group.splitlines()
        kernels |= {(begin.split()[0], line.split()[0]): (begin, line) for line in lines}
    return kernels


def test_numpy_reads_ml_dtypes_back_as_views():
    """npy_test.cc shows that we write these bytes; this shows what a user of NumPy gets from them."""
    bf16 = np.load(GOLDEN / "npy" / "bf16.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(bf16.astype(np.float32), np.array([[1, -2], [np.nan, 0.5]], np.float32))
    i4 = np.load(GOLDEN / "npy" / "i4.npy").view(ml_dtypes.int4)
    np.testing.assert_array_equal(i4.astype(np.int8), np.arange(-8, 8))


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True
    )


def test_compressed_files_are_shown_edited_and_compared(tmp_path):
    """By the program as a reviewer runs it, in a repository of its own."""
    text = "=== a t lowered\npkir 1;\n=== b t refused\npkir 2;\n"
    program = tmp_path / "golden_files.py"
    program.write_bytes((GOLDEN / "golden_files.py").read_bytes())

    def run_program(*words, given=None, code=0):
        done = subprocess.run([sys.executable, program, *words], capture_output=True, text=True, input=given)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    golden_files.write(tmp_path / "x_legality.txt.gz", text)
    packed = (tmp_path / "x_legality.txt.gz").read_bytes()
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "m")
    assert run_program("diff") == ""
    assert run_program("show", "x_legality") == text
    assert run_program("show", "x_legality", "b") == "=== b t refused\npkir 2;\n"
    run_program("write", "x_legality", given=text.replace("refused", "lowered"))
    assert run_program("diff", code=1).splitlines()[4:] == [
        "@@ -1,4 +1,4 @@",
        " === a t lowered",
        " pkir 1;",
        "-=== b t refused",
        "+=== b t lowered",
        " pkir 2;",
    ]
    run_program("write", "x_legality", given=text)
    assert (tmp_path / "x_legality.txt.gz").read_bytes() == packed, "the same text is the same file"
    assert "it has no kernel c" in run_program("show", "x_legality", "c", code=4)
    assert "there is no y.txt.gz; there are x_legality" in run_program("show", "y", code=4)


def test_every_compressed_file_is_whole_and_has_kernels():
    files = sorted(GOLDEN.glob("*.txt.gz"))
    assert len(files) == 7
    assert [path.name for path in files if len(golden_files.read(path)) < 100_000] == []
