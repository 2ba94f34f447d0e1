"""Kernels of which the TPU's compiler said whether they fit VMEM, and how much they need: docs/spec/tpu-limits.md has
the sources.

Each is written with pallas_call as its report describes it. Shapes that no report has are left out, and so are their
kernels.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

F32, BF16, I8 = jnp.float32, jnp.bfloat16, jnp.int8


def S(shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


@dataclasses.dataclass(frozen=True)
class Known:
    """What the compiler did: `held`, MiB of windows and scratch; `said`, the MiB that it printed (None: nothing);
    `compiles`.
    """

    call: Callable
    args: tuple
    target: str
    held: float
    compiles: bool
    said: float | None = None


def whole(body, out, *, rows=None, limit=None):
    """One program on whole arrays (or their first `rows`) by index maps that name the grid: what corpus kernels do."""

    def call(*args):
        spec = lambda a: pl.BlockSpec((rows or a.shape[0], *a.shape[1:]), lambda i: (i, *[0] * (len(a.shape) - 1)))  # noqa: E731
        return pl.pallas_call(
            body,
            grid=(1,),
            in_specs=[spec(a) for a in args],
            out_specs=spec(out),
            out_shape=out,
            compiler_params=limit and pltpu.CompilerParams(vmem_limit_bytes=limit << 20),
        )(*args)

    return call


def add(x, y, o):
    o[...] = x[...] + y[...]


def elementwise(f):
    def body(x, o):
        o[...] = f(x[...])

    return body


def softmax(x, o):
    e = jnp.exp(x[...] - jnp.max(x[...], axis=-1, keepdims=True))
    o[...] = e / jnp.sum(e, axis=-1, keepdims=True)


def log_softmax(x, o):
    shifted = x[...] - jnp.max(x[...], axis=-1, keepdims=True)
    o[...] = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True))


def mean(x, o):
    o[...] = jnp.sum(x[...], axis=-1) / x.shape[1]


def layernorm(x, o):
    centred = x[...] - jnp.mean(x[...], axis=-1, keepdims=True)
    o[...] = centred * jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)


def rmsnorm_residual(x, r, o):
    h = x[...] + r[...]
    o[...] = h * jax.lax.rsqrt(jnp.mean(h * h, axis=-1, keepdims=True) + 1e-5)


def cross_entropy(x, y, o):
    shifted = x[...] - jnp.max(x[...], axis=-1, keepdims=True)
    logs = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True))
    o[...] = -jnp.sum(logs * y[...], axis=-1, keepdims=True)


def dot(x, w):
    return jnp.dot(x, w, preferred_element_type=F32)


def transpose(limit=None):
    def body(x, o):
        o[...] = jnp.transpose(x[...], (1, 0, 2))

    x = S((128, 32, 11 * 512))
    call = pl.pallas_call(
        body,
        grid=(1, 11),
        in_specs=[pl.BlockSpec((128, 32, 512), lambda i, j: (i, 0, j))],
        out_specs=pl.BlockSpec((32, 128, 512), lambda i, j: (0, i, j)),
        out_shape=S((32, 128, 11 * 512)),
        compiler_params=limit and pltpu.CompilerParams(vmem_limit_bytes=limit << 20),
    )
    return call, (x,)


def attention(limit=None):
    """One step over all keys: a block of 128 queries, whole K and V, segment ids of queries and keys."""
    heads, n, d, bq = 16, 25344, 80, 128

    def body(q, k, v, q_ids, kv_ids, o):
        logits = jax.lax.dot_general(q[...], k[...], (((1,), (1,)), ((), ())), preferred_element_type=F32)
        logits = jnp.where(q_ids[:, :1] == kv_ids[:1, :], logits, -1e30)
        e = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))
        o[...] = (dot(e.astype(BF16), v[...]) / jnp.sum(e, axis=-1, keepdims=True)).astype(BF16)

    block = lambda rows, index: pl.BlockSpec((None, None, rows, d), index)  # noqa: E731
    own, keys = block(bq, lambda b, h, i: (b, h, i, 0)), block(n, lambda b, h, i: (b, h, 0, 0))
    ids = [
        pl.BlockSpec((None, bq, 128), lambda b, h, i: (b, i, 0)),
        pl.BlockSpec((None, 8, n), lambda b, h, i: (b, 0, 0)),
    ]
    x = S((1, heads, n, d), BF16)
    call = pl.pallas_call(
        body,
        grid=(1, heads, n // bq),
        in_specs=[own, keys, keys, *ids],
        out_specs=own,
        out_shape=x,
        compiler_params=limit and pltpu.CompilerParams(vmem_limit_bytes=limit << 20),
    )
    return call, (x, x, x, S((1, n, 128), jnp.int32), S((1, 8, n), jnp.int32))


def int8_windows(moves):
    """20 MiB of int8 a window, over a grid of four."""

    def body(x, o):
        o[...] = jnp.zeros_like(o)

    index = (lambda i: (i, 0)) if moves else (lambda i: (0, 0))
    rows = 20 * 1024
    call = pl.pallas_call(
        body,
        grid=(4,),
        in_specs=[pl.BlockSpec((rows, 1024), index)],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        out_shape=S((8, 128)),
    )
    return call, (S((4 * rows, 1024), I8),)


def small(limit):
    return lambda x: pl.pallas_call(
        elementwise(jnp.negative), out_shape=x, compiler_params=pltpu.CompilerParams(vmem_limit_bytes=limit)
    )(x), (S((128, 128)),)


def batched_matmul():
    def body(x, w, o):
        o[...] = dot(x[...], w[...])

    spec = pl.BlockSpec((None, 256, 256), lambda i: (i, 0, 0))
    x = S((8, 256, 256))
    return pl.pallas_call(body, grid=(8,), in_specs=[spec, spec], out_specs=spec, out_shape=x), (x, x)


def matmul_gelu():
    def body(x, w, o):
        o[...] = jax.nn.gelu(dot(x[...], w[...]))

    x = S((1024, 1024))
    return pl.pallas_call(
        body,
        grid=(8, 8),
        in_specs=[pl.BlockSpec((128, 1024), lambda i, j: (i, 0)), pl.BlockSpec((1024, 128), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((128, 128), lambda i, j: (i, j)),
        out_shape=x,
    ), (x, x)


def heads():
    def body(q, k, v, o):
        logits = dot(q[...], k[...].T)
        e = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))
        o[...] = dot(e / jnp.sum(e, axis=-1, keepdims=True), v[...])

    spec = pl.BlockSpec((None, 256, 64), lambda h: (h, 0, 0))
    x = S((8, 256, 64))
    return pl.pallas_call(body, grid=(8,), in_specs=[spec] * 3, out_specs=spec, out_shape=x), (x, x, x)


def pairwise():
    def body(x, y, o):
        difference = x[...][:, None, :] - y[...][None, :, :]
        o[...] = jnp.sum(difference * difference, axis=-1)

    x = S((256, 32))
    return pl.pallas_call(
        body,
        grid=(1,),
        in_specs=[pl.BlockSpec((256, 32), lambda i: (i, 0))] * 2,
        out_specs=pl.BlockSpec((256, 256), lambda i: (i, 0)),
        out_shape=S((256, 256)),
    ), (x, x)


def swiglu():
    def body(x, w, v, o):
        gate = dot(x[...], w[...])
        o[...] = gate * jax.nn.sigmoid(gate) * dot(x[...], v[...])

    weights = pl.BlockSpec((1024, 2048), lambda i: (0, 0))
    return pl.pallas_call(
        body,
        grid=(4,),
        in_specs=[pl.BlockSpec((128, 1024), lambda i: (i, 0)), weights, weights],
        out_specs=pl.BlockSpec((128, 2048), lambda i: (i, 0)),
        out_shape=S((512, 2048)),
    ), (S((512, 1024)), S((1024, 2048)), S((1024, 2048)))


def gated_mlp():
    def body(x, w, v, d, o):
        gate = dot(x[...], w[...])
        o[...] = dot(gate * jax.nn.sigmoid(gate) * dot(x[...], v[...]), d[...])

    spec = lambda *shape: pl.BlockSpec(shape, lambda i: (i, 0))  # noqa: E731
    return pl.pallas_call(
        body,
        grid=(1,),
        in_specs=[spec(256, 512), spec(512, 1024), spec(512, 1024), spec(1024, 512)],
        out_specs=spec(256, 512),
        out_shape=S((256, 512)),
    ), (S((256, 512)), S((512, 1024)), S((512, 1024)), S((1024, 512)))


def qk_softmax():
    def body(q, k, o):
        logits = dot(q[...], k[...].T)
        e = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))
        o[...] = e / jnp.sum(e, axis=-1, keepdims=True)

    spec = lambda *shape: pl.BlockSpec(shape, lambda i: (i, 0))  # noqa: E731
    return pl.pallas_call(
        body, grid=(1,), in_specs=[spec(256, 64)] * 2, out_specs=spec(256, 256), out_shape=S((256, 256))
    ), (S((256, 64)),) * 2


def _on_rows(body, rows, columns, *said, inputs=1, flat=False, target="v6e", held, compiles):
    x = S((rows, columns))
    return Known(whole(body, S((rows,)) if flat else x), (x,) * inputs, target, held, compiles, *said)


KERNELS = {
    "add": _on_rows(add, 4096, 4096, 192.0, inputs=2, held=192.0, compiles=False),
    "add of 1024 rows": _on_rows(add, 1024, 4096, inputs=2, held=48.0, compiles=False),
    "add of 512 rows": _on_rows(add, 512, 4096, inputs=2, held=24.0, compiles=True),
    **{
        name: _on_rows(elementwise(f), 4096, 4096, 128.0, held=128.0, compiles=False)
        for name, f in (
            ("exp", jnp.exp),
            ("log", jnp.log),
            ("relu", jax.nn.relu),
            ("sigmoid", jax.nn.sigmoid),
            ("tanh", jnp.tanh),
        )
    },
    "relu of 2048 rows": _on_rows(elementwise(jax.nn.relu), 2048, 4096, held=64.0, compiles=False),
    "relu of 1024 rows": _on_rows(elementwise(jax.nn.relu), 1024, 4096, held=32.0, compiles=True),
    "softmax": _on_rows(softmax, 2048, 2048, 37.02, held=32.0, compiles=False),
    "softmax of 1024 rows": _on_rows(softmax, 1024, 2048, held=16.0, compiles=True),
    "log_softmax": _on_rows(log_softmax, 2048, 2048, 37.11, held=32.0, compiles=False),
    "log_softmax of 1024 rows": _on_rows(log_softmax, 1024, 2048, held=16.0, compiles=True),
    "mean": _on_rows(mean, 4096, 2048, 33.71, flat=True, held=32.02, compiles=False),
    "mean of 2048 rows": _on_rows(mean, 2048, 2048, flat=True, held=16.01, compiles=True),
    "transpose": Known(*transpose(), "v7x", 32.0, False, 33.30),
    "transpose with 64 MiB": Known(*transpose(64), "v7x", 32.0, True),
    "attention": Known(*attention(), "v6e", 25.8, False, 37.22),
    "attention on v7x": Known(*attention(), "v7x", 25.8, False, 37.22),
    "attention with 64 MiB": Known(*attention(64), "v6e", 25.8, True),
    "int8 windows that stay": Known(*int8_windows(False), "v6e", 20.0, True),
    "int8 windows that move": Known(*int8_windows(True), "v6e", 40.0, False),
    **{f"256 bytes on {chip}": Known(*small(256), chip, 0.125, False) for chip in ("v4", "v5e", "v5p", "v6e", "v7x")},
    **{f"256 KiB on {chip}": Known(*small(1 << 18), chip, 0.125, True) for chip in ("v4", "v5e", "v5p", "v6e", "v7x")},
    "batched_matmul": Known(*batched_matmul(), "v6e", 1.5, True),
    "cross_entropy": Known(whole(cross_entropy, S((1024, 1))), (S((1024, 512)),) * 2, "v6e", 4.5, True),
    "gated_mlp": Known(*gated_mlp(), "v6e", 7.0, True),
    "layernorm": _on_rows(layernorm, 2048, 1024, held=16.0, compiles=True),
    "matmul_gelu": Known(*matmul_gelu(), "v6e", 2.13, True),
    "multi_head_attention": Known(*heads(), "v6e", 1.0, True),
    "qk_softmax": Known(*qk_softmax(), "v6e", 0.5, True),
    "pairwise": Known(*pairwise(), "v6e", 0.5, True),
    "rmsnorm_residual": _on_rows(rmsnorm_residual, 2048, 1024, inputs=2, held=24.0, compiles=True),
    "swiglu": Known(*swiglu(), "v6e", 20.0, True),
}
