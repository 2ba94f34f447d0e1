"""palladion.emulate on the kernels that ship with JAX: in a transformer block under jit, grad and vmap, on GPU targets,
and those that need machines that are not there. Values are those of the kernels' files, bit for bit.
"""

import functools
import inspect
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.pallas.ops.gpu import attention, attention_mgpu, hopper_matmul_mgpu, layer_norm, softmax
from jax.experimental.pallas.ops.tpu import flash_attention

import palladion
from palladion import _library

HEADS, LENGTH, WIDTH = 2, 128, 256


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape) * 0.3, jnp.float32)


WEIGHTS = {
    "qkv": normal(1, 3, WIDTH, WIDTH) / 8,
    "out": normal(2, WIDTH, WIDTH) / 8,
    "up": normal(3, WIDTH, WIDTH) / 8,
    "down": normal(4, WIDTH, WIDTH) / 8,
}
X = normal(5, LENGTH, WIDTH)


def block(weights, x, attend):
    """A transformer block over one sequence; `attend` has q, k, v of [1, heads, length, head width]."""

    def normed(v):
        return (v - v.mean(-1, keepdims=True)) * jax.lax.rsqrt(v.var(-1, keepdims=True) + 1e-5)

    q, k, v = ((normed(x) @ w).reshape(LENGTH, HEADS, -1).swapaxes(0, 1)[None] for w in weights["qkv"])
    x = x + attend(q, k, v)[0].swapaxes(0, 1).reshape(LENGTH, WIDTH) @ weights["out"]
    return x + jax.nn.gelu(normed(x) @ weights["up"]) @ weights["down"]


FLASH = functools.partial(flash_attention.flash_attention, causal=True, sm_scale=WIDTH**-0.5)
PLAIN = functools.partial(flash_attention.mha_reference_no_custom_vjp, causal=True, sm_scale=WIDTH**-0.5)


def same_bits(a, b):
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert one.dtype == other.dtype and np.asarray(one).tobytes() == np.asarray(other).tobytes()


def close(a, b, tolerance):
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=tolerance)


def test_flash_attention_in_a_transformer_block_under_jit():
    with palladion.emulate("v5p", seeds=2) as session:
        result = jax.jit(lambda w, x: block(w, x, FLASH))(WEIGHTS, X)
    close(result, jax.jit(lambda w, x: block(w, x, PLAIN))(WEIGHTS, X), 1e-4)
    [call] = session.report.calls
    assert call.target == "mosaic_tpu/v5p" and call.verdict in ("proved", "clean")
    same_bits(result, palladion.run(lambda w, x: block(w, x, FLASH), WEIGHTS, X, target="mosaic_tpu/v5p"))


def test_under_grad():
    def loss(weights, x, attend):
        return jnp.mean(block(weights, x, attend) ** 2)

    with palladion.emulate("v5e") as session:
        gradients = jax.jit(jax.grad(lambda w, x: loss(w, x, FLASH), argnums=(0, 1)))(WEIGHTS, X)
    close(gradients, jax.jit(jax.grad(lambda w, x: loss(w, x, PLAIN), argnums=(0, 1)))(WEIGHTS, X), 1e-4)
    assert len({call.kernel for call in session.report.calls}) == 3  # forward, dq, dk and dv
    assert session.report.ok


def test_under_vmap():
    xs = jnp.stack([X, X[::-1], X * 0.5])
    mapped = jax.vmap(lambda x: block(WEIGHTS, x, FLASH))
    with palladion.emulate() as session:
        result = jax.jit(mapped)(xs)
    close(result, jax.jit(jax.vmap(lambda x: block(WEIGHTS, x, PLAIN)))(xs), 1e-4)
    assert session.report.count == 1 and 3 in session.report.calls[0].grid
    same_bits(result, palladion.run(mapped, xs))


BLOCKS = attention.BlockSizes(block_q=64, block_k=64, block_q_dkv=64, block_kv_dkv=64, block_q_dq=64, block_kv_dq=64)
QKV = tuple(normal(seed, 1, 128, 2, 64) for seed in (6, 7, 8))
ROWS = normal(9, 16, 256)
SCALE = (normal(10, 256), normal(11, 256))


def gpu_attention(q, k, v):
    return attention.mha(q, k, v, None, causal=True, block_sizes=BLOCKS)


@pytest.mark.parametrize(
    "f, args, reference, tolerance",
    [
        (gpu_attention, QKV, functools.partial(attention.mha_reference, segment_ids=None, causal=True), 5e-2),
        (softmax.softmax, (ROWS,), jax.nn.softmax, 1e-6),
        (layer_norm.layer_norm, (ROWS[None], *SCALE), layer_norm.layer_norm_reference, 1e-5),
    ],
    ids=["attention", "softmax", "layer_norm"],
)
def test_triton_kernels_and_their_files(f, args, reference, tolerance, tmp_path):
    with palladion.emulate("h100", seeds=2) as session:
        result = jax.jit(f)(*args)
    close(result, jax.jit(reference)(*args), tolerance)
    assert {call.target for call in session.report.calls} == {"triton/h100"}
    same_bits(result, palladion.record(f, *args, out=tmp_path / "calls", target="triton/h100"))
    for folder in sorted(os.listdir(tmp_path / "calls")):
        same_bits_from_files(tmp_path / "calls" / folder)


def same_bits_from_files(folder):
    """The recorded kernel, run from its files alone, gives the recorded outputs."""
    text = (folder / "kernel.pkir").read_text()
    program = _library.Program(text, None, "triton/h100")
    operands = [line.split("%")[1].split(":")[0] for line in text.splitlines() if line.strip().startswith("in %")]
    outputs = [line.split("%")[1].split(":")[0] for line in text.splitlines() if line.strip().startswith("out %")]
    expected = [np.load(folder / f"out_{name}.npy") for name in outputs]
    found = [np.empty_like(array) for array in expected]
    program.run([np.load(folder / f"in_{name}.npy") for name in operands], found)
    same_bits(found, expected)


def test_gradients_of_a_triton_kernel():
    def loss(q, k, v, op):
        return jnp.sum(op(q, k, v) ** 2)

    with palladion.emulate("h100") as session:
        gradients = jax.jit(jax.grad(lambda *a: loss(*a, gpu_attention), argnums=(0, 1, 2)))(*QKV)
    reference = functools.partial(attention.mha_reference, segment_ids=None, causal=True)
    close(gradients, jax.jit(jax.grad(lambda *a: loss(*a, reference), argnums=(0, 1, 2)))(*QKV), 5e-2)
    assert session.report.ok


def hopper_matmul(a, b):
    config = hopper_matmul_mgpu.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=2)
    return hopper_matmul_mgpu.matmul(
        a, b, *((None,) if "c" in inspect.signature(hopper_matmul_mgpu.matmul).parameters else ()), config
    )


HALVES = tuple(normal(seed, 128, 128).astype(jnp.float16) for seed in (12, 13))


def wide(a, b):
    return (np.asarray(a, np.float64) @ np.asarray(b, np.float64)).astype(np.float16)


def test_hopper_matmul_under_jit():
    with palladion.emulate("h100", seeds=2) as session:
        result = jax.jit(lambda a, b: hopper_matmul(a, b) + 1)(*HALVES)
    close(result, wide(*HALVES) + 1, 2e-3)
    [call] = session.report.calls
    assert (call.target, call.verdict, call.grid) == ("mosaic_gpu/h100", "proved", (132, 1, 3))
    same_bits(result, palladion.run(lambda a, b: hopper_matmul(a, b) + 1, *HALVES, target="mosaic_gpu/h100"))


def test_hopper_matmul_twice_in_one_program():
    with palladion.emulate("h100") as session:
        result = jax.jit(lambda a, b: hopper_matmul(hopper_matmul(a, b), b))(*HALVES)
    close(result, wide(wide(*HALVES), HALVES[1]), 4e-3)
    assert sum(call.count for call in session.report.calls) == 2 and session.report.ok


def test_gradients_of_hopper_attention():
    """Three Mosaic GPU kernels: forward with residuals, dq, dk and dv."""
    blocks = dict.fromkeys(("block_q", "block_kv", "block_q_dkv", "block_kv_dkv", "block_q_dq", "block_kv_dq"), 64)
    config = attention_mgpu.TuningConfig(**blocks, max_concurrent_steps=2)
    q, k, v = (normal(seed, 1, 128, heads, 64).astype(jnp.float16) for seed, heads in ((14, 2), (15, 1), (16, 1)))

    def loss(op):
        return lambda *qkv: jnp.sum(op(*qkv).astype(jnp.float32) ** 2)

    with palladion.emulate("h100") as session:
        gradients = jax.jit(jax.grad(loss(lambda *qkv: attention_mgpu.attention(*qkv, config)), (0, 1, 2)))(q, k, v)
    close(gradients, jax.jit(jax.grad(loss(attention_mgpu.attention_reference), (0, 1, 2)))(q, k, v), 2e-2)
    assert {call.target for call in session.report.calls} == {"mosaic_gpu/h100"}
    assert session.report.count == 3 and session.report.ok
