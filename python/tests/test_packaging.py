"""The wheel and the source distribution, and the package as a user of the wheel has it: from another folder, without
this checkout. The library is not compiled anew: the wheel takes the one that is built (PALLADION_PREBUILT). That a
source distribution compiles is not tried, but that every file of the build is in it, and that CMake configures from it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PALLADION_BUILD", ROOT / "build"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

PROGRAM = """
import jax
import numpy as np
from jax.experimental import pallas as pl

import palladion
from palladion import _abi

def double_kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + x_ref[...]

def double():
    x = np.float32([1, 2, 3, 4])
    return pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype)), (x,)

def main():
    f, args = double()
    with palladion.emulate("triton/h100", seeds=4) as session:
        result = f(*args)
    print(palladion.__file__, _abi.find_library(), result.tolist(), session.report.verdict, sep="\\n")

if __name__ == "__main__":
    main()
"""


def backend(call: str, folder, *arguments):
    """One of the build backend's functions, in a process of its own, from the root as pip calls it."""
    program = (
        f"import scikit_build_core.build as b, sys, json; print(b.{call}(sys.argv[1], *map(json.loads, sys.argv[2:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), *map(json.dumps, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return backend("build_wheel", tmp_path_factory.mktemp("wheel"), {"cmake.define.PALLADION_PREBUILT": str(BUILD)})


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return backend("build_sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the commands of a fresh environment that has the wheel, and beside it what this one has: JAX,
    NumPy, pytest.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            folder / "bin/python",
            "install",
            "--no-index",
            "--no-deps",
            wheel,
        ],
        check=True,
        capture_output=True,
    )
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "others.pth").write_text(
        sysconfig.get_path("purelib") + "\n"
    )  # the .pth files in there are not followed
    return folder / "bin"


def run(installed, command, *arguments, cwd, **options):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PALLADION_") and k != "PYTHONPATH"}
    return subprocess.run(
        [installed / command, *map(str, arguments)],
        cwd=cwd,
        env=clean,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        **options,
    )


def tracked(*patterns) -> set:
    return set(
        subprocess.run(
            ["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split()
    )


def test_the_wheel_has_the_package_the_library_and_the_command(wheel):
    assert wheel.name.startswith(f"palladion-{PROJECT['version']}-py3-none-linux_")
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if name.startswith("palladion/")}
        sizes = {info.filename: info.file_size for info in file.infolist()}
        (entry_points,) = [file.read(name).decode() for name in file.namelist() if name.endswith("entry_points.txt")]
    ours = {name.removeprefix("python/") for name in tracked("python/palladion")}
    cases = {
        name.replace("conformance/cases", "palladion/conformance_cases", 1) for name in tracked("conformance/cases")
    }
    chapters = {name.replace("docs/learn", "palladion/learn/chapters", 1) for name in tracked("docs/learn")}
    assert len(chapters) > 10
    assert names == ours | cases | chapters | {
        "palladion/libpalladion.so",
        "palladion/palladion",
        "palladion/conformance_run",
    }
    assert min(sizes["palladion/libpalladion.so"], sizes["palladion/palladion"]) > 1 << 20
    assert "[pytest11]" in entry_points and "palladion = palladion.__main__:main" in entry_points


def test_the_source_distribution_has_every_file_of_the_build(sdist):
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    needed = {
        name
        for name in tracked(
            "semantics",
            "memory_model",
            "scheduler",
            "emu",
            "cmake",
            "python/palladion",
            "CMakeLists.txt",
            "conformance/CMakeLists.txt",
            "conformance/*.cc",
            "conformance/*.h",
            "conformance/cases",
            "docs/learn",
            "pyproject.toml",
            "README.md",
            "LICENSE",
        )
    }
    assert len(needed) > 300 and needed - names == set()
    assert not [name for name in names if name.startswith(("build", ".venv", "python/tests", "bench/"))]


def test_cmake_configures_and_installs_from_the_source_distribution(sdist, tmp_path):
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    done = subprocess.run(
        [
            "cmake",
            "-S",
            source,
            "-B",
            tmp_path / "build",
            "-G",
            "Ninja",
            "-DSKBUILD=2",
            "-DPALLADION_TESTS=OFF",
            "-DPALLADION_BENCH=OFF",
            "-DPALLADION_PYTHON=OFF",
            f"-DPYTHON_EXECUTABLE={sys.executable}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    commands = subprocess.run(
        ["ninja", "-C", tmp_path / "build", "-t", "commands", "palladion_wheel"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "emu/front/ffi/handler.cc" in commands and "command_main.cc" in commands and "_test.cc" not in commands
    dry = subprocess.run(
        ["ninja", "-C", tmp_path / "build", "-n", "palladion_wheel"], capture_output=True, text=True, check=False
    )
    assert dry.returncode == 0, dry.stdout  # every source of every step is there
    built = ("libpalladion.so", "palladion", "conformance_run")
    for name in built:  # what the build would leave, for the rules that put it into a wheel
        shutil.copy(BUILD / name, tmp_path / "build" / name)
    subprocess.run(
        ["cmake", "--install", tmp_path / "build", "--component", "wheel", "--prefix", tmp_path / "wheel"],
        check=True,
        capture_output=True,
    )
    installed_files = {
        str(p.relative_to(tmp_path / "wheel/palladion")) for p in (tmp_path / "wheel").rglob("*") if p.is_file()
    }
    folders = ("conformance_cases/", "learn/chapters/")
    assert {name for name in installed_files if not name.startswith(folders)} == set(built)
    assert len(installed_files) == len(built) + len(tracked("conformance/cases", "docs/learn"))


def test_the_library_shows_nothing_of_abseil():
    """Another Abseil in the same process, of another wheel, must not meet ours."""
    shown = subprocess.run(
        ["nm", "-DC", "--defined-only", BUILD / "libpalladion.so"], check=True, capture_output=True, text=True
    ).stdout
    names = [line.split(" ", 2)[2] for line in shown.splitlines()]
    assert "palladion_prepare" in names and not [
        name for name in names if name.startswith(("absl::", "vtable for absl", "typeinfo for absl"))
    ]


def test_a_prebuilt_folder_without_the_library_is_an_error(tmp_path):
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "-DSKBUILD=2", f"-DPALLADION_PREBUILT={tmp_path}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "which has no libpalladion.so: build the targets" in " ".join(done.stderr.split())


def test_the_installed_package_runs_a_kernel_with_its_own_library(installed, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(installed, "python", "program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    package, library, result, verdict = done.stdout.splitlines()
    assert (
        pathlib.Path(package).is_relative_to(installed.parent)
        and pathlib.Path(library) == pathlib.Path(package).parent / "libpalladion.so"
    )
    assert (result, verdict) == ("[2.0, 4.0, 6.0, 8.0]", "proved")


@pytest.mark.parametrize("spelled", [["palladion"], ["python", "-m", "palladion"]])
def test_the_command_has_its_arguments_and_exit_codes(installed, tmp_path, spelled):
    def palladion(*arguments):
        return run(installed, *spelled, *arguments, cwd=tmp_path)

    (tmp_path / "program.py").write_text(PROGRAM)
    assert palladion("export", "program.py:double", "-o", "k.pkir").returncode == 0
    ran = palladion("run", "k.pkir", "--in", "x=[1,2,3,4]", "--out", "out")
    assert ran.returncode == 0 and "wrote out/y.npy  f32[4]" in ran.stdout, ran.stderr
    checked = palladion("check", "k.pkir", "--in", "x=iota", "--target", "triton/h100", "--format=json")
    assert checked.returncode == 0 and json.loads(checked.stdout)["verdict"] == "proved"
    missing = palladion("run", "nothing.pkir", "--out", "out")
    assert missing.returncode == 4 and "nothing.pkir" in missing.stderr
    (tmp_path / "wrong.pkir").write_text(
        (tmp_path / "k.pkir").read_text().replace("kernel @double_kernel {", "kernel @k { nonsense")
    )
    assert palladion("check", "wrong.pkir").returncode == 4
    unknown = palladion("frobnicate")
    assert unknown.returncode == 4 and "unknown command 'frobnicate'" in unknown.stderr
    wrong = palladion("export", "program.py")
    assert wrong.returncode == 4 and wrong.stderr.splitlines()[-1].startswith("palladion export: expected FILE.py:NAME")
    assert palladion("--help").stdout.startswith("usage: palladion COMMAND")
    cases = palladion("conformance")
    assert (
        cases.returncode == 0
        and int(cases.stdout.splitlines()[-1].split()[0]) > 400
        and cases.stdout.endswith(" passed, 0 failed\n")
    )
    assert palladion("conformance", "no such case").returncode == 4
    asked = palladion(
        "conformance", "elementwise/*", "--exec", f"'{installed / 'python'}' -m palladion.backends.palladion_itself"
    )
    assert asked.returncode == 0 and asked.stdout.endswith(" passed, 0 failed, 0 unsupported\n"), (
        asked.stdout + asked.stderr
    )


def test_the_exercises_are_in_the_installed_package(installed, tmp_path):
    shown = run(installed, "palladion", "learn", cwd=tmp_path)
    (page,) = re.findall(r"^chapter:  .* \((.*)\)$", shown.stdout, re.MULTILINE)
    assert pathlib.Path(page).is_relative_to(installed.parent) and pathlib.Path(page).is_file()
    done = run(installed, "palladion", "learn", "verify", "scale-rows", cwd=tmp_path)
    assert done.returncode == 1 and "scale-rows.py:18: UNFINISHED: " in done.stdout, done.stdout + done.stderr


def test_pytest_finds_the_installed_plugin_by_itself(installed, tmp_path):
    (tmp_path / "test_it.py").write_text(PROGRAM + "\ndef test_it():\n    f, args = double()\n    f(*args)\n")
    done = run(installed, "python", "-m", "pytest", "-q", "--palladion=triton/h100", cwd=tmp_path)
    assert done.returncode == 0 and "1 kernel call in 1 test: 1 ran" in done.stdout, done.stdout + done.stderr


def test_without_the_command_it_says_what_to_do(tmp_path):
    program = "import palladion.__main__ as m, sys; m.__file__ = sys.argv[1] + '/a/b/c.py'; sys.exit(m.main(['run']))"
    clean = {k: v for k, v in os.environ.items() if k != "PALLADION_COMMAND"}
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], env=clean, capture_output=True, text=True, check=False
    )
    assert (
        done.returncode == 5
        and "the command was not found; looked for" in done.stderr
        and "PALLADION_COMMAND" in done.stderr
    )
