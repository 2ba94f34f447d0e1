"""Kernels of tpu_legality.txt about memory: blocks, loads and stores, copies, views, semaphores."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from tpu_legality_case import (
    ALL,
    BF16,
    BOOL,
    E5,
    F32,
    HBM,
    I4,
    I8,
    I32,
    SMEM,
    U8,
    U32,
    VMEM,
    call,
    name_of,
    scoped,
    shape,
)

DMA, REGULAR = pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.REGULAR


def copied(x, o):
    o[...] = x[...]


def blocked(name, body, array, block, dtype=F32, grid=None, index=None, out_block=None, **spec):
    rank = len(array)
    grid = grid or tuple(
        -(-n // (b if isinstance(b, int) else getattr(b, "block_size", 1) or 1)) for n, b in zip(array, block)
    )
    index = index or (lambda *i: i[:rank])
    return call(
        name,
        body,
        [shape(array, dtype)],
        shape(array, dtype),
        grid=grid,
        in_specs=[pl.BlockSpec(block, index, **spec)],
        out_specs=pl.BlockSpec(out_block or block, index, **spec),
    )


def blocks():
    random = np.random.default_rng(8)
    sizes = (1, 4, 8, 16, 32, 64, 100, 128, 192, 256, 512, 1024)
    for n in range(60):
        rank = int(random.integers(1, 5))
        array = tuple(int(random.choice(sizes)) for _ in range(rank))
        block = tuple(a if random.random() < 0.4 else int(random.choice([s for s in sizes if s <= a])) for a in array)
        block = tuple(None if rank > 1 and random.random() < 0.12 else b for b in block)
        dtype = (F32, BF16, I8, I4, BOOL, E5, U32)[int(random.integers(7))]
        body = copied if random.random() < 0.5 and sum(b is not None for b in block) else (lambda x, o: None)
        yield blocked(f"block_{n}", body, array, block, dtype)
    none = lambda x, o: None
    element = pl.Element
    for name, block in (
        ("elements", (element(8), element(128))),
        ("padded", (element(8, (0, 8)), element(128))),
        ("squeezed_element", (None, element(128))),
        ("mixed", (element(8), 128)),
        ("element_rows", (element(8), None)),
        ("bounded", (pl.BoundedSlice(8), 128)),
        ("element_four", (element(4), element(128))),
        ("squeezed", (pl.Squeezed(), 128)),
        ("blocked", (pl.Blocked(8), pl.Blocked(128))),
    ):
        index = (lambda i, j: (pl.ds(8 * i, 8), j)) if name == "bounded" else None
        yield blocked(f"dims_{name}", none, (16, 256), block, grid=(2, 2), index=index)
    for space, block, dtype in itertools.product(
        (VMEM, SMEM, ALL, HBM, None), ((8, 128), (16, 256), (4, 100)), (F32, I8)
    ):
        name = "default" if space is None else str(space).rsplit(".", maxsplit=1)[-1].lower()
        spec = {} if space is None else {"memory_space": space}
        yield blocked(f"space_{name}_{block[0]}_{name_of(dtype)}", none, (16, 256), block, dtype, grid=(2, 2), **spec)
    for count, revisit in itertools.product((1, 2, 3), (None, pl.RevisitMode.ANY)):
        mode = pl.Buffered(count) if revisit is None else pl.Buffered(count, revisit=revisit)
        yield blocked(f"buffered_{count}_{revisit is not None}", none, (16, 256), (8, 128), pipeline_mode=mode)
        yield blocked(
            f"buffered_whole_{count}_{revisit is not None}",
            none,
            (16, 256),
            (16, 256),
            grid=(2,),
            index=lambda i: (0, 0),
            pipeline_mode=mode,
        )
    yield blocked("buffered_lookahead", none, (16, 256), (8, 128), pipeline_mode=pl.Buffered(2, use_lookahead=True))
    yield call(
        "no_grid_part", none, [shape((16, 128))], shape((16, 128)), in_specs=[pl.BlockSpec((8, 128), lambda: (1, 0))]
    )
    yield call("scalar_block", lambda x, o: None, [shape(())], shape((8, 128)))
    yield call(
        "scalar_block_smem", lambda x, o: None, [shape(())], shape((8, 128)), in_specs=[pl.BlockSpec(memory_space=SMEM)]
    )
    for semantics, grid in (
        (("parallel",), (2,)),
        (("arbitrary", "parallel"), (2, 2)),
        (("parallel",), (2, 2)),
        (("arbitrary",) * 3, (2, 2)),
        ((), (2,)),
        (("core_parallel", "arbitrary"), (2, 2)),
        (("subcore_parallel",), (2,)),
        (None, (2, 2)),
    ):
        name = "none" if semantics is None else "_".join(semantics)
        yield call(
            f"semantics_{name}_{len(grid)}",
            copied,
            [shape((8, 128))],
            shape((8, 128)),
            grid=grid,
            compiler_params=pltpu.CompilerParams(dimension_semantics=semantics),
        )


def prefetched():
    def make(name, body, index, *prefetch, block=(8, 128), scratch=()):
        spec = pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=len(prefetch),
            grid=(2,),
            in_specs=[pl.BlockSpec(block, index)],
            out_specs=pl.BlockSpec(block, index),
            scratch_shapes=list(scratch),
        )
        return call(name, body, [*prefetch, shape((16, 128))], shape((16, 128)), grid_spec=spec)

    def body(s, x, o):
        o[...] = x[...]

    def scalars(s, x, o):
        o[...] = x[...] + s[0].astype(F32)

    def whole(s, x, o):
        o[...] = x[...] + s[...].astype(F32).sum()

    row = lambda i, s: (s[i], 0)
    for dtype in (I32, I8, U32, F32, BF16, BOOL):
        yield make(f"prefetch_{name_of(dtype)}", scalars, lambda i, s: (i, 0), shape((2,), dtype))
        yield make(f"prefetch_index_{name_of(dtype)}", body, lambda i, s: (s[i].astype(I32), 0), shape((2,), dtype))
    yield make("prefetch_plain", body, row, shape((2,), I32))
    yield make("prefetch_rank_2", body, lambda i, s: (s[i, 0], 0), shape((2, 2), I32))
    yield make("prefetch_scalar", body, lambda i, s: (s[()], 0), shape((), I32))
    yield make("prefetch_whole", whole, row, shape((2,), I32))
    yield make("prefetch_vector_in_index", body, lambda i, s: (jnp.sum(s[...]), 0), shape((2,), I32))
    yield make("prefetch_computed", body, lambda i, s: (jnp.minimum(s[i] * 2 // 3, 1), 0), shape((2,), I32))
    yield make("prefetch_where", body, lambda i, s: (jnp.where(s[i] > 0, i, 0), 0), shape((2,), I32))
    yield make("prefetch_cond", body, lambda i, s: (lax.cond(s[i] > 0, lambda: 0, lambda: 1), 0), shape((2,), I32))
    yield make("prefetch_sin", body, lambda i, s: (jnp.sinh(s[i].astype(F32)).astype(I32), 0), shape((2,), I32))
    yield make("prefetch_clz", body, lambda i, s: (lax.population_count(s[i]), 0), shape((2,), I32))


def accesses():
    """x in VMEM, s in SMEM (i32), h in HBM, a in ANY, o in VMEM, c in SMEM; dtype of all but s."""

    def make(name, body, dtype=F32, dims=(8, 128)):
        ins = (shape(dims, dtype), shape((4,), I32), shape(dims, dtype), shape(dims, dtype))
        return call(
            name,
            body,
            ins,
            (shape(dims, dtype), shape((4,), dtype)),
            in_specs=[pl.BlockSpec(memory_space=m) for m in (VMEM, SMEM, HBM, ALL)],
            out_specs=tuple(pl.BlockSpec(memory_space=m) for m in (VMEM, SMEM)),
        )

    def case(f):
        return f.__name__, f

    def vector(x, s, h, a, o, c):
        o[...] = x[...]  # noqa: E704

    def row(x, s, h, a, o, c):
        o[0] = x[1]  # noqa: E704

    def one_row(x, s, h, a, o, c):
        o[0:1] = x[1:2]  # noqa: E704

    def columns(x, s, h, a, o, c):
        o[:, 0:64] = x[:, 64:]  # noqa: E704

    def column(x, s, h, a, o, c):
        o[:, 0] = x[:, 1]  # noqa: E704

    def element(x, s, h, a, o, c):
        c[0] = x[0, 1]  # noqa: E704

    def store_element(x, s, h, a, o, c):
        o[0, 1] = c[0]  # noqa: E704

    def smem_scalar(x, s, h, a, o, c):
        c[s[0]] = c[1]  # noqa: E704

    def smem_array(x, s, h, a, o, c):
        c[...] = c[...]  # noqa: E704

    def smem_slice(x, s, h, a, o, c):
        c[0:1] = c[1:2]  # noqa: E704

    def smem_load_array(x, s, h, a, o, c):
        o[...] = x[...] + s[...].sum().astype(x.dtype)  # noqa: E704

    def any_load(x, s, h, a, o, c):
        o[...] = a[...]  # noqa: E704

    def hbm_load(x, s, h, a, o, c):
        o[...] = h[...]  # noqa: E704

    def hbm_store(x, s, h, a, o, c):
        h[...] = x[...]  # noqa: E704

    def any_element(x, s, h, a, o, c):
        c[0] = a[0, 0]  # noqa: E704

    def dynamic(x, s, h, a, o, c):
        o[pl.ds(s[0], 2)] = x[pl.ds(s[1], 2)]  # noqa: E704

    def strided(x, s, h, a, o, c):
        o[pl.ds(0, 4, 2)] = x[pl.ds(1, 4, 2)]  # noqa: E704

    def strided_lanes(x, s, h, a, o, c):
        o[:, pl.ds(0, 64, 2)] = x[:, pl.ds(1, 64, 2)]  # noqa: E704

    def strided_dynamic(x, s, h, a, o, c):
        o[pl.ds(s[0], 4, 2)] = x[pl.ds(s[1], 4, 2)]  # noqa: E704

    def index_array(x, s, h, a, o, c):
        o[...] = x[lax.broadcasted_iota(I32, (8,), 0)]  # noqa: E704

    def view_slice(x, s, h, a, o, c):
        o.at[0:4][0:2] = x.at[4:8][1:3]  # noqa: E704

    def view_strided(x, s, h, a, o, c):
        o[0:2] = x.at[pl.ds(0, 4, 2)][0:2]  # noqa: E704

    def view_row(x, s, h, a, o, c):
        o.at[3][0:64] = x.at[2][64:]  # noqa: E704

    def view_reshaped(x, s, h, a, o, c):
        o[...] = x.reshape(8, 1, 128)[:, 0]  # noqa: E704

    def view_reshaped_flat(x, s, h, a, o, c):
        o[0] = x.reshape(1024)[0:128]  # noqa: E704

    def view_transposed(x, s, h, a, o, c):
        o[...] = x.T[...].T  # noqa: E704

    def view_bitcast(x, s, h, a, o, c):
        o[...] = x.bitcast(I32)[...].astype(o.dtype)  # noqa: E704

    def view_bitcast_narrow(x, s, h, a, o, c):
        o[...] = x.bitcast(I8)[0:8].astype(o.dtype)  # noqa: E704

    def bitcast_row(x, s, h, a, o, c):
        o[0] = x.at[0].bitcast(I8)[...].astype(o.dtype)  # noqa: E704

    def masked_load(x, s, h, a, o, c):
        o[...] = pltpu.load(x, mask=jnp.ones(x.shape, BOOL))  # noqa: E704

    def masked_store(x, s, h, a, o, c):
        pltpu.store(o, x[...], mask=jnp.ones(x.shape, BOOL))  # noqa: E704

    def masked_part(x, s, h, a, o, c):
        pltpu.store(o.at[0:4], x[0:4], mask=jnp.ones((4, 128), BOOL))  # noqa: E704

    def masked_row(x, s, h, a, o, c):
        pltpu.store(o.at[2], x[2], mask=jnp.ones((128,), BOOL))  # noqa: E704

    def masked_strided(x, s, h, a, o, c):
        pltpu.store(o.at[pl.ds(0, 4, 2)], x[0:4], mask=jnp.ones((4, 128), BOOL))  # noqa: E704

    def swapped(x, s, h, a, o, c):
        pltpu.store(o, x.at[...][...])  # noqa: E704

    def whole_of_scalar_index(x, s, h, a, o, c):
        o[s[0], :] = x[s[1], :]  # noqa: E704

    for f in (
        vector,
        row,
        one_row,
        columns,
        column,
        element,
        store_element,
        smem_scalar,
        smem_array,
        smem_slice,
        smem_load_array,
        any_load,
        hbm_load,
        hbm_store,
        any_element,
        dynamic,
        strided,
        strided_lanes,
        strided_dynamic,
        index_array,
        view_slice,
        view_strided,
        view_row,
        view_reshaped,
        view_reshaped_flat,
        view_transposed,
        view_bitcast,
        view_bitcast_narrow,
        bitcast_row,
        masked_load,
        masked_store,
        masked_part,
        masked_row,
        masked_strided,
        swapped,
        whole_of_scalar_index,
    ):
        name, body = case(f)
        for dtype in (F32, BF16, I8, BOOL):
            if dtype in (F32, BF16) or not any(
                word in name for word in ("view", "strided", "swapped", "dynamic", "hbm", "row")
            ):
                yield make(f"access_{name}_{name_of(dtype)}", body, dtype)

    def add_update(x, s, h, a, o, c):
        jax.ref.addupdate(o, ..., x[...])

    yield make("access_addupdate", add_update)

    for dims in ((), (1,), (128,), (3, 5), (2, 2, 8, 128)):
        label = f"{len(dims)}_{sum(dims)}"
        yield scoped(f"scratch_{label}", lambda x, o, t: t.__setitem__(..., jnp.zeros(t.shape, F32)), VMEM(dims, F32))
        yield scoped(
            f"scratch_load_{label}",
            lambda x, o, t: o.__setitem__((0, 0), t[...].sum()),
            VMEM(dims, F32),
            out_space=SMEM,
        )
        yield scoped(f"scratch_smem_{label}", lambda x, o, t: None, SMEM(dims, F32))
    for dtype in (F32, BF16, BOOL, I4, I8, jnp.int16, jnp.float16, U8):
        yield scoped(f"scratch_of_{name_of(dtype)}", lambda x, o, t: t.__setitem__(..., t[...]), VMEM((32, 128), dtype))
        yield scoped(f"scratch_smem_of_{name_of(dtype)}", lambda x, o, t: t.__setitem__(0, t[1]), SMEM((32,), dtype))
        yield scoped(
            f"scoped_of_{name_of(dtype)}",
            lambda x, o, dtype=dtype: pl.run_scoped(lambda t: t.__setitem__(..., t[...]), VMEM((32, 128), dtype)),
        )
    yield scoped("scratch_hbm", lambda x, o, t: None, HBM((16, 128), F32))
    yield scoped("scoped_semaphores", lambda x, o: pl.run_scoped(lambda s, d: None, REGULAR((2,)), DMA))
    yield scoped(
        "scoped_result",
        lambda x, o: o.__setitem__((0, 0), pl.run_scoped(lambda t: t[0, 0], SMEM((1, 1), F32))),
        out_space=SMEM,
    )
    yield scoped(
        "scoped_vector_result",
        lambda x, o: o.__setitem__(..., pl.run_scoped(lambda t: t[...], VMEM((16, 128), F32))),
        out_space=VMEM,
    )
    yield scoped(
        "scoped_collective",
        lambda x, o: pl.run_scoped(lambda t: None, VMEM((16, 128), F32), collective_axes=("c",)),
        grid=(2,),
    )


def squeezed():
    """Blocks with dimensions that are left out, seen through views."""
    for name, block, f in (
        ("rows", (None, 8, 128), lambda x: x[...]),
        ("minor", (8, 128, None), lambda x: x[...]),
        ("second", (8, None, 128), lambda x: x[...]),
        ("one_row", (None, 8, 128), lambda x: x[3]),
        ("two", (None, None, 128), lambda x: x[...]),
        ("all", (None, None, None), lambda x: x[...]),
        ("view", (None, 8, 128), lambda x: x.at[2:6][0:2]),
        ("strided", (None, 8, 128), lambda x: x[pl.ds(0, 4, 2)]),
        ("reshape", (None, 8, 128), lambda x: x.reshape(1024)[...]),
        ("reshape_second", (8, None, 128), lambda x: x.reshape(1024)[...]),
        ("bitcast", (None, 8, 128), lambda x: x.bitcast(I8)[...].astype(F32)),
        ("bitcast_second", (8, None, 128), lambda x: x.bitcast(I32)[...].astype(F32)),
        ("element", (None, 8, 128), lambda x: jnp.broadcast_to(x[2, 3], (1,))),
    ):
        array = tuple(4 if b is None else b for b in block)
        yield call(
            f"squeezed_{name}",
            lambda x, o, f=f: o.__setitem__((slice(0, 1), slice(0, 1)), f(x).reshape(-1)[0:1].reshape(1, 1)),
            [shape(array)],
            shape((8, 128)),
            grid=(4,),
            in_specs=[pl.BlockSpec(block, lambda i, b=block: tuple(i if d is None else 0 for d in b))],
        )


def copies():
    """Asynchronous and synchronous copies between spaces, of slices, of types, with kinds of semaphores."""

    def copy(src, dst, src_index=(), dst_index=(), kind=DMA, wait=True, priority=0, view=None):
        def body(x, o, *scratch):
            refs = {"x": x, "o": o, "v": scratch[0], "w": scratch[1], "m": scratch[2], "n": scratch[3]}
            a, b, sem = refs[src], refs[dst], scratch[4]
            a = a.at[src_index] if src_index != () else a
            b = b.at[dst_index] if dst_index != () else b
            a = view(a) if view else a
            action = pltpu.make_async_copy(a, b, sem.at[0] if kind == "of_two" else sem)
            action.start(priority=priority) if priority else action.start()
            if wait:
                action.wait()

        return body

    def make(name, body, dtype=F32, dims=(16, 128), sem=DMA):
        return scoped(
            name,
            body,
            VMEM(dims, dtype),
            VMEM(dims, dtype),
            SMEM(dims, dtype),
            SMEM(dims, dtype),
            sem,
            ins=(shape(dims, dtype),),
            out=shape(dims, dtype),
        )

    for src, dst in itertools.product("xvm", "own"):
        yield make(f"copy_{src}_{dst}", copy(src, dst))
    for dtype in (BF16, I8, I4, BOOL, E5, U32, jnp.float16):
        yield make(f"copy_of_{name_of(dtype)}", copy("x", "v"), dtype)
    for dims in ((128,), (7,), (3, 5), (2, 8, 128), (2, 2, 4, 100)):
        yield make(f"copy_rank_{len(dims)}_{dims[0]}", copy("x", "v"), dims=dims)
        yield make(f"copy_rank_{len(dims)}_{dims[0]}_bf16", copy("x", "v"), BF16, dims=dims)
    for name, index in (
        ("rows", (pl.ds(0, 8),)),
        ("tile", (pl.ds(8, 8), pl.ds(0, 128))),
        ("odd_rows", (pl.ds(3, 5),)),
        ("columns", (slice(None), pl.ds(0, 64))),
        ("odd_columns", (slice(None), pl.ds(3, 50))),
        ("row", (2,)),
        ("column", (slice(None), 5)),
        ("element", (1, 2)),
        ("strided", (pl.ds(0, 4, 2),)),
    ):
        for src, dst, both in (
            ("x", "o", True),
            ("x", "v", True),
            ("v", "o", True),
            ("v", "w", True),
            ("m", "n", True),
        ):
            if not (src == "m" and "columns" in name):
                yield make(f"copy_{name}_{src}_{dst}", copy(src, dst, index, index if both else ()))
    yield make("copy_sizes_differ", copy("x", "v", (pl.ds(0, 8),), ()))
    yield make("copy_priority", copy("x", "v", priority=1))
    yield make("copy_not_awaited", copy("x", "v", wait=False))
    yield make("copy_of_two", copy("x", "v", kind="of_two"), sem=DMA((2,)))
    yield make("copy_all_of_two", copy("x", "v", wait=False), sem=DMA((2,)))
    yield make("copy_reshaped", copy("x", "v", view=lambda r: r.reshape(2, 8, 128).reshape(16, 128)))
    yield make("copy_bitcast", copy("x", "v", view=lambda r: r.bitcast(I32)))
    yield make("copy_types_differ", copy("x", "v", view=lambda r: r.bitcast(BF16)))
    yield make("copy_twice_sliced", copy("x", "v", (pl.ds(0, 8),), (pl.ds(0, 4),), view=lambda r: r.at[pl.ds(0, 4)]))

    def dynamic(x, o, v, w, m, n, sem):
        size = m[0, 0].astype(I32)
        pltpu.sync_copy(x.at[pl.ds(size, 8)], v.at[pl.ds(0, 8)])

    yield make("copy_dynamic_start", dynamic)

    def dynamic_size(x, o, v, w, m, n, sem):
        size = m[0, 0].astype(I32)
        pltpu.make_async_copy(x.at[pl.ds(0, size)], v.at[pl.ds(0, size)], sem).start()

    yield make("copy_dynamic_size", dynamic_size)
    for src, dst in (("x", "v"), ("v", "w"), ("x", "o"), ("x", "m")):

        def sync(x, o, v, w, m, n, sem, src=src, dst=dst):
            refs = {"x": x, "o": o, "v": v, "w": w, "m": m, "n": n}
            pltpu.sync_copy(refs[src], refs[dst])

        yield make(f"sync_copy_{src}_{dst}", sync)

    def remote(x, o, v, w, m, n, send, receive):
        action = pltpu.make_async_remote_copy(x, o, send, receive, device_id=1, device_id_type=pl.DeviceIdType.LOGICAL)
        action.start()
        action.wait()

    space = (VMEM((16, 128), F32),) * 2 + (SMEM((16, 128), F32),) * 2
    yield scoped("copy_remote_alone", remote, *space, DMA, DMA)

    def squeezed(x, o, v, sem):
        pltpu.make_async_copy(x.at[0], v, sem).start()

    yield scoped("copy_squeezed", squeezed, VMEM((8, 128), F32), DMA, ins=(shape((2, 8, 128)),), out=shape((2, 8, 128)))


def views():
    """Reshapes and bitcasts of refs, loaded and copied; copies of blocks with dimensions that are left out."""
    for dims, to in (
        ((8, 128), (8, 2, 64)),
        ((4, 8, 128), (32, 128)),
        ((8, 128), (16, 64)),
        ((1024,), (8, 128)),
        ((7, 100), (700,)),
        ((3, 5), (5, 3)),
        ((1, 1024), (8, 128)),
    ):
        name = "_".join(map(str, (*dims, "to", *to)))
        yield call(
            f"reshape_{name}", lambda x, o, to=to: o.__setitem__(..., x.reshape(to)[...]), [shape(dims)], shape(to)
        )
        yield scoped(
            f"reshape_copy_{name}",
            lambda x, o, v, s, to=to: _start(x.reshape(to), v, s),
            VMEM(to, F32),
            DMA,
            ins=(shape(dims),),
            out=shape(dims),
        )
    for dims, a, b, to in (
        ((8, 128), F32, I8, (32, 128)),
        ((8, 128), I8, F32, (2, 128)),
        ((4, 8, 128), F32, BF16, (4, 16, 128)),
        ((8, 100), F32, I8, (32, 100)),
    ):
        yield call(
            f"bitcast_{name_of(a)}_{name_of(b)}_{dims[-1]}",
            lambda x, o, b=b: o.__setitem__(..., x.bitcast(b)[...]),
            [shape(dims, a)],
            shape(to, b),
        )

    def part(name, f, block=(None, 8, 128), scratch=(8, 128)):
        return call(
            f"part_{name}",
            f,
            [shape((4, 8, 128))],
            shape((8, 128)),
            grid=(4,),
            in_specs=[pl.BlockSpec(block, lambda i: (i, 0, 0))],
            scratch_shapes=[VMEM(scratch, F32), DMA],
        )

    yield part("copy_whole", lambda x, o, v, s: _start(x, v, s))
    yield part("copy_whole_kept", lambda x, o, v, s: _start(x, v, s), (1, 8, 128), (1, 8, 128))
    yield part("copy_rows", lambda x, o, v, s: _start(x.at[pl.ds(0, 4)], v.at[pl.ds(0, 4)], s))
    yield part("copy_rows_kept", lambda x, o, v, s: _start(x.at[0, pl.ds(0, 4)], v.at[pl.ds(0, 4)], s), (1, 8, 128))
    yield part("copy_row", lambda x, o, v, s: _start(x.at[2], v.at[3], s))
    yield part("bitcast", lambda x, o, v, s: v.__setitem__(..., x.bitcast(I32)[...].astype(F32)))
    yield part(
        "slice_bitcast", lambda x, o, v, s: v.__setitem__(slice(0, 4), x.at[pl.ds(0, 4)].bitcast(I32)[...].astype(F32))
    )
    yield part("reshape", lambda x, o, v, s: v.__setitem__(slice(0, 4), x.reshape(2, 4, 128)[...][0]))
    yield part("slice_slice", lambda x, o, v, s: v.__setitem__(slice(0, 2), x.at[pl.ds(0, 4)][0:2]))


def _start(source, destination, semaphore):
    pltpu.make_async_copy(source, destination, semaphore).start()


def semaphores():
    def make(name, action, *types):
        return scoped(f"semaphore_{name}", lambda x, o, *sems: (action(*sems), None)[1], *types)

    def waits(s, **options):
        pl.semaphore_wait(s, **options)

    for label, kind in (("regular", REGULAR), ("dma", DMA), ("barrier", pltpu.SemaphoreType.BARRIER)):
        yield make(f"signal_{label}", lambda s: pl.semaphore_signal(s), kind)
        yield make(f"wait_{label}", lambda s: pl.semaphore_wait(s), kind)
        yield make(f"read_{label}", lambda s: pl.debug_print("{}", pl.semaphore_read(s)), kind)
        yield make(f"signal_of_two_{label}", lambda s: pl.semaphore_signal(s.at[1]), kind((2,)))
        yield make(f"signal_all_{label}", lambda s: pl.semaphore_signal(s), kind((2,)))
        yield make(f"load_{label}", lambda s: s[...], kind)
    yield make("signal_many", lambda s: pl.semaphore_signal(s, 5), REGULAR)
    yield make("wait_many", lambda s: pl.semaphore_wait(s, 5), REGULAR)
    yield make("wait_not_decrement", lambda s: waits(s, decrement=False), REGULAR)
    yield make("signal_core", lambda s: pl.semaphore_signal(s, core_index=1), REGULAR)
    yield make("signal_rank_2", lambda s: pl.semaphore_signal(s.at[1, 0]), REGULAR((2, 2)))
    yield make("barrier", lambda: pl.semaphore_signal(pltpu.get_barrier_semaphore()))
    for name, action, options in (
        ("with_id", lambda: pl.semaphore_signal(pltpu.get_barrier_semaphore()), {"collective_id": 1}),
        ("only_id", lambda: None, {"collective_id": 1}),
        ("id_allowed", lambda: None, {"collective_id": 1, "allow_collective_id_without_custom_barrier": True}),
    ):
        yield scoped(
            f"barrier_{name}", lambda x, o, action=action: action(), compiler_params=pltpu.CompilerParams(**options)
        )

    def dynamic(x, o, n, s):
        pl.semaphore_signal(s.at[n[0]], n[1])
        pl.semaphore_wait(s.at[n[0]], n[1])

    yield scoped("semaphore_dynamic", dynamic, SMEM((2,), I32), REGULAR((2,)))


def memory_cases():
    for family in (blocks, prefetched, accesses, squeezed, copies, views, semaphores):
        yield from family()
