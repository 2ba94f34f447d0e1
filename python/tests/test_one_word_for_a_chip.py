"""One word for a chip, everywhere: each way to run a kernel takes each spelling of a target, and the report names the
same target.
"""

import inspect
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu, triton as plgpu_triton

import palladion
from palladion import _library
from palladion.api import running
from palladion.jax import export_command
from palladion.jax.jax_gpu_calls import backend_of_bare_calls

ROOT = pathlib.Path(__file__).resolve().parents[2]
X = np.zeros((8, 128), np.float32)


def _copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def _call(x, **options):
    return pl.pallas_call(_copy, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def silent(x):
    return _call(x)


def triton(x):
    return _call(x, compiler_params=plgpu_triton.CompilerParams(num_warps=4))


def mosaic_tpu(x):
    return _call(x, compiler_params=pltpu.CompilerParams(dimension_semantics=()))


def mosaic_gpu(x):
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return plgpu.kernel(
        _copy, **{"out_type" if "out_type" in inspect.signature(plgpu.kernel).parameters else "out_shape": result}
    )(x)


BARE_ON_H100 = f"{backend_of_bare_calls()}/h100"
# (kernel, what is said, what it means)
SPELLINGS = [
    (silent, None, "generic"),
    (silent, "generic", "generic"),
    (silent, "h100", BARE_ON_H100),
    (silent, "v5p", "mosaic_tpu/v5p"),
    (silent, "mosaic_gpu/b200", "mosaic_gpu/b200"),
    (silent, "triton/h100", "triton/h100"),
    (triton, None, "triton/h100"),
    (triton, "h200", "triton/h200"),
    (triton, "triton/b200", "triton/b200"),
    (triton, "generic", "generic"),
    (mosaic_tpu, None, "mosaic_tpu/v5e"),
    (mosaic_tpu, "v5p", "mosaic_tpu/v5p"),
    (mosaic_tpu, "mosaic_tpu/v7x", "mosaic_tpu/v7x"),
    (mosaic_gpu, None, "mosaic_gpu/h100"),
    (mosaic_gpu, "b200", "mosaic_gpu/b200"),
    (mosaic_gpu, "mosaic_gpu/h100", "mosaic_gpu/h100"),
]
WRONG = [(mosaic_tpu, "h100"), (mosaic_gpu, "v5p"), (mosaic_gpu, "triton/h100"), (triton, "mosaic_gpu/h100")]
UNKNOWN = (
    "unknown target 'x99'; give a chip (h100, h200, b200, v4, v5e, v5p, v6e, v7x), which takes the backend that the "
    "kernel says, "
    "or a full name (generic, triton/h100, "
)


def by_run(f, name, tmp_path):
    return running.execute(f, (X,), name).runs[0].report["target"]


def by_check(f, name, tmp_path):
    return palladion.check(f, X, target=name).kernels[0].target


def by_record(f, name, tmp_path):
    palladion.record(f, X, out=tmp_path / "calls", target=name)
    return by_command(None, name, tmp_path / "calls" / next((tmp_path / "calls").iterdir()).name)


def by_export(f, name, tmp_path):
    (tmp_path / "kernel.pkir").write_text(palladion.export(f, X, target=name), encoding="utf-8")
    return by_command(None, name, tmp_path)


def by_command(f, name, tmp_path):
    if f is not None:
        (tmp_path / "kernel.pkir").write_text(palladion.export(f, X), encoding="utf-8")
    words = ["show", tmp_path / "kernel.pkir", *(["--target", name] if name else [])]
    shown = subprocess.run([ROOT / "build/palladion", *words], capture_output=True, text=True)
    if shown.returncode:
        raise palladion.PalladionError(shown.stderr, shown.returncode)
    return shown.stdout.partition(" on ")[2].partition("\n")[0]


def by_emulate(f, name, tmp_path):
    with palladion.emulate(name) as session:
        jax.jit(f)(X)
    return session.report.calls[0].target


def by_install(f, name, tmp_path):
    palladion.last_report()
    palladion.install(target=name, on_defect="collect")
    try:
        jax.block_until_ready(jax.jit(f)(X))
        return palladion.last_report().calls[0].target
    finally:
        palladion.uninstall()


def by_library(f, name, tmp_path):
    text = palladion.export(f, X)
    arrays = [[np.zeros_like(X) for _ in range(text.count(f"  {role} %"))] for role in ("in", "out")]
    return _library.Program(text, None, name).run(*arrays)[1]["target"]


def by_check_in_target(f, name, tmp_path):
    if name is None:
        return by_check(f, name, tmp_path)
    with palladion.target(name):
        return by_check(f, None, tmp_path)


def by_check_in_emulate(f, name, tmp_path):
    with palladion.emulate(name):
        return by_check(f, None, tmp_path)


def by_run_in_target(f, name, tmp_path):
    if name is None:
        return by_run(f, name, tmp_path)
    with palladion.target(name):
        return by_run(f, None, tmp_path)


def by_emulate_in_target(f, name, tmp_path):
    if name is None:
        return by_emulate(f, name, tmp_path)
    with palladion.target(name):
        return by_emulate(f, None, tmp_path)


def by_target_in_emulate(f, name, tmp_path):
    """One compiled function under each: what is compiled for one target is not taken for another."""
    once = jax.jit(f)
    with palladion.emulate(on_defect="collect") as session:
        if name is None:
            once(X)
        else:
            with palladion.target(name):
                once(X)
    return session.report.calls[0].target


FACES = [
    by_run,
    by_check,
    by_record,
    by_export,
    by_command,
    by_emulate,
    by_install,
    by_library,
    by_check_in_target,
    by_check_in_emulate,
    by_run_in_target,
    by_emulate_in_target,
    by_target_in_emulate,
]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("f", "name", "means"), SPELLINGS)
def test_each_spelling_means_the_same(face, f, name, means, tmp_path):
    if f is silent and name == "h100" and face in (by_command, by_library):
        means = "triton/h100"  # of a text without a backend: the call that it was made of is gone
    assert face(f, name, tmp_path) == means


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("f", "name"), WRONG)
def test_a_target_that_does_not_fit(face, f, name, tmp_path):
    with pytest.raises(
        Exception,
        match=rf"the target '{name}' does not fit kernel @_copy, which is written for .*Give one of the chips",
    ):
        face(f, name, tmp_path)


@pytest.mark.parametrize("face", FACES)
def test_an_unknown_target(face, tmp_path):
    with pytest.raises(palladion.PalladionError) as error:
        face(silent, "x99", tmp_path)
    assert UNKNOWN in str(error.value)


def test_the_export_command(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(
        "import jax, sys\nsys.path.insert(0, %r)\nimport test_one_word_for_a_chip as t\n"
        "CORES = jax.devices()[0].core_count\nentry = lambda: (t.silent, t.X)\n" % str(pathlib.Path(__file__).parent)
    )
    assert export_command.main([f"{program}:entry", "--target", "triton/h100"]) == 0
    assert "kernel @_copy" in capsys.readouterr().out
    assert export_command.main([f"{program}:entry", "--target", "x99"]) == 4
    assert UNKNOWN in capsys.readouterr().err


def test_pytest(tmp_path):
    """The marker, which takes what the option takes, and the option's error."""
    (tmp_path / "test_it.py").write_text(
        f"""
import sys, pytest
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import test_one_word_for_a_chip as matrix

@pytest.mark.parametrize(
    ("f", "means"),
    [pytest.param(f, means, marks=pytest.mark.palladion(name)) for f, name, means in matrix.SPELLINGS],
)
def test_each(f, means, palladion_session):
    f(matrix.X)
    assert palladion_session.report.calls[0].target == means
""",
        encoding="utf-8",
    )

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "palladion", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    passed = run()
    assert f"{len(SPELLINGS)} passed" in passed.stdout, passed.stdout
    refused = run("--palladion=x99")
    assert refused.returncode == 4 and UNKNOWN in refused.stderr


def test_a_kernel_s_program_order_is_that_of_the_target():
    """check under target("h100") says what emulate("h100") says."""

    def sums(x_ref, o_ref):
        o_ref[...] = x_ref[pl.program_id(0), :]

    def f(x):
        return pl.pallas_call(sums, out_shape=jax.ShapeDtypeStruct(x.shape[1:], x.dtype), grid=x.shape[:1])(x)

    x = jnp.arange(512.0).reshape(4, 128)
    with palladion.emulate("h100", seeds=4, on_defect="collect") as session:
        f(x)
    with palladion.target("h100"):
        report = palladion.check(f, x)
    assert [one.code for one in report.findings] == [one.code for one in session.report.findings] != []
    assert {one.target for one in report.kernels} == {BARE_ON_H100}
