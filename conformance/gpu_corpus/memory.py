"""061 to 066: bounds, limits of the chip, undefined data, outputs and the life of shared memory."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, I32, LANES, Kernel, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW

SPEC = "gpu-order.md#memory"
SMEM = plgpu.SMEM((LANES,), I32)
WIDE = plgpu.SMEM((2 * LANES,), I32)
ZEROS, PROMISE, UNDEFINED = plgpu.OOBFillMode.ZEROS, plgpu.OOBFillMode.PROMISE_IN_BOUNDS, plgpu.OOBFillMode.UNDEFINED
ALONE = {"threads": None}


def bounds(place):
    """An access of 128 elements from an index that only the input says; the memory has 256."""
    def body(at_ref, x_ref, o_ref, wide, row, bars):
        start = at_ref[0]
        wide[...] = x_ref[...]
        row[...] = x_ref[pl.ds(0, LANES)] + 1
        o_ref[...] = x_ref[...]
        if place == "gmem_load":
            row[...] = x_ref[pl.ds(start, LANES)]  #@ get:access
        if place == "gmem_store":
            o_ref[pl.ds(start, LANES)] = row[...]  #@ access
        if place == "smem_load":
            row[...] = wide[pl.ds(start, LANES)]  #@ get:access
        if place == "smem_store":
            wide[pl.ds(start, LANES)] = row[...]  #@ access
        if place == "tma_load":
            plgpu.commit_smem()
            plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(start, LANES)], row, bars.at[0], oob_mode=PROMISE)  #@ access
            plgpu.barrier_wait(bars.at[0])
        if place == "barrier":
            bar = bars.at[lax.div(start, LANES)]
            plgpu.barrier_arrive(bar)  #@ access
            plgpu.barrier_wait(bars.at[1])

    return kernel(body, ty(1), ty(2 * LANES), out=ty(2 * LANES), scratch={"wide": WIDE, "row": SMEM, "bars": plgpu.Barrier(num_barriers=2)}, **ALONE)


def bounds_cases():
    x = np.arange(2 * LANES, dtype=np.int32)
    for place in ("gmem_load", "gmem_store", "smem_load", "smem_store", "tma_load"):
        for name, start in (("clean", LANES), ("off_by_one_racy", LANES + 1), ("negative_racy", -1)):
            clean = name == "clean"
            o = x.copy()
            if place == "gmem_store" and clean:
                o[start : start + LANES] = x[:LANES] + 1
            yield Case(f"061_oob_{place}_{name}", spec=SPEC, kernel=bounds(place), inputs={"at": f"[{start}]", "x": "iota"}, outputs={"o": o} if clean else {},
                       prose=f"A slice of 128 elements of 256, from {start}, by a {place.replace('_', ' ')}.", findings=() if clean else (found("OOB", "access"),))
    for name, start in (("clean", LANES), ("off_by_one_racy", 2 * LANES)):
        clean = name == "clean"
        findings = () if clean else (found("OOB", "access"), found("DEADLOCK", "/barrier_wait"))
        yield Case(f"061_oob_barrier_{name}", spec=SPEC, kernel=bounds("barrier"), inputs={"at": f"[{start}]", "x": "iota"}, outputs={"o": x} if clean else {},
                   prose=f"An arrival at barrier {start // LANES} of two.", findings=findings)


def box(mode):
    """A copy of a box that begins inside the array and ends outside."""
    def body(at_ref, x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(at_ref[0], 4)], smem, bar, oob_mode=mode)
        plgpu.barrier_wait(bar)
        o_ref[...] = smem[...]  #@ swap:out

    return kernel(body, ty(1), ty(4, LANES), out=ty(4, LANES), scratch={"smem": plgpu.SMEM((4, LANES), I32), "bar": plgpu.Barrier()}, **ALONE)


def predicated(start_ok):
    def body(at_ref, x_ref, o_ref, smem):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(0, LANES)])
        start = at_ref[0]
        plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(start, LANES)], predicate=start <= start_ok)  #@ copy
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ty(1), ROW, out=ROW, scratch={"smem": SMEM}, **ALONE)


def copy_of(shape, cut, dtype=I32, transforms=()):
    """A copy of the first elements of an array, to shared memory and back."""
    index = tuple(pl.ds(0, c) for c in cut)

    def body(x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref.at[index], smem, bar)  #@ copy
        plgpu.barrier_wait(bar)
        o_ref[...] = smem[...]

    return kernel(body, ty(*shape, dtype=dtype), out=ty(*cut, dtype=dtype), scratch={"smem": plgpu.SMEM(cut, dtype, transforms=transforms), "bar": plgpu.Barrier()}, **ALONE)


def tiled(rows, swizzle):
    return (plgpu.TilingTransform((rows, swizzle // 2)), plgpu.SwizzleTransform(swizzle))


def multiply(m=64, n=64, k=64, a=tiled(8, 128), b=tiled(8, 128)):
    def body(x_ref, y_ref, o_ref, a_smem, b_smem, bar):
        plgpu.copy_gmem_to_smem(x_ref, a_smem, bar)
        plgpu.copy_gmem_to_smem(y_ref, b_smem, bar)
        plgpu.barrier_wait(bar)

        def scope(acc):
            plgpu.wgmma(acc, a_smem, b_smem)  #@ wgmma
            return acc[...]

        o_ref[...] = pl.run_scoped(scope, plgpu.ACC((m, n), F32))

    return kernel(body, ty(m, k, dtype=F16), ty(k, n, dtype=F16), out=ty(m, n, dtype=F32), scratch={
        "a_smem": plgpu.SMEM((m, k), F16, transforms=a), "b_smem": plgpu.SMEM((k, n), F16, transforms=b), "bar": plgpu.Barrier(num_arrivals=2)}, **ALONE)


def tile_slice(start):
    """Eight rows of a tiled buffer, from a row that is or is not the first of a tile."""
    def body(x_ref, o_ref, smem, bar):
        plgpu.copy_gmem_to_smem(x_ref, smem, bar)
        plgpu.barrier_wait(bar)
        o_ref[...] = smem[pl.ds(start, 8)]  #@ get:slice

    return kernel(body, ty(64, 64, dtype=F16), out=ty(8, 64, dtype=F16), scratch={"smem": plgpu.SMEM((64, 64), F16, transforms=tiled(8, 128)), "bar": plgpu.Barrier()}, **ALONE)


def capacity(elements):
    def body(x_ref, o_ref, smem):
        smem[pl.ds(0, LANES)] = x_ref[...]
        o_ref[...] = smem[pl.ds(0, LANES)]

    return kernel(body, ROW, out=ROW, scratch={"smem": plgpu.SMEM((elements,), I32)}, **ALONE)


def product(m, n, k):
    return np.full((m, n), float(k), np.float32)


def illegal_cases():
    def pair(name, prose, good, bad, code, site, outputs, inputs):
        yield Case(f"062_illegal_{name}_clean", spec=SPEC, prose=f"{prose} Here it does.", kernel=good, outputs=outputs, inputs=inputs)
        yield Case(f"062_illegal_{name}_racy", spec=SPEC, prose=prose, kernel=bad, findings=tuple(found(code, one) for one in site.split()), inputs=inputs)

    def lines(width):
        return np.arange(8 * width, dtype=np.int32).reshape(8, width)[:, :64]

    yield from pair("tma_stride", "Rows of an array that is copied must begin at multiples of 16 bytes.", copy_of((8, 68), (8, 64)), copy_of((8, 67), (8, 64)), "ILLEGAL", "copy",
                    {"o": lines(68)}, {"x": "iota"})
    yield from pair("tma_bytes", "A copy must move a multiple of 128 bytes.", copy_of((8, 8), (8, 8)), copy_of((8, 8), (6, 8)), "ILLEGAL", "copy",
                    {"o": np.arange(64, dtype=np.int32).reshape(8, 8)}, {"x": "iota"})
    ones = {"x": "full(1)", "y": "full(1)"}
    yield from pair("mma_n", "A wgmma has at most 256 columns.", multiply(n=64), multiply(n=320), "ILLEGAL", "wgmma", {"o": product(64, 64, 64)}, ones)
    yield from pair("mma_m", "The rows of an accumulator must be a multiple of 64.", multiply(m=128), multiply(m=72), "ILLEGAL", "/ref<regs wgmma", {"o": product(128, 64, 64)}, ones)
    yield from pair("mma_swizzle", "Both operands of a wgmma must have one swizzle.", multiply(a=tiled(8, 64), b=tiled(8, 64)), multiply(a=tiled(8, 64)), "ILLEGAL", "wgmma",
                    {"o": product(64, 64, 64)}, ones)
    yield from pair("mma_tile", "Tiles of a wgmma's operands must have 8 rows.", multiply(), multiply(a=tiled(16, 128)), "ILLEGAL", "wgmma", {"o": product(64, 64, 64)}, ones)
    x = np.arange(64 * 64).astype(np.float16).reshape(64, 64)
    yield from pair("tile_slice", "A slice of a tiled buffer must begin at a tile.", tile_slice(16), tile_slice(12), "ILLEGAL", "slice", {"o": x[16:24]}, {"x": "iota"})
    yield from pair("smem", "Shared memory of a block has 227 KiB, of which the compiled kernel needs some.", capacity(226 * 256), capacity(227 * 256), "CAPACITY", "/^kernel", {"o": IOTA}, {"x": "iota"})


def uninit(how):
    """`how`: "" for none, "scratch": read first, "accumulator": added to first, "stale": of another block."""
    def body(x_ref, o_ref, smem):
        me = lax.axis_index("b")
        if how == "":
            smem[...] = jnp.zeros((LANES,), I32)
        if how == "stale":
            @pl.when(me == 0)
            def _():
                smem[...] = x_ref[...]
        if how == "accumulator":
            smem[...] += x_ref[...]
        o_ref[me] = smem[...] + x_ref[...]  #@ swap:out

    return kernel(body, ROW, out=ty(2, LANES), scratch={"smem": SMEM}, grid=(2,), grid_names=("b",), **ALONE)


def out_missing(tiles):
    def body(x_ref, o_ref):
        for i in range(tiles):
            o_ref[i] = x_ref[i]

    return kernel(body, ty(3, LANES), out=ty(3, LANES), **ALONE)


def own_bytes(computes):
    """The output is read before anybody wrote it. Its bytes go back to their places, or what was computed from them does."""
    def body(x_ref, o_ref):
        old = o_ref[...]
        o_ref[...] = old + x_ref[...] if computes else old  #@ swap:out

    return kernel(body, ROW, out=ROW, **ALONE)


def own_bytes_copied(row):
    """Row 0 of an output that was never written goes to shared memory, and from there to row `row`."""
    def body(x_ref, o_ref, smem, bar):
        o_ref[1] = x_ref[...]
        plgpu.copy_gmem_to_smem(o_ref.at[0], smem, bar)
        plgpu.barrier_wait(bar)
        plgpu.copy_smem_to_gmem(smem, o_ref.at[row])  #@ out
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ty(2, LANES), scratch={"smem": SMEM, "bar": plgpu.Barrier()}, **ALONE)


def alias(racy):
    """Both blocks use one array in place; racy: a block reads the row that the other writes."""
    mesh = plgpu.Mesh(grid=(2,), grid_names=("b",))

    def function(x):
        def with_ref(x_ref):
            @pl.core_map(mesh)
            def _():
                me = lax.axis_index("b")
                x_ref[me] = x_ref[1 - me if racy else me] + 1  #@ get:read swap:write

        return pl.run_state(with_ref)(x)

    return Kernel(function, (ty(2, LANES),), ("x", "o"))


def scope_end(racy):
    """A copy into shared memory of a scope, awaited in the scope or after it; the next scope has the same bytes."""
    def body(x_ref, o_ref, bar):
        def first(smem):
            plgpu.copy_gmem_to_smem(x_ref, smem, bar)  #@ copy
            if not racy:
                plgpu.barrier_wait(bar)

        def second(smem):
            smem[...] = x_ref[...] + 1
            o_ref[...] = smem[...]

        pl.run_scoped(first, SMEM)  #@ first
        if racy:
            pl.run_scoped(lambda smem: None, SMEM)  #@ second
            plgpu.barrier_wait(bar)
            o_ref[...] = x_ref[...] + 1
        else:
            pl.run_scoped(second, SMEM)  #@ second

    return kernel(body, ROW, out=ROW, scratch={"bar": plgpu.Barrier()}, **ALONE)


def scope_store(racy):
    """A store out of a scope's shared memory, of which the reads are awaited before or after the next scope takes the bytes."""
    def body(x_ref, o_ref):
        def first(smem):
            smem[...] = x_ref[...]
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_ref)  #@ copy
            if not racy:
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)

        pl.run_scoped(first, SMEM)  #@ first
        pl.run_scoped(lambda smem: None, SMEM)  #@ second
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ROW, **ALONE)


def cases():
    yield from bounds_cases()
    x = np.arange(4 * LANES, dtype=np.int32).reshape(4, LANES)
    shifted = np.concatenate([x[2:], np.zeros((2, LANES), np.int32)])
    yield Case("061_oob_tma_box_masked_clean", spec=SPEC, kernel=box(ZEROS), inputs={"at": "[2]", "x": "iota"}, outputs={"o": shifted},
               prose="A copy of a box that leaves the array fills the rest with zeros.")
    yield Case("061_oob_predicate_masked_clean", spec=SPEC, kernel=predicated(0), inputs={"at": "[1]", "x": "iota"}, outputs={"o": IOTA},
               prose="A copy whose predicate is false touches nothing, wherever it would go.")
    yield from illegal_cases()
    blocks = {"spec": SPEC, "inputs": {"x": "iota"}}
    yield Case("063_uninit_clean", kernel=uninit(""), outputs={"o": np.stack([IOTA, IOTA])}, prose="Scratch is written before it is read.", **blocks)
    for how, prose in (("scratch", "Scratch is read before anything is written."), ("accumulator", "Scratch is added to before it is set to zero."),
                       ("stale", "A block reads scratch that only the other one wrote, in memory of its own.")):
        yield Case(f"063_uninit_{how}_racy", kernel=uninit(how), prose=prose, findings=(found("UNINIT", "out"),), **blocks)
    for mode, name in ((ZEROS, "clean"), (UNDEFINED, "racy")):
        yield Case(f"064_padding_leak_{name}", spec=SPEC, kernel=box(mode), inputs={"at": "[2]", "x": "iota"}, outputs={"o": shifted} if mode is ZEROS else {},
                   findings=() if mode is ZEROS else (found("PAD_LEAK", "out"),),
                   prose=f"Half of a copied box lies outside the array; what is there is {'zero' if mode is ZEROS else 'undefined, and reaches the output'}.")
    yield Case("065_out_missing_clean", kernel=out_missing(3), outputs={"o": np.arange(3 * LANES, dtype=np.int32)}, prose="Every tile of the output is stored.", **blocks)
    yield Case("065_out_missing_racy", kernel=out_missing(2), findings=(found("OUT_MISSING", "/^  out"),), prose="The last tile of the output is not stored.", **blocks)
    yield Case("063_uninit_output_accumulator_racy", kernel=own_bytes(True), findings=(found("UNINIT", "out"),),
               prose="An output is added to before anything is written to it.", **blocks)
    yield Case("065_out_missing_moved_racy", kernel=own_bytes(False), findings=(found("OUT_MISSING", "out"),), exit=1,
               prose="An output that was never written is stored back to itself, as a whole: its bytes are what they were.", **blocks)
    yield Case("065_out_missing_copied_racy", kernel=own_bytes_copied(0), findings=(found("OUT_MISSING", "out"),),
               prose="Engines carry a row of an output that was never written to shared memory and back to its place.", **blocks)
    yield Case("063_uninit_output_copied_racy", kernel=own_bytes_copied(1), findings=(found("OUT_MISSING", "/^  out"), found("UNINIT", "out")),
               prose="Engines carry a row of an output that was never written over another row.", **blocks)
    yield from clean_and_racy("065_alias", "Two blocks work in place on one array.", alias, (found("RACE_RW", "read", "write"), found("NONDET", "write")),
                              outputs={"o": np.arange(2 * LANES, dtype=np.int32) + 1}, **blocks)
    yield from clean_and_racy("066_scope_escape_load", "The scope of shared memory ends while a copy into it is in flight, and the next scope has its bytes.", scope_end,
                              (found("USE_AFTER_SCOPE", "copy", "second"),), outputs={"o": IOTA + 1}, **blocks)
    yield from clean_and_racy("066_scope_escape_store", "The scope of shared memory ends while a copy out of it is in flight, and the next scope has its bytes.", scope_store,
                              (found("USE_AFTER_SCOPE", "copy", "second"),), outputs={"o": IOTA}, **blocks)
