"""palladion.check and palladion.time of kernel texts: of a string, of a file, of one kernel of several."""

import inspect
import pathlib

import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion

STORE = """
kernel @store {
  backend triton;
  grid [4];
  in %x: i32[4] as "x";
  out %o: i32[4] as "o";
  body @store (%xr: ref<default,i32[4]> as "x_ref", %or: ref<default,i32[4]> as "o_ref") {
    %i = program_id{axis=0}() : i32[];
    %v = get(%xr.at[%i]) : i32[];
    _ = swap(%or.at[%i], %v) : i32[];
    return;
  }
}
"""
RIGHT = "pkir 1;" + STORE
WRONG = RIGHT.replace("%or.at[%i]", "%or.at[0]")
X = np.arange(4, dtype=np.int32)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.pkir"
    path.write_text(RIGHT)
    return path


def test_a_text_and_a_path_are_checked_alike(path):
    for kernel in (RIGHT, path, str(path)):
        report = palladion.check(kernel, X, target="h100", reference=lambda x: (x,))
        assert report.verdict == "proved" and report.ok and report.difference is None
        (out,) = report.results
        np.testing.assert_array_equal(out, X)
    assert palladion.check(path, X, reference=lambda x: (x + 1,)).difference.count == 4


def test_findings_show_the_line_of_the_text_and_replay(path):
    report = palladion.check(WRONG, X, target="h100")
    text = str(report)
    assert "<text>:10" in text and "_ = swap(%or.at[0], %v) : i32[];" in text and "palladion.export writes" not in text
    line = next(line for line in text.splitlines() if line.startswith("  replay: ")).removeprefix("  replay: ")
    assert line.startswith('palladion.check(WRONG, X, target="h100", replay="')
    assert eval(line).findings[0].code == report.findings[0].code
    path.write_text(WRONG)
    assert f"{path}:10" in str(palladion.check(path, X)) and palladion.last_report().findings


def test_one_kernel_of_several():
    both = RIGHT + WRONG.removeprefix("pkir 1;").replace("@store", "@wrong")
    assert palladion.check(both, X, kernel="store").ok
    report = palladion.check(both, X, kernel="wrong", seeds=2)
    assert not report.ok and 'kernel="wrong", replay="' in str(report)
    with pytest.raises(palladion.PalladionError, match="store.*wrong"):
        palladion.check(both, X)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: palladion.check(RIGHT), palladion.PalladionError, "has 1 inputs; found 0"),
        (lambda: palladion.check(RIGHT, X.astype(np.int64)), palladion.PalladionError, r"must be i32\[4\]; found i64"),
        (lambda: palladion.check("not there.pkir"), FileNotFoundError, "not there"),
        (lambda: palladion.check("nothing"), palladion.PalladionError, "starts with `pkir 1;`"),
        (lambda: palladion.check(lambda: 1, kernel="store"), ValueError, "beside a function"),
        (
            lambda: palladion.time(RIGHT, X, target="mosaic_gpu/h100"),
            palladion.PalladionError,
            "does not fit kernel @store",
        ),
    ],
)
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_time_of_a_text_is_that_of_the_function():
    def doubled(x):
        def kernel(x_ref, o_ref):
            o_ref[...] = x_ref[...] * 2

        block = pl.BlockSpec((8, 128), lambda i: (i, 0))
        return pl.pallas_call(  # the call
            kernel, out_shape=x, grid=(4,), in_specs=[block], out_specs=block, compiler_params=pltpu.CompilerParams()
        )(x)

    x = jnp.ones((32, 128))
    of_text = palladion.time(palladion.export(doubled, x), x, target="v5e")
    assert of_text.results is None and of_text.seconds == palladion.time(doubled, x, target="v5e").seconds
    # What the pipeline itself takes is at the call, not on a line of the text.
    lines, first = inspect.getsourcelines(doubled)
    call = first + next(n for n, line in enumerate(lines) if "# the call" in line)
    step = next(line for line in of_text.kernels[0].lines if line.op == "step of the grid")
    assert (pathlib.Path(step.frames[0][0]).name, step.frames[0][1]) == ("test_kernel_texts.py", call)


def test_a_text_of_several_devices_gives_the_results_of_all():
    text = """pkir 1;
kernel @number {
  backend mosaic_tpu;
  arch "v5e";
  devices {ring=2, line=2};
  grid [];
  out %o: i32[8,128];
  body @number (%or: ref<vmem,i32[8,128]> as "o_ref") {
    %i = axis_index{axis="ring"}() : i32[];
    %v = broadcast_in_dim{shape=[8,128], dims=[]}(%i) : i32[8,128];
    _ = swap(%or, %v) : i32[8,128];
    return;
  }
}
"""
    report = palladion.check(text)
    assert report.ok, str(report)
    assert report.results[0][:, 0, 0].tolist() == [0, 0, 1, 1]
