"""The Mosaic GPU kernels that JAX ships trace on a machine without a GPU, and their texts parse, verify and say where
they come from.

What a kernel lacks to run is named with its place; which that is comes from the list of operations, so that it holds as
they are added.
"""

import json
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
import shipped_gpu_kernels as shipped
from palladion import _library

ALL = {**shipped.HOPPER, **shipped.OTHERS}
F32 = jnp.float32
COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "palladion"))


def text_of(make) -> str:
    function, args, chip = make()
    with palladion.target(chip):
        return palladion.export(function, *args)


@pytest.fixture(scope="module", params=ALL)
def text(request) -> str:
    return text_of(ALL[request.param])


def test_parses_and_prints_stably(text):
    printed = _library.canonical(text)
    assert _library.canonical(printed) == printed
    assert "backend mosaic_gpu;" in text
    assert re.search(r"mesh gpu \{grid=\[\d", text)


def unsupported_names() -> set:
    return {
        f"{row['dialect']}.{row['name']}" if row["dialect"] else row["name"]
        for row in _library.operations()
        if row["status"] == "unsupported"
    }


def instructions(text):
    """(line number, primitive) of every instruction of every kernel body."""
    for number, line in enumerate(text.split("\n"), 1):
        if found := re.match(r"\s+(?:[%_][^=({]* = )?([a-z_][\w.]*)[{(]", line):
            yield number, found[1]


def test_vmap_is_an_axis_with_a_name_of_its_own():
    def body(x_ref, o_ref, smem, loaded):
        plgpu.copy_gmem_to_smem(x_ref, smem, loaded)
        plgpu.barrier_wait(loaded)
        o_ref[...] = smem[...] * 2

    shape = jax.ShapeDtypeStruct((256,), jnp.float32)
    doubled = plgpu.kernel(body, out_type=shape, scratch_types=[plgpu.SMEM((256,), jnp.float32), plgpu.Barrier()])
    x = jnp.arange(768, dtype=jnp.float32).reshape(3, 256)
    with palladion.target("h100"):
        report = palladion.check(jax.vmap(doubled), x, seeds=4)
    assert report.verdict == "proved" and (report.results == 2 * x).all()


def test_what_cannot_run_is_named_with_its_line(text):
    """The primitive named is one that the list calls unsupported, and it stands in the line named."""
    missing = unsupported_names()
    for kernel in _library.kernel_names(text):
        lacking = [(number, name) for number, name in instructions(text) if name in missing]
        try:
            _library.Program(text, kernel)
        except _library.PalladionError as error:
            assert error.code == _library.UNSUPPORTED, error
            message = str(error)
        else:
            assert not lacking
            continue
        if not lacking:  # no operation, but an axis of several devices
            assert re.search(r"line \d+: .*not modelled", message), message
            continue
        number, name = lacking[0]
        assert f"<text>:{number}: kernel @" in message
        assert f"{name} is not supported" in message


@pytest.mark.parametrize("name", ALL)
def test_breaks_no_limit_of_its_chip(name, tmp_path):
    """Judged by its text alone: an operation that is not modelled keeps it from running; one of tensor memory, which
    Hopper lacks, is found.
    """
    chip, text = ALL[name]()[2], text_of(ALL[name])
    path = tmp_path / "kernel.pkir"
    path.write_text(
        re.sub(r"(\n  body @(?:[^{]|\{[^\n]*\})*?\) \{\n)", r"\1    commit_tmem();\n    sc.barrier();\n", text)
    )
    for kernel in _library.kernel_names(text):
        arguments = [COMMAND, "check", path, "--kernel", kernel, "--target", f"mosaic_gpu/{chip}", "--format=json"]
        report = json.loads(subprocess.run(arguments, capture_output=True, text=True).stdout)
        assert "sc.barrier is not supported" in report["error"]["message"]
        found = [finding["message"].rpartition("[")[2] for finding in report["findings"]]
        assert found == ([] if chip == "b200" else ["machine.tcgen05]"])


def test_every_copy_and_wait_has_a_place(text):
    for line in text.split("\n"):
        if re.search(
            r"\b(copy_gmem_to_smem|copy_smem_to_gmem|barrier_wait|barrier_arrive|wgmma|commit_smem)[{(]", line
        ):
            assert re.search(r"#l\d+;$", line), line


@pytest.mark.parametrize("name", ["matmul", "attention", "ragged dot"])
def test_unsupported_when_run(name):
    function, args, chip = shipped.HOPPER[name]()
    missing = unsupported_names()
    lacking = [name for _, name in instructions(text_of(shipped.HOPPER[name])) if name in missing]
    if not lacking:
        palladion.run(function, *shipped.concrete(args), target=f"mosaic_gpu/{chip}")
        return
    with pytest.raises(palladion.PalladionError, match=f"{lacking[0]} is not supported") as error:
        palladion.run(function, *shipped.concrete(args), target=f"mosaic_gpu/{chip}")
    assert error.value.code == _library.UNSUPPORTED


def test_grids_have_the_target_s_blocks():
    function, args, _ = shipped.matmul()
    for chip, blocks in (("h100", 132), ("h200", 132), ("b200", 148)):
        with palladion.target(chip):
            assert f'mesh gpu {{grid=[{blocks}], grid_names=["cluster_grid"]' in palladion.export(function, *args)
    clusters = text_of(lambda: shipped.matmul(cluster_dimension=shipped.N))
    assert (
        'grid=[66], grid_names=["cluster_grid"], cluster=[2], cluster_names=["cluster"], threads=3, thread_name="wg"'
        in clusters
    )
    assert re.search(r"cluster_barrier\{axes=\[\"cluster\"\], arrivals=\d", clusters)
    assert 'collective_axes=["cluster"]' in clusters


@pytest.mark.parametrize(
    "name, asks",
    [
        ("matmul", "core_count"),
        ("mixed types", "core_count"),
        ("transposed ragged dot", "core_count"),
        ("attention", "CUDA's version"),
        ("attention backward", "CUDA's version"),
        ("all gather", "core_count"),
    ],
)
def test_without_a_target_the_error_names_it(name, asks):
    function, args, _ = ALL[name]()
    with pytest.raises(palladion.ExportError, match=r'palladion\.target\("h100"\)') as error:
        palladion.export(function, *args)
    assert asks in str(error.value)
    assert re.match(r".*_mgpu\.py:\d+$", error.value.where), error.value.where


# What the shipped kernels do not have.

MESH = {"grid": (2,), "grid_names": ("x",), "num_threads": 2, "thread_name": "wg"}


def exported(body, *args, out=((128, 128), F32), **options):
    return palladion.export(plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(*out), **{**MESH, **options}), *args)


A = np.zeros((128, 128), np.float32)


def locations(text, primitive) -> list:
    """The (file, line) chain of the first instruction of this primitive, innermost first."""
    files = dict(re.findall(r'^file (#f\d+) = "(.*)";$', text, re.M))
    places = {
        name: (files[f], int(line), via)
        for name, f, line, via in re.findall(
            r'^loc (#l\d+) = (#f\d+):(\d+)(?::\d+)? fn "[^"]*"(?: via (#l\d+))?;$', text, re.M
        )
    }
    name = re.search(rf"\b{primitive}[{{(].* (#l\d+);$", text, re.M)[1]
    chain = []
    while name:
        file, line, name = places[name]
        chain.append((file.rpartition("/")[2], line))
    return chain


def test_lines_inside_helpers_have_their_callers():
    def body(a_ref, o_ref):
        def add(_, a_smem, o_smem):
            o_smem[...] = a_smem[...] + 1.0

        spec = plgpu.BlockSpec((64, 64), lambda i: (i, 0))
        plgpu.emit_pipeline(add, grid=(2,), in_specs=[spec], out_specs=[spec])(a_ref, o_ref)  # the call

    text = exported(body, A, num_threads=1, thread_name="wg")
    copy, add = locations(text, "copy_gmem_to_smem"), locations(text, "add_any|add")
    call = next(n for n, line in enumerate(open(__file__).read().split("\n"), 1) if line.endswith("# the call"))
    assert copy[0][0] == "pipeline.py"
    assert ("test_export_hopper.py", call) in copy
    assert _library.canonical(text)
    own = locations(text, "swap")
    assert own[0] == ("test_export_hopper.py", call - 3)
    assert any(file == "pipeline.py" for file, _ in own) and ("test_export_hopper.py", call) in own, add


def test_an_unknown_transform_is_named_at_the_user_s_line(monkeypatch):
    from palladion.jax.exporter import views

    monkeypatch.delitem(views.VIEWS, "UnswizzleRef")
    with pytest.raises(palladion.ExportError, match="the ref transform UnswizzleRef is not known") as error:
        text_of(shipped.matmul)
    assert re.match(r".*hopper_matmul_mgpu\.py:\d+$", error.value.where)


def test_an_unknown_parameter_is_named(monkeypatch):
    from palladion.jax.exporter import async_ops, kernel

    monkeypatch.setitem(kernel.HANDLERS, "set_max_registers", async_ops._plain())
    with pytest.raises(palladion.ExportError, match="its parameter 'action'.*is not known"):
        text_of(shipped.matmul)


def test_closed_over_scalars_and_core_map_under_run_state():
    mesh = plgpu.Mesh(grid=(2,), grid_names=("x",), num_threads=1, thread_name="wg")

    def f(a, scale):
        def with_refs(refs):
            a_ref, o_ref = refs

            @pl.core_map(mesh)
            def _():
                i = lax.axis_index("x")
                o_ref[i] = a_ref[i] * 2.0

        return pl.run_state(with_refs)((a * scale, jnp.zeros_like(a)))[1]

    text = palladion.export(f, A, np.float32(2))
    assert "mesh gpu {grid=[2]" in text and _library.canonical(text)


def test_refs_of_run_state_lie_where_the_mesh_says():
    def body(x_ref, o_ref, smem, barrier):
        plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[1], reduction_op="add")
        plgpu.wait_smem_to_gmem(0)

    def f(x, o):  # as the gradient of tokamax's attention for Blackwell adds to an array that is there
        def stateful(refs):
            x_ref, o_ref = refs
            mesh = plgpu.Mesh(num_threads=1, thread_name="wg")

            @pl.core_map(mesh)
            def _():
                pl.run_scoped(
                    lambda *scratch: body(x_ref, o_ref, *scratch),
                    plgpu.SMEM((128,), F32),
                    plgpu.Barrier(),
                    collective_axes=("wg",),
                )

        return pl.run_state(stateful)((x, o))[1]

    x, o = np.arange(128, dtype=np.float32), np.ones((2, 128), np.float32)
    assert "default" not in palladion.export(f, x, o)
    checked = palladion.check(f, x, o, seeds=4)
    assert checked.findings == [], checked
    np.testing.assert_array_equal(checked.results, [o[0], x + 1])


def test_barriers_semaphores_and_tensor_memory_have_their_types():
    def body(o_ref, barrier, cluster, semaphore, tmem):
        plgpu.barrier_arrive(barrier.at[0])
        plgpu.barrier_arrive(cluster)
        pl.semaphore_signal(semaphore, 1)
        tmem_out = plgpu.async_load_tmem(tmem)
        plgpu.wait_load_tmem()
        o_ref[...] = tmem_out

    scratch = (
        plgpu.Barrier(num_arrivals=2, num_barriers=3, orders_tensor_core=True),
        plgpu.ClusterBarrier(collective_axes=("c",)),
        plgpu.SemaphoreType.REGULAR,
        plgpu.TMEM((128, 128), F32),
    )
    text = exported(body, cluster=(2,), cluster_names=("c",), scratch_types=scratch)
    for part in (
        "barrier{arrivals=2, orders_tensor_core=true}[3]",
        'cluster_barrier{axes=["c"], arrivals=1',
        "sem[]",
        "ref<tmem,f32[128,128]>",
    ):
        assert part in text, part
    assert _library.canonical(text)


def test_unions_of_refs_and_refs_of_another_block():
    def body(o_ref, members, smem):
        (_, one), other = members
        one[...] = jnp.ones((128,), F32)
        other[...] = plgpu.cluster_ref(smem, {"c": 1})[...]
        o_ref[0] = one[...] + other[...]

    row = plgpu.SMEM((128,), F32)
    text = exported(body, cluster=(2,), cluster_names=("c",), scratch_types=(plgpu.RefUnion([row, row], row), row))
    for part in ("ref<smem,i8[1536]>", ".alias{dtype=f32, shape=[128], offset=1024}", '.cluster{dims=["c"], idxs=[1]}'):
        assert part in text, part
    assert _library.canonical(text)


def test_a_computed_index_of_a_block_is_written():
    def body(o_ref, smem):
        o_ref[0] = plgpu.cluster_ref(smem, {"c": 1 - lax.axis_index("c")})[...]

    text = exported(body, cluster=(2,), cluster_names=("c",), scratch_types=(plgpu.SMEM((128,), F32),))
    assert re.search(r'\.cluster\{dims=\["c"\]\}\[%\d+\]', text)
    assert _library.canonical(text)


def test_the_fences_of_dynamic_scheduling_are_known_by_their_text():
    def body(o_ref):
        @plgpu.dynamic_scheduling_loop(("b",))
        def _(loop_info):
            o_ref[loop_info.index[0]] = jnp.ones((128,), F32)

    text = exported(body, grid=(4,), grid_names=("b",))
    for half in ("acquire.sync_restrict::shared::cluster", "release.sync_restrict::shared::cta"):
        assert f'ptx="fence.proxy.async::generic.{half}.cluster;"}}()' in text, text
    assert _library.canonical(text)
