"""Layouts of tensor memory in kernel text are JAX's: their names, their columns, and the way back to JAX's
constructors.
"""

import itertools
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.mosaic.gpu import tcgen05
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from palladion import _library
from palladion.jax import jax_tensor_memory
from palladion.jax.exporter.types import tensor_memory_attrs

F32, F16, F8, SCALE = jnp.float32, jnp.float16, jnp.float8_e4m3fn, jnp.float8_e8m0fnu
LAYOUTS = plgpu.TMEMLayout
COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "palladion"))


def text_of(*scratch) -> str:
    def body(o_ref, *refs):
        o_ref[...] = jnp.zeros((128,), F32)

    with palladion.target("b200"):
        return palladion.export(plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128,), F32), scratch_types=scratch))


REFS = {
    "f32[128,128]": lambda: plgpu.TMEM((128, 128), F32),
    "f16[128,64] {packing=2}": lambda: plgpu.TMEM((128, 64), F16, packed=True),
    "f16[128,64]": lambda: plgpu.TMEM((128, 64), F16, packed=False),
    "f32[128,64] {collective=true}": lambda: plgpu.TMEM((128, 64), F32, collective=True),
    "f32[64,128] {layout=half_lane}": lambda: plgpu.TMEM((64, 128), F32),
    "f8e4m3fn[64,128] {layout=half_lane, packing=4}": lambda: plgpu.TMEM((64, 128), F8, packed=True),
    "f32[64,128] {layout=m64_collective, collective=true}": lambda: plgpu.TMEM((64, 128), F32, collective=True),
    "f32[64,96] {layout=half_lane, tile_columns=32}": lambda: plgpu.TMEM((3, 64, 32), F32),
    "f32[128,96]": lambda: plgpu.TMEM((3, 128, 32), F32),
    "f8e8m0fnu[128,8] {layout=scales}": lambda: plgpu.TMEM((128, 8), SCALE, layout=LAYOUTS.SCALES_LAYOUT),
    "u2[128,32] {layout=sparse_metadata}": lambda: plgpu.TMEM(
        (128, 32), jnp.uint2, layout=LAYOUTS.SPARSE_METADATA_LAYOUT
    ),
}
if hasattr(LAYOUTS, "SCALES_M64_COLLECTIVE_LAYOUT"):
    REFS["f8e8m0fnu[256,8] {layout=scales_m64_collective, collective=true}"] = lambda: plgpu.TMEM(
        (256, 8), SCALE, layout=LAYOUTS.SCALES_M64_COLLECTIVE_LAYOUT, collective=True
    )


@pytest.mark.parametrize("expected", REFS)
def test_a_ref_says_its_layout_and_comes_back(expected):
    text = text_of(REFS[expected]())
    assert f"ref<tmem,{expected}>" in text
    assert f"ref<tmem,{expected}>" in _library.canonical(text)
    function = palladion.to_jax(text)
    assert f"ref<tmem,{expected}>" in palladion.export(function), function.source


def test_members_of_a_union_say_theirs():
    def body(o_ref, members):
        (whole, _), half = members
        o_ref[...] = plgpu.async_load_tmem(whole)
        plgpu.async_store_tmem(half, jnp.zeros((128, 64), F16))

    if not hasattr(plgpu, "async_load_tmem"):
        pytest.skip("this JAX has no async_load_tmem")
    union = plgpu.RefUnion(
        [plgpu.TMEM((128, 32), F32), plgpu.TMEM((128, 32), F32)], plgpu.TMEM((128, 64), F16, packed=True)
    )
    with palladion.target("b200"):
        text = palladion.export(
            plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128, 32), F32), scratch_types=(union,))
        )
    assert "ref<tmem,i32[128,64]>" in text
    assert ".alias{dtype=f32, shape=[128,32], offset=0, layout=default, packing=1}" in text
    assert ".alias{dtype=f16, shape=[128,64], offset=0, layout=default, packing=2}" in text


def test_every_layout_that_jax_makes_has_its_name():
    for packing, columns in itertools.product((1, 2, 4, 8), (32, 64, 256)):
        assert jax_tensor_memory.attributes_of(tcgen05.tmem_default_layout(packing), columns) == {
            "layout": "default",
            "packing": packing,
        }
        for name, make in (
            ("half_lane", tcgen05.tmem_half_lane_layout),
            ("m64_collective", tcgen05.tmem_m64_collective_layout),
        ):
            found = jax_tensor_memory.attributes_of(make(columns, packing), columns)
            assert found == {"layout": name, "packing": packing}
            assert eval(jax_tensor_memory.source_of({**found, "tile_columns": columns})) == make(columns, packing)  # noqa: S307


def columns_reported(tmp_path, refs) -> list:
    """Columns that a check counts for each of the refs, which together with one more are too many for a block."""
    scratch = ", ".join(f"%r{i}: {ref}" for i, ref in enumerate((*refs, "ref<tmem,f32[128,512]>")))
    text = (
        "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  out %o: f32[8] space gmem;\n  mesh gpu {grid=[], "
        "grid_names=[], cluster=[], "
        "cluster_names=[], threads=none, thread_name=none};\n  body @k (%or: ref<gmem,f32[8]>) {\n    "
        "run_scoped{collective_axes=[]}() "
        f"({scratch}) {{ return; }};\n    return;\n  }}\n}}\n"
    )
    (tmp_path / "kernel.pkir").write_text(text)
    arguments = [COMMAND, "check", tmp_path / "kernel.pkir", "--target", "mosaic_gpu/b200", "--seeds", "1"]
    output = subprocess.run(arguments, capture_output=True, text=True).stdout
    assert "error[CAPACITY]" in output, output
    return [int(re.search(rf"(\d+) columns for 'r{i}' ", output)[1]) for i in range(len(refs))]


def jax_layouts():
    """(attributes, JAX's layout, type, rows, columns, bits), with more than one tile of each."""
    for packing, dtype, bits in ((1, "f32", 32), (1, "f16", 16), (2, "f16", 16), (4, "f8e4m3fn", 8)):
        yield f"packing={packing}", tcgen05.tmem_default_layout(packing), dtype, 256, 72, bits
        yield f"packing={packing}", tcgen05.tmem_default_layout(packing), dtype, 128, 24, bits
        yield f"layout=half_lane, packing={packing}", tcgen05.tmem_half_lane_layout(96, packing), dtype, 64, 96, bits
        yield (
            f"layout=half_lane, packing={packing}, tile_columns=32",
            tcgen05.tmem_half_lane_layout(32, packing),
            dtype,
            64,
            96,
            bits,
        )
        yield (
            f"layout=m64_collective, packing={packing}",
            tcgen05.tmem_m64_collective_layout(48, packing),
            dtype,
            64,
            48,
            bits,
        )
    yield "layout=sparse_metadata", tcgen05.sparse_meta_layout(), "u2", 128, 256, 2
    if palladion.jax.jax_versions.is_from((0, 10)):  # before, JAX forgot the copies of scales
        yield "layout=scales", tcgen05.scales_layout(), "f8e8m0fnu", 256, 12, 8
        yield "layout=scales_m64_collective", tcgen05.b_scales_m64_collective_layout(), "f8e8m0fnu", 256, 12, 8


def test_columns_are_those_that_jax_counts(tmp_path):
    layouts = list(jax_layouts())
    for start in range(0, len(layouts), 8):
        part = layouts[start : start + 8]
        found = columns_reported(
            tmp_path, [f"ref<tmem,{dtype}[{rows},{columns}] {{{attrs}}}>" for attrs, _, dtype, rows, columns, _ in part]
        )
        jax_counts = [layout.cols_in_shape((rows, columns), bits) for _, layout, _, rows, columns, bits in part]
        assert found == [-(-count // 8) * 8 for count in jax_counts]  # as the lowering rounds them


def elements_of_cells(layout, shape) -> np.ndarray:
    """[lane, column, part] -> number of the element there, read off JAX's tiles; of lanes that are copies the first."""
    cells = np.arange(np.prod(shape)).reshape(shape)
    for tile in layout.tiling.tiles:
        lead = cells.ndim - len(tile)
        split = [size for dim, t in zip(cells.shape[lead:], tile) for size in (dim // t, t)]
        order = [*range(lead), *range(lead, lead + len(split), 2), *range(lead + 1, lead + len(split), 2)]
        cells = cells.reshape(*cells.shape[:lead], *split).transpose(order)
    lanes = [dim % cells.ndim for dim in (*layout.warp_dims, *layout.lane_dims) if isinstance(dim, int)]
    part = layout.vector_dim % cells.ndim
    columns = [dim for dim in range(cells.ndim) if dim not in (*lanes, part)]
    number_of_lanes = int(np.prod([cells.shape[dim] for dim in lanes]))
    return cells.transpose([*lanes, *columns, part]).reshape(number_of_lanes, -1, cells.shape[part])


def cells_seen(tmp_path, attrs, dtype, values, columns) -> np.ndarray:
    """The bytes of a union's columns [lane, column, byte] after a store through one of its members, at column 4."""
    shape = f"[{values.shape[0]},{values.shape[1]}]"
    text = f"""pkir 1;
kernel @k {{
  backend mosaic_gpu;
  in %x: {dtype}{shape} space gmem;
  out %o: i32[128,{columns}] space gmem;
  mesh gpu {{grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none}};
  body @k (%xr: ref<gmem,{dtype}{shape}>, %or: ref<gmem,i32[128,{columns}]>) {{
    run_scoped{{collective_axes=[]}}() (%u: ref<tmem,i32[128,{columns + 4}]>) {{
      %v = get(%xr) : {dtype}{shape};
      async_store_tmem(ref=%u.alias{{dtype={dtype}, shape={shape}, offset=4, {attrs}}}, value=%v);
      commit_tmem();
      %w = async_load_tmem{{reduce=none}}(src=%u.at[*, 4 +: {columns}]) : i32[128,{columns}];
      wait_load_tmem();
      _ = swap(%or, %w) : i32[128,{columns}];
      return;
    }};
    return;
  }}
}}
"""
    (tmp_path / "union.pkir").write_text(text)
    np.save(tmp_path / "x.npy", values)
    arguments = [
        COMMAND,
        "run",
        tmp_path / "union.pkir",
        "--target",
        "mosaic_gpu/b200",
        "--in",
        f"x={tmp_path / 'x.npy'}",
        "--out",
        tmp_path,
        "--legality",
        "off",
    ]
    output = subprocess.run(arguments, capture_output=True, text=True)
    assert output.returncode == 0, output.stdout + output.stderr
    return np.load(tmp_path / "o.npy").view(np.uint8).reshape(128, columns, 4)


def test_members_of_a_union_lie_as_jax_lays_them(tmp_path):
    types = {
        "f32": np.dtype(np.float32),
        "f16": np.dtype(np.float16),
        "f8e4m3fn": np.dtype(np.uint8),
        "f8e8m0fnu": np.dtype(np.uint8),
    }
    written = {"f8e4m3fn": "u8", "f8e8m0fnu": "u8"}
    for attrs, layout, dtype, rows, columns, bits in jax_layouts():
        if bits < 8:  # refused
            continue
        attrs = attrs if attrs.startswith("layout") else f"layout=default, {attrs}"
        values = np.arange(rows * columns, dtype=np.uint32).astype(
            np.uint8 if bits == 8 else np.uint16 if bits == 16 else np.uint32
        )
        values = values.view(types[dtype]).reshape(rows, columns)
        expected = elements_of_cells(layout, (rows, columns))
        found = cells_seen(tmp_path, attrs, written.get(dtype, dtype), values, expected.shape[1])
        wanted = values.reshape(-1)[expected.reshape(*expected.shape[:2], -1)]
        seen = found[: expected.shape[0]].reshape(*expected.shape[:2], 4)[:, :, : expected.shape[2] * bits // 8]
        np.testing.assert_array_equal(seen, np.ascontiguousarray(wanted).view(np.uint8), err_msg=attrs)


def test_a_layout_that_jax_does_not_make_is_refused():
    packed = tcgen05.tmem_default_layout(8)
    other = tcgen05.TMEMLayout(tcgen05.fa.Tiling(((128, 8), (32, 4))), (-4,), (-2,), -1, _check_canonical=False)
    assert tensor_memory_attrs(packed, 8)["packing"] == 8
    with pytest.raises(palladion.ExportError, match="is none that JAX's constructors make"):
        tensor_memory_attrs(other, 8)
