"""Writes copy_legality.txt: copies of pairs of blocks and by arrays of indices, and whether JAX's own lowering takes or
refuses each.

Usage: make_copy_legality_golden.py [--out FILE] [--why]
    (default: copy_legality.txt.gz beside this script; needs PYTHONPATH=python)

As make_gpu_legality_golden.py, for a B200. Shapes, types, swizzles and axes are drawn at random, with a fixed seed.
Does not catch: what ptxas and the driver refuse.
"""

import argparse
import pathlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from gpu_legality_case import BF16, F16, F32, I8, I32, LANE, U8, U32, WG, Case, layout, scoped, write_cases
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

PAIR = {"cluster": (2,), "cluster_names": ("c",)}
PARTS, ALL = plgpu.CopyPartition.PARTITIONED, plgpu.CopyPartition.REPLICATED
U16 = jnp.uint16


def together(index, smem, leader, dtype=F16, swizzle=0, tiled=True, axes="c"):
    @scoped(plgpu.SMEM(smem, dtype, transforms=layout(dtype, swizzle, tiled)), plgpu.Barrier())
    def body(x, o, s, b):
        plgpu.copy_gmem_to_smem(x.at[index], s, b, collective_axes=axes, leader_tracked=leader)

    return body


def random_pairs():
    random = np.random.default_rng(23)
    for n in range(110):
        dtype = [F16, F32, I8, BF16, I32][int(random.integers(5))]
        rank = int(random.integers(1, 4))
        extents = [int(random.choice([2, 8, 24, 64, 128, 256, 512])) for _ in range(rank)]
        index, kept = [], []
        for extent in extents:
            if random.random() < 0.2 and len(index) < rank - 1:
                index.append(int(random.integers(extent)))
            else:
                size = (
                    extent
                    if random.random() < 0.5
                    else int(random.choice([s for s in (2, 6, 8, 16, 64, 128, 256) if s <= extent]))
                )
                index.append(pl.ds(0, size))
                kept.append(size)
        axis = int(random.integers(len(kept))) if random.random() < 0.7 else None
        smem = [size // 2 if d == axis else size for d, size in enumerate(kept)]
        swizzle = int(random.choice([0, 0, 64, 128])) if len(kept) >= 2 else 0
        if np.prod(kept) * jnp.dtype(dtype).itemsize > 200_000:
            continue
        body = together(
            tuple(index), tuple(smem), ALL if axis is None else PARTS(axis), dtype, swizzle, bool(random.random() < 0.7)
        )
        yield (
            f"pair_{n}",
            lambda n=n, body=body, dtype=dtype, extents=extents, lane=random.random() < 0.5: Case(
                f"pair_{n}", body, (dtype, tuple(extents)), LANE if lane else WG, **PAIR
            ),
        )


def pairs():
    def case(name, body, x=(F16, (128, 64)), **options):
        return name, lambda: Case(name, body, x, **options)

    whole = (slice(None),)
    for name, leader in (("parts", PARTS(0)), ("all", ALL)):
        smem = (64 if name == "parts" else 128, 64)
        for lane, semantics in (("lane", LANE), ("wg", WG)):
            for size in (1, 2, 4):
                fits = (128 // size if name == "parts" else 128, 64)
                yield case(
                    f"{name}_of_{size}_{lane}",
                    together(whole, fits, leader),
                    semantics=semantics,
                    cluster=(size,),
                    cluster_names=("c",),
                )
            two = {"cluster": (2, 1), "cluster_names": ("c", "d"), "semantics": semantics}
            yield case(f"{name}_other_of_one_{lane}", together(whole, smem, leader), **two)
            yield case(f"{name}_two_axes_{lane}", together(whole, smem, leader, axes=("c", "d")), **two)
            yield case(
                f"{name}_two_by_two_{lane}",
                together(whole, smem, leader),
                cluster=(2, 2),
                cluster_names=("c", "d"),
                semantics=semantics,
            )
            yield case(f"{name}_no_axis_{lane}", together(whole, smem, leader, axes="e"), semantics=semantics, **PAIR)


def rows(
    count=16,
    columns=64,
    *,
    index=U32,
    dtype=F16,
    swizzle=0,
    tiled=True,
    how="load",
    kind=None,
    scatter=False,
    options=None,
):
    kind = kind or plgpu.Layout.TMA_INDICES

    @scoped(
        plgpu.SMEM((count, columns), dtype, transforms=layout(dtype, swizzle, tiled)),
        plgpu.SMEM((count,), index),
        plgpu.Barrier(),
    )
    def body(x, o, s, i, b):
        if how == "iota":
            places = plgpu.layout_cast(lax.broadcasted_iota(index, (count,), 0), kind)
        else:
            places = i[...] if how == "get" else plgpu.load(i, (), layout=kind)
        places = places + 1 if how == "sum" else places
        part = pl.ds(0, columns)
        if scatter:
            plgpu.copy_smem_to_gmem(s, o.at[places, part], **(options or {}))
            plgpu.wait_smem_to_gmem(0)
        elif how == "prefetch":
            plgpu.async_prefetch(x.at[places, part])
        else:
            plgpu.copy_gmem_to_smem(x.at[places, part], s, b, **(options or {}))
            plgpu.barrier_wait(b)

    return body


def gathers():
    def case(name, x=(F16, (64, 256)), mesh=None, semantics=LANE, **options):
        return name, lambda: Case(name, rows(**options), x, semantics, **(mesh or {}))

    few = plgpu.Layout.TMA_INDICES_4
    for lane, semantics in (("lane", LANE), ("wg", WG)):
        for scatter in (False, True):
            name = f"{'scatter' if scatter else 'gather'}_{{}}_{lane}"
            both = {"semantics": semantics, "scatter": scatter}
            for dtype in (U32, I32, U16, U8, jnp.uint64):
                yield case(name.format(jnp.dtype(dtype).name), index=dtype, **both)
            for count in (4, 8, 12, 16, 20, 24, 32, 48, 64, 128, 256):
                yield case(name.format(f"{count}_rows"), count=count, **both)
                if count > 4:  # of 4 JAX's load breaks down
                    yield case(name.format(f"{count}_rows_of_4"), count=count, kind=few, **both)
            for columns in (8, 16, 24, 48, 256):
                yield case(name.format(f"{columns}_columns"), columns=columns, **both)
            for how in ("iota", "get", "sum"):
                yield case(name.format(how), how=how, **both)
            for swizzle in (32, 64, 128):
                yield case(name.format(f"swizzle_{swizzle}"), swizzle=swizzle, columns=64, **both)
                yield case(
                    name.format(f"swizzle_{swizzle}_flat"), swizzle=swizzle, tiled=False, columns=swizzle // 2, **both
                )
            yield case(name.format("strided"), kind=plgpu.Layout.WG_STRIDED((16,), 1), **both)
            yield case(name.format("wide"), columns=512, x=(F16, (64, 512)), swizzle=128, **both)
        yield case(f"gather_prefetch_{lane}", semantics=semantics, how="prefetch")
        yield case(f"gather_shared_{lane}", semantics=semantics, options={"collective_axes": "c"}, mesh=PAIR)
        yield case(f"scatter_reduced_{lane}", semantics=semantics, scatter=True, options={"reduction_op": "add"})


def cases():
    for family in (random_pairs, pairs, gathers):
        yield from family()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("copy_legality.txt.gz"))
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    write_cases(cases(), "b200", parser.parse_args())


if __name__ == "__main__":
    main()
