"""176 to 178: rows of global memory that an array of indices names: gathers and scatters of TMA."""

import numpy as np
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, U32, clean_and_racy, found, kernel, load, ty

SPEC = "gpu-copies.md#rows"
COUNT, TABLE = 16, 8  # rows that are named, and rows of the array
ROWS = plgpu.SMEM((COUNT, LANES), I32)
BLOCK, PLACES = ty(COUNT, LANES), ty(COUNT, dtype=U32)
# Outside: the first row after the array, numbers that are negative as a coordinate, and the largest.
NAMED = [3, 0, 8, 7, 7, 1, 2**31, 2, 5, 2**32 - 1, 6, 4, 0, 0, 9, 3]
TAKEN = 13  # rows of the array that a scatter writes
ONCE = [3, 0, 8, 7, 10, 1, 2**31, 2, 5, 2**32 - 1, 6, 4, 11, TAKEN, 9, 12]
X = np.arange(TABLE * LANES, dtype=np.int32).reshape(TABLE, LANES)
B200 = {"spec": SPEC, "target": "mosaic_gpu/b200"}


def layout(values):
    return plgpu.layout_cast(values, getattr(plgpu.Layout, "TMA_INDICES", None) or plgpu.Layout.TMA_GATHER_INDICES)


def text(numbers):
    return f"[{', '.join(map(str, numbers))}]"


def gathered(oob=None):
    def body(x_ref, i_ref, o_ref, smem, full):
        rows = layout(load(i_ref, optimized=False))
        options = {} if oob is None else {"oob_mode": oob}
        plgpu.copy_gmem_to_smem(x_ref.at[rows], smem, full, **options)  #@ copy
        plgpu.barrier_wait(full)
        o_ref[...] = smem[...]  #@ swap:store

    return kernel(body, ty(TABLE, LANES), PLACES, out=BLOCK, scratch={"smem": ROWS, "full": plgpu.Barrier()}, threads=None)


def gathered_from_shared(racy):
    """The indices come by a copy of their own."""
    def body(x_ref, i_ref, o_ref, smem, places, full, there):
        plgpu.copy_gmem_to_smem(i_ref, places, there)  #@ copy_gmem_to_smem:indices
        if not racy:
            plgpu.barrier_wait(there)
        rows = layout(load(places))
        plgpu.copy_gmem_to_smem(x_ref.at[rows], smem, full)  #@ copy
        plgpu.barrier_wait(full)
        if racy:
            plgpu.barrier_wait(there)
        o_ref[...] = smem[...]  #@ swap:store

    return kernel(body, ty(TABLE, LANES), ty(32, dtype=U32), out=ty(32, LANES),
                  scratch={"smem": plgpu.SMEM((32, LANES), I32), "places": plgpu.SMEM((32,), U32), "full": plgpu.Barrier(), "there": plgpu.Barrier()},
                  threads=None)


def scattered(early=False, equal=False):
    """`early`: the source is written again before the copy has read it; `equal`: all rows are."""
    def body(x_ref, i_ref, o_ref, smem):
        smem[...] = x_ref[...] * 0 + 7 if equal else x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref.at[layout(load(i_ref, optimized=False))])  #@ copy
        if early:
            smem[...] = x_ref[...] * 0  #@ swap:write
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, BLOCK, PLACES, out=ty(TAKEN, LANES), scratch={"smem": ROWS}, threads=None)


def scattered_by_two():
    """Two threads scatter, each what it has read itself."""
    def body(x_ref, i_ref, o_ref, smem):
        wg = lax.axis_index("wg")
        smem[wg] = x_ref[wg]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[wg], o_ref.at[layout(load(i_ref.at[wg], optimized=False))])  #@ copy
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ty(2, COUNT, LANES), ty(2, COUNT, dtype=U32), out=ty(2 * COUNT - 1, LANES),
                  scratch={"smem": plgpu.SMEM((2, COUNT, LANES), I32)})


def cases():
    table = {"x": "iota", "i": text(NAMED)}
    inside = np.asarray(NAMED) < TABLE
    picked = np.where(inside[:, None], X[np.where(inside, NAMED, 0)], 0)
    yield Case("176_rows_gathered_clean", kernel=gathered(), prose="Rows by an array of indices; what lies outside the array is zeros.", inputs=table,
               outputs={"o": picked}, **B200)
    yield Case("176_rows_undefined_racy", kernel=gathered(plgpu.OOBFillMode.UNDEFINED), prose="Rows outside the array are undefined, and reach an output.",
               inputs=table, findings=(found("PAD_LEAK", "store"),), **B200)
    yield Case("176_rows_promised_racy", kernel=gathered(plgpu.OOBFillMode.PROMISE_IN_BOUNDS), prose="Rows are promised to lie in the array, and do not.",
               inputs=table, findings=(found("OOB", "copy"),), **B200)
    yield Case("176_rows_nowhere_noted", kernel=gathered(), prose="All rows lie outside the array.", inputs={"x": "iota", "i": "full(8)"},
               findings=(found("OOB", "copy"),), exit=0, outputs={"o": np.zeros((COUNT, LANES), np.int32)}, **B200)
    indices = np.arange(32) % 16
    yield from clean_and_racy("177_rows_indices", "The indices come by a copy themselves.", gathered_from_shared,
                              (found("RACE_ASYNC", "indices", "/mgpu.load"), found("UNINIT", "copy"), found("OOB", "copy"), found("NONDET", "store")), inputs={"x": "iota", "i": text(indices)},
                              outputs={"o": np.where((indices < TABLE)[:, None], X[indices % TABLE], 0)}, **B200)
    source = np.arange(COUNT * LANES, dtype=np.int32).reshape(COUNT, LANES)
    stored = np.stack([source[ONCE.index(row)] for row in range(TAKEN)])
    yield Case("178_rows_scattered_clean", kernel=scattered(), prose="Rows go where an array of indices says; what lies outside the array is dropped.",
               inputs={"x": "iota", "i": text(ONCE)}, outputs={"o": stored}, **B200)
    yield Case("178_rows_scattered_early_racy", kernel=scattered(early=True), prose="The source of a scatter is written again before the copy has read it.",
               inputs={"x": "iota", "i": text(ONCE)}, findings=(found("RACE_ASYNC", "copy", "write"), found("NONDET", "copy")), **B200)
    yield Case("178_rows_scattered_twice_racy", kernel=scattered(), prose="Two rows of a scatter go to one place, in no order.",
               inputs={"x": "iota", "i": text([row if row != TAKEN else 3 for row in ONCE])}, findings=(found("RACE_WW", "copy", "copy"),), **B200)
    yield Case("178_rows_scattered_twice_noted", kernel=scattered(equal=True), prose="Two rows of a scatter that are the same go to one place.",
               inputs={"x": "iota", "i": text([row if row != TAKEN else 3 for row in ONCE])}, outputs={"o": np.full((TAKEN, LANES), 7, np.int32)},
               findings=(found("SAME_VALUE", "copy", "copy"),), **B200)
    both = [*range(0, 2 * COUNT, 2), *range(1, 2 * COUNT, 2)]
    shared = [*both[:-1], 4]  # for one outside
    one = {"inputs": {"x": "iota", "i": text(both)}, "outputs": {"o": np.arange(2 * COUNT * LANES, dtype=np.int32).reshape(-1, LANES)[np.argsort(both)][:-1]}}
    yield Case("178_rows_scattered_by_two_clean", kernel=scattered_by_two(), prose="Two threads scatter into rows that interleave.", **one, **B200)
    yield Case("178_rows_scattered_by_two_racy", kernel=scattered_by_two(), prose="Two threads scatter, and both into one row.",
               inputs={"x": "iota", "i": text(shared)}, findings=(found("RACE_WW", "copy", "copy"), found("NONDET", "copy")), **B200)
