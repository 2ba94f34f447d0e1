"""What a check says where it has no target, where it did not run to its end, and where numbers are not finite."""

import json
import os
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion import _abi, _library

S = jax.ShapeDtypeStruct
X = jnp.arange(4.0)


def last(x_ref, o_ref):
    o_ref[0] = x_ref[pl.program_id(0)]


def own(x_ref, o_ref):
    o_ref[pl.program_id(0)] = x_ref[pl.program_id(0)]


def call(body, size, **how):
    return lambda x: pl.pallas_call(body, out_shape=S((size,), x.dtype), grid=x.shape, **how)(x)


def command(*arguments, **how):
    program = os.environ.get("PALLADION_COMMAND") or os.path.join(os.path.dirname(_abi.find_library()), "palladion")
    if not os.path.isfile(program):
        pytest.skip("the command is not built")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **how)


def test_without_a_target_a_conflict_is_no_answer():
    report = palladion.check(call(last, 1), X)
    (found,) = report.findings
    assert (found.code, found.severity) == ("GRID_ORDER", "defect")
    assert "on mosaic_tpu the two run in this order, on triton and mosaic_gpu it is a race" in found.message
    assert not report.ok and report.verdict == "defect"
    assert palladion.check(call(own, 4), X).verdict == "proved"


def test_the_targets_that_it_names_agree():
    ordered = palladion.check(call(last, 1), X, target="v5e", legality="off")
    assert not [one for one in ordered.findings if one.severity == "defect"], ordered
    raced = palladion.check(call(last, 1), X, target="triton/h100")
    assert "RACE_WW" in [one.code for one in raced.findings]


def test_a_dimension_that_is_parallel_is_a_race_on_every_target():
    how = {"compiler_params": pltpu.CompilerParams(dimension_semantics=("parallel",))}
    (found,) = palladion.check(call(last, 1, **how), X, target="generic").findings
    assert "a race on mosaic_tpu, triton and mosaic_gpu" in found.message
    assert "RACE_WW" in [one.code for one in palladion.check(call(last, 1, **how), X, target="v5e").findings]


def test_how_sums_are_rounded_is_no_defect_without_a_target():
    text = """pkir 1;
kernel @k {
  grid [8];
  in %x: f32[8];
  in %z: f32[1];
  out %o: f32[1] alias %z;
  body @k (%xr: ref<default,f32[8]>, %zr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {
    %p = program_id{axis=0}() : i32[];
    %v = get(%xr.at[%p]) : f32[];
    _ = atomic_rmw{op=add}(%or.at[0], %v) : f32[];
    return;
  }
}
"""
    x = np.array([1e8, 1, -1e8, 3, 1e7, 0.1, 5, -2], np.float32)
    code, report = _library.Program(text).check([x, np.zeros(1, np.float32)], seeds=16)
    assert code == 0 and [one["severity"] for one in report["findings"]] in ([], ["note"]), report


@pytest.mark.parametrize("target", ["triton/h100", "mosaic_tpu/v5e"])
def test_an_exported_text_says_its_target(target, tmp_path):
    backend, chip = target.split("/")
    text = palladion.export(call(last, 1), X, target=target)
    assert f'backend {backend};\n  arch "{chip}";' in text
    with palladion.target(target):
        assert palladion.export(call(last, 1), X) == text
    assert "backend" not in palladion.export(call(last, 1), X)
    (tmp_path / "k.pkir").write_text(text, encoding="utf-8")
    ran = command("check", str(tmp_path / "k.pkir"), "--in", "x=iota", "--format", "json")
    report = json.loads(ran.stdout)
    assert report["target"] == target and ran.returncode == 1
    codes = {one["code"] for one in report["findings"]}
    assert ("RACE_WW" in codes) == (backend == "triton") and ("ILLEGAL" in codes) == (backend == "mosaic_tpu")


def test_the_command_run_says_what_the_target_refuses(tmp_path):
    (tmp_path / "k.pkir").write_text(palladion.export(call(own, 4), X, target="v5e"), encoding="utf-8")
    run = ("run", "k.pkir", "--in", "x=iota", "--out")
    ran = command(*run, "out", cwd=tmp_path)
    assert ran.returncode == 1 and "error[ILLEGAL]" in ran.stdout and "wrote out" in ran.stdout, ran
    quiet = command(*run, "other", "--legality", "off", cwd=tmp_path)
    assert quiet.returncode == 0 and "ILLEGAL" not in quiet.stdout, quiet
    assert command(*run, "third", "--target", "generic", cwd=tmp_path).returncode == 0


def test_a_trace_of_one_schedule_ran(tmp_path):
    """Programs take tickets: one schedule of that is no pass."""
    text = """pkir 1;
kernel @k {
  backend triton;
  grid [4];
  in %z: i32[1];
  out %o: i32[1] alias %z;
  out %p: i32[4];
  body @k (%zr: ref<default,i32[1]>, %or: ref<default,i32[1]>, %pr: ref<default,i32[4]>) {
    %i = program_id{axis=0}() : i32[];
    %t = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];
    %zero = mul(%t, 0:i32) : i32[];
    _ = swap(%pr.at[%i], %zero) : i32[];
    return;
  }
}
"""
    (tmp_path / "k.pkir").write_text(text, encoding="utf-8")
    checked = command("check", "k.pkir", "--in", "z=zeros", "--seeds", "1", "--format", "json", cwd=tmp_path)
    assert json.loads(checked.stdout)["verdict"] == "clean", checked
    assert command("trace", "k.pkir", "--in", "z=zeros", "--page", "t.html", cwd=tmp_path).returncode == 0
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert '"verdict":"ran"' in page and '"verdict":"clean"' not in page


def divides(x_ref, o_ref):
    o_ref[...] = x_ref[...] / (x_ref[...] - x_ref[...])


NAN = "'o'[0] is nan and every operand is finite: div made the first nan in"


def stays_finite(x_ref, o_ref):
    o_ref[...] = jnp.where(x_ref[...] > 0, x_ref[...] / x_ref[...], 0.0)  # 0/0 is masked


def test_a_nan_from_finite_operands_has_its_line():
    f = lambda body: lambda x: pl.pallas_call(body, out_shape=S(x.shape, x.dtype))(x)  # noqa: E731
    report = palladion.check(f(divides), X)
    (remark,) = report.kernels[0].remarks
    assert report.verdict == "proved" and report.ok
    assert (remark.name, remark.words) == ("not-finite", f"{NAN} the program")
    line = divides.__code__.co_firstlineno + 1
    assert remark.frames[0].file.endswith(os.path.basename(__file__)) and remark.frames[0].line == line
    assert f"\n  remark: {NAN}" in str(report) and f"{os.path.basename(__file__)}:{line}" in " ".join(
        str(report).split()
    )
    assert not palladion.check(f(stays_finite), X).kernels[0].remarks
    assert not palladion.check(f(divides), X + jnp.nan).kernels[0].remarks


def test_an_infinity_from_finite_operands_has_its_line():
    def squares(x_ref, o_ref):
        o_ref[...] = x_ref[...] * x_ref[...]

    report = palladion.check(lambda x: pl.pallas_call(squares, out_shape=S(x.shape, x.dtype))(x), jnp.full((4,), 1e30))
    assert (
        report.kernels[0]
        .remarks[0]
        .words.startswith("'o'[0] is inf and every operand is finite: mul made the first inf")
    )


def test_a_report_of_several_kernels_has_the_line_of_each():
    f = lambda body: lambda x: pl.pallas_call(body, out_shape=S(x.shape, x.dtype))(x)  # noqa: E731
    with palladion.emulate("triton/h100", seeds=2) as session:
        f(divides)(X)
        f(stays_finite)(X)
        f(divides)(X)
    words = " ".join(str(session.report).split())
    assert words.count(f"remark: @divides: {NAN}") == 1 and words.count("remark:") == 1, session.report
    page = session.report._repr_html_()
    assert page.count("<b>remark</b>: @divides: &#x27;o&#x27;[0] is nan and every operand is finite") == 1
    checked = palladion.check(lambda x: (f(divides)(x), f(stays_finite)(x)), X)
    assert f"remark: @divides: {NAN}" in " ".join(str(checked).split()) and checked.verdict == "proved"


def test_every_format_of_the_command_has_the_line(tmp_path):
    text = palladion.export(lambda x: pl.pallas_call(divides, out_shape=S(x.shape, x.dtype))(x), X)
    (tmp_path / "k.pkir").write_text(text, encoding="utf-8")
    for form in ("text", "json", "sarif", "junit"):
        done = command("check", "k.pkir", "--in", "x=zeros", "--seeds", "2", "--format", form, cwd=tmp_path)
        shown = " ".join(done.stdout.replace("&apos;", "'").replace("&#39;", "'").split())
        assert done.returncode == 0 and shown.count(NAN) == 1 and os.path.basename(__file__) in shown, done


def test_a_texts_backend_that_was_assumed_is_said(tmp_path):
    f = lambda x: pl.pallas_call(own, out_shape=S(x.shape, x.dtype), grid=x.shape)(x)  # noqa: E731
    text, of_h100 = palladion.export(f, X), palladion.export(f, X, target="h100")
    assumed = (
        "the kernel text names no backend, so the target 'h100' was taken for 'triton/h100'; give 'mosaic_gpu/h100' "
        "for the other one, "
        "or name the target where the text is exported"
    )
    report = palladion.check(text, X, target="h100", legality="off")
    (remark,) = report.kernels[0].remarks
    assert (remark.name, remark.words, report.kernels[0].target) == ("backend", assumed, "triton/h100")
    for target in (None, "triton/h100", "mosaic_gpu/h100", "v5e", "generic"):
        assert not palladion.check(text, X, target=target, legality="off").kernels[0].remarks, target
    (exported,) = palladion.check(of_h100, X, target="h100", legality="off").kernels
    (function,) = palladion.check(f, X, target="h100", legality="off").kernels
    assert not exported.remarks and not function.remarks and exported.target == function.target
    with palladion.emulate("h100", legality="off", on_defect="collect") as session:
        f(X)
    assert not session.report.calls[0].remarks and session.report.calls[0].target == function.target
    (tmp_path / "k.pkir").write_text(text, encoding="utf-8")
    for words in (("check", "--seeds", "2"), ("run", "--out", "out")):
        done = command(
            words[0], "k.pkir", "--in", "x=iota", "--target", "h100", "--legality", "off", *words[1:], cwd=tmp_path
        )
        assert assumed in " ".join(done.stdout.split()), done
