"""Kernels of blackwell_legality.txt about more than one block or device: barriers of a cluster in every place of a
barrier, operations of all devices.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py, jax/experimental/mosaic/gpu/utils.py
(CollectiveBarrierRef) and launch_context.py. Does not catch: what ptxas refuses, what only several devices refuse (a
reduction that their switch does not have).
"""

import jax
import jax.numpy as jnp
from gpu_legality_case import BF16, E4, E5, F16, F32, F64, I8, I32, I64, LANE, U8, U32, WG, layout, scoped
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

PAIR = {"cluster": (2,), "cluster_names": ("c",)}
GRID = {"grid": (4, 3), "grid_names": ("g", "h")}
SEMANTICS = (("lane", LANE), ("wg", WG))
PARTS, ALL = plgpu.CopyPartition.PARTITIONED, plgpu.CopyPartition.REPLICATED


def in_warp(action):
    @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
    def _():
        @pl.when(jax.lax.axis_index("warp") == 0)
        def _():
            action()


def smem(shape, dtype=F16, swizzle=128):
    return plgpu.SMEM(shape, dtype, transforms=layout(dtype, swizzle))


def uses():
    """(name, what else is allocated, what is done with the operand, the output, the barrier and that)."""
    operands = (plgpu.TMEM((128, 64), F32), smem((128, 64)), smem((64, 64)))
    pairs = (plgpu.TMEM((128, 64), F32, collective=True), smem((128, 64), swizzle=64), smem((64, 32), swizzle=64))
    answer, tile = plgpu.TryClusterCancelResult(), smem((64, 64))
    yield "arrive", (), lambda x, o, b: plgpu.barrier_arrive(b)
    yield "wait", (), lambda x, o, b: plgpu.barrier_wait(b)
    yield "product", operands, lambda x, o, b, c, left, right: plgpu.tcgen05_mma(c, left, right, b, accumulate=False)
    yield (
        "product_of_pair",
        pairs,
        lambda x, o, b, c, left, right: plgpu.tcgen05_mma(c, left, right, b, accumulate=False, collective_axis="c"),
    )
    yield "commit", (), lambda x, o, b: plgpu.tcgen05_commit_arrive(b)
    yield "commit_of_pair", (), lambda x, o, b: plgpu.tcgen05_commit_arrive(b, collective_axis="c")
    yield "copy", (tile,), lambda x, o, b, s: plgpu.copy_gmem_to_smem(x, s, b)
    yield "copy_shared", (tile,), lambda x, o, b, s: plgpu.copy_gmem_to_smem(x, s, b, collective_axes="c")
    yield (
        "copy_all",
        (tile,),
        lambda x, o, b, s: plgpu.copy_gmem_to_smem(x, s, b, collective_axes="c", leader_tracked=ALL),
    )
    yield (
        "copy_parts",
        (smem((32, 64)),),
        lambda x, o, b, s: plgpu.copy_gmem_to_smem(x, s, b, collective_axes="c", leader_tracked=PARTS(0)),
    )
    yield "cancel", (answer,), lambda x, o, b, r: plgpu.try_cluster_cancel(r, b)


def barriers():
    def body_of(barrier, types, use, see, warp):
        @scoped(barrier, *types)
        def body(x, o, b, *refs):
            def action():
                use(x, o, see(b), *refs)

            in_warp(action) if warp else action()

        return body

    one, group = lambda b: b, plgpu.ClusterBarrier(collective_axes=("c",), num_barriers=2, orders_tensor_core=True)
    kinds = (
        ("cluster", plgpu.ClusterBarrier(collective_axes=("c",), orders_tensor_core=True), one),
        ("cluster_plain", plgpu.ClusterBarrier(collective_axes=("c",)), one),
        ("slot", group, lambda b: b.at[1]),
        ("group", group, one),
        ("leader", plgpu.ClusterBarrier(collective_axes=("c",), orders_tensor_core=True, leader_tracked=True), one),
        ("block", plgpu.Barrier(orders_tensor_core=True), one),
        ("block_group", plgpu.Barrier(num_barriers=2, orders_tensor_core=True), one),
        ("block_slots", plgpu.Barrier(num_barriers=3, orders_tensor_core=True), lambda b: b.at[pl.ds(1, 2)]),
        ("block_one_slot", plgpu.Barrier(num_barriers=3, orders_tensor_core=True), lambda b: b.at[pl.ds(1, 1)]),
        ("block_matrix", plgpu.Barrier(num_barriers=(2, 3), orders_tensor_core=True), lambda b: b.at[1, 2]),
        ("block_row", plgpu.Barrier(num_barriers=(2, 3), orders_tensor_core=True), lambda b: b.at[1].at[2]),
    )
    for name, semantics in SEMANTICS:
        for label, types, use in uses():
            for kind, barrier, see in kinds:
                if kind not in ("cluster", "leader", "block") and label.endswith(
                    ("_pair", "_shared", "_all", "_parts")
                ):
                    continue
                for warp in (False, True):
                    yield (
                        f"{'warp_' if warp else ''}{label}_at_{kind}_{name}",
                        lambda a=(barrier, types, use, see, warp): body_of(*a),
                        semantics,
                        PAIR | (GRID if label == "cancel" else {}),
                    )
        for arrivals in (2, 128, 1 << 19):
            yield (
                f"cluster_barrier_of_{arrivals}_{name}",
                lambda arrivals=arrivals: scoped(plgpu.ClusterBarrier(collective_axes=("c",), num_arrivals=arrivals))(
                    lambda *refs: None
                ),
                semantics,
                PAIR,
            )
        for count in (2, 32, 33):
            yield (
                f"cluster_barriers_{count}_{name}",
                lambda count=count: scoped(plgpu.ClusterBarrier(collective_axes=("c",), num_barriers=count))(
                    lambda *refs: None
                ),
                semantics,
                PAIR,
            )
        for axes in ((), ("c", "c"), (("c",),), (("c", "c"),)):
            label = "_".join("".join(axis) for axis in axes) or "none"
            yield (
                f"cluster_barrier_along_{label}_{len(axes)}_{name}",
                lambda axes=axes: scoped(plgpu.ClusterBarrier(collective_axes=axes))(lambda *refs: None),
                semantics,
                PAIR,
            )


def cancels():
    """Where the answer of a cancelled launch lies, and how it is seen."""

    def asks(ref, see=lambda r: r, query=True, ask=True, types=(), **options):
        @scoped(ref, plgpu.Barrier(**options), *types)
        def body(x, o, r, b, *refs):
            if ask:
                plgpu.try_cluster_cancel(see(r), b)
            if query:
                pl.debug_print("{}", plgpu.query_cluster_cancel(see(r), ("g",))[1])

        return body

    answer = plgpu.TryClusterCancelResult
    views = (
        ("slot_slice", answer(2), lambda r: r.at[pl.ds(1, 1)]),
        ("slot_part", answer(2), lambda r: r.at[1, pl.ds(0, 8)]),
        ("rank_three", plgpu.SMEM((2, 2, 16), I8), lambda r: r.at[1, 0]),
        ("bytes_u8", plgpu.SMEM((16,), U8), lambda r: r),
        ("words_u32", plgpu.SMEM((4,), U32), lambda r: r),
        ("words_i64", plgpu.SMEM((2,), I64), lambda r: r),
        ("one", plgpu.SMEM((16, 2), I8), lambda r: r.at[:, 0]),
        ("bool", plgpu.SMEM((16,), jnp.bool_), lambda r: r),
        ("e4", plgpu.SMEM((16,), E4), lambda r: r),
        ("i4", plgpu.SMEM((32,), jnp.int4), lambda r: r),
        ("scalar", plgpu.SMEM((), I32), lambda r: r),
        ("reshaped", plgpu.SMEM((4, 4), I8), lambda r: r.reshape(16)),
        ("reshaped_slot", plgpu.SMEM((2, 4, 4), I8), lambda r: r.at[0].reshape(16)),
        ("turned", plgpu.SMEM((16, 1), I8), lambda r: plgpu.transpose_ref(r, (1, 0))),
        ("cast", plgpu.SMEM((4,), I32), lambda r: r.bitcast(I8)),
        ("in_union", plgpu.RefUnion(answer(), plgpu.SMEM((64,), F32)), lambda r: r[0]),
        ("in_union_slot", plgpu.RefUnion(answer(3), plgpu.SMEM((64,), F32)), lambda r: r[0].at[2]),
        ("swizzled", plgpu.SMEM((8, 128), I8, transforms=layout(I8, 128)), lambda r: r.at[0, pl.ds(0, 16)]),
        ("in_tmem", plgpu.TMEM((128, 4), I32), lambda r: r),
        ("peer", answer(), lambda r: plgpu.cluster_ref(r, {"c": 1})),
    )
    for name, semantics in SEMANTICS:
        for label, ref, see in views:
            mesh = GRID | (PAIR if label == "peer" else {})
            yield f"cancel_answer_{label}_{name}", lambda a=(ref, see, False): asks(*a), semantics, mesh
            yield f"query_answer_{label}_{name}", lambda a=(ref, see, True, False): asks(*a), semantics, mesh
        yield f"cancel_twice_{name}", lambda: asks(plgpu.TryClusterCancelResult(), num_arrivals=2), semantics, GRID
        yield (
            f"cancel_with_tensor_barrier_{name}",
            lambda: asks(plgpu.TryClusterCancelResult(), orders_tensor_core=True),
            semantics,
            GRID,
        )
        yield f"cancel_of_nothing_{name}", lambda: asks(plgpu.TryClusterCancelResult(), query=False), semantics, {}
        for cluster, names in (((2, 2), ("c", "d")), ((1,), ("c",)), ((2, 1, 2), ("c", "d", "e"))):
            yield (
                f"cancel_in_cluster_{'_'.join(map(str, cluster))}_{name}",
                lambda: asks(plgpu.TryClusterCancelResult()),
                semantics,
                GRID | {"cluster": cluster, "cluster_names": names},
            )
        for steps in (1, 2):
            yield (
                f"cancel_loop_{steps}_{name}",
                lambda steps=steps: scheduled(steps),
                semantics,
                GRID | {"num_threads": 2, "thread_name": "wg"},
            )


def scheduled(slots):
    def body(x, o):
        @plgpu.dynamic_scheduling_loop(grid_names=("g", "h"), thread_axis="wg")
        def _(info):
            pl.debug_print("{}", info.local_index)

    return body


def devices():
    """Stores to all devices and loads of all, reduced, over an abstract mesh of devices."""
    two, four = {"devices": {"d": 2}}, {"devices": {"d": 2, "e": 2}}
    of = plgpu.Layout

    def store(axes, see=lambda o: o, value=lambda x: x[...]):
        def body(x, o):
            plgpu.multimem_store(value(x), see(o), axes)

        return body

    def load(axes, operation="add", see=lambda x: x, cast=None, warp=False):
        def body(x, o):
            def action():
                value = plgpu.multimem_load_reduce(see(x), collective_axes=axes, reduction_op=operation)
                if cast is not None:
                    value = plgpu.layout_cast(value, cast)
                if value.shape == o.shape:
                    o[...] = value

            in_warp(action) if warp else action()

        return body

    for name, semantics in SEMANTICS:
        for label, axes, mesh in (
            ("none", "d", {}),
            ("d", "d", two),
            ("d_tuple", ("d",), two),
            ("other", "e", two),
            ("part", ("d",), four),
            ("both", ("d", "e"), four),
            ("both_turned", ("e", "d"), four),
            ("twice", ("d", "d"), two),
        ):
            wide = mesh | {"x": (F32, (1, 512))}
            yield f"all_store_along_{label}_{name}", lambda axes=axes: store(axes), semantics, wide
            yield (
                f"all_load_along_{label}_{name}",
                lambda axes=axes: load(axes, cast=of.WG_STRIDED((1, 512), 4)),
                semantics,
                wide,
            )
        for dtype in (F16, BF16, F32, F64, I8, U8, I32, U32, I64, jnp.uint64, E4, E5, jnp.bool_):
            what, wide = jnp.dtype(dtype).name, two | {"x": (dtype, (4, 512))}
            yield f"all_store_of_{what}_{name}", lambda: store("d"), semantics, wide
            for operation in ("add", "min", "max", "and", "or", "xor"):
                yield (
                    f"all_{operation}_of_{what}_{name}",
                    lambda o=operation: load("d", o, cast=of.WG_STRIDED((4, 512), 4)),
                    semantics,
                    wide,
                )
        for shape in ((128,), (256,), (64, 2), (128, 3)):
            for dtype in (F16, I8, I64):
                yield (
                    f"all_store_{'_'.join(map(str, shape))}_{jnp.dtype(dtype).name}_{name}",
                    lambda: store("d"),
                    semantics,
                    two | {"x": (dtype, shape)},
                )
                yield (
                    f"all_store_one_{'_'.join(map(str, shape))}_{jnp.dtype(dtype).name}_{name}",
                    lambda at=(0,) * len(shape): store("d", lambda o: o.at[at], lambda x: x[at]),
                    semantics,
                    two | {"x": (dtype, shape)},
                )
        for dtype in (F16, I32, I64):
            for vector in (1, 2):
                yield (
                    f"all_load_{jnp.dtype(dtype).name}_by_{vector}_{name}",
                    lambda vector=vector: load("d", cast=of.WG_STRIDED((512,), vector)),
                    semantics,
                    two | {"x": (dtype, (512,))},
                )
        for shape in ((128,), (64,), (256,), (512,), (3, 128), (64, 64), (128, 8)):
            plain = two | {"x": (F32, shape)}
            yield f"all_store_{'_'.join(map(str, shape))}_{name}", lambda: store("d"), semantics, plain
            for vector in (1, 2, 4, 8):
                yield (
                    f"all_load_{'_'.join(map(str, shape))}_by_{vector}_{name}",
                    lambda shape=shape, vector=vector: load("d", cast=of.WG_STRIDED(shape, vector)),
                    semantics,
                    plain,
                )
        tile = two | {"x": (F16, (64, 64))}
        for label, cast in (
            ("nothing", None),
            ("wgmma", of.WGMMA),
            ("row", of.WGMMA.reduce(1)),
            ("splat", of.WG_SPLAT),
            ("tcgen05", of.TCGEN05),
        ):
            yield f"all_load_into_{label}_{name}", lambda cast=cast: load("d", cast=cast), semantics, tile
        for label, cast in (
            ("tcgen05", of.TCGEN05),
            ("native", of.TCGEN05_TMEM_NATIVE),
            ("native4", of.TCGEN05_TMEM_NATIVE(4)),
            ("row", of.TCGEN05.reduce(1)),
        ):
            yield (
                f"all_load_tall_into_{label}_{name}",
                lambda cast=cast: load("d", cast=cast),
                semantics,
                two | {"x": (F32, (128, 64))},
            )
            yield (
                f"all_store_tall_of_{label}_{name}",
                lambda cast=cast: store("d", value=lambda x: plgpu.load(x, (), layout=cast, optimized=False)),
                semantics,
                two | {"x": (F32, (128, 64))},
            )
        yield (
            f"all_store_of_part_{name}",
            lambda: store("d", lambda o: o.at[pl.ds(0, 32)], lambda x: x[pl.ds(32, 32)]),
            semantics,
            tile,
        )
        yield (
            f"all_store_of_scalar_{name}",
            lambda: store("d", lambda o: o.at[3, 4], lambda x: x[1, 2]),
            semantics,
            tile,
        )
        yield (
            f"all_store_of_constant_{name}",
            lambda: store("d", value=lambda x: jnp.ones((64, 64), F16)),
            semantics,
            tile,
        )
        yield (
            f"all_store_of_tiles_{name}",
            lambda: store("d", value=lambda x: plgpu.load(x, (), layout=of.WGMMA, optimized=False)),
            semantics,
            tile,
        )
        yield (
            f"all_load_of_part_{name}",
            lambda: load("d", see=lambda x: x.at[pl.ds(0, 32)], cast=of.WG_STRIDED((32, 64), 2)),
            semantics,
            tile,
        )
        yield f"all_load_of_scalar_{name}", lambda: load("d", see=lambda x: x.at[1, 2]), semantics, tile
        yield (
            f"all_load_of_peer_{name}",
            lambda: load("d", see=lambda x: plgpu.remote_ref(x, 1), cast=of.WG_STRIDED((64, 64), 2)),
            semantics,
            tile,
        )
        yield f"all_store_to_peer_{name}", lambda: store("d", see=lambda o: plgpu.remote_ref(o, 1)), semantics, tile
        yield f"all_store_to_all_{name}", lambda: store("d", see=lambda o: plgpu.multicast_ref(o, "d")), semantics, tile
        yield f"all_load_in_warp_{name}", lambda: load("d", see=lambda x: x.at[1, 2], warp=True), semantics, tile


FAMILIES = (barriers, cancels, devices)
