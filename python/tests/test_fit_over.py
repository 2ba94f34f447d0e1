"""`palladion.fit`: blocks along several dimensions of the grid together, and `over`, with a matmul of a TPU and kernels
of JAX's wheel for GPUs.
"""

import functools
import html
import json

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import palladion
from small_kernels import matmul
from vmem_kernels import S

MiB = 1 << 20
BF16 = jnp.bfloat16
X, Y = S((4096, 4096), BF16), S((4096, 4096), BF16)


def held_by_hand(bm, bn, bk):
    """Bytes: two buffers of each block that moves, and the accumulator."""
    moves = lambda *programs: 1 + any(one > 1 for one in programs)  # noqa: E731
    m, n, k = (4096 // size for size in (bm, bn, bk))
    return 2 * (bm * bk * moves(m, k) + bk * bn * moves(k, n) + bm * bn * moves(m, n)) + 4 * bm * bn


def copied_by_hand(bm, bn, bk):
    """A block is copied where its index changes: x stays along the columns of the output if it has all of K, y along
    its rows if it has all.
    """
    m, n, k = (4096 // size for size in (bm, bn, bk))
    x = m * (n * k if k > 1 else 1) * bm * bk
    y = (m * n * k if k > 1 or n > 1 else 1) * bk * bn
    return 2 * (x + y + m * n * bm * bn)


SIZES = [128 << power for power in range(6)]


def verdict_by_hand(*sizes, limit=16 * MiB):
    return "does not fit" if held_by_hand(*sizes) > limit else "fits"


def by_hand():
    """The blocks that fit and copy least."""
    every = [(bm, bn, bk) for bm in SIZES for bn in SIZES for bk in SIZES if verdict_by_hand(bm, bn, bk) == "fits"]
    return min(every, key=lambda sizes: (copied_by_hand(*sizes), *(4096 // size for size in sizes)))


@pytest.mark.parametrize(
    "sizes", [(128, 128, 128), (512, 256, 1024), (4096, 128, 128), (2048, 2048, 256), (4096, 4096, 4096)]
)
def test_blocks_of_a_matmul_are_scaled_together(sizes):
    now = dict(zip(("bm", "bn", "bk"), sizes))
    (kernel,) = palladion.fit(functools.partial(matmul, **now), X, Y, target="v5e")
    assert kernel.memory("vmem").held == held_by_hand(*sizes) and kernel.copied == copied_by_hand(*sizes)
    assert kernel.verdict == verdict_by_hand(*sizes)
    largest = kernel.largest
    blocks = {name: after for name, (_, after) in largest.blocks.items()}
    x, y = (blocks.get(name, before) for name, before in (("x_ref", sizes[::2]), ("y_ref", sizes[:0:-1])))
    (bm, bk), bn = x, y[1]
    assert y[0] == bk and blocks.get("o_ref", (bm, bn)) == (bm, bn)
    assert (
        copied_by_hand(bm, bn, bk) == copied_by_hand(*by_hand()) == largest.copied
        and largest.held == held_by_hand(bm, bn, bk) <= 16 * MiB
    )
    (followed,) = palladion.fit(functools.partial(matmul, bm=bm, bn=bn, bk=bk), X, Y, target="v5e")
    assert followed.ok and followed.memory("vmem").held == largest.held and followed.copied == largest.copied
    assert {d: then for d, (_, then) in largest.grid.items()}.items() <= dict(
        enumerate((4096 // bm, 4096 // bn, 4096 // bk))
    ).items()
    for dimension, name in enumerate(("bm", "bn", "bk")):  # why it is no larger
        doubled = {"bm": bm, "bn": bn, "bk": bk} | {name: 2 * (bm, bn, bk)[dimension]}
        (why,) = [stop for stop in kernel.stops if stop.startswith(f"grid dimension {dimension}: ")]
        if doubled[name] > 4096:
            assert why.endswith("all of its array")
        else:
            assert (
                "saves no copies"
                if verdict_by_hand(*doubled.values()) == "fits"
                else verdict_by_hand(*doubled.values())
            ) in why


def test_the_table_says_what_was_counted_together():
    fit = palladion.fit(matmul, X, Y, target="v5e")
    text, (kernel,) = str(fit), fit
    assert "32768 programs copy 2080.00 MiB of blocks" in text and kernel.programs == 32**3
    assert "324 sizes were counted along the dimensions of the grid together" in text
    assert "along grid dimensions 0, 1 and 2 instead of 32, 32 and 32" in text and ", copies " in text
    assert json.loads(fit.to_json())["kernels"][0]["block_search"]["together"] == 324
    assert all(html.escape(why) in fit._repr_html_() for why in kernel.stops)


def test_a_scratch_of_the_outputs_shape_follows_the_output():
    """All sizes are 128: the accumulator does not grow with the blocks along K."""
    (kernel,) = palladion.fit(matmul, X, Y, target="v5e")
    (one,) = [one for one in kernel.tries if one.grid == {2: (32, 16)}]
    assert one.held == held_by_hand(128, 128, 256)


def test_a_block_that_divides_its_array_goes_on_dividing_it():
    def call(x, rows=128):
        spec = pl.BlockSpec((rows, 1024), lambda i: (i, 0))
        return pl.pallas_call(
            lambda x, o: o.__setitem__(..., x[...]),
            grid=(x.shape[0] // rows,),
            in_specs=[spec],
            out_specs=spec,
            out_shape=S(x.shape),
        )(x)

    (kernel,) = palladion.fit(call, S((384, 1024)), target="v5e")
    assert [one.blocks["x"][1] for one in kernel.tries] == [(384, 1024)] and kernel.largest.grid == {0: (3, 1)}
    assert kernel.stops == ["grid dimension 0: the block is all of its array"]


def test_over_names_the_candidate_that_copies_least():
    over = {"bm": [256, 512, 1024], "bn": [256, 512, 1024], "bk": [512, 1024, 8192]}
    found = palladion.fit(matmul, X, Y, target="v5e", over=over)
    assert len(found) == 27 and [one.sizes for one in found][:2] == [
        {"bm": 256, "bn": 256, "bk": 512},
        {"bm": 256, "bn": 256, "bk": 1024},
    ]
    for one in found:
        sizes = tuple(one.sizes.values())
        if sizes[2] == 8192:
            assert (one.verdict, one.why) == ("refused", "its grid has no programs")
            continue
        assert one.verdict == verdict_by_hand(*sizes) and one.copied == copied_by_hand(*sizes), one
    fitting = [tuple(one.sizes.values()) for one in found if one.ok]
    assert tuple(found.largest.sizes.values()) == min(
        fitting, key=lambda sizes: (copied_by_hand(*sizes), -sizes[0] * sizes[1] * sizes[2])
    )
    assert found.most_resident is None
    text = str(found)
    assert text.startswith("27 candidates on mosaic_tpu/v5e: ") and "the largest that fits: bm=1024 bn=1024 bk=" in text
    data = json.loads(found.to_json())
    assert data["candidates"][data["largest"]]["sizes"] == found.largest.sizes and data["most_resident"] is None
    assert html.escape("the largest that fits") in found._repr_html_() and repr(found).startswith(
        "<FitOver 27 candidates: "
    )


def test_over_takes_a_list_and_says_why_a_candidate_is_refused():
    def half(x, rows, lanes):
        if x.shape[0] % rows and rows < x.shape[0]:
            raise ValueError(f"{rows} rows do not divide {x.shape[0]}\nand more")
        spec = pl.BlockSpec((rows, lanes), lambda i: (i, 0))
        return pl.pallas_call(
            lambda x, o: o.__setitem__(..., x[...]),
            grid=(x.shape[0] // rows,),
            in_specs=[spec],
            out_specs=spec,
            out_shape=S(x.shape),
        )(x)

    refused, illegal, empty, fits = palladion.fit(
        half,
        S((256, 256)),
        target="v5e",
        over=[
            {"rows": 100, "lanes": 256},
            {"rows": 8, "lanes": 100},
            {"rows": 512, "lanes": 256},
            {"rows": 8, "lanes": 128},
        ],
    )
    assert (refused.verdict, refused.why, refused.fit) == ("refused", "ValueError: 100 rows do not divide 256", None)
    assert illegal.verdict == "refused" and illegal.why.startswith("ILLEGAL at ") and illegal.fit.ok
    assert empty.verdict == "refused" and empty.fit.ok and fits.ok and fits.why == ""


def test_errors_of_over():
    with pytest.raises(ValueError, match="over has the sizes to try"):
        palladion.fit(matmul, X, Y, target="v5e", over={})
    with pytest.raises(ValueError, match="over has the sizes to try"):
        palladion.fit(matmul, X, Y, target="v5e", over={"bm": []})
    with pytest.raises(ValueError, match="found a kernel text"):
        palladion.fit(palladion.export(matmul, X, Y, target="v5e"), over={"bm": [128]})
    with pytest.raises(TypeError, match="block"):  # of all candidates: that of the first
        palladion.fit(matmul, X, Y, target="v5e", over={"block": [128, 256]})
    with pytest.raises(palladion.PalladionError, match="which is no chip"):
        palladion.fit(lambda x, n: pl.pallas_call(lambda x, o: None, out_shape=S((n,)))(x), X, over={"n": [128, 256]})


def test_over_of_a_mosaic_gpu_kernel_of_the_wheel():
    hopper = pytest.importorskip("jax.experimental.pallas.ops.gpu.hopper_matmul_mgpu")
    a, b = S((4096, 4096), jnp.float16), S((4096, 4096), jnp.float16)

    def product(a, b, tile_m, tile_n, steps):
        config = hopper.TuningConfig(tile_m=tile_m, tile_n=tile_n, tile_k=64, max_concurrent_steps=steps)
        return hopper.matmul(a, b, None, config)

    over = {"tile_m": [64, 128], "tile_n": [64, 128, 256], "steps": [2, 4, 8]}
    found = palladion.fit(product, a, b, target="mosaic_gpu/h100", over=over)
    by_sizes = {tuple(one.sizes.values()): one for one in found}
    for (tile_m, tile_n, steps), one in by_sizes.items():
        if one.fit is None:
            continue
        ring = steps * (2 * tile_m + tile_n) * 64 * 2  # two warpgroups have a tile each of a
        held = one.fit[0].memory("shared memory").held
        assert held >= ring or held >= steps * (tile_m + tile_n) * 64 * 2, (one.sizes, held)
    largest = found.largest
    assert largest is not None and largest.programs == min(one.programs for one in found if one.ok)
    assert found.most_resident.occupancy == max(one.occupancy for one in found if one.ok) >= largest.occupancy
    assert "most lanes of an SM: " in str(found) and "% of an SM" in str(found)
    assert any(one.verdict == "does not fit" for one in found), str(found)


def test_over_of_a_triton_kernel_of_the_wheel():
    attention = pytest.importorskip("jax.experimental.pallas.ops.gpu.attention")
    q = S((1, 2048, 8, 128), jnp.float16)

    def mha(q, block_q, block_k, stages):
        sizes = attention.BlockSizes(block_q=block_q, block_k=block_k)
        return attention.mha(q, q, q, segment_ids=None, block_sizes=sizes, num_warps=4, num_stages=stages)

    over = {"block_q": [64, 128], "block_k": [64, 128, 256], "stages": [1, 2, 4]}
    found = palladion.fit(mha, q, target="triton/h100", over=over)
    for one in found:
        shared, registers = one.fit[0].memory("shared memory"), one.fit[0].memory("registers of a lane")
        block_q, block_k, stages = one.sizes.values()
        loop = stages * 2 * block_k * 128 * 2  # k and v of each step that is in flight
        assert loop <= shared.estimate <= loop + 4 * block_q * 128 * 2, (one.sizes, shared)
        assert registers.held >= block_q * 128 // 128, "the accumulator, f32 [block_q, 128] over 128 lanes"
        assert (shared.verdict == "may not fit") == (shared.estimate > shared.limit == 227 * 1024)
        assert one.fit[0].block_lanes == 128 and 0 < one.occupancy <= 1 and one.fit[0].not_counted
    assert {one.verdict for one in found} == {
        "fits",
        "may not fit",
    } and "may not fit: shared memory: 227.00 KiB at most" in str(found)
    assert found.largest.programs == min(one.programs for one in found if one.ok)
    assert "num_stages below 4" in next(
        one.fit[0].advice for one in found if one.fit[0].memory("shared memory").verdict == "may not fit"
    )


def test_lanes_and_stages_of_triton_have_the_defaults_of_jax():
    triton = pytest.importorskip("jax.experimental.pallas.triton")

    def product(x, y, **params):
        def body(x_ref, y_ref, o_ref):
            def step(k, acc):
                at = pl.ds(k * 64, 64)
                return acc + jnp.dot(x_ref[:, at], y_ref[at, :], preferred_element_type=jnp.float32)

            o_ref[...] = jax.lax.fori_loop(0, 8, step, jnp.zeros((128, 64), jnp.float32))

        return pl.pallas_call(body, out_shape=S((128, 64)), compiler_params=triton.CompilerParams(**params))(x, y)

    def memories(**params):
        (kernel,) = palladion.fit(
            functools.partial(product, **params),
            S((128, 512), jnp.float16),
            S((512, 64), jnp.float16),
            target="triton/h100",
        )
        scalars = kernel.memory("registers of a lane").held - 128 * 64 // kernel.block_lanes  # beside the accumulator
        assert 0 <= scalars <= 4
        return kernel.memory("shared memory").estimate, kernel.block_lanes

    of_step = (128 * 64 + 64 * 64) * 2
    assert memories() == memories(num_warps=4, num_stages=3) == (3 * of_step, 128)
    assert memories(num_warps=8, num_stages=2) == (2 * of_step, 256)


def test_vector_subcores_are_counted_as_far_as_it_is_known():
    plsc = pytest.importorskip("jax.experimental.pallas.tpu_sc")
    from test_sparsecore import on

    def text(words, shared=0):
        with on("TPU7x"):
            mesh = plsc.VectorSubcoreMesh(core_axis_name="c", subcore_axis_name="s", num_cores=2, num_subcores=16)
            scratch = [pltpu.VMEM((words,), jnp.float32)] + [pltpu.VMEM_SHARED((shared,), jnp.float32)] * (shared > 0)

            def body(x_ref, o_ref, buffer, *_):
                pltpu.sync_copy(x_ref.at[pl.ds(0, words)], buffer)
                pltpu.sync_copy(buffer, o_ref.at[pl.ds(0, words)])

            return palladion.export(
                pl.kernel(body, out_type=S((1 << 20,)), mesh=mesh, scratch_types=scratch), S((1 << 20,))
            )

    (kernel,) = palladion.fit(text(1 << 16), target="v7x")
    vmem = kernel.memory("vmem of a subcore")
    assert kernel.ok and vmem.held == 1 << 18 and vmem.limit == 1 << 19 and len(kernel.not_counted) == 2
    assert palladion.fit(text(1 << 16), target="v6e").verdict == "does not fit", "a kernel may not fill it"
    assert palladion.fit(text((1 << 17) - 1), target="v7x").ok and not palladion.fit(text(1 << 17), target="v7x").ok
    assert (
        palladion.fit(text(1 << 16, 1 << 20), target="v7x").verdict == "does not fit"
    ), "a core's subcores share theirs"
    with pytest.raises(palladion.PalladionError, match="v5e does not have"):
        palladion.fit(text(8), target="v5e")
    with pytest.raises(palladion.PalladionError, match="140704|549.625 KiB"):
        palladion.check(text(140704), target="v7x")
