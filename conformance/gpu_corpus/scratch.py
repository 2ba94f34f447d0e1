"""067 to 070: members of a union of refs with a copy in flight, copies that lie outside, scratch that was never written, scratch in global memory."""

import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, I32, LANES, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#memory"
COPIES = "gpu-copies.md#copy_gmem_to_smem"
STORES = "gpu-copies.md#copy_smem_to_gmem"
SMEM = plgpu.SMEM((LANES,), I32)
ALONE = {"threads": None}


def union(other):
    """A copy to one member; another one is written before it, or while it is in flight."""
    def make(racy):
        def body(x_ref, o_ref, members, bar):
            row, beside = members

            def write():
                beside[...] = jnp.ones(beside.shape, beside.dtype)  #@ write
                plgpu.commit_smem()

            if not racy:
                write()
            plgpu.copy_gmem_to_smem(x_ref, row, bar)  #@ copy
            if racy:
                write()
            plgpu.barrier_wait(bar)
            o_ref[...] = row[...]  #@ swap:out

        return kernel(body, ROW, out=ROW, scratch={"members": plgpu.RefUnion(SMEM, other), "bar": plgpu.Barrier()}, **ALONE)

    return make


def load_outside(start):
    """A page of a table of four."""
    def body(at_ref, x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref.at[at_ref[0]], smem, bar)  #@ copy
        plgpu.barrier_wait(bar)
        o_ref[...] = smem[...]

    x = np.arange(4 * LANES, dtype=np.int32).reshape(4, LANES)
    outputs = {"o": x[start] if 0 <= start < 4 else np.zeros(LANES, np.int32)}
    return {"kernel": kernel(body, ty(1), ty(4, LANES), out=ROW, scratch={"smem": SMEM, "bar": plgpu.Barrier()}, **ALONE), "inputs": {"at": f"[{start}]", "x": "iota"}, "outputs": outputs}


def store_outside(start):
    """Two stores, the second to a place that the input says."""
    def body(at_ref, x_ref, o_ref, smem):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(0, LANES)])
        plgpu.wait_smem_to_gmem(0)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(at_ref[0], LANES)])  #@ copy
        plgpu.wait_smem_to_gmem(0)

    o = IOTA.copy()
    o[min(start, LANES) :] = IOTA[: LANES - min(start, LANES)]
    return {"kernel": kernel(body, ty(1), ROW, out=ROW, scratch={"smem": SMEM}, **ALONE), "inputs": {"at": f"[{start}]", "x": "iota"}, "outputs": {"o": o}}


def long_box():
    """A box that is longer than the array."""
    def body(x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(0, 2 * LANES)], smem, bar)
        plgpu.barrier_wait(bar)
        o_ref[...] = smem[...]

    return kernel(body, ROW, out=ty(2 * LANES), scratch={"smem": plgpu.SMEM((2 * LANES,), I32), "bar": plgpu.Barrier()}, **ALONE)


def never_written(copied):
    """Two blocks store scratch of their own to one output; racy: the scratch was never written."""
    def make(racy):
        def body(x_ref, o_ref, smem):
            if not racy:
                smem[...] = x_ref[...]
                plgpu.commit_smem()
            if copied:
                plgpu.copy_smem_to_gmem(smem, o_ref)  #@ write
                plgpu.wait_smem_to_gmem(0)
            else:
                o_ref[...] = smem[...]  #@ swap:write

        return kernel(body, ROW, out=ROW, scratch={"smem": SMEM}, grid=(2,), grid_names=("b",), **ALONE)

    return make


def global_scratch(racy):
    def body(x_ref, o_ref, row, bar):
        @thread(0)
        def _():
            row[...] = x_ref[...]  #@ swap:write
            plgpu.barrier_arrive(bar)

        @thread(1)
        def _():
            if racy:
                row[...] = x_ref[...] + 1  #@ swap:other
            plgpu.barrier_wait(bar)
            o_ref[...] = x_ref[...] if racy else row[...]

    return kernel(body, ROW, out=ROW, scratch={"row": plgpu.GMEM((LANES,), I32), "bar": plgpu.Barrier()})


def cases():
    given = {"spec": SPEC, "inputs": {"x": "iota"}}
    for name, other in (("same", SMEM), ("halves", plgpu.SMEM((2, LANES), F16)), ("part", plgpu.SMEM((4, 32), jnp.int8)),
                        ("narrow", plgpu.SMEM((8, LANES), jnp.int4))):
        yield from clean_and_racy(f"067_union_copy_{name}", "A copy to one member of a RefUnion is in flight while another member, with the same bytes, is written.", union(other),
                                  (found("RACE_ASYNC", "copy", "write"), found("NONDET", "out")), outputs={"o": IOTA}, **given)
    yield Case("067_union_copy_run_ran", kernel=union(SMEM)(False), outputs={"o": IOTA}, schedules=0, prose="A copy to a member of a RefUnion in a run that looks for nothing.", **given)
    yield Case("068_copy_outside_last_clean", spec=COPIES, prose="The last page of a table.", **load_outside(3))
    for name, start in (("next", 4), ("negative", -1)):
        yield Case(f"068_copy_outside_{name}_noted", spec=COPIES, prose="A page that the table does not have: hardware gives zeros, and a warning says where.",
                   findings=(found("OOB", "copy"),), exit=0, **load_outside(start))
    yield Case("068_store_outside_part_clean", spec=STORES, prose="Half of a store lies outside the array, and is dropped.", **store_outside(LANES // 2))
    yield Case("068_store_outside_noted", spec=STORES, prose="All of a store lies outside the array: nothing is written, and a warning says where.",
               findings=(found("OOB", "copy"),), exit=0, **store_outside(LANES))
    yield Case("068_copy_longer_clean", spec=COPIES, kernel=long_box(), inputs={"x": "iota"}, outputs={"o": np.concatenate([IOTA, np.zeros(LANES, np.int32)])},
               prose="A copied box that is longer than the array: what the array does not have is zeros.")
    for how in ("store", "copy"):
        for name, racy in (("noted", False), ("racy", True)):
            yield Case(f"069_never_written_{how}_{name}", kernel=never_written(how == "copy")(racy), outputs={} if racy else {"o": IOTA},
                       prose="Two blocks store scratch to one output. " + ("What was never written is equal to nothing." if racy else "They store the same values: a note."),
                       findings=(found("UNINIT", "write"), found("RACE_WW", "write", "write")) if racy else (found("SAME_VALUE", "write", "write"),), **given)
    for name, racy in (("refused", False), ("racy", True)):
        findings = (found("ILLEGAL", "/run_scoped"),) + ((found("RACE_WW", "write", "other"),) if racy else ())
        yield Case(f"070_global_scratch_{name}", kernel=global_scratch(racy), outputs={"o": IOTA}, findings=findings,
                   prose="Scratch in global memory, which no chip's kernel has, is one for all threads." + (" Here they are not ordered." if racy else ""), **given)
