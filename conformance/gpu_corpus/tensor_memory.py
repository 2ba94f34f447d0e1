"""023 to 029, 045 and 185: tensor memory of Blackwell, the order that accesses to it need, and what a commit covers."""

import functools

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, EVERY_INDEX, F16, F32, clean_and_racy, found, kernel, ty
from fences import TILED
from shared_memory import thread

SPEC = "gpu-order.md#tmem"
M, N, K = 128, 128, 64
A, B, OUT = ty(M, K, dtype=F16), ty(K, N, dtype=F16), ty(M, N, dtype=F32)
TMEM = plgpu.TMEM((M, N), F32)
ORDERS = plgpu.Barrier(orders_tensor_core=True)
GIVEN = {"spec": SPEC, "inputs": {"x": "iota", "y": "full(1)"}, "target": "mosaic_gpu/b200"}
WHOLE = {**GIVEN, "spec": f"{SPEC} gpu-tmem.md#async_store_tmem gpu-tmem.md#commit_tmem", "inputs": {"x": "iota"}}
MMA, COMMIT = f"{SPEC} gpu-tcgen05.md#tcgen05_mma", f"{SPEC} gpu-tcgen05.md#tcgen05_commit_arrive"
LOAD, COPY = f"{SPEC} gpu-tmem.md#async_load_tmem gpu-tmem.md#wait_load_tmem", f"{SPEC} gpu-tcgen05.md#async_copy_smem_to_tmem"


def product(times=1):
    x = np.arange(M * K).reshape(M, K).astype(np.float16).astype(np.float64)
    return (times * (x @ np.ones((K, N)))).astype(np.float32)


def iota():
    return np.arange(M * N, dtype=np.float32).reshape(M, N)


def with_operands(run, threads=None, **scratch):
    """A kernel with a and b in shared memory for `run(o_ref, a, b, refs)`."""
    def fetch(x_ref, y_ref, a, b, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(y_ref, b, full)

    names = list(scratch)

    def use(x_ref, y_ref, o_ref, a, b, full, *refs):
        if threads is None:
            fetch(x_ref, y_ref, a, b, full)
        else:
            thread(0)(lambda: fetch(x_ref, y_ref, a, b, full))
        plgpu.barrier_wait(full)
        run(o_ref, a, b, *refs)

    text = ", ".join(names)
    body = eval(f"lambda x_ref, y_ref, o_ref, a, b, full, {text}: use(x_ref, y_ref, o_ref, a, b, full, {text})", {"use": use})
    return kernel(body, A, B, out=OUT, threads=threads, scratch={
        "a": plgpu.SMEM((M, K), F16, transforms=TILED), "b": plgpu.SMEM((K, N), F16, transforms=TILED),
        "full": plgpu.Barrier(num_arrivals=2), **scratch})


def store_then_load(racy):
    def body(x_ref, o_ref, t):
        value = plgpu.load(x_ref, *EVERY_INDEX, layout=plgpu.Layout.TCGEN05, optimized=False)
        plgpu.async_store_tmem(t, value)  #@ async_store_tmem:store
        if not racy:
            plgpu.commit_tmem()
        o_ref[...] = plgpu.async_load_tmem(t)  #@ async_load_tmem:load swap:out

    return kernel(body, OUT, out=OUT, threads=None, scratch={"t": TMEM})


def store_then_multiply(racy):
    def run(o_ref, a, b, left, acc, done):
        value = plgpu.layout_cast(a[...], plgpu.Layout.TCGEN05)
        plgpu.async_store_tmem(left, value)  #@ async_store_tmem:store
        if not racy:
            plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, left, b, done, accumulate=False)  #@ mma
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, left=plgpu.TMEM((M, K), F16, packed=True), acc=TMEM, done=ORDERS)


def load_then(overwrite):
    """The accumulator is loaded, and overwritten by a product or a store, with or without a wait for the load."""
    def make(racy):
        def run(o_ref, a, b, acc, done):
            plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)
            plgpu.barrier_wait(done)
            value = plgpu.async_load_tmem(acc)  #@ load
            if not racy:
                plgpu.wait_load_tmem()
            if overwrite == "mma":
                plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)  #@ over
                plgpu.barrier_wait(done)
            else:
                plgpu.async_store_tmem(acc, value)  #@ async_store_tmem:over
                plgpu.commit_tmem()
            o_ref[...] = value

        return with_operands(run, acc=TMEM, done=ORDERS)

    return make


def undefined(reader):
    """What a race with the only write of an accumulator makes of the output."""
    return found("UNINIT", reader, "out"), found("NONDET", "out")


def commit_and_wait(arrives, waits):
    def run(o_ref, a, b, acc, done):
        plgpu.tcgen05_mma(acc, a, b, accumulate=False)  #@ mma
        if arrives:
            plgpu.tcgen05_commit_arrive(done)  #@ commit
        if waits:
            plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, acc=TMEM, done=ORDERS)


def product_after_commit(racy):
    def run(o_ref, a, b, first, second, done):
        plgpu.tcgen05_mma(first, a, b, accumulate=False)
        if not racy:
            plgpu.tcgen05_mma(second, a, b, accumulate=False)
        plgpu.tcgen05_commit_arrive(done)
        if racy:
            plgpu.tcgen05_mma(second, a, b, accumulate=False)  #@ mma
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(second)  #@ async_load_tmem:load swap:out

    return with_operands(run, first=TMEM, second=TMEM, done=ORDERS)


def commit_of_another(racy):
    """Thread 1 has issued nothing itself: its commit says nothing of thread 0's product."""
    def run(o_ref, a, b, acc, issued, done):
        @thread(0)
        def _():
            plgpu.tcgen05_mma(acc, a, b, accumulate=False)  #@ mma
            if not racy:
                plgpu.tcgen05_commit_arrive(done)
            plgpu.barrier_arrive(issued)

        @thread(1)
        def _():
            plgpu.barrier_wait(issued)
            if racy:
                plgpu.tcgen05_commit_arrive(done)
            plgpu.barrier_wait(done)
            o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, threads=2, acc=TMEM, issued=ORDERS, done=ORDERS)


def handed_over(racy):
    """Thread 0 has waited for the product, and hands the accumulator to thread 1."""
    def run(o_ref, a, b, acc, done, ready):
        @thread(0)
        def _():
            plgpu.tcgen05_mma(acc, a, b, done, accumulate=False)  #@ mma
            plgpu.barrier_wait(done)
            plgpu.barrier_arrive(ready)

        @thread(1)
        def _():
            plgpu.barrier_wait(ready)
            o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, threads=2, acc=TMEM, done=ORDERS, ready=plgpu.Barrier(orders_tensor_core=not racy))


def source_refilled(racy):
    def run(o_ref, a, b, left, acc, copied, done):
        plgpu.async_copy_smem_to_tmem(a, left)  #@ copy
        if not racy:
            plgpu.tcgen05_commit_arrive(copied)
            plgpu.barrier_wait(copied)
        a[...] = plgpu.layout_cast(a[...], plgpu.Layout.TCGEN05)  #@ swap:refill
        plgpu.tcgen05_mma(acc, left, b, done, accumulate=False)
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, left=plgpu.TMEM((M, K), F16, packed=True), acc=TMEM, copied=ORDERS, done=ORDERS)


def chain(second, barrier=True):
    """Two products into one accumulator without a wait between: of one type, or the second of another one."""
    def run(o_ref, a, b, other, acc, done):
        plgpu.tcgen05_mma(acc, a, b, accumulate=False)  #@ one
        if second == "same":
            plgpu.tcgen05_mma(acc, a, b, done)
        else:
            plgpu.commit_smem()
            plgpu.tcgen05_mma(acc.at[:, 0:64], a, b.at[:, 0:64], done)  #@ two
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, other=plgpu.Barrier(), acc=TMEM, done=ORDERS)


def chain_of_two(racy):
    """Each of two threads issues one; the first's issue happens before the second's, which need not wait for its end."""
    def run(o_ref, a, b, acc, issued, done):
        @thread(0)
        def _():
            plgpu.tcgen05_mma(acc, a, b, accumulate=False)  #@ one
            plgpu.barrier_arrive(issued)

        @thread(1)
        def _():
            plgpu.barrier_wait(issued)
            plgpu.tcgen05_mma(acc, a, b, done)  #@ two
            plgpu.barrier_wait(done)
            o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, threads=2, acc=TMEM, issued=plgpu.Barrier(orders_tensor_core=not racy), done=ORDERS)


def never_written():
    def run(o_ref, a, b, acc, done):
        plgpu.tcgen05_mma(acc, a, b, done, accumulate=True)  #@ mma
        plgpu.barrier_wait(done)
        o_ref[...] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out

    return with_operands(run, acc=TMEM, done=ORDERS)


def pair_reuse(racy):
    """The documentation's example: a collective product into an accumulator that both blocks have loaded."""
    def body(x_ref, y_ref, o_ref, a, b, acc, full, here, done, loaded):
        rank = lax.axis_index("x")
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(rank * M, M)], a, full)
        plgpu.copy_gmem_to_smem(y_ref.at[:, pl.ds(rank * N // 2, N // 2)], b, full)
        plgpu.barrier_wait(full)
        plgpu.barrier_arrive(here)
        plgpu.barrier_wait(here)
        for step in range(2):
            plgpu.tcgen05_mma(acc, a, b, done.at[step], accumulate=False, collective_axis="x")  #@ mma
            plgpu.barrier_wait(done.at[step])
            o_ref[step, pl.ds(rank * M, M)] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load swap:out
            plgpu.wait_load_tmem()
            if step == 0 and not racy:
                plgpu.barrier_arrive(loaded)
                plgpu.barrier_wait(loaded)

    return kernel(body, ty(2 * M, K, dtype=F16), B, out=ty(2, 2 * M, N, dtype=F32), threads=None, cluster=(2,), cluster_names=("x",), scratch={
        "a": plgpu.SMEM((M, K), F16, transforms=TILED), "b": plgpu.SMEM((K, N // 2), F16, transforms=TILED),
        "acc": plgpu.TMEM((M, N), F32, collective=True), "full": plgpu.Barrier(num_arrivals=2),
        "here": plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=True), "done": plgpu.Barrier(num_barriers=2, orders_tensor_core=True),
        "loaded": plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=True)})


def constant(value, width, dtype=F32):
    return plgpu.layout_cast(jnp.full((M, width), value, dtype), plgpu.Layout.TCGEN05)


def scopes(use, racy, columns=(0, N), later=N, packed=False):
    """Thread 0 uses columns of a scope's tensor memory, by a "store", a "load" or a "product"; thread 1 stores into the next scope's, which has the
    first `later` of them, or `packed` twice as many elements in half of that. The barrier between the two orders the tensor core unless it is racy."""
    width = columns[1] - columns[0]

    def run(o_ref, a, b, done, told):
        def before(t):
            part = t.at[:, columns[0]:columns[1]]

            @thread(0)
            def _():
                if use == "product":
                    plgpu.tcgen05_mma(part, a, b.at[:, columns[0]:columns[1]], done, accumulate=False)  #@ product
                    plgpu.barrier_wait(done)
                else:
                    plgpu.async_store_tmem(part, constant(0, width))  #@ async_store_tmem:store
                    plgpu.commit_tmem()
                if use == "load":
                    plgpu.async_load_tmem(part)  #@ load
                    plgpu.wait_load_tmem()
                plgpu.barrier_arrive(told)

            @thread(1)
            def _():
                plgpu.barrier_wait(told)

        def after(t):
            @thread(1)
            def _():
                plgpu.async_store_tmem(t, constant(1, later, F16 if packed else F32))  #@ async_store_tmem:over
                plgpu.commit_tmem()
                o_ref[:, 0:later] = plgpu.async_load_tmem(t).astype(F32)  #@ async_load_tmem:seen
                if later < N:
                    o_ref[:, later:N] = constant(0, N - later)

        pl.run_scoped(before, TMEM, collective_axes="wg")
        pl.run_scoped(after, plgpu.TMEM((M, later), F16 if packed else F32, packed=packed), collective_axes="wg")

    return with_operands(run, threads=2, done=ORDERS, told=plgpu.Barrier(orders_tensor_core=not racy))


def unordered(use):
    """What a later scope's store and load are not ordered after."""
    stored = "product" if use == "product" else "store"
    pairs = {(stored, "over"), (stored, "seen"), (use, "over")}
    return tuple(found("BAR_TC_ORDER", *pair) for pair in sorted(pairs))


def scope_by_itself(mistake):
    """One thread, two scopes. `mistake`: "" none; "wait", the first scope's product is not awaited; "write", the second reads memory that was never written."""
    def run(o_ref, a, b, done):
        def before(t):
            plgpu.tcgen05_mma(t, a, b, done, accumulate=False)  #@ use
            if mistake != "wait":
                plgpu.barrier_wait(done)

        def after(t):
            if mistake != "write":
                plgpu.async_store_tmem(t, constant(1, N))
                plgpu.commit_tmem()
            o_ref[...] = plgpu.async_load_tmem(t)  #@ async_load_tmem:load swap:out

        pl.run_scoped(before, TMEM)
        pl.run_scoped(after, TMEM)  #@ scope
        if mistake == "wait":
            plgpu.barrier_wait(done)

    return with_operands(run, done=ORDERS)


def pair_product():
    x = np.arange(2 * M * K).reshape(2 * M, K).astype(np.float16).astype(np.float64)
    return np.stack([(x @ np.ones((K, N))).astype(np.float32)] * 2)


def cases():
    one = {"outputs": {"o": product()}, **GIVEN, "spec": MMA}
    yield from clean_and_racy("023_tmem_store_no_commit_load", "A store to tensor memory, then a load of it.", store_then_load,
                              (found("RACE_RW", "store", "load"), found("NOT_AWAITED", "store"), *undefined("load")), outputs={"o": iota()}, **WHOLE)
    yield from clean_and_racy("023_tmem_store_no_commit_mma", "A store to tensor memory, then a product that reads it.", store_then_multiply,
                              (found("RACE_RW", "store", "mma"), found("NOT_AWAITED", "store"), *undefined("mma")),
                              **{**one, "spec": f"{MMA} kernel-text.md#tensor-memory"})
    for overwrite, code in (("mma", "RACE_RW"), ("store", "RACE_RW")):
        yield from clean_and_racy(f"024_tmem_load_overwrite_{overwrite}", f"An accumulator is loaded, then overwritten by a {overwrite}.",
                                  load_then(overwrite), (found(code, "load", "over"),), **{**one, "spec": LOAD})
    for arrives, waits in ((False, False), (True, False), (True, True)):
        clean = arrives and waits
        findings = () if clean else (found("RACE_RW", "mma", "load"), found("NOT_AWAITED", "mma"), *undefined("load"),
                                     *[found("BAR_UNAWAITED", "/run_scoped", "commit")] * arrives)
        yield Case(f"025_mma_acc_no_commit_arrive_{int(arrives)}_{int(waits)}_{'clean' if clean else 'racy'}", kernel=commit_and_wait(arrives, waits),
                   prose=f"The accumulator is loaded {'after' if arrives else 'without'} a commit, {'with' if waits else 'without'} a wait for its barrier.",
                   findings=findings, **{**one, "spec": COMMIT, "outputs": one["outputs"] if clean else {}})
    yield from clean_and_racy("026_mma_commit_tracks_prior_only", "A commit says of the products before it that they are complete, not of one after it.",
                              product_after_commit, (found("RACE_RW", "mma", "load"), found("NOT_AWAITED", "mma"), *undefined("load")), **one)
    yield from clean_and_racy("027_mma_two_threads_one_commit", "A product of one thread, and the commit.", commit_of_another,
                              (found("RACE_RW", "mma", "load"), found("NOT_AWAITED", "mma"), *undefined("load")), **one)
    yield from clean_and_racy("028_mma_no_orders_tc", "An accumulator is handed over by a barrier.", handed_over,
                              (found("BAR_TC_ORDER", "mma", "load"),), **one)
    yield from clean_and_racy("029_smem_to_tmem_copy_reuse", "The source of a copy to tensor memory is written again.", source_refilled,
                              (found("RACE_ASYNC", "copy", "refill"),), **{**one, "spec": COPY})
    yield Case("025_mma_chain_clean", kernel=chain("same"), prose="A product follows another one into its accumulator without a wait.",
               **{**one, "outputs": {"o": product(2)}})
    yield Case("025_mma_chain_other_shape_racy", kernel=chain("other"), findings=(found("RACE_WW", "one", "two"), found("RACE_RW", "one", "two"), *undefined("two")),
               prose="A product of another shape does not.", **{**one, "outputs": {}})
    yield from clean_and_racy("027_mma_chain_of_two_threads", "The second thread's product follows the first's where it knows of its issue.", chain_of_two,
                              (found("RACE_RW", "one", "two"), found("RACE_WW", "one", "two"), found("RACE_RW", "one", "load"), found("NOT_AWAITED", "one"),
                               *undefined("two")), **{**one, "outputs": {"o": product(2)}})
    yield Case("025_mma_accumulates_undefined_racy", kernel=never_written(), findings=(found("UNINIT", "mma", "out"),),
               prose="A product adds to an accumulator that was never written.", **{**one, "outputs": {}})
    yield from clean_and_racy("045_collective_mma_tmem_reuse", "A collective product into an accumulator that the other block may still load.", pair_reuse,
                              (found("RACE_RW", "load", "mma#1"),), **{**one, "outputs": {"o": pair_product()}})
    reused = {**GIVEN, "spec": f"{SPEC} {SPEC}.7"}
    ones = np.ones((M, N), np.float32)
    for use in ("store", "load", "product"):
        yield from clean_and_racy(f"185_tmem_scope_reuse_{use}", f"Columns of a scope after a {use}, stored into by another thread in the next scope.",
                                  functools.partial(scopes, use), unordered(use), outputs={"o": ones}, **reused)
    half = np.concatenate([ones[:, : N // 2], 0 * ones[:, N // 2:]], axis=1)
    for first in (0, N // 2):
        for packed in (False, True):
            later = N if packed else N // 2
            yield Case(f"185_tmem_scope_reuse_{'packed' if packed else 'columns'}_{first}_{'clean' if first else 'racy'}",
                       kernel=scopes("product", True, (first, first + N // 2), later, packed),
                       prose=f"The next scope's array{', two elements to a cell,' if packed else ''} lies in the first half of the columns; the product went to those from {first} on.",
                       findings=() if first else unordered("product"), outputs={} if not first else {"o": ones if packed else half}, **reused)
    for mistake, findings in (("", ()), ("wait", (found("USE_AFTER_SCOPE", "use", "scope"),)), ("write", undefined("load")[:1])):
        yield Case(f"185_tmem_scope_reuse_alone_{mistake + '_racy' if mistake else 'clean'}", kernel=scope_by_itself(mistake), findings=findings,
                   outputs={} if mistake else {"o": ones}, prose="One thread, two scopes, one after another, with the same columns.", **reused)
