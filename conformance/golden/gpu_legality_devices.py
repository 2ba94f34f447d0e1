"""Kernels of gpu_legality.txt over two devices: refs and semaphores of another one, and what names it; and atomic
updates of one or both.

Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py (copies, atomic_store, semaphores), lowering.py
(_handle_transforms, get_global) and jax/experimental/mosaic/gpu/launch_context.py (_recompute_peer_id).
"""

import jax.numpy as jnp
import numpy as np
from gpu_legality_case import BF16, F16, F32, F64, I8, I16, I32, I64, LANE, U32, WG, Case, scoped
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TWO, FOUR, SEMANTICS = {"d": 2}, {"d": 2, "e": 2}, (("lane", LANE), ("wg", WG))
ROWS = (I32, (2, 128))
WORD, SEMAPHORE, BARRIER = plgpu.SMEM((128,), I32), plgpu.SemaphoreType.REGULAR(()), plgpu.Barrier()
TWICE = np.int32(2)


def me():
    return lax.axis_index("d")


def other():
    return 1 - me()


def uses():
    """What each kind of operation does with a ref of the other device."""
    remote = plgpu.remote_ref

    def copied(x, o, s, b, q):
        plgpu.copy_gmem_to_smem(x.at[0], s, remote(b, other()))

    def many(x, o):
        pl.run_scoped(lambda q: plgpu.semaphore_signal(remote(q, other()).at[0]), plgpu.SemaphoreType.REGULAR((2,)))

    everything = scoped(WORD, BARRIER, SEMAPHORE)
    for label, action in (
        ("get", lambda x, o, s, b, q: pl.debug_print("{}", remote(x, other())[...])),
        ("get_row", lambda x, o, s, b, q: pl.debug_print("{}", remote(x, other()).at[1][...])),
        ("row_get", lambda x, o, s, b, q: pl.debug_print("{}", remote(x.at[1], other())[...])),
        ("get_one", lambda x, o, s, b, q: pl.debug_print("{}", remote(x, other())[0, 3])),
        (
            "load",
            lambda x, o, s, b, q: pl.debug_print(
                "{}", plgpu.load(remote(x, other()), (), layout=plgpu.Layout.WG_STRIDED((2, 128), 2))
            ),
        ),
        ("swap", lambda x, o, s, b, q: remote(o, other()).__setitem__(Ellipsis, x[...])),
        ("atomic", lambda x, o, s, b, q: plgpu.atomic_add(remote(o, other()), x[...])),
        ("atomic_row", lambda x, o, s, b, q: plgpu.atomic_or(remote(o, other()).at[1], x[0])),
        ("store", lambda x, o, s, b, q: plgpu.copy_smem_to_gmem(s, remote(o, other()).at[0])),
        ("copy", lambda x, o, s, b, q: plgpu.copy_gmem_to_smem(remote(x, other()).at[0], s, b)),
        ("copy_of_row", lambda x, o, s, b, q: plgpu.copy_gmem_to_smem(remote(x.at[0], other()), s, b)),
        ("prefetch", lambda x, o, s, b, q: plgpu.async_prefetch(remote(x, other()))),
        ("signal_device", lambda x, o, s, b, q: plgpu.semaphore_signal(q, device_id=other())),
        ("read", lambda x, o, s, b, q: pl.debug_print("{}", pl.semaphore_read(remote(q, other())))),
        ("arrive", lambda x, o, s, b, q: plgpu.barrier_arrive(remote(b, other()))),
        ("barrier_wait", lambda x, o, s, b, q: plgpu.barrier_wait(remote(b, other()))),
        ("copied_at", copied),
    ):
        for name, semantics in SEMANTICS:
            yield Case(f"remote_{label}_{name}", everything(action), ROWS, semantics, devices=TWO)
    for name, semantics in SEMANTICS:
        yield Case(f"remote_signal_of_many_{name}", many, ROWS, semantics, devices=TWO)


def peers():
    """Copies from and to a device that is named by what the host knows, or does not."""
    half = (slice(None), pl.ds(0, 64))

    def load(peer, x, o, s, t, b):
        plgpu.copy_gmem_to_smem(plgpu.remote_ref(x, peer).at[half], t, b)

    def store(peer, x, o, s, t, b):
        plgpu.copy_smem_to_gmem(t, plgpu.remote_ref(o, peer).at[half])

    def bulk(peer, x, o, s, t, b):
        plgpu.copy_smem_to_gmem(s, plgpu.remote_ref(o, peer))

    def add(peer, x, o, s, t, b):
        plgpu.copy_smem_to_gmem(s, plgpu.remote_ref(o, peer), reduction_op="add")

    def prefetch(peer, x, o, s, t, b):
        plgpu.async_prefetch(plgpu.remote_ref(x, peer))

    def get(peer, x, o, s, t, b):
        o[...] = plgpu.remote_ref(x, peer)[...]

    def at(name_peer):
        return lambda act: lambda *refs: act(name_peer(*refs), *refs)

    def turns(first, count, see=lambda i, c: i, keep=False, **options):
        def made(act):
            def body(*refs):
                def turn(i, c):
                    act(see(i.astype(I32), c), *refs)
                    return c if keep else 1 - c

                lax.fori_loop(np.int32(first), np.int32(count), turn, jnp.int32(0), **options)

            return body

        return made

    def until(act):
        def body(*refs):
            def turn(c):
                act(c[0], *refs)
                return 1 - c[0], c[1] * 2 + 1

            lax.while_loop(lambda c: c[1] < 3, turn, (jnp.int32(0), jnp.int32(0)))

        return body

    grid, cluster = {"grid": (2,), "grid_names": ("g",)}, {"cluster": (2,), "cluster_names": ("c",)}
    alone, threads = {"grid": (1,), "grid_names": ("g",)}, {"num_threads": 1, "thread_name": "wg"}
    named = (
        ("number", at(lambda *refs: np.int32(1)), {}),
        ("own", at(lambda *refs: me()), {}),
        ("next", at(lambda *refs: lax.rem(me() + 1, TWICE)), {}),
        ("chosen", at(lambda *refs: jnp.where(me() == 0, np.int32(1), np.int32(0))), {}),
        ("bounded", at(lambda *refs: jnp.clip(me() + 1, 0, 1)), {}),
        ("modulo", at(lambda *refs: (me() + 1) % 2), {}),
        ("converted", at(lambda *refs: (me() + 1).astype(I64).astype(I32) & 1), {}),
        ("block", at(lambda *refs: lax.axis_index("g")), grid),
        ("only_block", at(lambda *refs: lax.axis_index("g")), alone),
        ("block_in_sum", at(lambda *refs: lax.rem(me() + 2 * lax.axis_index("g"), TWICE)), grid),
        ("of_cluster", at(lambda *refs: lax.axis_index("c")), cluster),
        ("thread", at(lambda *refs: lax.axis_index("wg")), threads),
        ("read", at(lambda x, *refs: x[0, 0]), {}),
        ("read_in_sum", at(lambda x, *refs: other() + 0 * x[0, 0]), {}),
        ("read_zeroed", at(lambda x, *refs: other() + lax.rem(x[0, 0], np.int32(1))), {}),
        ("read_less_itself", at(lambda x, *refs: x[0, 0] - x[0, 0]), {}),
        ("read_less", at(lambda x, *refs: x[0, 0] - me()), {}),
        ("read_masked", at(lambda x, *refs: x[0, 0] & 1), {}),
        ("read_smem", at(lambda x, o, s, *refs: s[0, 0]), {}),
        ("turn", turns(0, 2), {}),
        ("turn_from", turns(1, 3), {}),
        ("turn_carry", turns(0, 2, lambda i, c: c), {}),
        ("turn_in_sum", turns(0, 2, lambda i, c: lax.rem(me() + i, TWICE)), {}),
        ("in_turn", turns(0, 2, lambda i, c: other()), {}),
        ("only_turn", turns(1, 2), {}),
        ("turn_kept", turns(0, 2, lambda i, c: c, keep=True), {}),
        ("unrolled", turns(0, 2, unroll=True), {}),
        ("unrolled_carry", turns(0, 2, lambda i, c: c, unroll=True), {}),
        ("partly_unrolled", turns(0, 4, lambda i, c: lax.rem(i, TWICE), unroll=2), {}),
        ("while", until, {}),
    )
    for how in (load, store, bulk, add, prefetch, get):
        for label, made, mesh in named:
            for name, semantics in SEMANTICS:
                if semantics is WG and how in (
                    load,
                    prefetch,
                    bulk,
                ):  # all refused; of the last one JAX's own compiler breaks down
                    continue
                if how not in (load, store) and label not in ("own", "next", "block", "read", "turn", "unrolled"):
                    continue
                if semantics is WG and label in (
                    "read_less_itself",
                    "read_masked",
                ):  # what its compiler might fold is not judged
                    continue
                types = plgpu.SMEM((2, 128), I32), plgpu.SMEM((2, 64), I32), BARRIER
                body = scoped(*types, axes=("wg",) if mesh is threads else ())(made(how))
                yield Case(f"peer_{label}_{how.__name__}_{name}", body, ROWS, semantics, devices=TWO, **mesh)
    for label, peer in (
        ("tuple", lambda: (me(), np.int32(1))),
        ("axis", lambda: {"e": 1 - lax.axis_index("e")}),
        ("block", lambda: (me(), lax.axis_index("g"))),
    ):
        body = scoped(plgpu.SMEM((2, 128), I32), plgpu.SMEM((2, 64), I32), BARRIER)(
            at(lambda *refs, peer=peer: peer())(load)
        )
        yield Case(f"peer_of_plane_{label}", body, ROWS, devices=FOUR, **grid)


def signals():
    """By how much, and where a semaphore is from."""

    def parallel(q, n):
        plgpu.semaphore_signal_parallel(plgpu.SemaphoreSignal(q, device_id=other(), inc=n))

    hows = (
        ("signal", lambda q, n: plgpu.semaphore_signal(q, n, device_id=other())),
        ("local", lambda q, n: pl.semaphore_signal(q, n)),
        ("parallel", parallel),
        ("multicast", lambda q, n: plgpu.semaphore_signal_multicast(q, n, collective_axes="d")),
        ("wait", lambda q, n: plgpu.semaphore_wait(q, n)),
        ("pallas_wait", lambda q, n: pl.semaphore_wait(q, n, decrement=False)),
    )
    amounts = (
        ("one", lambda x: 1),
        ("number", lambda x: np.int32(3)),
        ("array", lambda x: jnp.int32(3)),
        ("index", lambda x: me()),
        ("computed", lambda x: me() * 0 + 1),
        ("read", lambda x: x[0, 0]),
    )
    for name, semantics in SEMANTICS:
        for how, act in hows:
            for label, amount in amounts:
                yield Case(
                    f"{how}_by_{label}_{name}",
                    scoped(SEMAPHORE)(lambda x, o, q, act=act, amount=amount: act(q, amount(x))),
                    ROWS,
                    semantics,
                    devices=TWO,
                )
            for unroll in (False, True):

                @scoped(SEMAPHORE)
                def body(x, o, q, act=act, unroll=unroll):
                    lax.fori_loop(np.int32(0), TWICE, lambda i, c: (act(q, i), c)[1], None, unroll=unroll)

                yield Case(f"{how}_by_turn{'_unrolled' * unroll}_{name}", body, ROWS, semantics, devices=TWO)
        for label, kind in (("regular", plgpu.SemaphoreType.REGULAR), ("barrier", plgpu.SemaphoreType.BARRIER)):
            yield Case(
                f"global_{label}_{name}",
                lambda x, o, kind=kind: plgpu.semaphore_signal(pl.get_global(kind(())), device_id=other()),
                ROWS,
                semantics,
                devices=TWO,
            )
            yield Case(
                f"scoped_{label}_{name}",
                scoped(kind(()))(lambda x, o, q: plgpu.semaphore_signal(q, device_id=other())),
                ROWS,
                semantics,
                devices=TWO,
            )


def atomics():
    operations = {name: getattr(plgpu, f"atomic_{name}") for name in ("add", "max", "min", "and", "or", "xor")}
    for name, semantics in SEMANTICS:
        for dtype in (I8, I16, I32, U32, I64, F16, BF16, F32, F64):
            for label, update in operations.items():
                bitwise = label in ("and", "or", "xor")
                if (
                    bitwise
                    and not jnp.issubdtype(dtype, jnp.integer)
                    or (semantics is WG or bitwise)
                    and dtype in (I16, I64, F64, U32)
                ):
                    continue
                word = jnp.dtype(dtype).name
                yield Case(
                    f"atomic_{label}_{word}_{name}",
                    lambda x, o, update=update: update(o, x[...]),
                    (dtype, (4, 256)),
                    semantics,
                )
                if dtype in (F16, BF16, F32, I32):
                    body = scoped(plgpu.SMEM((4, 256), dtype))(lambda x, o, s, update=update: update(s, x[...]))
                    yield Case(f"atomic_{label}_{word}_smem_{name}", body, (dtype, (4, 256)), semantics)
        for label, act in (
            ("one", lambda x, o: plgpu.atomic_add(o.at[0, 0], x[0, 0])),
            ("one_number", lambda x, o: plgpu.atomic_add(o.at[0, 0], np.int32(1))),
            ("row", lambda x, o: plgpu.atomic_add(o.at[1], x[0])),
            ("same", lambda x, o: plgpu.atomic_add(o, jnp.ones((4, 256), I32))),
            ("same_read", lambda x, o: plgpu.atomic_add(o, jnp.broadcast_to(x[0, 0], (4, 256)))),
            ("summed", lambda x, o: plgpu.atomic_add(o, x[...] + 1)),
        ):
            yield Case(f"atomic_of_{label}_{name}", act, (I32, (4, 256)), semantics)


def devices():
    for family in (uses, peers, signals, atomics):
        yield from family()
