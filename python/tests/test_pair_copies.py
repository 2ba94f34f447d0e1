"""Copies of Blackwell from JAX: those of a pair of blocks that complete on the leader's barrier for both, and rows by
arrays of indices; numbers against NumPy.

What it does not catch: what only hardware knows, such as the order in which two halves land.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import palladion
from palladion import _library

PARTS, ALL = plgpu.CopyPartition.PARTITIONED, plgpu.CopyPartition.REPLICATED
CLUSTER = plgpu.ClusterBarrier(collective_axes=("c",))
PAIR = {"cluster": (2,), "cluster_names": ("c",)}
INDICES = getattr(plgpu.Layout, "TMA_INDICES", None) or plgpu.Layout.TMA_GATHER_INDICES


def together(leader, shape, *, size=2, transforms=()):
    """Each block of the cluster writes what it got; blocks but the leader wait for the leader."""
    part = tuple(n // size if isinstance(leader, PARTS) and d == leader.axis else n for d, n in enumerate(shape))

    def body(x_ref, o_ref, smem, full, landed):
        plgpu.async_prefetch(x_ref, collective_axes="c", leader_tracked=leader)
        plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c", leader_tracked=leader)

        @pl.when(lax.axis_index("c") == 0)
        def _():
            plgpu.barrier_wait(full)

        plgpu.barrier_arrive(landed)
        plgpu.barrier_wait(landed)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[lax.axis_index("c")])
        plgpu.wait_smem_to_gmem(0)

    out = jax.ShapeDtypeStruct((size, *part), jnp.float16)
    scratch = {"smem": plgpu.SMEM(part, jnp.float16, transforms=transforms), "full": plgpu.Barrier(), "landed": CLUSTER}
    return plgpu.kernel(body, out_type=out, scratch_types=scratch, cluster=(size,), cluster_names=("c",))


def checked(function, *args, chip="b200"):
    with palladion.target(chip):
        return palladion.check(function, *args, seeds=8)


@pytest.mark.parametrize(
    "transforms", [(), (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))], ids=["plain", "tiled"]
)
@pytest.mark.parametrize("axis", [0, 1])
def test_each_block_of_a_pair_gets_its_part(axis, transforms):
    x = np.arange(128 * 256).reshape(128, 256).astype(np.float16)
    report = checked(together(PARTS(axis), x.shape, transforms=transforms), x)
    assert report.verdict == "proved", report
    assert (report.results == np.stack(np.split(x, 2, axis=axis))).all()


def test_a_replicated_copy_is_whole_in_both():
    x = np.arange(64 * 64).reshape(64, 64).astype(np.float16)
    report = checked(together(ALL, x.shape), x)
    assert report.verdict == "proved", report
    assert (report.results == np.stack([x, x])).all()


def ring(rounds, slots):
    """A producer warpgroup of each block, a consumer; slots are given back by a cluster barrier that only the leader
    waits for.
    """

    def body(x_ref, o_ref, smem, full, landed, free, go):
        me = lax.axis_index("c")

        @pl.when(lax.axis_index("wg") == 0)
        def _():
            def step(i, _):
                slot = lax.rem(i, slots)

                @pl.when(i >= slots)
                def _():
                    @pl.when(me == 0)
                    def _():
                        plgpu.barrier_wait(free.at[slot])

                    plgpu.barrier_arrive(go.at[slot])
                    plgpu.barrier_wait(go.at[slot])

                plgpu.copy_gmem_to_smem(
                    x_ref.at[i], smem.at[slot], full.at[slot], collective_axes="c", leader_tracked=PARTS(0)
                )

            lax.fori_loop(0, rounds, step, None)

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            def step(i, _):
                slot = lax.rem(i, slots)

                @pl.when(me == 0)
                def _():
                    plgpu.barrier_wait(full.at[slot])

                plgpu.barrier_arrive(landed.at[slot])
                plgpu.barrier_wait(landed.at[slot])
                o_ref[me, i] = smem[slot] + 1
                plgpu.commit_smem()

                @pl.when(i + slots < rounds)
                def _():
                    plgpu.barrier_arrive(free.at[slot])

            lax.fori_loop(0, rounds, step, None)

    def cluster(leader):
        return plgpu.ClusterBarrier(collective_axes=("c",), num_barriers=slots, leader_tracked=leader)

    scratch = {
        "smem": plgpu.SMEM((slots, 128), jnp.int32),
        "full": plgpu.Barrier(num_barriers=slots),
        "landed": cluster(False),
        "free": cluster(True),
        "go": cluster(False),
    }
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((2, rounds, 128), jnp.int32),
        scratch_types=scratch,
        num_threads=2,
        thread_name="wg",
        **PAIR,
    )


def test_a_ring_of_two_slots_through_pairs():
    x = np.arange(5 * 256, dtype=np.int32).reshape(5, 256)
    report = checked(ring(5, 2), x)
    assert report.verdict in ("proved", "clean"), report
    assert (report.results == np.stack([x[:, :128], x[:, 128:]]) + 1).all()


def operands_of_a_product(steps):
    """As JAX's blackwell_ragged_dot_mgpu loads: one warp of each block copies rows of one operand and columns of the
    other, another warp of the leader waits for both."""

    def body(a_ref, b_ref, ao_ref, bo_ref, a, b, a_full, b_full, landed):
        me = lax.axis_index("c")

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            warp = lax.axis_index("warp")

            @pl.when(warp == 0)
            def _():
                def step(i, _):
                    part = pl.ds(i * 64, 64)
                    plgpu.copy_gmem_to_smem(
                        a_ref.at[:, part], a.at[i], a_full.at[i], collective_axes="c", leader_tracked=PARTS(0)
                    )
                    plgpu.copy_gmem_to_smem(
                        b_ref.at[part, :], b.at[i], b_full.at[i], collective_axes="c", leader_tracked=PARTS(1)
                    )

                lax.fori_loop(0, steps, step, None)

            @pl.when(jnp.logical_and(warp == 1, me == 0))
            def _():
                def step(i, _):
                    plgpu.barrier_wait(a_full.at[i])
                    plgpu.barrier_wait(b_full.at[i])

                lax.fori_loop(0, steps, step, None)

        plgpu.barrier_arrive(landed)
        plgpu.barrier_wait(landed)
        for i in range(steps):
            plgpu.copy_smem_to_gmem(a.at[i], ao_ref.at[me, i])
            plgpu.copy_smem_to_gmem(b.at[i], bo_ref.at[me, i])
        plgpu.wait_smem_to_gmem(0)

    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    tiles = plgpu.SMEM((steps, 64, 64), jnp.float16, transforms=transforms)
    out = jax.ShapeDtypeStruct((2, steps, 64, 64), jnp.float16)
    full = plgpu.Barrier(num_barriers=steps)
    return plgpu.kernel(
        body,
        out_type=[out, out],
        scratch_types={"a": tiles, "b": tiles, "a_full": full, "b_full": full, "landed": CLUSTER},
        **PAIR,
    )


def test_operands_of_a_product_by_warps():
    random = np.random.default_rng(5)
    a, b = (random.integers(-99, 99, shape).astype(np.float16) for shape in ((128, 192), (192, 128)))
    report = checked(operands_of_a_product(3), a, b)
    assert report.verdict == "proved", report
    rows_of_a, columns_of_b = report.results
    for me in range(2):
        for i in range(3):
            assert (rows_of_a[me, i] == a[me * 64 : me * 64 + 64, i * 64 : i * 64 + 64]).all()
            assert (columns_of_b[me, i] == b[i * 64 : i * 64 + 64, me * 64 : me * 64 + 64]).all()


def rows(count, scatter):
    def body(x_ref, i_ref, o_ref, smem, full):
        index = ((),) if "idx" in plgpu.load.__code__.co_varnames else ()
        places = plgpu.load(i_ref, *index, layout=INDICES, optimized=False)  # of GMEM
        plgpu.copy_gmem_to_smem(x_ref if scatter else x_ref.at[places, pl.ds(64, 64)], smem, full)
        plgpu.barrier_wait(full)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[places] if scatter else o_ref)
        plgpu.wait_smem_to_gmem(0)

    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((count, 64), jnp.float16),
        scratch_types={"smem": plgpu.SMEM((32, 64), jnp.float16, transforms=transforms), "full": plgpu.Barrier()},
    )


def test_a_gather_of_columns_in_tiles():
    x = np.arange(96 * 128).reshape(96, 128).astype(np.float16)
    places = np.random.default_rng(3).integers(0, 128, 32).astype(np.uint32)  # a quarter outside
    report = checked(rows(32, scatter=False), x, places)
    assert report.verdict == "proved", report
    assert (report.results == np.where((places < 96)[:, None], x[np.minimum(places, 95), 64:], 0)).all()


def test_a_scatter_is_a_permutation():
    x = np.arange(32 * 64).reshape(32, 64).astype(np.float16)
    places = np.random.default_rng(4).permutation(32).astype(np.uint32)
    report = checked(rows(32, scatter=True), x, places)
    assert report.verdict == "proved", report
    assert (report.results[places] == x).all()


@pytest.mark.parametrize("chip", ["h100", "h200"])
def test_hopper_has_none_and_the_chip_that_has_is_named(chip):
    x = np.zeros((32, 64), np.float16)
    places = np.arange(32, dtype=np.uint32)
    for function, args, rule in (
        (together(PARTS(0), x.shape), (x,), "machine.leader-tracked"),
        (rows(32, scatter=True), (x, places), "machine.gather"),
    ):
        report = checked(function, *args, chip=chip)
        assert report.verdict == "defect"
        [illegal] = [finding for finding in report.findings if finding.code == "ILLEGAL"]
        assert f"[{rule}]" in illegal.message and "mosaic_gpu/b200" in illegal.fix


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        (
            "leader_tracked={axis=0}",
            "leader_tracked={axis=2}",
            "leader_tracked names dimension 2 of a source that is f16\\[128,256\\]",
        ),
        ("leader_tracked={axis=0}", "leader_tracked={first=0}", "leader_tracked must be {axis=N}"),
        ("leader_tracked={axis=0}", "leader_tracked={axis=-1}", "leader_tracked must be {axis=N}"),
        ("leader_tracked={axis=0}", "leader_tracked={axis=1}", "the destination"),
        ('collective_axes=["c"], leader', "collective_axes=none, leader", "leader_tracked needs collective_axes"),
        ("cluster=[2]", "cluster=[4]", "partitioned along dimension 0 over 4 blocks needs a source of 256"),
    ],
)
def test_what_is_written_wrong_is_said(written, instead, message):
    x = np.zeros((128, 256), np.float16)
    with palladion.target("b200"):
        text = palladion.export(together(PARTS(0), x.shape), x)
    assert written in text
    with pytest.raises(_library.PalladionError, match=message):
        _library.Program(text.replace(written, instead), _library.kernel_names(text)[0])
