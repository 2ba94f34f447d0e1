"""180 to 184: scales and positions of a sparse operand on their way to a product of Blackwell's tensor core."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, clean_and_racy, found, kernel, ty
from fences import TILED
from shared_memory import thread
from tensor_memory import ORDERS, TMEM, undefined

F8, E8M0, U2 = jnp.float8_e4m3fn, jnp.float8_e8m0fnu, jnp.uint2
M = N = K = 128
BLOCK = 32
COLUMNS = K // BLOCK
TILED8 = (plgpu.TilingTransform((8, 128)), plgpu.SwizzleTransform(128))
A, B, OUT = ty(M, K, dtype=F8), ty(K, N, dtype=F8), ty(M, N, dtype=F32)
PACKED = ty(1, COLUMNS // 4, 32, 16, dtype=E8M0)
SCALES = plgpu.TMEM((128, COLUMNS), E8M0, layout=plgpu.TMEMLayout.SCALES_LAYOUT)
TILES = {"a": plgpu.SMEM((M, K), F8, transforms=TILED8), "b": plgpu.SMEM((K, N), F8, transforms=TILED8),
         "s": plgpu.SMEM(PACKED.shape, E8M0), "t": plgpu.SMEM(PACKED.shape, E8M0)}
SCRATCH = {**TILES, "of_a": SCALES, "of_b": SCALES, "acc": TMEM, "full": plgpu.Barrier(num_arrivals=4), "done": ORDERS}
SPEC = "gpu-tcgen05.md#block-scales gpu-tcgen05.md#async_copy_scales_to_tmem"
GIVEN = {"target": "mosaic_gpu/b200", "spec": SPEC, "inputs": {"x": "full(1)", "y": "full(1)", "p": "iota", "q": "iota"}}


def unpacked(packed):
    """Scales as the packed array's documentation says that it was made: row 32 c + r of a tile lies in line r, at 4 c."""
    tiles, columns = packed.shape[:2]
    return packed.reshape(tiles, columns, 32, 4, 4).transpose(0, 3, 2, 1, 4).reshape(tiles * 128, columns * 4).astype(np.float64)


def iota(*shape):
    return np.arange(np.prod(shape)).reshape(shape).astype(ml_dtypes.float8_e8m0fnu)


def product():
    scales = unpacked(iota(*PACKED.shape))
    return (BLOCK * (scales @ scales.T)).astype(np.float32)


def load_all(pairs, full):
    for source, target in pairs:
        plgpu.copy_gmem_to_smem(source, target, full)  #@ load
    plgpu.barrier_wait(full)


def multiply(acc, a, b, of_a, of_b, done):
    plgpu.tcgen05_mma(acc, a, b, done, a_scale=of_a, b_scale=of_b, accumulate=False)  #@ mma
    plgpu.barrier_wait(done)


def stored_scales(racy):
    """Scales are written by the kernel itself: the tensor core reads them as asynchronous units do."""
    def body(x_ref, y_ref, p_ref, q_ref, o_ref, a, b, s, t, of_a, of_b, acc, full, done):
        load_all(((x_ref, a), (y_ref, b), (q_ref, t)), full)
        s[...] = p_ref[...]  #@ swap:store
        if not racy:
            plgpu.commit_smem()
        plgpu.async_copy_scales_to_tmem(s, of_a)  #@ copy
        plgpu.async_copy_scales_to_tmem(t, of_b)
        multiply(acc, a, b, of_a, of_b, done)
        o_ref[...] = plgpu.async_load_tmem(acc)

    return kernel(body, A, B, PACKED, PACKED, out=OUT, threads=None, scratch={**SCRATCH, "full": plgpu.Barrier(num_arrivals=3)})


def refilled_scales(racy):
    """One place in shared memory for both operands' scales, refilled when the first copy is complete, or before."""
    def body(x_ref, y_ref, p_ref, q_ref, o_ref, a, b, s, of_a, of_b, acc, full, again, copied, done):
        load_all(((x_ref, a), (y_ref, b), (p_ref, s)), full)
        plgpu.async_copy_scales_to_tmem(s, of_a)  #@ copy
        if not racy:
            plgpu.tcgen05_commit_arrive(copied)
            plgpu.barrier_wait(copied)
        load_all(((q_ref, s),), again)
        plgpu.async_copy_scales_to_tmem(s, of_b)
        multiply(acc, a, b, of_a, of_b, done)
        o_ref[...] = plgpu.async_load_tmem(acc)

    scratch = {name: value for name, value in SCRATCH.items() if name != "t"}
    return kernel(body, A, B, PACKED, PACKED, out=OUT, threads=None,
                  scratch={**scratch, "full": plgpu.Barrier(num_arrivals=3), "again": plgpu.Barrier(), "copied": ORDERS})


def scales_of_another_thread(racy):
    """Thread 0 copies the scales; the product of thread 1 follows the copies that are ordered before it."""
    def body(x_ref, y_ref, p_ref, q_ref, o_ref, a, b, s, t, of_a, of_b, acc, full, issued, done):
        @thread(0)
        def _():
            load_all(((x_ref, a), (y_ref, b), (p_ref, s), (q_ref, t)), full)
            plgpu.async_copy_scales_to_tmem(s, of_a)  #@ copy
            plgpu.async_copy_scales_to_tmem(t, of_b)  #@ other
            plgpu.barrier_arrive(issued)

        @thread(1)
        def _():
            plgpu.barrier_wait(issued)
            multiply(acc, a, b, of_a, of_b, done)
            o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return kernel(body, A, B, PACKED, PACKED, out=OUT, threads=2, scratch={**SCRATCH, "issued": plgpu.Barrier(orders_tensor_core=not racy)})


def one_layout(layout):
    """Scales of a in TMEM of some layout."""
    def make():
        def body(x_ref, y_ref, p_ref, q_ref, o_ref, a, b, s, t, of_a, of_b, acc, full, done):
            load_all(((x_ref, a), (y_ref, b), (p_ref, s), (q_ref, t)), full)
            plgpu.async_copy_scales_to_tmem(t, of_b)
            plgpu.async_copy_scales_to_tmem(s, of_a)
            multiply(acc, a, b, of_a, of_b, done)
            o_ref[...] = plgpu.async_load_tmem(acc)

        of_a = SCALES if layout == "scales" else plgpu.TMEM((128, COLUMNS), E8M0, packed=True)
        return kernel(body, A, B, PACKED, PACKED, out=OUT, threads=None, scratch={**SCRATCH, "of_a": of_a})

    return make()


def positions(racy):
    """A sparse product, with its positions copied before or not at all."""
    def body(x_ref, y_ref, p_ref, o_ref, a, b, p, where, acc, full, done):
        load_all(((x_ref, a), (y_ref, b), (p_ref, p)), full)
        if not racy:
            plgpu.async_copy_sparse_metadata_to_tmem(p, where)
        plgpu.tcgen05_mma(acc, a, b, done, a_sparse_metadata=where, accumulate=False)  #@ mma
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    packed = ty(1, 1, 128, 64, dtype=U2)
    return kernel(body, ty(M, K // 2, dtype=F16), ty(K, N, dtype=F16), packed, out=OUT, threads=None, scratch={
        "a": plgpu.SMEM((M, K // 2), F16, transforms=TILED), "b": plgpu.SMEM((K, N), F16, transforms=TILED), "p": plgpu.SMEM(packed.shape, U2),
        "where": plgpu.TMEM((M, K // 2), U2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT), "acc": TMEM,
        "full": plgpu.Barrier(num_arrivals=3), "done": ORDERS})


def sparse_product():
    """Positions 0, 1, 2, 3, 0, ...: of one group the first two, of the next one the last two."""
    b = np.arange(K * N).reshape(K // 8, 8, N).astype(np.float16).astype(np.float64)
    return np.tile(b[:, [0, 1, 6, 7]].sum((0, 1)), (M, 1)).astype(np.float32)


PAIR_M, PAIR_N = 64, 128
PAIR_B = ty(1, COLUMNS // 4, 64, 16, dtype=E8M0)


def pair(racy):
    """Two blocks of 64 rows: the first issues for both when the other's scales are there, or before that."""
    def body(x_ref, y_ref, p_ref, q_ref, o_ref, a, b, s, t, of_a, of_b, acc, full, late, both, done):
        rank = lax.axis_index("x")
        load_all(((x_ref.at[pl.ds(rank * PAIR_M, PAIR_M)], a), (y_ref.at[:, pl.ds(rank * (PAIR_N // 2), PAIR_N // 2)], b), (q_ref, t)), full)
        if not racy:
            load_all(((p_ref.at[pl.ds(rank, 1)], s),), late)
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        if racy:
            load_all(((p_ref.at[pl.ds(rank, 1)], s),), late)
        plgpu.async_copy_scales_to_tmem(s, of_a, collective_axis="x")  #@ copy
        plgpu.async_copy_scales_to_tmem(t, of_b, collective_axis="x")
        plgpu.tcgen05_mma(acc, a, b, done, a_scale=of_a, b_scale=of_b, accumulate=False, collective_axis="x")  #@ mma
        plgpu.barrier_wait(done)
        o_ref[pl.ds(rank * PAIR_M, PAIR_M)] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:value swap:out

    tiled = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(64))
    m64 = plgpu.TMEM((256, COLUMNS), E8M0, layout=plgpu.TMEMLayout.SCALES_M64_COLLECTIVE_LAYOUT, collective=True)
    return kernel(body, ty(2 * PAIR_M, K, dtype=F8), ty(K, PAIR_N, dtype=F8), ty(2, COLUMNS // 4, 32, 16, dtype=E8M0), PAIR_B,
                  out=ty(2 * PAIR_M, PAIR_N, dtype=F32), threads=None, cluster=(2,), cluster_names=("x",), scratch={
        "a": plgpu.SMEM((PAIR_M, K), F8, transforms=tiled), "b": plgpu.SMEM((K, PAIR_N // 2), F8, transforms=tiled),
        "s": plgpu.SMEM(PACKED.shape, E8M0), "t": plgpu.SMEM(PAIR_B.shape, E8M0),
        "of_a": plgpu.TMEM((128, COLUMNS), E8M0, layout=plgpu.TMEMLayout.SCALES_LAYOUT, collective=True), "of_b": m64,
        "acc": plgpu.TMEM((PAIR_M, PAIR_N), F32, collective=True), "full": plgpu.Barrier(num_arrivals=3), "late": plgpu.Barrier(),
        "both": plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=True), "done": ORDERS})


def pair_product():
    """The scales of b's two halves lie one after the other, each in as many pieces of 32 rows as it has."""
    of_a = np.concatenate([unpacked(tile[None])[:PAIR_M] for tile in iota(2, COLUMNS // 4, 32, 16)])
    pieces = iota(*PAIR_B.shape).reshape(COLUMNS // 4, 2, 32, 4, 4)[..., :PAIR_N // 64, :]
    of_b = pieces.transpose(1, 3, 2, 0, 4).reshape(PAIR_N, COLUMNS).astype(np.float64)
    return (BLOCK * (of_a @ of_b.T)).astype(np.float32)


def cases():
    one = {"outputs": {"o": product()}, **GIVEN}
    yield from clean_and_racy("180_scales_stored_then_copied", "Scales that the kernel stored are copied to tensor memory.", stored_scales,
                              (found("PROXY", "store", "copy"),), **one)
    yield from clean_and_racy("181_scales_refilled", "The place that a copy of scales reads is refilled.", refilled_scales,
                              (found("RACE_RW", "copy", "load#3"),), **one)
    yield from clean_and_racy("182_scales_of_another_thread", "A product of another thread than the one that copied its scales.", scales_of_another_thread,
                              (found("RACE_RW", "copy", "mma"), found("RACE_RW", "other", "mma"), found("NOT_AWAITED", "copy"), found("NOT_AWAITED", "other"),
                               *undefined("mma")), **one)
    yield Case("180_scales_layout_clean", kernel=one_layout("scales"), prose="Scales of a in the layout that a product takes.", **one)
    yield from clean_and_racy("183_positions_not_written", "The positions of a sparse operand.", positions, (found("UNINIT", "mma", "out"),),
                              **{**GIVEN, "spec": "gpu-tcgen05.md#a-sparse-operand gpu-tcgen05.md#async_copy_sparse_metadata_to_tmem",
                                 "inputs": {"x": "full(1)", "y": "iota", "p": "iota"}, "outputs": {"o": sparse_product()}})
    yield from clean_and_racy("184_scales_of_a_pair", "The scales of two blocks that multiply together.", pair, (found("RACE_RW", "load#3", "copy"), *undefined("copy")),
                              **{**one, "outputs": {"o": pair_product()}})
