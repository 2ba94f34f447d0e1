"""Writes gpu_legality.txt: small kernels over plgpu.Mesh, and whether JAX's own lowering takes or refuses each.

Usage: make_gpu_legality_golden.py [--out FILE]
    (default: gpu_legality.txt.gz beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME mosaic_gpu/h100 lowered|refused` and the kernel's text. The C++ test
emu/check/legality/gpu/limits_test.cc looks for findings in each: where JAX lowers there must be none, where it refuses
at least one. JAX lowers for a GPU that is not there (`lowering_platforms`). Shapes of copies and products are drawn at
random, with a fixed seed. Left out: what JAX refuses while it traces, which is no kernel yet, and where its lowering
breaks down. Does not catch: what ptxas and the driver refuse.
"""

import argparse
import pathlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from gpu_legality_case import (
    BF16,
    E4,
    E5,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    LANE,
    U8,
    U32,
    WG,
    Case,
    layout,
    scoped,
    write_cases,
)
from gpu_legality_devices import devices
from gpu_legality_layouts import accesses, layouts, product_of_value, states, views_of_operands
from gpu_legality_memory import memory
from gpu_legality_values import values
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def load(index, smem, dtype=F16, swizzle=0, tiled=True, smem_index=None, wait=True, **options):
    @scoped(plgpu.SMEM(smem, dtype, transforms=layout(dtype, swizzle, tiled)), plgpu.Barrier())
    def body(x, o, s, b):
        plgpu.copy_gmem_to_smem(x.at[index], s if smem_index is None else s.at[smem_index], b, **options)
        if wait:
            plgpu.barrier_wait(b)

    return body


def store(index, smem, dtype=F16, swizzle=0, tiled=True, **options):
    @scoped(plgpu.SMEM(smem, dtype, transforms=layout(dtype, swizzle, tiled)))
    def body(x, o, s):
        plgpu.copy_smem_to_gmem(s, o.at[index], **options)
        plgpu.wait_smem_to_gmem(0)

    return body


def random_copies():
    random = np.random.default_rng(7)
    for n in range(140):
        dtype = [F16, F32, I8, BF16, I32, E4][int(random.integers(6))]
        rank = int(random.integers(1, 5))
        extents = [int(random.choice([1, 2, 4, 8, 24, 64, 72, 128, 300, 512])) for _ in range(rank)]
        index, kept = [], []
        for extent in extents:
            kind = random.random()
            if kind < 0.25 and len(index) < rank - 1:
                index.append(int(random.integers(extent)))
            else:
                size = (
                    extent
                    if kind < 0.6
                    else int(random.choice([s for s in (1, 2, 4, 8, 16, 32, 64, 128, 256) if s <= extent]))
                )
                index.append(pl.ds(0, size))
                kept.append(size)
        swizzle = int(random.choice([0, 0, 32, 64, 128])) if len(kept) >= 2 else 0
        tiled = bool(random.random() < 0.7)
        make = load if random.random() < 0.6 else store
        semantics = LANE if random.random() < 0.5 else WG
        if np.prod(kept) * jnp.dtype(dtype).itemsize > 200_000:
            continue
        yield Case(
            f"copy_{n}", make(tuple(index), tuple(kept), dtype, swizzle, tiled), (dtype, tuple(extents)), semantics
        )


def copies():
    yield Case("reduce_add_f16", store((slice(None),), (64, 64), reduction_op="add"))
    for dtype, op in (
        (F16, "smax"),
        (F16, "max"),
        (F32, "max"),
        (F32, "add"),
        (I32, "umin"),
        (I32, "inc"),
        (I64, "inc"),
        (I64, "xor"),
        (I8, "add"),
        (BF16, "min"),
        (I32, "min"),
        (F32, "and"),
    ):
        yield Case(
            f"reduce_{op}_{jnp.dtype(dtype).name}",
            store((slice(None),), (64, 64), dtype, reduction_op=op),
            (dtype, (64, 64)),
        )
    part = (slice(None), pl.ds(0, 32))
    yield Case("smem_not_contiguous", load(part, (64, 64), smem_index=part))
    yield Case("smem_rows", load((pl.ds(0, 8),), (64, 64), smem_index=(pl.ds(0, 8),)))
    yield Case("f64", load((slice(None),), (64, 64), F64), (F64, (64, 64)))
    cluster = {"cluster": (2,), "cluster_names": ("c",)}
    for rows, axis in ((64, "c"), (1, "c"), (3, "c"), (64, "d")):
        yield Case(f"shared_{rows}_{axis}", load((pl.ds(0, rows),), (rows, 64), collective_axes=axis), **cluster)
        yield Case(
            f"shared_{rows}_{axis}_wg",
            load((pl.ds(0, rows),), (rows, 64), collective_axes=axis),
            semantics=WG,
            **cluster,
        )
    yield Case("shared_tiles", load((pl.ds(0, 8),), (8, 64), swizzle=128, collective_axes="c"), **cluster)
    four = {"cluster": (4,), "cluster_names": ("c",)}
    yield Case("shared_by_four", load((pl.ds(0, 24),), (24, 64), swizzle=128, collective_axes="c"), **four)

    def gather(dtype, indices=8, columns=64, **options):
        @scoped(plgpu.SMEM((indices, columns), F16), plgpu.Barrier())
        def body(x, o, s, b):
            rows = plgpu.layout_cast(lax.broadcasted_iota(dtype, (indices,), 0), plgpu.Layout.TMA_GATHER_INDICES)
            plgpu.copy_gmem_to_smem(x.at[rows, pl.ds(0, columns)], s, b, **options)
            plgpu.barrier_wait(b)

        return body

    if hasattr(plgpu.Layout, "TMA_GATHER_INDICES"):
        yield Case("gather_u32", gather(U32))
        yield Case("gather_i32", gather(I32))
        yield Case("gather_narrow", gather(U32, columns=8))
        yield Case("gather_shared", gather(U32, collective_axes="c"), **cluster)


def product(m, n, k, dtype=F16, acc=F32, swizzles=(128, 128), transposes=(False, False), part=None, a_type=None):
    def shape(dims, transposed):
        return dims[::-1] if transposed else dims

    a_type = a_type or dtype
    a = plgpu.SMEM(shape((m, k), transposes[0]), a_type, transforms=layout(a_type, swizzles[0]))
    b = plgpu.SMEM(shape((k, n), transposes[1]), dtype, transforms=layout(dtype, swizzles[1]))

    @scoped(plgpu.ACC((m, n), acc), a, b)
    def body(x, o, c, a_ref, b_ref):
        a_ref = plgpu.transpose_ref(a_ref, (1, 0)) if transposes[0] else a_ref
        b_ref = plgpu.transpose_ref(b_ref, (1, 0)) if transposes[1] else b_ref
        plgpu.wgmma(c if part is None else c.at[:, part], a_ref, b_ref if part is None else b_ref.at[:, part])
        plgpu.wgmma_wait(0)

    return body


def products():
    random = np.random.default_rng(11)
    for n in range(100):
        dtype = [F16, BF16, F32, I8, E4, E5, U8, I32][int(random.integers(8))] if n % 2 else F16
        acc = [F32, F32, F16, I32][int(random.integers(4))] if n % 3 else F32
        swizzles = (128, 128) if n % 4 else tuple(int(random.choice([0, 32, 64, 128])) for _ in range(2))
        sizes = (
            int(random.choice([64, 64, 128, 192])),
            int(random.choice([64, 128, 256, 320])),
            int(random.choice([32, 64, 64, 128])),
        )
        transposes = (bool(random.random() < 0.3), bool(random.random() < 0.5))
        semantics = LANE if random.random() < 0.6 else WG
        yield Case(f"product_{n}", product(*sizes, dtype, acc, swizzles, transposes), semantics=semantics)
    for name, semantics in (("lane", LANE), ("wg", WG)):
        for dtype in (I8, U8):
            for swizzle in (32, 64, 128):
                made = product(64, 64, 128, dtype, I32, (swizzle, swizzle), (False, True))
                yield Case(f"product_{jnp.dtype(dtype).name}_{swizzle}_{name}", made, semantics=semantics)
        yield Case(
            f"product_uint8_float_{name}", product(64, 64, 128, U8, F32, transposes=(False, True)), semantics=semantics
        )
        yield from views_of_operands(name, semantics)
    yield Case("product_of_registers_uint8", product_of_value(U8))
    yield Case("product_of_registers_int8", product_of_value(I8))
    yield Case("product_of_part", product(64, 128, 64, part=pl.ds(0, 64)))
    yield Case("product_of_part_wg", product(64, 128, 64, part=pl.ds(0, 64)), semantics=WG)


def scopes():
    threads = {"num_threads": 2, "thread_name": "wg"}
    smem, acc = plgpu.SMEM((64, 64), F16), plgpu.ACC((64, 64), F32)

    def empty(*types, axes=()):
        return scoped(*types, axes=axes)(lambda x, o, *refs: None)

    for name, types, axes in (
        ("smem", (smem,), ()),
        ("smem_collective", (smem,), ("wg",)),
        ("acc", (acc,), ()),
        ("acc_collective", (acc,), ("wg",)),
        ("barrier", (plgpu.Barrier(),), ()),
        ("barrier_collective", (plgpu.Barrier(),), ("wg",)),
        ("both", (smem, acc), ("wg",)),
        ("semaphore", (plgpu.SemaphoreType.REGULAR(()),), ()),
        ("semaphore_collective", (plgpu.SemaphoreType.REGULAR(()),), ("wg",)),
    ):
        yield Case(f"threads_{name}", empty(*types, axes=axes), **threads)
        if not axes:
            yield Case(f"alone_{name}", empty(*types))
    yield Case("alone_collective", empty(smem, axes=("wg",)))
    yield Case("cluster_collective", empty(smem, axes=("c",)), cluster=(2,), cluster_names=("c",), **threads)
    yield Case("gmem", empty(plgpu.GMEM((64, 64), F16)))
    for shape in ((32, 64), (64, 60), (64, 8), (192, 64)):
        yield Case(f"acc_{shape[0]}_{shape[1]}", empty(plgpu.ACC(shape, F32)))
    yield Case("acc_u32", empty(plgpu.ACC((64, 64), U32)))
    for count in (32, 33, (11, 3)):
        yield Case(f"barriers_{np.prod(count)}_of_rank_{np.ndim(count)}", empty(plgpu.Barrier(num_barriers=count)))
    cluster = {"cluster": (2, 2), "cluster_names": ("c", "d")}
    for name, axes, leader in (
        ("one", ("c",), True),
        ("two", ("c", "d"), True),
        ("two_plain", ("c", "d"), False),
        ("composite", (("c", "d"),), True),
        ("composite_plain", (("c", "d"),), False),
        ("other", ("g",), False),
    ):
        yield Case(
            f"cluster_barrier_{name}",
            empty(plgpu.ClusterBarrier(collective_axes=axes, leader_tracked=leader)),
            **cluster,
        )
    for kib, more in ((226, 0), (227, 1)):  # in between JAX lowers what the driver refuses
        yield Case(f"smem_{kib}_{more}", empty(plgpu.SMEM((kib * 1024 + more,), I8)))
    yield Case("smem_and_barrier", empty(plgpu.SMEM((227 * 1024,), I8), plgpu.Barrier()))
    yield Case("smem_aligned", empty(plgpu.SMEM((224 * 1024,), I8), plgpu.SMEM((1,), I8), plgpu.SMEM((1,), I8)))
    yield Case(
        "smem_aligned_too_much", empty(plgpu.SMEM((225 * 1024 + 1,), I8), plgpu.SMEM((1,), I8), plgpu.SMEM((1,), I8))
    )
    large = plgpu.SMEM((200 * 1024,), I8)

    def after(x, o):
        pl.run_scoped(lambda s: None, large)
        pl.run_scoped(lambda s: None, large)

    yield Case("smem_after", after)
    yield Case("smem_nested", lambda x, o: pl.run_scoped(lambda s: pl.run_scoped(lambda t: None, large), large))

    @scoped(plgpu.SMEM((225 * 1024,), I8), plgpu.SMEM((128,), F32))
    def reduced(x, o, s, t):
        t[0] = jnp.sum(t[...])

    yield Case("smem_reduction", reduced)


def warps():
    def in_warps(action, *types):
        @scoped(*types)
        def body(x, o, *refs):
            @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
            def _():
                action(x, o, *refs)

        return body

    smem, barrier = plgpu.SMEM((64, 64), F16), plgpu.Barrier()

    def nested(x, o):
        pl.core_map(plgpu.WarpMesh(axis_name="w"))(lambda: None)

    def scalar(x, o, n):
        n[0] = n[1] + 1

    def array(x, o, n):
        n[...] = n[...] + 1

    words = plgpu.SMEM((128,), I32)
    for name, action, types in (
        ("copy", lambda x, o, s, b: plgpu.copy_gmem_to_smem(x, s, b), (smem, barrier)),
        ("commit_smem", lambda x, o: plgpu.commit_smem(), ()),
        ("commit_group", lambda x, o: plgpu.commit_smem_to_gmem_group(), ()),
        ("scalar", scalar, (words,)),
        ("array", array, (words,)),
        ("nested", nested, ()),
        ("scoped", lambda x, o: pl.run_scoped(lambda s: None, smem), ()),
        ("arrive", lambda x, o, b: plgpu.barrier_arrive(b), (barrier,)),
        ("axis", lambda x, o: pl.debug_print("{}", lax.axis_index("warp")), ()),
        ("other_axis", lambda x, o: pl.debug_print("{}", lax.axis_index("g")), ()),
        ("registers", lambda x, o: plgpu.set_max_registers(40, action="decrease"), ()),
        ("wgmma_wait", lambda x, o: plgpu.wgmma_wait(0), ()),
        ("test", lambda x, o, b: pl.debug_print("{}", plgpu.barrier_test(b)), (barrier,)),
    ):
        yield Case(f"warp_{name}", in_warps(action, *types), grid=(1,), grid_names=("g",))

    @scoped(words)
    def closure(x, o, n):
        value = n[...]

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            pl.debug_print("{}", value)

    yield Case("warp_closure", closure)
    for name, semantics in (("lane", LANE), ("wg", WG)):
        yield Case(
            f"no_warp_test_{name}",
            scoped(barrier)(lambda x, o, b: pl.debug_print("{}", plgpu.barrier_test(b))),
            semantics=semantics,
        )
    cluster = plgpu.ClusterBarrier(collective_axes=("c",))
    for name, action in (("arrive", plgpu.barrier_arrive), ("wait", plgpu.barrier_wait)):
        yield Case(
            f"warp_cluster_{name}",
            in_warps(lambda x, o, b, action=action: action(b), cluster),
            cluster=(2,),
            cluster_names=("c",),
        )


def semaphores():
    one = plgpu.SemaphoreType.REGULAR
    signal = pl.semaphore_signal
    for name, types, action in (
        ("signal", one(()), lambda s: signal(s)),
        ("wait", one(()), lambda s: pl.semaphore_wait(s)),
        ("of_two", one((2,)), lambda s: signal(s.at[1])),
        ("core", one(()), lambda s: signal(s, core_index=0)),
    ):
        yield Case(f"semaphore_{name}", scoped(types)(lambda x, o, s, action=action: action(s)))


def cases():
    for family in (
        random_copies,
        copies,
        products,
        scopes,
        accesses,
        warps,
        semaphores,
        layouts,
        states,
        values,
        devices,
        memory,
    ):
        yield from family()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("gpu_legality.txt.gz"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N of them")
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    write_cases(((case.name, lambda case=case: case) for case in cases()), "h100", arguments)


if __name__ == "__main__":
    main()
