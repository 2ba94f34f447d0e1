"""What newer releases of JAX added to kernels, each where the installed one has it. Expected numbers are NumPy's.

What an older release has not cannot be tried there: those programs are left out by the names that JAX lacks.
"""

import inspect
import json
import os
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu, tpu as pltpu

import palladion

COMMAND = os.environ.get("PALLADION_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "palladion"))
F32 = jnp.float32
X = jnp.arange(128, dtype=F32)


def on_gpu(body, *args, out=(128,), scratch=()):
    """What a kernel over one block gives, with no finding."""
    call = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(out, F32), scratch_types=list(scratch))
    with palladion.emulate("h100", seeds=4) as session:
        result = np.asarray(call(*args))
    assert not session.report.findings, session.report
    return result


def on_tpu(body, out, x, codes=frozenset()):
    with palladion.emulate("v5p", seeds=1) as session:
        result = np.asarray(pl.pallas_call(body, out_shape=out)(x))
    assert {finding.code for finding in session.report.findings} == codes, session.report
    return result


def barrier_arrive_and_wait():
    def body(x, o, barrier):
        plgpu.barrier_arrive_and_wait(barrier)
        plgpu.barrier_arrive_and_wait(barrier)
        o[...] = x[...] + 1

    np.testing.assert_array_equal(on_gpu(body, X, scratch=[plgpu.Barrier()]), X + 1)


def store():
    def body(x, o):
        plgpu.store(o, plgpu.load(x) * 3, optimized=False)

    np.testing.assert_array_equal(on_gpu(body, X), X * 3)


def reductions():
    def body(x, o):
        for row, reduce in enumerate((plgpu.sum, plgpu.prod, plgpu.max, plgpu.min)):
            o[row] = reduce(x[...], axis=1)

    x = np.random.default_rng(1).integers(1, 3, (64, 8)).astype(np.float32)
    expected = [x.sum(1), x.prod(1), x.max(1), x.min(1)]
    np.testing.assert_array_equal(on_gpu(body, jnp.asarray(x), out=(4, 64)), expected)


def predicate_of_a_copy():
    """A copy that is not taken: its barrier gets the arrival until JAX 0.11, and none from 0.12."""

    def body(x, o, shared, loaded):
        first = x[0] == 0
        plgpu.copy_gmem_to_smem(x, shared.at[0], loaded, predicate=first)
        plgpu.barrier_wait(loaded)
        plgpu.copy_gmem_to_smem(x, shared.at[1], loaded, predicate=~first)
        if jax.__version_info__ >= (0, 12):
            plgpu.copy_gmem_to_smem(x, shared.at[0], loaded, predicate=first)
        plgpu.barrier_wait(loaded)
        o[...] = shared[0]

    np.testing.assert_array_equal(on_gpu(body, X, scratch=[plgpu.SMEM((2, 128), F32), plgpu.Barrier()]), X)


def predicate_of_an_arrival():
    def body(x, o, barrier):
        first = x[0] == 0
        plgpu.barrier_arrive(barrier, predicate=~first)
        plgpu.barrier_arrive(barrier, predicate=first)
        plgpu.barrier_wait(barrier)
        o[...] = x[...]

    np.testing.assert_array_equal(on_gpu(body, X, scratch=[plgpu.Barrier()]), X)


def bitcast_along_the_last_dimension():
    words = np.arange(8 * 128, dtype=np.uint32).reshape(8, 128) * 65537 + 7

    def narrow(x, o):
        o[...] = pltpu.bitcast(x[...], jnp.uint16, dim=-1)

    def wide(x, o):
        o[...] = pltpu.bitcast(x[...], jnp.uint32, dim=-1)

    # JAX writes it as a reshape, of which older compilers are known to refuse some.
    halves = on_tpu(narrow, jax.ShapeDtypeStruct((8, 256), jnp.uint16), jnp.asarray(words), {"COMPILER"})
    np.testing.assert_array_equal(halves, words.view(np.uint16))
    both = on_tpu(wide, jax.ShapeDtypeStruct((8, 128), jnp.uint32), jnp.asarray(halves), {"COMPILER"})
    np.testing.assert_array_equal(both, words)


def one_minus_square():
    def body(x, o):
        o[...] = jax.lax.one_minus_square(x[...])

    x = np.random.default_rng(2).standard_normal((8, 128)).astype(np.float32)
    found = on_tpu(body, jax.ShapeDtypeStruct((8, 128), F32), jnp.asarray(x))
    np.testing.assert_array_equal(found, (np.float32(1) + x) * (np.float32(1) - x))


def mulhi():
    def body(x, o):
        o[...] = jax.lax.mulhi(x[...], x[...] + 12345)

    x = np.random.default_rng(3).integers(-(2**31), 2**31 - 20000, (8, 128)).astype(np.int32)
    expected = (x.astype(np.int64) * (x.astype(np.int64) + 12345) >> 32).astype(np.int32)
    np.testing.assert_array_equal(on_tpu(body, jax.ShapeDtypeStruct((8, 128), jnp.int32), jnp.asarray(x)), expected)


def log2():
    def body(x, o):
        o[...] = jax.lax.log2(x[...])

    x = np.random.default_rng(4).uniform(0.01, 100, (8, 128)).astype(np.float32)
    found = on_tpu(body, jax.ShapeDtypeStruct((8, 128), F32), jnp.asarray(x))
    np.testing.assert_array_equal(found, np.log2(x.astype(np.float64)).astype(np.float32))


def annotate():
    def body(x, o):
        o[...] = pltpu.annotate(x, no_bank_conflict=True)[...] + 1

    np.testing.assert_array_equal(
        on_tpu(body, jax.ShapeDtypeStruct((8, 128), F32), jnp.ones((8, 128))), np.full((8, 128), 2)
    )

    def promise(x, o):
        o[...] = pltpu.annotate(x, no_store=True)[...]

    with pytest.raises(
        palladion.ExportError, match=r"test_newer_jax.py:\d+: get: pltpu.annotate with no_store is a promise"
    ):
        palladion.export(pl.pallas_call(promise, out_shape=jax.ShapeDtypeStruct((8, 128), F32)), jnp.ones((8, 128)))


def refused_by_name():
    """A primitive that no table of the exporter writes is refused with the line and the registry's reason for it."""

    def greatest(x, o):
        o[...], _ = jax.lax.top_k(x[...], 128)

    def windows(x, o):
        o[...] = jax.lax.conv_general_dilated(x[...][None], x[:, :8][:, :, None], (1,), "SAME")[0]

    def calls_back(x, o):
        jax.debug.callback(lambda value: None, x[0, 0])
        o[...] = x[...]

    reasons = {
        greatest: "top_k is not supported: convolutions and the greatest k",
        windows: "conv_general_dilated is not supported: convolutions and the greatest k",
        calls_back: "debug_callback is not supported: opaque code",
    }
    for body, reason in reasons.items():
        with pytest.raises(palladion.ExportError) as refusal:
            palladion.export(pl.pallas_call(body, out_shape=jax.ShapeDtypeStruct((8, 128), F32)), jnp.ones((8, 128)))
        line = body.__code__.co_firstlineno + 1
        assert reason in str(refusal.value) and f"test_newer_jax.py:{line}" in str(refusal.value), refusal.value


def copy_without_a_barrier():
    def body(x, o, shared):
        plgpu.copy_gmem_to_smem(x, shared, oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS)
        plgpu.wait_gmem_to_smem(0)
        o[...] = shared[...]

    with pytest.raises(
        palladion.PalladionError, match="copy_gmem_to_smem is not supported without a barrier: that is cp.async"
    ):
        on_gpu(body, X, scratch=[plgpu.SMEM((128,), F32)])


def buffers_filled_before():
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0), pipeline_mode=pl.Buffered(2, prefetched_count=1))
    call = pl.pallas_call(
        lambda x, o: None,
        out_shape=jax.ShapeDtypeStruct((32, 128), F32),
        grid=(4,),
        in_specs=[spec],
        out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)),
    )
    with pytest.raises(palladion.ExportError, match="pl.Buffered with prefetched_count"):
        palladion.export(call, jnp.ones((32, 128)))


def barrier_semaphores_without_an_id():
    """By a tag: kernels with the same one have the same semaphore. By JAX's own choice: kernels with the same code
    have.
    """

    def ids(*tags, **params):
        def kernel(tag):
            def body(x, o):
                barrier = pltpu.get_barrier_semaphore(tag)
                pl.semaphore_signal(barrier, 1)
                pl.semaphore_wait(barrier, 1)
                o[...] = x[...] * (2 if tag == "other" else 1)

            return pl.pallas_call(
                body,
                out_shape=jax.ShapeDtypeStruct((8, 128), F32),
                compiler_params=pltpu.CompilerParams(**params) if params else None,
            )

        def f(x):
            for tag in tags:
                x = kernel(tag)(x)
            return x

        with palladion.emulate("v5e", seeds=4) as session:
            jax.jit(f)(jnp.ones((8, 128)))
        assert not session.report.findings, session.report
        return re.findall(r"collective_id=(\d+)", palladion.export(f, jnp.ones((8, 128)), target="v5e"))

    one, again, other = ids("ring", "ring", "other")
    assert one == again != other
    assert ids(None, collective_id=3) == ["3"]
    with pytest.raises(palladion.ExportError, match="collective_id=3 and get_barrier_semaphore has the tag 'ring'"):
        ids("ring", collective_id=3)
    with pytest.raises(palladion.PalladionError, match="a barrier semaphore is known by its collective id"):
        ids(None)
    before = jax.config.jax_pallas_auto_assign_collective_ids
    try:
        jax.config.update("jax_pallas_auto_assign_collective_ids", "yes")
        one, again = ids(None, None)
        assert one == again
    finally:
        jax.config.update("jax_pallas_auto_assign_collective_ids", before)


def _takes(function, parameter) -> bool:
    return parameter in inspect.signature(function).parameters


WHERE = {
    barrier_arrive_and_wait: hasattr(plgpu, "barrier_arrive_and_wait"),
    store: hasattr(plgpu, "store"),
    reductions: hasattr(plgpu, "prod"),
    predicate_of_a_copy: _takes(plgpu.copy_gmem_to_smem, "predicate"),
    predicate_of_an_arrival: _takes(plgpu.barrier_arrive, "predicate"),
    bitcast_along_the_last_dimension: _takes(pltpu.bitcast, "dim"),
    one_minus_square: hasattr(jax.lax, "one_minus_square"),
    mulhi: jax.__version_info__ >= (0, 11),
    log2: hasattr(jax.lax, "log2"),
    annotate: hasattr(pltpu, "annotate"),
    refused_by_name: True,
    barrier_semaphores_without_an_id: _takes(pltpu.get_barrier_semaphore, "tag"),
    buffers_filled_before: _takes(pl.Buffered, "prefetched_count"),
    copy_without_a_barrier: hasattr(plgpu, "wait_gmem_to_smem"),
}


@pytest.mark.parametrize(
    "program", [program for program, there in WHERE.items() if there], ids=lambda program: program.__name__
)
def test_runs(program):
    program()


def test_the_lowering_semantics_are_in_the_text():
    """JAX's default is Lane until 0.10 and Warpgroup from 0.11; kernel text that says nothing means Lane."""

    def body(x, o):
        o[...] = x[...]

    def text(**given):
        return palladion.export(plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128,), F32), **given), X)

    newer = jax.__version_info__ >= (0, 11)
    warpgroup, lane = (
        plgpu.CompilerParams(lowering_semantics=s)
        for s in (plgpu.LoweringSemantics.Warpgroup, plgpu.LoweringSemantics.Lane)
    )
    written = "params {lowering_semantics=warpgroup};"
    assert written in text(compiler_params=warpgroup) and "params {lowering" not in text(compiler_params=lane)
    assert (written in text()) == newer and (written in text(compiler_params=plgpu.CompilerParams())) == newer
    assert text().startswith(f'pkir 1;\nproducer "jax {jax.__version__}, palladion ')


def illegal(text, producer, tmp_path):
    path = tmp_path / "kernel.pkir"
    path.write_text(re.sub(r'producer "[^"]*";\n', producer, text))
    done = subprocess.run(
        [COMMAND, "check", path, "--target", "mosaic_gpu/h100", "--in", f"x={tmp_path / 'x.npy'}", "--format=json"],
        capture_output=True,
        text=True,
    )
    return [finding["message"] for finding in json.loads(done.stdout)["findings"] if finding["code"] == "ILLEGAL"]


@pytest.mark.parametrize("what", ["sqrt has no lowering", "[warp.test]"])
def test_what_a_backend_has_is_asked_of_the_jax_that_the_text_is_from(what, tmp_path):
    def root(x, o):
        o[...] = jnp.sqrt(x[...])

    def asked(x, o, barrier):
        plgpu.barrier_arrive(barrier)
        ready = plgpu.barrier_test(barrier)
        o[...] = x[...] * jnp.where(ready, 1.0, 0.0)

    np.save(tmp_path / "x.npy", np.asarray(X))
    body, scratch = (root, []) if "sqrt" in what else (asked, [plgpu.Barrier()])
    text = palladion.export(plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((128,), F32), scratch_types=scratch), X)
    for producer in ("", 'producer "jax 0.10.2, palladion 0.1";\n', 'producer "somebody";\n'):
        assert any(what in message for message in illegal(text, producer, tmp_path)), producer
    for version in ("0.11.0", "0.12.0.1", "0.20.0", "1.0.0"):
        assert illegal(text, f'producer "jax {version}, palladion 0.1";\n', tmp_path) == [], version
