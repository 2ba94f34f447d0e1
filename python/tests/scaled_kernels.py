"""Matrix products of Blackwell with block scales and with a sparse operand: kernels as users write them, their inputs,
and what NumPy says.

Values are few and small enough that every sum is exact in double precision, so that any order of summing gives the same
bits.
"""

import dataclasses

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F8, F8_WIDE, F4 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn
E8M0, E4M3 = ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3fn
SCALES, POSITIONS = plgpu.TMEMLayout.SCALES_LAYOUT, plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT
BLOCKS = {E8M0: 32, E4M3: 16}
PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], np.uint8)  # the positions that a group can keep


@dataclasses.dataclass(frozen=True)
class Product:
    """a is m by k (half as many columns where it is sparse), b is n by k; `scale` is the type of scales, or None."""

    dtype: type
    scale: type | None = None
    sparse: bool = False
    m: int = 128
    n: int = 128
    k: int = 256
    acc: type = np.float32
    blocks: int = 1  # that multiply together: each has m rows, and half of b

    @property
    def block(self):
        return BLOCKS[self.scale] * (1 + self.sparse)

    @property
    def group(self):
        """Elements along k of which two positions are kept, each of one element, or of two of four bits."""
        return 8 if self.dtype == F4 else 4

    @property
    def packing(self):
        """The layout of b's scales, and their rows of TMEM."""
        if self.blocks == 2 and self.m == 64:
            return plgpu.TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT, 256
        return SCALES, -(-self.n // 128) * 128


def tiles(dtype, swizzle=128):
    return (plgpu.TilingTransform((8, 8 * swizzle // jax.dtypes.itemsize_bits(dtype))), plgpu.SwizzleTransform(swizzle))


def packed_scales(scales):
    """As the documentation of async_copy_scales_to_tmem prepares them."""
    rows, columns = scales.shape
    padded = np.pad(scales, ((0, -rows % 128), (0, 0)))
    tiled = padded.reshape(-1, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return tiled.reshape(-1, columns // 4, 32, 16)


def packed_scales_of_pair(scales):
    """The same of b's scales where the blocks of a pair have 64 rows each."""
    rows, columns = scales.shape
    quarters = rows // 64
    tiled = (
        scales.reshape(2, quarters, 32, columns // 4, 4)
        .transpose(3, 0, 2, 1, 4)
        .reshape(1, columns // 4, 64, quarters * 4)
    )
    return np.pad(tiled, ((0, 0), (0, 0), (0, 0), (0, 16 - quarters * 4)))


def matmul(p: Product):
    """(a, b, scales of a, scales of b, positions of a, each where it is there) -> a b."""
    packing, scale_rows = p.packing
    together = {"collective_axis": "x"} if p.blocks == 2 else {}

    def body(*refs, a_tile, b_tile, o_tile, full, done, acc, **extra):
        out, (a, b, *more) = refs[-1], refs[:-1]
        here = jax.lax.axis_index("x") if together else 0
        rows = pl.ds(here * p.m, p.m)
        plgpu.copy_gmem_to_smem(a.at[rows], a_tile, full)
        plgpu.copy_gmem_to_smem(b.at[pl.ds(here * (p.n // p.blocks), p.n // p.blocks)], b_tile, full)
        if p.scale:
            plgpu.copy_gmem_to_smem(more[0].at[pl.ds(here, 1)], extra["a_scale_tile"], full)
            plgpu.copy_gmem_to_smem(more[1], extra["b_scale_tile"], full)
        if p.sparse:
            plgpu.copy_gmem_to_smem(more[-1].at[pl.ds(here, 1)], extra["position_tile"], full)
        plgpu.barrier_wait(full)
        if together:
            plgpu.barrier_arrive(extra["both"])
            plgpu.barrier_wait(extra["both"])
        given = {}
        if p.scale:
            plgpu.async_copy_scales_to_tmem(extra["a_scale_tile"], extra["a_scale"], **together)
            plgpu.async_copy_scales_to_tmem(extra["b_scale_tile"], extra["b_scale"], **together)
            given |= {"a_scale": extra["a_scale"], "b_scale": extra["b_scale"]}
        if p.sparse:
            plgpu.async_copy_sparse_metadata_to_tmem(extra["position_tile"], extra["positions"], **together)
            given |= {"a_sparse_metadata": extra["positions"]}
        plgpu.tcgen05_mma(acc, a_tile, plgpu.transpose_ref(b_tile, (1, 0)), done, accumulate=False, **given, **together)
        plgpu.barrier_wait(done)
        o_tile[...] = plgpu.async_load_tmem(acc)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_tile, out.at[rows])
        plgpu.wait_smem_to_gmem(0)

    pair = p.blocks == 2
    stored = p.k // 2 if p.sparse else p.k
    scratch = {
        "a_tile": plgpu.SMEM((p.m, stored), p.dtype, transforms=tiles(p.dtype)),
        "b_tile": plgpu.SMEM((p.n // p.blocks, p.k), p.dtype, transforms=tiles(p.dtype)),
        "o_tile": plgpu.SMEM((p.m, p.n), p.acc),
        "acc": plgpu.TMEM((p.m, p.n), p.acc, collective=pair),
        "full": plgpu.Barrier(num_arrivals=2 + 2 * bool(p.scale) + p.sparse),
        "done": plgpu.Barrier(orders_tensor_core=True),
    }
    if p.scale:
        columns = p.k // p.block
        packed_b = (
            (1, columns // 4, 64, 16) if scale_rows == 256 and p.m == 64 else (scale_rows // 128, columns // 4, 32, 16)
        )
        scratch |= {
            "a_scale_tile": plgpu.SMEM((1, columns // 4, 32, 16), p.scale),
            "b_scale_tile": plgpu.SMEM(packed_b, p.scale),
            "a_scale": plgpu.TMEM((128, columns), p.scale, layout=SCALES, collective=pair),
            "b_scale": plgpu.TMEM((scale_rows, columns), p.scale, layout=packing, collective=pair),
        }
    if p.sparse:
        scratch |= {
            "position_tile": plgpu.SMEM((1, p.k // p.group // 32, 128, 64), jnp.uint2),
            "positions": plgpu.TMEM((128, p.k // p.group * 2), jnp.uint2, layout=POSITIONS, collective=pair),
        }
    cluster = {}
    if pair:
        scratch["both"] = plgpu.ClusterBarrier(collective_axes=("x",))
        cluster = {"cluster": (2,), "cluster_names": ("x",)}
    return plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((p.m * p.blocks, p.n), p.acc), scratch_types=scratch, **cluster
    )


def small_values(random, shape, dtype):
    if dtype == np.int8:
        return random.integers(-128, 128, shape).astype(np.int8)
    return random.choice(np.array([-6, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6]), shape).astype(dtype)


def scales_of(random, shape, dtype):
    exact = 2.0 ** random.integers(-4, 5, shape)
    return (exact * random.integers(8, 16, shape) / 8 if dtype == E4M3 else exact).astype(dtype)


def inputs(p: Product, seed=0):
    """The arguments of the kernel, and its result in double precision."""
    random = np.random.default_rng(seed)
    rows, stored = p.m * p.blocks, p.k // 2 if p.sparse else p.k
    a, b = small_values(random, (rows, stored), p.dtype), small_values(random, (p.n, p.k), p.dtype)
    arguments, wide_a, wide_b = [a, b], a.astype(np.float64), b.astype(np.float64)
    if p.sparse:
        positions, width = PAIRS[random.integers(0, len(PAIRS), (rows, p.k // p.group))], p.group // 4
        filled = np.zeros((rows, p.k // p.group, 4, width))
        kept = np.repeat(positions[..., None].astype(np.int64), width, axis=-1)
        np.put_along_axis(filled, kept, wide_a.reshape(rows, p.k // p.group, 2, width), axis=2)
        wide_a = filled.reshape(rows, p.k)
    if p.scale:
        of_a, of_b = (scales_of(random, (n, p.k // p.block), p.scale) for n in (rows, p.n))
        per_block = [packed_scales(of_a[i * p.m : (i + 1) * p.m]) for i in range(p.blocks)]
        pack_b = packed_scales if p.packing[0] == SCALES else packed_scales_of_pair
        arguments += [np.concatenate(per_block), pack_b(of_b)]
        wide_a *= np.repeat(of_a.astype(np.float64), p.block, axis=1)
        wide_b *= np.repeat(of_b.astype(np.float64), p.block, axis=1)
    if p.sparse:
        packed = (
            jnp.dtype(F8) if p.dtype == F4 else jnp.dtype(p.dtype)
        )  # JAX's helper knows 8 and 16 bits; of 4 the tiles are those of 8
        arguments.append(plgpu.format_tcgen05_sparse_metadata(jnp.asarray(positions).astype(jnp.uint2), packed))
    return arguments, wide_a @ wide_b.T
