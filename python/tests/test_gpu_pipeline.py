"""Mosaic GPU kernels through what JAX's lowering adds to them: the pipeline around a pallas_call, run_state, mpmd_map
over warps.

Expected numbers are NumPy's. Not here: what such kernels look like on hardware.
"""

import os
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from palladion import _library

COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "palladion"))
F16, F32, I32 = jnp.float16, jnp.float32, jnp.int32
TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
LANE, WARPGROUP = plgpu.LoweringSemantics.Lane, plgpu.LoweringSemantics.Warpgroup


def run(function, *args, seeds=8):
    with palladion.emulate("h100", seeds=seeds) as session:
        result = np.asarray(function(*args))
    assert not session.report.findings, session.report
    return result


def integers(shape, dtype=F16):
    return jnp.asarray(np.random.default_rng(3).integers(-3, 4, shape), dtype)


# ---- pallas_call


@pytest.mark.parametrize("semantics", [LANE, WARPGROUP])
@pytest.mark.parametrize(
    "order, steps", [(None, 1), ("parallel", 1), ("sequential", 1), ("sequential", 2), ("sequential", 4)]
)
def test_blocks_in_tiles(semantics, order, steps):
    def double(x, o):
        o[...] = x[...] + x[...]

    spec = plgpu.BlockSpec((64, 64), lambda i: (0, i), transforms=TILES)
    params = plgpu.CompilerParams(
        dimension_semantics=[order] if order else None, max_concurrent_steps=steps, lowering_semantics=semantics
    )
    call = pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct((64, 256), F16),
        grid=(4,),
        in_specs=[spec],
        out_specs=spec,
        compiler_params=params,
    )
    x = integers((64, 256))
    np.testing.assert_array_equal(run(call, x), 2 * np.asarray(x))


def test_a_matrix_product_accumulates_over_the_sequential_dimension():
    size, tile, depth = 256, 128, 64

    def multiply(a, b, o, acc):
        plgpu.wgmma(acc, a, b)

        @pl.when(pl.program_id(2) == size // depth - 1)
        def _():
            o[...] = acc[...].astype(F16)

        plgpu.wgmma_wait(0)

    call = pl.pallas_call(
        multiply,
        out_shape=jax.ShapeDtypeStruct((size, size), F16),
        grid=(size // tile, size // tile, size // depth),
        in_specs=[
            plgpu.BlockSpec((tile, depth), lambda m, n, k: (m, k), transforms=TILES),
            plgpu.BlockSpec((depth, tile), lambda m, n, k: (k, n), transforms=TILES),
        ],
        out_specs=plgpu.BlockSpec((tile, tile), lambda m, n, k: (m, n), transforms=TILES),
        scratch_shapes=[plgpu.ACC((tile, tile), F32)],
        compiler_params=plgpu.CompilerParams(
            dimension_semantics=["parallel", "parallel", "sequential"], max_concurrent_steps=2
        ),
    )
    a, b = integers((size, size)), integers((size, size))
    np.testing.assert_array_equal(run(call, a, b, seeds=4), np.asarray(a, np.float32) @ np.asarray(b, np.float32))


@pytest.mark.parametrize(
    "order", ["parallel parallel", "parallel sequential", "sequential parallel", "sequential sequential"]
)
def test_program_ids(order):
    def ids(o):
        o[...] = jnp.full((128,), pl.program_id(0) * 10 + pl.program_id(1), I32)

    call = pl.pallas_call(
        ids,
        out_shape=jax.ShapeDtypeStruct((2, 3, 128), I32),
        grid=(2, 3),
        out_specs=plgpu.BlockSpec((None, None, 128), lambda i, j: (i, j, 0)),
        compiler_params=plgpu.CompilerParams(dimension_semantics=order.split()),
    )
    expected = np.arange(2)[:, None] * 10 + np.arange(3)
    np.testing.assert_array_equal(run(call), np.broadcast_to(expected[:, :, None], (2, 3, 128)))


def test_arrays_in_gmem_and_without_a_grid():
    def add(x, y, o):
        o[...] = x[...] + y[...]

    call = pl.pallas_call(
        add,
        out_shape=jax.ShapeDtypeStruct((128,), F32),
        in_specs=[pl.BlockSpec(memory_space=plgpu.GMEM), pl.BlockSpec()],
        compiler_params=plgpu.CompilerParams(),
    )
    x = integers((128,), F32)
    np.testing.assert_array_equal(run(call, x, x), 2 * np.asarray(x))


def test_lines_of_a_pipelined_kernel_are_the_users():
    def double(x, o):
        o[...] = x[...] + x[...]  # the line

    spec = plgpu.BlockSpec((64, 64), lambda i: (0, i), transforms=TILES)
    call = pl.pallas_call(
        double, out_shape=jax.ShapeDtypeStruct((64, 256), F16), grid=(4,), in_specs=[spec], out_specs=spec
    )
    text = palladion.export(call, integers((64, 256)))
    assert _library.canonical(text) and "jax_versions.py" not in text
    line = double.__code__.co_firstlineno + 1
    assert f":{line}:" in text
    for name in ("copy_gmem_to_smem", "copy_smem_to_gmem", "barrier_wait"):
        instruction = next(l for l in text.splitlines() if f" {name}" in l)
        assert " #l" in instruction, instruction


# ---- run_state


def state(body, dtype=F16, count=1):
    def kernel(x, o):
        firsts = [plgpu.ACC.init(x[...])] * count
        result = pl.run_state(body)(firsts[0] if count == 1 else firsts)
        o[...] = result if count == 1 else result[0]

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((64, 64), dtype))


def test_what_the_body_of_run_state_returns_is_the_result():
    def loop(acc):
        return lax.fori_loop(0, 4, lambda _, v: v + acc[...], acc[...])

    text = palladion.export(state(loop), integers((64, 64)))
    assert _library.canonical(text)
    np.testing.assert_array_equal(run(state(loop), jnp.ones((64, 64), F16)), np.full((64, 64), 5))


def test_an_accumulator_is_stored_to_in_run_state():
    def double(acc):
        acc[...] *= 2
        acc[...] += 1

    assert _library.canonical(palladion.export(state(double, F32), integers((64, 64), F32)))
    np.testing.assert_array_equal(run(state(double, F32), jnp.ones((64, 64), F32)), np.full((64, 64), 3))


def test_run_state_with_values_that_jax_mixes_up_is_refused_by_line():
    def kernel(x, o):
        value = x[...]
        o[...] = pl.run_state(lambda acc: value + acc[...])(plgpu.ACC.init(value))

    def widened(acc):
        return acc[...].astype(F32)

    for function, why in (
        (plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((64, 64), F16)), "returns 1 values over 2 refs"),
        (state(lambda accs: accs[0][...], count=2), "returns 1 values over 2 refs"),
        (state(widened), "in place of an accumulator"),
    ):
        with pytest.raises(palladion.ExportError, match=rf"test_gpu_pipeline.py:\d+: run_state: .*{why}"):
            palladion.export(function, integers((64, 64)))


# ---- layouts


TRANSPOSED_TILES = """pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: f32[16,2,64] space gmem;
  out %o: f32[16,2,64] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=1, thread_name="wg"};
  body @k (%xr: ref<gmem,f32[16,2,64]> as "x_ref", %or: ref<gmem,f32[16,2,64]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,f32[2,2,2,8,32]> as "s", %b: ref<smem,barrier{arrivals=1}[1]> as "b") {
      copy_gmem_to_smem(src=%xr, dst=%s.unswizzle(SWIZZLE).transpose[1,0,2,3,4].untile[8,32].transpose[1,0,2], barrier=%b);
      barrier_wait(barrier=%b);
      copy_smem_to_gmem(src=%s.unswizzle(SWIZZLE).transpose[1,0,2,3,4].untile[8,32].transpose[1,0,2], dst=%or);
      wait_smem_to_gmem{wait_read_only=false}(0:i32);
      return;
    };
    return;
  }
}
"""


@pytest.mark.parametrize("swizzle, code", [(128, 0), (64, 1)])
def test_tiles_that_are_transposed_among_each_other(tmp_path, swizzle, code):
    """As plgpu.TransposeTransform has them until JAX 0.9: the swizzle is as wide as the tile, or that is said."""
    (tmp_path / "k.pkir").write_text(TRANSPOSED_TILES.replace("SWIZZLE", str(swizzle)))
    np.save(tmp_path / "x.npy", np.zeros((16, 2, 64), np.float32))
    arguments = ["check", tmp_path / "k.pkir", "--in", f"x={tmp_path / 'x.npy'}", "--target", "mosaic_gpu/h100"]
    ended = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("ILLEGAL" in ended.stdout) == bool(code), ended.stdout


# ---- warps


def test_mpmd_map_over_warps():
    mpmd = pytest.importorskip("jax._src.pallas.mpmd")
    if not hasattr(mpmd, "mpmd_map"):
        pytest.skip("this JAX has no mpmd_map")

    def kernel(x, o):
        first = x[0]

        def each():
            warp = lax.axis_index("w")
            o[warp] = x[warp] + first

        mpmd.mpmd_map([(plgpu.WarpMesh(axis_name="w"), each)])()

    x = integers((4,), I32)
    np.testing.assert_array_equal(
        run(plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((4,), I32)), x), np.asarray(x) + int(x[0])
    )


@pytest.mark.parametrize("through_the_block", [False, True])
def test_warps_are_numbered_as_this_jax_does(monkeypatch, through_the_block):
    from palladion.jax import jax_versions

    def kernel(o):
        @pl.when(lax.axis_index("wg") == 1)
        def _():
            @pl.core_map(plgpu.WarpMesh(axis_name="w"))
            def _():
                warp = lax.axis_index("w")
                o[lax.rem(warp, 4)] = warp

    monkeypatch.setattr(jax_versions, "WARPS_ARE_COUNTED_THROUGH_THE_BLOCK", through_the_block)
    call = plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((4,), I32), num_threads=2, thread_name="wg")
    np.testing.assert_array_equal(run(call), np.arange(4) + 4 * through_the_block)


# ---- clusters


def neighbour(index):
    def kernel(x, o, smem, loaded, met):
        block = lax.axis_index("c")
        plgpu.copy_gmem_to_smem(x.at[block], smem, loaded)
        plgpu.barrier_wait(loaded)
        plgpu.barrier_arrive(met)
        plgpu.barrier_wait(met)
        o[block] = plgpu.cluster_ref(smem, {"c": index(block)})[...]
        plgpu.barrier_arrive(met)
        plgpu.barrier_wait(met)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((2, 128), F32),
        cluster=(2,),
        cluster_names=("c",),
        scratch_types=[plgpu.SMEM((128,), F32), plgpu.Barrier(), plgpu.ClusterBarrier(collective_axes=("c",))],
    )


def test_the_index_of_another_block_may_be_computed():
    x = integers((2, 128), F32)
    np.testing.assert_array_equal(run(neighbour(lambda c: 1 - c), x), np.asarray(x)[::-1])


def test_a_computed_index_outside_of_the_cluster_is_found():
    with palladion.emulate("h100", seeds=4, on_defect="collect") as session:
        np.asarray(neighbour(lambda c: c + 1)(integers((2, 128), F32)))
    assert {f.code for f in session.report.findings} == {"PEER_LIFETIME"}
    assert "is not in its cluster" in str(session.report.findings[0])
