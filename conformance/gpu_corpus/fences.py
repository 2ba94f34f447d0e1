"""015 to 018: where a commit_smem must stand between plain accesses of shared memory and those of asynchronous units."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, I32, LANES, found, kernel, ty
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#fences"
SMEM = plgpu.SMEM((LANES,), I32)
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
TILE = plgpu.SMEM((64, 64), F16, transforms=TILED)
WHERE = ("the writer before it arrives", "the issuer after it has waited", "the issuer before it waits", "a third thread")


def subset(fences, unit):
    """Bit i of `fences`: a fence by WHERE[i]. `unit`: what reads the data asynchronously."""
    def body(x_ref, o_ref, smem, other, full):
        @thread(0)
        def _():
            smem[...] = x_ref[...]  #@ write
            if fences & 1:
                plgpu.commit_smem()
            plgpu.barrier_arrive(full)

        @thread(1)
        def _():
            if unit == "wgmma":
                other[...] = x_ref[...]
            if fences & 4 or unit == "wgmma":
                plgpu.commit_smem()
            plgpu.barrier_wait(full)
            if fences & 2:
                plgpu.commit_smem()
            if unit == "copy":
                plgpu.copy_smem_to_gmem(smem, o_ref)  #@ read
                plgpu.wait_smem_to_gmem(0)
            else:
                def multiply(acc):
                    plgpu.wgmma(acc, smem, other)  #@ read
                    return acc[...]

                o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((64, 64), F32))

        @thread(2)
        def _():
            plgpu.barrier_wait(full)
            if fences & 8:
                plgpu.commit_smem()

    tile = ty(64, 64, dtype=F16)
    types = (ROW, ROW, SMEM) if unit == "copy" else (tile, ty(64, 64, dtype=F32), TILE)
    return kernel(body, types[0], out=types[1], threads=3, scratch={"smem": types[2], "other": types[2], "full": plgpu.Barrier()})


def subsets():
    for unit in ("copy", "wgmma"):
        for fences in range(16):
            if unit == "wgmma" and fences & 4:
                continue  # there the issuer always has a fence before it waits
            bits = "".join("1" if fences & (8 >> i) else "0" for i in range(4))
            have = [place for i, place in enumerate(WHERE) if fences & (1 << i)]
            about = f"One thread writes, another lets a {unit} read it. Fences: {', '.join(have) or 'none'}."
            clean = fences & 3 != 0  # the writer before, or the issuer after
            outputs = {}
            if clean:
                x = np.arange(64 * 64).reshape(64, 64).astype(np.float16).astype(np.float64)
                outputs = {"o": IOTA if unit == "copy" else (x @ x).astype(np.float32)}
            yield Case(f"015_commit_smem_subset_{unit}_{bits}_{'clean' if clean else 'racy'}", spec=SPEC, prose=about, inputs={"x": "iota"},
                       kernel=subset(fences, unit), outputs=outputs, findings=() if clean else (found("PROXY", "write", "read"),))


WITHOUT_BARRIERS = plgpu.CompilerParams(unsafe_no_auto_barriers=True)


def read_then_load(who, fence, automatic=False):
    """`who`: "one" thread, one "round_trip" through a barrier of its own, or "two" threads. `automatic`: JAX puts a barrier before the load."""
    def body(x_ref, o_ref, smem, seen, full, free):
        def load():
            plgpu.copy_gmem_to_smem(x_ref, smem, full)  #@ load
            plgpu.barrier_wait(full)
            o_ref[...] = smem[...]

        def read():
            smem[...] = x_ref[...]
            plgpu.commit_smem()
            seen[...] = smem[...]  #@ get:read
            if fence:
                plgpu.commit_smem()

        @thread(0)
        def _():
            read()
            if who != "one":
                plgpu.barrier_arrive(free)
            if who == "round_trip":
                plgpu.barrier_wait(free)
            if who != "two":
                load()

        if who == "two":
            @thread(1)
            def _():
                plgpu.barrier_wait(free)
                load()

    params = {} if automatic or who == "two" else {"compiler_params": WITHOUT_BARRIERS}
    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM, "seen": SMEM, "full": plgpu.Barrier(), "free": plgpu.Barrier()}, **params)


def wrong_thread(racy):
    def body(x_ref, o_ref, smem, full):
        @thread(0)
        def _():
            smem[...] = x_ref[...] + 1  #@ write
            plgpu.barrier_arrive(full)

        for index in (1, 2):
            @thread(index)
            def _(index=index):
                plgpu.barrier_wait(full)
                if index == (2 if racy else 1):
                    plgpu.commit_smem()
                if index == 1:
                    plgpu.copy_smem_to_gmem(smem, o_ref)  #@ copy
                    plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ROW, threads=3, scratch={"smem": SMEM, "full": plgpu.Barrier()})


def across_blocks(fence):
    """Each block writes its shared memory; then a multicast of both blocks writes it. `fence`: "before" the cluster's barrier, "after", "none"."""
    def body(x_ref, o_ref, smem, full, cluster):
        smem[...] = x_ref[...] + 1  #@ write
        if fence == "before":
            plgpu.commit_smem()
        plgpu.barrier_arrive(cluster)
        plgpu.barrier_wait(cluster)
        if fence == "after":
            plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="c")  #@ copy
        plgpu.barrier_wait(full)
        o_ref[lax.axis_index("c")] = smem[...]

    return kernel(body, ROW, out=ty(2, LANES), threads=None, cluster=(2,), cluster_names=("c",), scratch={
        "smem": SMEM, "full": plgpu.Barrier(), "cluster": plgpu.ClusterBarrier(collective_axes=("c",))})


def cases():
    given = {"spec": SPEC, "inputs": {"x": "iota"}}
    yield from subsets()
    about = {"one": "The thread that read it", "round_trip": "The thread that read it, after it waited for its own arrival,", "two": "Another thread, after the reader arrived,"}
    for who, prose in about.items():
        code = "PROXY" if who == "one" else "PROXY_WAR"
        yield Case(f"016_commit_smem_read_then_tma_{who}_racy", kernel=read_then_load(who, False), findings=(found(code, "read", "load"),),
                   prose=f"{prose} loads into shared memory, with no fence since the read.", outputs={} if who == "one" else {"o": IOTA}, **given)
        yield Case(f"016_commit_smem_read_then_tma_{who}_clean", kernel=read_then_load(who, True), outputs={"o": IOTA},
                   prose=f"{prose} loads into shared memory, and the reader has fenced.", **given)
        for policy, codes in (("strict", ("PROXY",)), ("lax", ())):
            yield Case(f"016_commit_smem_read_then_tma_{who}_{policy}_{'racy' if codes else 'clean'}", kernel=read_then_load(who, False), headers=(f"proxy: {policy}",),
                       findings=tuple(found(code, "read", "load") for code in codes), outputs={} if codes else {"o": IOTA}, prose=f"{prose} loads into shared memory, with no fence since the read.", **given)
    for who in ("one", "round_trip"):
        for policy, codes in (("pallas", ()), ("strict", ("PROXY",)), ("lax", ())):
            yield Case(f"016_commit_smem_read_then_tma_{who}_automatic_{policy}_{'racy' if codes else 'clean'}", kernel=read_then_load(who, False, automatic=True),
                       headers=(f"proxy: {policy}",), findings=tuple(found(code, "read", "load") for code in codes), outputs={} if codes else {"o": IOTA},
                       prose=f"{about[who]} loads into shared memory; between the two is the barrier that JAX puts before the load.", **given)
    yield Case("017_fence_wrong_thread_clean", kernel=wrong_thread(False), outputs={"o": IOTA + 1}, prose="The thread that issues the copy fences after it has waited.", **given)
    yield Case("017_fence_wrong_thread_racy", kernel=wrong_thread(True), findings=(found("PROXY", "write", "copy"),),
               prose="A third thread, which no other waits for, fences instead of the one that issues the copy.", **given)
    out = {"o": np.stack([IOTA, IOTA])}
    for fence in ("before", "after"):
        yield Case(f"018_fence_cross_cta_side_{fence}_clean", kernel=across_blocks(fence), outputs=out,
                   prose=f"A multicast overwrites what both blocks wrote; each fences {fence} the barrier of the cluster.", **given)
    yield Case("018_fence_cross_cta_side_none_racy", kernel=across_blocks("none"), findings=(found("PROXY", "write", "copy"),),
               prose="A multicast overwrites what both blocks wrote; a barrier of the cluster orders them, but no thread fences.", **given)
