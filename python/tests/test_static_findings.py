"""What a target refuses is said when a kernel is run, with seeds or without, at the user's line; and not again where
nothing is wrong.
"""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

S = jax.ShapeDtypeStruct
THIS = __file__.rpartition("/")[2]


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def sort(x_ref, o_ref):
    o_ref[...] = jnp.sort(x_ref[...])


def holds(x_ref, o_ref, s):
    s[...] = jnp.zeros_like(s)
    o_ref[...] = x_ref[...]


def block_call(x, block=(3, 100)):
    spec = pl.BlockSpec(block, lambda i, j: (i, j))
    return pl.pallas_call(copy, out_shape=S(x.shape, x.dtype), grid=(2, 2), in_specs=[spec], out_specs=spec)(x)


def sort_call(x):
    return pl.pallas_call(sort, out_shape=S(x.shape, x.dtype))(x)


def vmem_call(x, **how):
    return pl.pallas_call(copy, out_shape=S(x.shape, x.dtype), compiler_params=pltpu.CompilerParams(**how))(x)


def smem_call(x, rows=1024):
    scratch = [plgpu.SMEM((rows, 128), jnp.float32)]
    names = inspect.signature(plgpu.kernel).parameters
    given = {"out_type": S(x.shape, x.dtype), "scratch_types": scratch}
    if "out_type" not in names:
        given = {"out_shape": S(x.shape, x.dtype), "scratch_shapes": scratch}
    return plgpu.kernel(holds, **given)(x)


def triton_call(x):
    return pl.pallas_call(copy, out_shape=S(x.shape, x.dtype))(x)


ILLEGAL = {
    "block": ("v5e", block_call, jnp.ones((6, 200)), "ILLEGAL"),
    "sort": ("v5e", sort_call, jnp.ones((8, 128)), "ILLEGAL"),
    "vmem": ("v5e", vmem_call, jnp.ones((4096, 1024)), "CAPACITY"),
    "smem": ("h100", smem_call, jnp.ones((128,)), "CAPACITY"),
    "triton": ("triton/h100", triton_call, jnp.ones((3,)), "ILLEGAL"),
}
LEGAL = {
    "block": ("v5e", lambda x: block_call(x, (8, 128)), jnp.ones((16, 256))),
    "vmem": ("v5e", lambda x: vmem_call(x, vmem_limit_bytes=40 << 20), jnp.ones((4096, 1024))),
    "vmem_v6e": ("v6e", vmem_call, jnp.ones((4096, 1024))),
    "smem": ("h100", lambda x: smem_call(x, 32), jnp.ones((128,))),
    "triton": ("triton/h100", triton_call, jnp.ones((4,))),
}


@pytest.mark.parametrize("name", ILLEGAL)
@pytest.mark.parametrize("seeds", [None, 2])
def test_said_with_seeds_or_without(name, seeds):
    target, f, x, code = ILLEGAL[name]
    with palladion.emulate(target, seeds=seeds, on_defect="collect") as session:
        y = f(x)
    found = [one for one in session.report.findings if one.code == code]
    assert found and session.report.verdict == "defect" and not session.report.ok
    assert all(THIS in one.source for one in found), [one.source for one in found]
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x))  # and it runs all the same


@pytest.mark.parametrize("name", ILLEGAL)
def test_raises_before_it_runs(name):
    target, f, x, code = ILLEGAL[name]
    with pytest.raises(palladion.DefectError, match=code):
        with palladion.emulate(target) as session:
            f(x)
    assert [call.programs for call in session.report.calls] == [0]


@pytest.mark.parametrize("name", ILLEGAL)
def test_warns(name):
    target, f, x, code = ILLEGAL[name]
    with pytest.warns(palladion.PalladionWarning, match=code):
        with palladion.emulate(target, on_defect="warn"):
            f(x)
    with pytest.warns(palladion.PalladionWarning, match=code):
        palladion.run(f, x, target=target)


@pytest.mark.parametrize("name", ILLEGAL)
@pytest.mark.filterwarnings("error::palladion.PalladionWarning")
def test_legality_off(name):
    target, f, x, _ = ILLEGAL[name]
    with palladion.emulate(target, legality="off") as session:
        f(x)
    assert session.report.verdict == "ran" and not session.report.findings
    palladion.run(f, x, target=target, legality="off")
    assert not {"ILLEGAL", "CAPACITY"} & {
        one.code for one in palladion.check(f, x, target=target, seeds=1, legality="off").findings
    }


@pytest.mark.parametrize("name", LEGAL)
@pytest.mark.filterwarnings("error::palladion.PalladionWarning")
def test_nothing_is_said_of_a_legal_kernel(name):
    target, f, x = LEGAL[name]
    with palladion.emulate(target) as session:
        f(x)
    assert session.report.verdict == "ran" and not session.report.findings
    palladion.run(f, x, target=target)
    assert palladion.check(f, x, target=target, seeds=2).ok


@pytest.mark.filterwarnings("error::palladion.PalladionWarning")
def test_a_kernel_without_a_target_has_no_chip():
    for name in ("block", "sort", "triton"):
        _, f, x, _ = ILLEGAL[name]
        palladion.run(f, x)
        with palladion.emulate("generic"):
            f(x)


def test_the_fix_of_capacity_has_a_number_that_fits():
    _, f, x, _ = ILLEGAL["vmem"]
    with palladion.emulate("v5e", on_defect="collect") as session:
        f(x)
    (found,) = session.report.findings
    assert "32.00 MiB of vmem" in found.message and "is 16.00 MiB" in found.message
    limit = int(re.search(r"vmem_limit_bytes=(\d+)", found.fix)[1])
    with palladion.emulate("v5e") as session:
        vmem_call(x, vmem_limit_bytes=limit)
    assert session.report.verdict == "ran"


def test_jax_own_interpreters_judge_no_target():
    palladion.install(claim=("tpu_interpret", "interpret_true"))
    try:
        x = jnp.ones((6, 200))
        spec = pl.BlockSpec((3, 100), lambda i, j: (i, j))
        for interpret in (True, pltpu.InterpretParams()):
            pl.pallas_call(
                copy, out_shape=S(x.shape, x.dtype), grid=(2, 2), in_specs=[spec], out_specs=spec, interpret=interpret
            )(x)
            assert not palladion.last_report().findings
    finally:
        palladion.uninstall()


def test_recorded_kernels_say_their_target(tmp_path):
    with pytest.warns(palladion.PalladionWarning, match="ILLEGAL"):
        palladion.record(sort_call, jnp.ones((8, 128)), out=tmp_path / "r", target="v5e")
    (text,) = (tmp_path / "r").glob("*/kernel.pkir")
    assert 'backend mosaic_tpu;\n  arch "v5e";' in text.read_text(encoding="utf-8")
