"""085 to 089: bytes of shared memory that a later scope has, and what an earlier one did to them."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from clusters import CLUSTER, MESH
from corpus import Case, F16, F32, I32, LANES, clean_and_racy, found, kernel, ty
from fences import TILE, WITHOUT_BARRIERS
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#fences"
SMEM = plgpu.SMEM((LANES,), I32)
PAIR = ty(2, LANES)
FULL = plgpu.Barrier()


def load(x_ref, smem, full):
    plgpu.copy_gmem_to_smem(x_ref, smem, full)  #@ load
    plgpu.barrier_wait(full)


def written(racy):
    def body(x_ref, o_ref):
        def before(smem):
            smem[...] = x_ref[...] + 1  #@ write
            if not racy:
                plgpu.commit_smem()

        def after(smem, full):
            load(x_ref, smem, full)
            o_ref[...] = smem[...]

        pl.run_scoped(before, SMEM)
        pl.run_scoped(after, SMEM, FULL)

    return kernel(body, ROW, out=ROW, threads=None)


def halves(wrote, into):
    """One scope writes a half of its buffer; two buffers of the next have a half each, and a copy goes into one of them."""
    n = 2 * LANES  # 1024 bytes, which buffers are aligned to

    def body(x_ref, o_ref):
        def before(smem):
            smem[wrote] = x_ref[...] + 1  #@ write

        def after(a, b, full):
            load(x_ref, (a, b)[into], full)
            o_ref[...] = x_ref[...] if wrote == into else (a, b)[into][...]

        half = plgpu.SMEM((n,), I32)
        pl.run_scoped(before, plgpu.SMEM((2, n), I32))
        pl.run_scoped(after, half, half, FULL)

    return kernel(body, ty(n), out=ty(n), threads=None)


def members(into, fence):
    """The scopes have unions: a member of the first is written, a copy goes to one of the members of the second that lie beside each other."""
    n = 2 * LANES
    half, whole = plgpu.SMEM((n,), I32), plgpu.SMEM((2, n), I32)

    def body(x_ref, o_ref):
        def before(union):
            union[0][0] = x_ref[...] + 1  #@ write
            if fence:
                plgpu.commit_smem()

        def after(union, full):
            smem = union[1][into]
            load(x_ref, smem, full)
            o_ref[...] = smem[...] if fence or into else x_ref[...]

        pl.run_scoped(before, plgpu.RefUnion(whole, whole))
        pl.run_scoped(after, plgpu.RefUnion(whole, [half, half]), FULL)

    return kernel(body, ty(n), out=ty(n), threads=None)


def by_threads(fence, reads):
    """Both threads use a row in a collective scope; in the next one of them copies into the other's. `fence`: whose, "user", "issuer", or ""."""
    def body(x_ref, o_ref):
        def before(smem, full):
            me = lax.axis_index("wg")
            if reads:
                @thread(0)
                def _():
                    plgpu.copy_gmem_to_smem(x_ref, smem, full)
                plgpu.barrier_wait(full)
                o_ref[me] = smem[me]  #@ get:use
            else:
                smem[me] = x_ref[me] + 1  #@ swap:use
            if fence == "user":
                plgpu.commit_smem()

        def after(smem, full):
            @thread(0)
            def _():
                if fence == "issuer":
                    plgpu.commit_smem()
                plgpu.copy_gmem_to_smem(x_ref.at[1], smem.at[1], full)  #@ load
            plgpu.barrier_wait(full)
            o_ref[lax.axis_index("wg")] = smem[1]

        pair = plgpu.SMEM((2, LANES), I32)
        pl.run_scoped(before, pair, FULL, collective_axes="wg")
        pl.run_scoped(after, pair, FULL, collective_axes="wg")

    return kernel(body, PAIR, out=PAIR)


def read(fence, automatic=False):
    def body(x_ref, o_ref):
        def before(smem, full):
            load(x_ref.at[0], smem, full)
            o_ref[0] = smem[...]  #@ get:read
            if fence:
                plgpu.commit_smem()

        def after(smem, full):
            plgpu.copy_gmem_to_smem(x_ref.at[1], smem, full)  #@ again
            plgpu.barrier_wait(full)
            o_ref[1] = smem[...]

        pl.run_scoped(before, SMEM, FULL)
        pl.run_scoped(after, SMEM, FULL)

    params = {} if automatic else {"compiler_params": WITHOUT_BARRIERS}
    return kernel(body, PAIR, out=PAIR, threads=None, **params)


def stored(racy):
    """A store of the earlier scope still reads its source, or has been waited for as far as that."""
    def body(x_ref, o_ref, p_ref):
        def before(smem):
            smem[...] = x_ref[...] + 1
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_ref)  #@ store
            if not racy:
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)

        def after(smem, full):
            load(x_ref, smem, full)
            p_ref[...] = smem[...]

        pl.run_scoped(before, SMEM)
        pl.run_scoped(after, SMEM, FULL)  #@ scope
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=(ROW, ROW), threads=None)


def multiplied(mistake):
    """An operand of a wgmma in bytes that an earlier scope wrote, loaded in its own; with the mistake "load" no fence comes before."""
    def body(x_ref, o_ref):
        def before(smem):
            smem[...] = x_ref[...]  #@ write
            if mistake != "load":
                plgpu.commit_smem()

        def after(smem, full):
            load(x_ref, smem, full)

            def multiply(acc):
                plgpu.wgmma(acc, smem, smem)  #@ product
                return acc[...]

            o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((64, 64), F32))

        pl.run_scoped(before, TILE)
        pl.run_scoped(after, TILE, FULL)

    return kernel(body, ty(64, 64, dtype=F16), out=ty(64, 64, dtype=F32), threads=None)


def across_blocks(mistake):
    """A collective copy into the next scope of both blocks, after a cluster barrier. `mistake`: "barrier" or "fence" is left out."""
    def body(x_ref, o_ref, cluster):
        me = lax.axis_index("c")

        def before(smem):
            smem[...] = x_ref[0] + 1  #@ write
            if mistake != "fence":
                plgpu.commit_smem()

        def after(smem, full):
            plgpu.copy_gmem_to_smem(x_ref.at[0], smem, full, collective_axes="c")  #@ copy
            plgpu.barrier_wait(full)
            o_ref[me] = x_ref[0] if mistake else smem[...]

        pl.run_scoped(before, SMEM)  #@ run_scoped:first
        if mistake != "barrier":
            plgpu.barrier_arrive(cluster)
            plgpu.barrier_wait(cluster)
        pl.run_scoped(after, SMEM, FULL)
        if mistake == "barrier":
            plgpu.barrier_arrive(cluster)
            plgpu.barrier_wait(cluster)

    return kernel(body, PAIR, out=PAIR, scratch={"cluster": CLUSTER}, **MESH)


def cases():
    given = {"spec": SPEC, "inputs": {"x": "iota"}}
    proxy = (found("PROXY", "write", "load"),)
    yield from clean_and_racy("085_scope_reuse_written", "A copy goes into bytes that an earlier scope wrote, with no commit_smem between.", written, proxy,
                              outputs={"o": IOTA}, **given)
    long = np.arange(2 * LANES, dtype=np.int32)
    for wrote in (0, 1):
        for into in (0, 1):
            racy = wrote == into
            yield Case(f"086_scope_reuse_half_{wrote}_{into}_{'racy' if racy else 'clean'}", kernel=halves(wrote, into), findings=proxy if racy else (),
                       outputs={} if racy else {"o": long}, prose=f"A scope wrote half {wrote} of its bytes; a copy of the next goes into half {into}.", **given)
    for into, fence in ((0, True), (0, False), (1, False)):
        racy = into == 0 and not fence
        yield Case(f"086_scope_reuse_member_{into}_{'fence' if fence else 'plain'}_{'racy' if racy else 'clean'}", kernel=members(into, fence),
                   findings=proxy if racy else (), outputs={} if racy else {"o": long},
                   prose=f"A scope wrote the first half of a union; a copy of the next goes into half {into} of another union.", **given)
    pair = np.arange(2 * LANES, dtype=np.int32).reshape(2, LANES)
    for reads, policy in ((False, "pallas"), (True, "pallas"), (True, "strict")):
        for fence in ("user", "issuer", ""):
            code = "PROXY_WAR" if reads and policy == "pallas" else "PROXY"
            noted = not fence and code == "PROXY_WAR"
            yield Case(f"087_scope_reuse_threads_{'read' if reads else 'written'}_{policy}_{fence or 'no'}_fence_{'clean' if fence else 'racy'}",
                       kernel=by_threads(fence, reads), headers=(f"proxy: {policy}",), findings=() if fence else (found(code, "use", "load"),),
                       outputs={"o": np.stack([pair[1], pair[1]])} if fence or noted else {},
                       prose=f"Two threads, two collective scopes: a thread {'read' if reads else 'wrote'} what another copies into in the next. Fence: {fence or 'none'}.", **given)
    for policy in ("pallas", "strict", "lax"):
        racy = policy != "lax"
        yield Case(f"088_scope_reuse_read_{policy}_{'racy' if racy else 'clean'}", kernel=read(False), headers=(f"proxy: {policy}",), outputs={} if racy else {"o": pair},
                   findings=(found("PROXY", "read", "again"),) if racy else (), prose="A thread reads its scope, and copies into the same bytes in the next.", **given)
    yield Case("088_scope_reuse_read_automatic_clean", kernel=read(False, automatic=True), outputs={"o": pair},
               prose="A thread reads its scope, and copies into the same bytes in the next; JAX puts a barrier before the copy.", **given)
    yield Case("088_scope_reuse_read_strict_fence_clean", kernel=read(True), headers=("proxy: strict",), outputs={"o": pair}, prose="A thread reads its scope, commits, and copies into the same bytes in the next.", **given)
    yield from clean_and_racy("088_scope_reuse_stored", "The next scope's bytes may still be read by a store of the scope before.", stored,
                              (found("USE_AFTER_SCOPE", "store", "scope"),), outputs={"o": IOTA + 1, "p": IOTA}, **{**given, "spec": "gpu-order.md#memory"})
    x = np.arange(64 * 64).reshape(64, 64).astype(np.float16).astype(np.float64)
    product = {"outputs": {"o": (x @ x).astype(np.float32)}}
    yield Case("088_scope_reuse_wgmma_clean", kernel=multiplied(""), prose="An operand of a wgmma has the bytes of an earlier scope, which committed what it wrote.", **given, **product)
    yield Case("088_scope_reuse_wgmma_racy", kernel=multiplied("load"), findings=(*proxy, found("PROXY", "write", "product")), prose="An operand of a wgmma is loaded into bytes that an earlier scope wrote.", **given)
    cluster = {"spec": f"{SPEC} gpu-order.md#clusters", "inputs": {"x": "iota"}}
    yield Case("089_scope_reuse_cluster_clean", kernel=across_blocks(""), outputs={"o": np.stack([IOTA, IOTA])},
               prose="A collective copy into the next scope of both blocks, which have committed and met.", **cluster)
    yield Case("089_scope_reuse_cluster_fence_racy", kernel=across_blocks("fence"), findings=(found("PROXY", "write", "copy"),),
               prose="A collective copy into the next scope of both blocks, which have met without a commit_smem.", **cluster)
    yield Case("089_scope_reuse_cluster_barrier_racy", kernel=across_blocks("barrier"), findings=(found("RACE_ASYNC", "write", "copy"), found("PEER_LIFETIME", "write", "copy"),
                         found("PEER_LIFETIME", "first", "copy")),
               prose="A collective copy into the next scope of both blocks, of which one may still be in the scope before.", **cluster)
