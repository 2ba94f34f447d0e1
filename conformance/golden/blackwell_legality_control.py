"""Kernels of blackwell_legality.txt about control: barriers, registers of threads, cluster launch control, warps.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py and lowering.py. Does not catch: what only ptxas refuses
(how many registers all threads have together).
"""

import jax
import jax.numpy as jnp
from gpu_legality_case import F16, F32, I8, I32, LANE, WG, scoped
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

PAIR = {"cluster": (2,), "cluster_names": ("c",)}
SEMANTICS = (("lane", LANE), ("wg", WG))
TENSOR = plgpu.Barrier(orders_tensor_core=True)


def threads(count):
    return {"num_threads": count, "thread_name": "wg"} if count else {}


def in_warps(action, *types):
    @scoped(*types)
    def body(*refs):
        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            action(*refs)

    return body


def registers():
    def asks(*requests):
        def body(x, o):
            for count, action in requests:
                plgpu.set_max_registers(count, action=action)

        return body

    def by_role(counts):
        def body(x, o):
            for thread, (count, action) in enumerate(counts):

                @pl.when(jax.lax.axis_index("wg") == thread)
                def _(count=count, action=action):
                    plgpu.set_max_registers(count, action=action)

        return body

    for name, semantics in SEMANTICS:
        for count in (0, 8, 16, 20, 24, 32, 36, 40, 100, 128, 168, 200, 248, 250, 256, 264, 512):
            yield f"registers_{count}_{name}", lambda count=count: asks((count, "decrease")), semantics, {}
        for count in (24, 30, 64, 240, 256, 272):
            yield f"registers_more_{count}_{name}", lambda count=count: asks((count, "increase")), semantics, {}
        yield f"registers_twice_{name}", lambda: asks((40, "decrease"), (64, "increase")), semantics, {}
        yield f"registers_twice_odd_{name}", lambda: asks((40, "decrease"), (66, "increase")), semantics, {}
        for counts in (
            (40, 232),
            (40, 228),
            (24, 240),
            (16, 240),
            (40, 168, 168),
            (40, 160, 164),
            (24, 152, 152, 152),
            (24, 152, 148, 152),
        ):
            roles = [(count, "decrease" if count < 128 else "increase") for count in counts]
            yield (
                f"registers_by_role_{'_'.join(map(str, counts))}_{name}",
                lambda roles=roles: by_role(roles),
                semantics,
                threads(len(counts)),
            )
    yield "registers_in_warp", lambda: in_warps(lambda x, o: plgpu.set_max_registers(40, action="decrease")), LANE, {}


def barriers():
    def arrives(*types, at=None, arrive=plgpu.barrier_arrive, axes=()):
        @scoped(*types, axes=axes)
        def body(x, o, b, *rest):
            one = b if at is None else b.at[at]
            arrive(one)
            plgpu.barrier_wait(one)

        return body

    for name, semantics in SEMANTICS:
        for count in (1, 2, 32, 33):
            yield (
                f"barriers_{count}_{name}",
                lambda count=count: arrives(plgpu.Barrier(num_barriers=count, orders_tensor_core=True), at=0),
                semantics,
                {},
            )
        for arrivals in (0, 1, 4, 128):
            yield (
                f"barrier_of_{arrivals}_{name}",
                lambda arrivals=arrivals: arrives(plgpu.Barrier(num_arrivals=arrivals, orders_tensor_core=True)),
                semantics,
                {},
            )
        yield f"barrier_commit_{name}", lambda: arrives(TENSOR, arrive=plgpu.tcgen05_commit_arrive), semantics, {}
        yield (
            f"barrier_commit_at_{name}",
            lambda: arrives(
                plgpu.Barrier(num_barriers=3, orders_tensor_core=True), at=2, arrive=plgpu.tcgen05_commit_arrive
            ),
            semantics,
            {},
        )
        yield (
            f"barrier_commit_plain_{name}",
            lambda: arrives(plgpu.Barrier(), arrive=plgpu.tcgen05_commit_arrive),
            semantics,
            {},
        )
        for axis in ("c", "d", "wg"):
            yield (
                f"barrier_commit_pair_{axis}_{name}",
                lambda axis=axis: arrives(
                    TENSOR, arrive=lambda b: plgpu.tcgen05_commit_arrive(b, collective_axis=axis)
                ),
                semantics,
                PAIR,
            )
        for count in (1, 2, 4):
            mesh = {"cluster": (count,), "cluster_names": ("c",)}
            yield (
                f"barrier_of_cluster_{count}_{name}",
                lambda: arrives(plgpu.ClusterBarrier(collective_axes=("c",), orders_tensor_core=True)),
                semantics,
                mesh,
            )
            yield (
                f"barrier_of_cluster_commit_{count}_{name}",
                lambda: arrives(
                    plgpu.ClusterBarrier(collective_axes=("c",), orders_tensor_core=True),
                    arrive=plgpu.tcgen05_commit_arrive,
                ),
                semantics,
                mesh,
            )
            yield (
                f"barrier_of_leader_{count}_{name}",
                lambda: arrives(
                    plgpu.ClusterBarrier(collective_axes=("c",), leader_tracked=True, orders_tensor_core=True)
                ),
                semantics,
                mesh,
            )
        yield (
            f"barrier_of_no_cluster_{name}",
            lambda: arrives(plgpu.ClusterBarrier(collective_axes=("c",))),
            semantics,
            {},
        )
        square = {"cluster": (2, 2), "cluster_names": ("c", "d")}
        for axes in (("c",), ("d",), ("c", "d"), ("e",), (("c", "d"),)):
            label = "_".join("".join(axis) for axis in axes)
            for leader in (False, True):
                yield (
                    f"barrier_of_axes_{label}_{leader}_{len(axes)}_{name}",
                    lambda axes=axes, leader=leader: arrives(
                        plgpu.ClusterBarrier(collective_axes=axes, leader_tracked=leader)
                    ),
                    semantics,
                    square,
                )
        yield f"barrier_of_threads_{name}", lambda: arrives(TENSOR, axes=("wg",)), semantics, threads(2)
        yield f"barrier_of_a_thread_{name}", lambda: arrives(TENSOR), semantics, threads(2)
        yield (
            f"barrier_test_{name}",
            lambda: scoped(TENSOR)(lambda x, o, b: pl.debug_print("{}", plgpu.barrier_test(b))),
            semantics,
            {},
        )
    for label, action in (
        ("commit", plgpu.tcgen05_commit_arrive),
        ("arrive", plgpu.barrier_arrive),
        ("wait", plgpu.barrier_wait),
        ("test", lambda b: pl.debug_print("{}", plgpu.barrier_test(b))),
    ):
        for name, semantics in SEMANTICS:
            yield (
                f"warp_barrier_{label}_{name}",
                lambda action=action: in_warps(lambda x, o, b: action(b), TENSOR),
                semantics,
                {},
            )
            yield (
                f"warp_cluster_barrier_{label}_{name}",
                lambda action=action: in_warps(
                    lambda x, o, b: action(b), plgpu.ClusterBarrier(collective_axes=("c",), orders_tensor_core=True)
                ),
                semantics,
                PAIR,
            )


def cancels():
    grid = {"grid": (4, 3), "grid_names": ("g", "h")}

    def asks(result, barrier=None, *, at=None, barrier_at=None, names=("g",), axes=(), query=True, ask=True):
        @scoped(result, barrier or plgpu.Barrier(), axes=axes)
        def body(x, o, r, b):
            answer, one = r if at is None else r.at[at], b if barrier_at is None else b.at[barrier_at]
            if ask:
                plgpu.try_cluster_cancel(answer, one)
                plgpu.barrier_wait(one)
            if query:
                index, taken = plgpu.query_cluster_cancel(answer, names)
                pl.debug_print("{}", taken)

        return body

    answer = plgpu.TryClusterCancelResult
    for name, semantics in SEMANTICS:
        yield f"cancel_{name}", lambda: asks(answer()), semantics, grid
        yield f"cancel_slot_{name}", lambda: asks(answer(2), at=1), semantics, grid
        yield f"cancel_slots_{name}", lambda: asks(answer(2)), semantics, grid
        yield (
            f"cancel_slot_of_barriers_{name}",
            lambda: asks(answer(2), plgpu.Barrier(num_barriers=2), at=1, barrier_at=1),
            semantics,
            grid,
        )
        for shape, dtype in (
            ((8,), I8),
            ((32,), I8),
            ((4,), I32),
            ((2, 2), F32),
            ((8,), F16),
            ((16, 1), I8),
            ((3,), I32),
            ((4,), F32),
            ((2, 8), I8),
        ):
            label = f"{'_'.join(map(str, shape))}_{jnp.dtype(dtype).name}"
            yield (
                f"cancel_into_{label}_{name}",
                lambda a=(shape, dtype): asks(plgpu.SMEM(*a), query=False),
                semantics,
                grid,
            )
            yield f"query_of_{label}_{name}", lambda a=(shape, dtype): asks(plgpu.SMEM(*a), ask=False), semantics, grid
        yield f"cancel_into_part_{name}", lambda: asks(plgpu.SMEM((64,), I8), at=pl.ds(16, 16)), semantics, grid
        yield f"cancel_into_wide_part_{name}", lambda: asks(plgpu.SMEM((64,), I8), at=pl.ds(16, 32)), semantics, grid
        for names in ((), ("h",), ("g", "h"), ("h", "g"), ("i",), ("g", "g")):
            yield (
                f"query_{'_'.join(names) or 'nothing'}_{name}",
                lambda names=names: asks(answer(), names=names),
                semantics,
                grid,
            )
        yield f"query_cluster_{name}", lambda: asks(answer(), names=("c",)), semantics, grid | PAIR
        yield f"query_threads_{name}", lambda: asks(answer(), names=("wg",), axes=("wg",)), semantics, grid | threads(2)
        yield f"cancel_of_cluster_{name}", lambda: asks(answer()), semantics, grid | PAIR
        yield (
            f"cancel_of_threads_{name}",
            lambda: asks(answer(), plgpu.Barrier(num_arrivals=2), axes=("wg",)),
            semantics,
            grid | threads(2),
        )
        yield (
            f"cancel_of_five_axes_{name}",
            lambda: asks(answer(), names=("a", "e")),
            semantics,
            {"grid": (2, 3, 4, 5, 6), "grid_names": ("a", "b", "c", "d", "e")},
        )
        yield (
            f"warp_cancel_{name}",
            lambda: in_warps(lambda x, o, r, b: plgpu.try_cluster_cancel(r, b), answer(), plgpu.Barrier()),
            semantics,
            grid,
        )
        yield (
            f"warp_query_{name}",
            lambda: in_warps(lambda x, o, r: pl.debug_print("{}", plgpu.query_cluster_cancel(r, ("g",))[1]), answer()),
            semantics,
            grid,
        )


def warps():
    """What one warp of a warpgroup does on a B200: tensor memory is the warpgroup's, products and copies may be a
    warp's."""
    tmem, smem = plgpu.TMEM((128, 64), F32), plgpu.SMEM((64, 64), F16)

    def scalar_of_tmem(x, o, t):
        pl.debug_print("{}", t[0, 0])

    for name, semantics in SEMANTICS:
        for label, action, types in (
            ("load", lambda x, o, t: plgpu.async_load_tmem(t), (tmem,)),
            ("get", scalar_of_tmem, (tmem,)),
            ("scope", lambda x, o: pl.run_scoped(lambda t: None, tmem), ()),
            ("dependents", lambda x, o: plgpu.griddepcontrol_launch_dependents(), ()),
            ("wait_grid", lambda x, o: plgpu.griddepcontrol_wait(), ()),
            ("commit_smem", lambda x, o: plgpu.commit_smem(), ()),
            ("copy", lambda x, o, s, b: plgpu.copy_gmem_to_smem(x, s, b), (smem, plgpu.Barrier())),
            ("copy_tensor", lambda x, o, s, b: plgpu.copy_gmem_to_smem(x, s, b), (smem, TENSOR)),
            ("store", lambda x, o, s: plgpu.copy_smem_to_gmem(s, o), (smem,)),
            ("prefetch", lambda x, o: plgpu.async_prefetch(x), ()),
            (
                "layout",
                lambda x, o: pl.debug_print(
                    "{}", plgpu.layout_cast(jnp.zeros((128,), F32), plgpu.Layout.WG_STRIDED((128,), 1))
                ),
                (),
            ),
        ):
            yield (
                f"warp_does_{label}_{name}",
                lambda action=action, types=types: in_warps(action, *types),
                semantics,
                {},
            )
        for label, action in (
            ("dependents", plgpu.griddepcontrol_launch_dependents),
            ("wait_grid", plgpu.griddepcontrol_wait),
            ("commit_smem", plgpu.commit_smem),
            ("commit_group", plgpu.commit_smem_to_gmem_group),
        ):
            yield f"group_does_{label}_{name}", lambda action=action: lambda x, o: action(), semantics, {}


FAMILIES = (registers, barriers, cancels, warps)
