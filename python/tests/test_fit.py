"""`palladion.fit` and CAPACITY against what the TPU's compiler did (vmem_kernels.py), and the table's own faces."""

import json
import os
import re
import subprocess

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from palladion import __main__ as command_line
from vmem_kernels import KERNELS, S, softmax, whole

MiB = 1 << 20
THIS = __file__.rpartition("/")[2]


def capacity(report):
    return [one for one in report.findings if one.code == "CAPACITY"]


@pytest.mark.parametrize("name", KERNELS)
def test_judged_as_by_the_compiler(name):
    known = KERNELS[name]
    fit = palladion.fit(known.call, *known.args, target=known.target)
    (kernel,), vmem = fit, fit[0].memory("vmem")
    assert vmem.held / MiB == pytest.approx(known.held, rel=0.05)
    assert not (known.compiles and fit.verdict == "does not fit") and not (
        fit.verdict == "fits" and not known.compiles
    ), str(fit)
    if fit.verdict == "may not fit":  # then the estimate itself, of which this is a note, is on the compiler's side
        assert (vmem.held + vmem.estimate <= vmem.limit) == known.compiles
    if known.said is not None:
        assert (vmem.held + vmem.estimate) / MiB == pytest.approx(known.said, rel=0.05)
    assert vmem.held == sum(row.amount for row in vmem.rows) and vmem.estimate == sum(
        one.amount for one in vmem.estimates
    )
    assert kernel.frames and kernel.ok == (fit.verdict == "fits")


@pytest.mark.parametrize("name", [name for name, known in KERNELS.items() if not known.compiles])
def test_the_advice_fits_when_followed(name):
    """The blocks that are named are judged as they would be if the kernel were written with them: same rule, other
    numbers.
    """
    known = KERNELS[name]
    (kernel,) = palladion.fit(known.call, *known.args, target=known.target)
    assert kernel.advice
    limit = re.search(r"vmem_limit_bytes=(\d+)", kernel.advice)
    vmem = kernel.memory("vmem")
    usable = max(amount for _, amount in [*vmem.other_limits, ("", vmem.limit)])
    assert (limit is None) == (vmem.held > usable), "raising the limit is of no use where the core has no more"
    if limit is not None:
        assert vmem.held + 2 * vmem.estimate <= int(limit[1]) <= usable
    if kernel.largest is not None:
        assert kernel.largest.verdict == "fits" and str(kernel.largest.held // MiB) in kernel.advice


INDEX_MAPS = {  # as JAX's own test_automatic_single_buffering has them: grid, map, prefetch operands, buffers
    "moves": ((4,), lambda i: (i, 0), 0, 2),
    "stays": ((4,), lambda i: (0, 0), 0, 1),
    "a grid of one step": ((1,), lambda i: (i, 0), 0, 1),
    "two dimensions of size 1": ((1, 1), lambda i, j: (i, j), 0, 1),
    "depends on what is 1": ((4, 1), lambda i, j: (j, 0), 0, 1),
    "depends on both": ((4, 1), lambda i, j: (j + i, 0), 0, 2),
    "through arithmetic": ((4, 1), lambda i, j: (j * 3 + j, 0), 0, 1),
    "under a branch": ((4, 1), lambda i, j: (jax.lax.select(j > 0, i, 0), 0), 0, 2),
    "prefetch that the map ignores": ((4, 1), lambda i, j, s: (j, 0), 1, 1),
    "prefetch that the map ignores, and it moves": ((4, 1), lambda i, j, s: (j + i, 0), 1, 2),
    "prefetch that the map reads": ((4, 1), lambda i, j, s: (s[i], 0), 1, 2),
}


@pytest.mark.parametrize("name", INDEX_MAPS)
def test_one_buffer_where_the_index_cannot_change(name):
    grid, index_map, prefetch, buffers = INDEX_MAPS[name]

    def body(*refs):
        refs[-1][...] = jnp.zeros_like(refs[-1])

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=prefetch,
        grid=grid,
        in_specs=[pl.BlockSpec((8, 128), index_map)],
        out_specs=pl.BlockSpec((8, 128), lambda *_: (0, 0)),
    )
    call = pl.pallas_call(body, grid_spec=spec, out_shape=S((8, 128)))
    fit = palladion.fit(call, *[S((4,), jnp.int32)] * prefetch, S((32, 128)), target="v6e")
    rows = {row.name: row for row in fit[0].memory("vmem").rows}
    (moving,) = [row for row in rows.values() if row.name != list(rows)[-1]] or [None]
    assert {row.buffers for row in rows.values()} == {1, buffers} and moving is not None
    assert sum(row.buffers for row in rows.values()) == 1 + buffers


def test_pl_buffered_says_how_many():
    def body(x, o):
        o[...] = x[...]

    def held(**how):
        spec = pl.BlockSpec((8, 128), lambda i: (i, 0), **how)
        call = pl.pallas_call(
            body, grid=(4,), in_specs=[spec], out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=S((32, 128))
        )
        return palladion.fit(call, S((32, 128)), target="v6e")[0].memory("vmem").held

    assert (
        held() == 4 * 4096
        and held(pipeline_mode=pl.Buffered(1)) == 3 * 4096
        and held(pipeline_mode=pl.Buffered(2)) == 4 * 4096
    )


def over_and_under(limit):
    """32 MiB in one buffer each of x and o: `limit` is what the kernel asks for."""
    return whole(lambda x, o: o.__setitem__(..., x[...]), S((1024, 4096)), limit=limit), S((1024, 4096))


def test_a_limit_is_what_the_kernel_asks_for_and_is_clamped():
    for limit, verdict, bound in (
        (32, "fits", 32 * MiB),
        (31, "does not fit", 31 * MiB),
        (None, "fits", 32 * MiB),
        (100, "fits", 64 * MiB - 65536),
    ):
        call, x = over_and_under(limit)
        fit = palladion.fit(call, x, target="v7x")
        assert (fit.verdict, fit[0].memory("vmem").limit) == (verdict, bound)
    report = palladion.check(over_and_under(100)[0], jnp.zeros((1024, 4096)), target="v7x", seeds=1)
    (note,) = capacity(report)
    assert report.verdict == "proved" and note.severity == "note" and "gives the 63.94 MiB" in note.message


def test_what_may_not_fit_is_a_note_and_proved():
    x = jnp.zeros((2048, 2048))
    report = palladion.check(whole(softmax, S(x.shape)), x, target="v6e", seeds=1)
    (note,) = capacity(report)
    assert report.verdict == "proved" and note.severity == "note" and "vmem_kernels.py" in note.source
    assert "32.00 MiB" in note.message and "5.00 MiB" in note.message and "vmem_limit_bytes=" in note.fix


def test_the_total_is_no_matter_of_the_limit():
    call, x = KERNELS["relu"].call, jnp.zeros((4096, 4096))
    with palladion.emulate("v6e", on_defect="collect") as session:
        call(x)
    (found,) = capacity(session.report)
    assert found.severity == "defect" and "128.00 MiB" in found.message and "127.94 MiB" in found.message
    assert "vmem_limit_bytes=" not in found.fix and "grid dimension 0" in found.fix


def test_padding_of_scratch_and_of_scopes():
    def body(o):
        def scoped(a, b, c):
            o[...] = jnp.zeros_like(o)

        pl.run_scoped(
            scoped,
            pltpu.VMEM((3, 128), jnp.float32),
            pltpu.VMEM((3, 256), jnp.float32),
            pltpu.VMEM((3, 128), jnp.bfloat16),
        )

    def call():
        return pl.pallas_call(
            lambda o, s, m: body(o),
            out_shape=S((8, 128)),
            scratch_shapes=[pltpu.VMEM((300,), jnp.float32), pltpu.VMEM((8, 100), jnp.bool_)],
        )()

    rows = {(row.kind, row.array): row.one for row in palladion.fit(call, target="v6e")[0].memory("vmem").rows}
    assert rows == {
        ("operand", "f32[8,128]"): 4096,
        ("scratch", "f32[300]"): 2048,
        ("scratch", "bool[8,100]"): 4096,
        ("scope", "f32[3,128]"): 3 * 512,
        ("scope", "f32[3,256]"): 4096,
        ("scope", "bf16[3,128]"): 1024,
    }


def test_the_faces_of_the_table(tmp_path):
    known = KERNELS["mean"]
    fit = palladion.fit(known.call, *known.args, target=known.target)
    assert len(fit) == 1 and not fit.ok and repr(fit) == "<Fit of 1 kernel: does not fit>"
    assert "does not fit" in str(fit) and "x1" in str(fit) and "vmem_kernels.py" in str(fit)
    assert "<table>" in fit._repr_html_() and "32.02 MiB" in fit._repr_html_()
    path = tmp_path / "mean.pkir"
    path.write_text(palladion.export(known.call, *known.args, target=known.target))
    assert palladion.fit(path)[0].memory("vmem") == fit[0].memory("vmem")
    command = next(filter(os.path.isfile, command_line.candidates()))
    ran = subprocess.run([command, "fit", str(path), "--json"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and json.loads(ran.stdout) == json.loads(fit.to_json())
    table = subprocess.run([command, "fit", str(path), "--target", "v5p"], capture_output=True, text=True, check=False)
    assert "16.00 MiB" in table.stdout and "mosaic_tpu/v5p" in table.stdout


def test_errors_say_what_was_expected():
    call, x = over_and_under(None)
    with pytest.raises(palladion.PalladionError, match="which is no chip"):
        palladion.fit(call, x)
    with pytest.raises(ValueError, match="kernel names one of several"):
        palladion.fit(call, x, target="v6e", kernel="body")
    with pytest.raises(palladion.PalladionError, match="no kernel 'other'"):
        palladion.fit(palladion.export(call, x, target="v6e"), kernel="other")


def windows(rows, **how):
    """Two windows over a grid of four, of `rows` x 1024 floats."""

    def call(x):
        spec = pl.BlockSpec((rows, 1024), lambda i: (i, 0), **how)
        out = pl.BlockSpec((rows, 1024), lambda i: (i, 0))
        return pl.pallas_call(
            lambda x, o: o.__setitem__(..., x[...]), grid=(4,), in_specs=[spec], out_specs=out, out_shape=S(x.shape)
        )(x)

    return call, S((4 * rows, 1024))


def test_fixes_of_a_finding_work_when_followed():
    """17 MiB of the 16 MiB of v5e: a larger limit, smaller blocks, or one buffer for a block."""
    call, x = windows(1088)
    (kernel,) = palladion.fit(call, x, target="v5e")
    assert (
        kernel.verdict == "does not fit"
        and "one buffer for 'x' (pipeline_mode=pl.Buffered(1)) saves 4.25 MiB" in kernel.advice
    )
    assert palladion.fit(*windows(1088, pipeline_mode=pl.Buffered(1)), target="v5e").ok
    assert palladion.fit(*windows(kernel.largest.blocks["x"][1][0]), target="v5e").ok
    assert not palladion.fit(*windows(2 * kernel.largest.blocks["x"][1][0]), target="v5e").ok


def test_blocks_grow_where_there_is_room_and_scratch_with_them():
    def body(x, o, s):
        s[...] = x[...]
        o[...] = s[...]

    def call(x, rows=256):
        spec = pl.BlockSpec((rows, 1024), lambda i: (i, 0))
        return pl.pallas_call(
            body,
            grid=(x.shape[0] // rows,),
            in_specs=[spec],
            out_specs=spec,
            out_shape=S(x.shape),
            scratch_shapes=[pltpu.VMEM((rows, 1024), jnp.float32)],
        )(x)

    x = S((8192, 1024))
    (kernel,) = palladion.fit(call, x, target="v5e")
    largest = kernel.largest
    assert kernel.ok and largest.blocks["x"] == ((256, 1024), (512, 1024)) and largest.grid == {0: (32, 16)}
    (followed,) = palladion.fit(lambda x: call(x, 512), x, target="v5e")
    assert followed.memory("vmem").held == largest.held and followed.ok
    assert not palladion.fit(lambda x: call(x, 1024), x, target="v5e").ok


def test_a_kernel_without_a_grid_is_given_one():
    call = lambda x: pl.pallas_call(lambda x, o: o.__setitem__(..., x[...]), out_shape=S(x.shape))(x)  # noqa: E731
    (kernel,) = palladion.fit(call, S((8192, 1024)), target="v5e")
    assert kernel.largest.adds_grid and kernel.largest.grid == {0: (1, 8)} and kernel.largest.held == 16 * MiB
    assert (
        palladion.fit(*whole_blocks(1024), target="v5e").ok and not palladion.fit(*whole_blocks(2048), target="v5e").ok
    )


def whole_blocks(rows):
    call, x = windows(rows)
    return call, S((8192, 1024))


def test_dimensions_that_are_not_tried_say_why():
    def body(x, o):
        o[...] = x[...]

    spec = pl.BlockSpec((None, 8, 128), lambda b, i: (b, i // 2, 0))
    call = pl.pallas_call(
        body,
        grid=(4, 4),
        in_specs=[spec],
        out_specs=pl.BlockSpec((None, 8, 128), lambda b, i: (b, i, 0)),
        out_shape=S((4, 32, 128)),
    )
    (kernel,) = palladion.fit(call, S((4, 32, 128)), target="v6e")
    assert kernel.tries == [] and kernel.largest is None
    assert kernel.not_tried == [
        "grid dimension 0: it picks one of a dimension of 'x'",
        "grid dimension 1: the index map of 'x' computes with it",
    ]


def test_emit_pipeline_is_counted_by_its_buffers():
    def body(x_hbm, o_hbm):
        spec = pl.BlockSpec((512, 1024), lambda i: (i, 0))
        pltpu.emit_pipeline(lambda x, o: o.__setitem__(..., x[...]), grid=(8,), in_specs=[spec], out_specs=spec)(
            x_hbm, o_hbm
        )

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    call = pl.pallas_call(body, in_specs=[anywhere], out_specs=anywhere, out_shape=S((4096, 1024)))
    assert palladion.fit(call, S((4096, 1024)), target="v5e")[0].memory("vmem").held == 8 * MiB


def test_smem_is_counted_too():
    def body(table, x, o):
        o[...] = x[...] + table[0]

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(1,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, t: (0, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, t: (0, 0)),
    )
    call = pl.pallas_call(body, grid_spec=spec, out_shape=S((8, 128), jnp.int32))
    assert (
        palladion.fit(call, S((1000,), jnp.int32), S((8, 128), jnp.int32), target="v6e")[0].memory("smem").held == 4096
    ), "whole tiles of 128 words"
    too_large = palladion.fit(call, S((1 << 20,), jnp.int32), S((8, 128), jnp.int32), target="v6e")
    assert too_large.verdict == "does not fit" and too_large[0].memory("vmem").verdict == "fits"
    full = (1 << 18) - 128  # words of v6e less those of the scalar that is prefetched with them
    for words, verdict in ((full, "fits"), (full + 1, "may not fit"), (full + 128, "does not fit")):
        call, given = two_tables(words)
        assert palladion.fit(call, *given, target="v6e").verdict == verdict, words
        (found,) = [
            one.severity for one in capacity(palladion.check(call, *map(zeros, given), target="v6e", seeds=1))
        ] or [""]
        assert found == {"fits": "", "may not fit": "note", "does not fit": "defect"}[verdict]


def zeros(like):
    return jnp.zeros(like.shape, like.dtype)


def two_tables(words):
    """Prefetched: so many words, and one."""

    def body(table, one, o):
        o[...] = jnp.full_like(o, table[0] + one[0])

    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=2, grid=(1,), in_specs=[], out_specs=pl.BlockSpec((8, 128), lambda i, *_: (0, 0))
    )
    return pl.pallas_call(body, grid_spec=spec, out_shape=S((8, 128), jnp.int32)), (
        S((words,), jnp.int32),
        S((1,), jnp.int32),
    )


def test_a_gpu_has_shared_memory_registers_and_blocks_of_an_sm():
    def body(x, o):
        o[...] = x[...] * 2

    def call(x):
        return pl.pallas_call(
            body,
            grid=(8,),
            in_specs=[pl.BlockSpec((128, 64), lambda i: (i, 0))],
            out_specs=pl.BlockSpec((128, 64), lambda i: (i, 0)),
            out_shape=S(x.shape),
        )(x)

    fit = palladion.fit(call, S((1024, 64)), target="mosaic_gpu/h100")
    (kernel,) = fit
    shared = kernel.memory("shared memory")
    assert shared.unit == "bytes" and shared.limit == 227 * 1024 and shared.held >= 2 * 128 * 64 * 4 and kernel.ok
    assert (
        kernel.memory("registers of a lane").unit == "registers" and kernel.memory("registers of a lane").limit == 255
    )
    assert 1 <= kernel.blocks_of_sm <= 32 and "SMs hold" in kernel.blocks_limit and "blocks of an SM" in str(fit)
    assert kernel.tries == [] and "blocks of an SM" in fit._repr_html_()
    with pytest.raises(KeyError, match="holds nothing in 'vmem'"):
        kernel.memory("vmem")


def test_what_may_not_fit_is_no_refusal_of_a_kernel_that_does_not_run():
    """Unsupported (add=True of a copy), and its rows may be too many for v6e: only what is refused for certain is said
    with the error.
    """

    def body(x, hbm, o, sem):
        pltpu.async_copy(hbm, o, sem, add=True).wait()
        softmax(x, o)

    def call(x):
        return pl.pallas_call(
            body,
            in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM), pl.BlockSpec(memory_space=pl.ANY)],
            out_shape=S(x.shape),
            scratch_shapes=[pltpu.SemaphoreType.DMA],
        )(x, x)

    assert palladion.fit(call, S((2048, 2048)), target="v6e").verdict == "may not fit"
    with pytest.raises(palladion.PalladionError, match="add=True") as caught:
        palladion.run(call, jnp.zeros((2048, 2048)), target="v6e")
    assert "CAPACITY" not in str(caught.value)
