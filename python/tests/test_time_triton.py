"""`palladion.time` of Triton kernels: vector sums, JAX's shipped ops, ladders of warps and stages."""

import functools
import json
import re

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as pltriton
from jax.experimental.pallas.ops.gpu import attention, layer_norm, softmax

import palladion
import tuned_kernels
from tuned_kernels import triton_product as product


def _add(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def add(x, y, block=1024, **params):
    spec = pl.BlockSpec((block,), lambda i: (i,))
    return pl.pallas_call(
        _add,
        grid=(x.shape[0] // block,),
        in_specs=[spec, spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltriton.CompilerParams(**params),
    )(x, y)


def vectors(size=1 << 22):
    return jnp.ones((size,), jnp.float32), jnp.ones((size,), jnp.float32)


def matrices(size=512):
    return jnp.ones((size, size), jnp.float16), jnp.ones((size, size), jnp.float16)


def timed(f, *args, **options):
    (kernel,) = palladion.time(f, *args, target="h100", **options).kernels
    return kernel


def test_a_vector_sum_takes_what_its_bytes_take():
    kernel = timed(functools.partial(add, num_warps=4), *vectors())
    least = kernel.roofline["bytes of DRAM, each once"]
    assert kernel.data["memory_bytes"] == 3 * 4 * (1 << 22)
    assert least == max(kernel.roofline.values()) and least < kernel.seconds < 1.3 * least
    assert 0.1 < kernel.uncertainty < 0.3 and "H200" in kernel.data["uncertainty_why"]


def test_a_chip_is_the_same_with_and_without_its_backend():
    f = functools.partial(add, num_warps=4)
    (named,) = palladion.time(f, *vectors(1 << 16), target="triton/h100").kernels
    assert named.seconds == timed(f, *vectors(1 << 16)).seconds


def test_what_is_not_compared_has_no_uncertainty():
    kernel = timed(functools.partial(product, num_warps=4, num_stages=3), *matrices())
    assert kernel.uncertainty is None and "how far that is off is not known" in str(kernel)
    assert any("LLVM and ptxas" in text for text in kernel.data["left_out"])


def test_lines_and_waits_are_the_users():
    kernel = timed(functools.partial(product, num_warps=4, num_stages=1), *matrices())
    (dot,) = [line for line in kernel.lines if line.op == "dot_general"]
    assert dot.frames[0][0] == tuned_kernels.__file__ and dot.stalls["global memory"] > 0
    assert sum(part.cycles for part in kernel.critical_path) == pytest.approx(kernel.cycles)


def test_stages_hide_loads():
    one, three = (timed(functools.partial(product, num_warps=4, num_stages=n), *matrices()).seconds for n in (1, 3))
    assert one > 1.5 * three


def test_a_lone_warp_multiplies_without_wgmma():
    one, four = (timed(functools.partial(product, num_warps=n, num_stages=3), *matrices()).seconds for n in (1, 4))
    assert one > 3 * four


def test_a_longer_row_of_a_shipped_softmax_takes_longer():
    times = [timed(softmax.softmax, jnp.ones((1024, n), jnp.float32)).seconds for n in (256, 1000, 4000)]
    assert times == sorted(times)


def test_a_shipped_layer_norm_finds_its_weights_in_l1():
    args = jnp.ones((64, 16, 1000)), jnp.ones((1000,)), jnp.ones((1000,))
    kernel = timed(lambda x, w, b: layer_norm.layer_norm(x, w, b), *args)
    traffic = {one["operand"]: one for one in kernel.data["traffic"]}
    assert traffic["args[1]"]["read_bytes"] < 0.2 * traffic["args[0]"]["read_bytes"]
    assert traffic["args[0]"]["read_bytes"] == 64 * 16 * 1000 * 4


def test_shipped_attention_and_its_gradient_have_times():
    q = jnp.ones((1, 256, 2, 64), jnp.float16)

    def attend(q, k, v):
        return attention.mha(q, k, v, None, causal=True)

    def loss(q, k, v):
        return attend(q, k, v).astype(jnp.float32).sum()

    forward = timed(attend, q, q, q)
    assert forward.roofline["matrix products"] > 0 and forward.stalls["a matrix product"] > 0
    back = palladion.time(jax.grad(loss, (0, 1, 2)), q, q, q, target="h100").kernels
    assert len(back) == 3 and back[-1].seconds > forward.seconds


def test_a_timeline_shows_blocks_loads_and_stages():
    f = functools.partial(product, num_warps=4, num_stages=3)
    drawn = palladion.time(f, *matrices(), target="triton/h100", timeline=0).kernels[0]
    plain = palladion.time(f, *matrices(), target="triton/h100").kernels[0]
    assert drawn.seconds == plain.seconds and drawn.stalls == plain.stalls
    data = json.loads(re.search(r'id="data">(.*?)</script>', drawn.page, re.DOTALL)[1])
    lanes = {lane["name"].split(": ")[-1] for lane in data["lanes"]}
    assert {"its 4 warps", "block", "a_ref, stage 2", "copies into stages", "products", "tensor cores"} <= lanes, lanes
    assert any(text.startswith("a_ref[0:128, 0:64] -> stage 0") for text in data["texts"])
    assert data["memory_peak"] > 3e12 and data["of"] == "SM 0"
    names = {event["name"] for event in json.loads(drawn.trace)["traceEvents"]}
    assert any(name.startswith("dot_general of a_ref, stage 0") for name in names)
    other = palladion.time(f, *matrices(), target="triton/h100", timeline=131).kernels[0]
    assert "no block on this SM" in other.page and other.seconds == plain.seconds


def test_draw_time_draws_a_triton_kernel():
    picture = palladion.draw_time(functools.partial(product, num_warps=4), *matrices(), target="triton/h100")
    assert "its 4 warps" in picture.svg() and "no block" not in picture.svg()


def test_a_b200_has_sums_and_refuses_products():
    f = functools.partial(add, num_warps=4)
    assert palladion.time(f, *vectors(1 << 16), target="b200").kernels[0].seconds > 0
    with pytest.raises(palladion.PalladionError, match="h100 and h200 have products"):
        palladion.time(functools.partial(product, num_warps=4), *matrices(), target="b200")


def test_a_plain_call_has_a_time_on_both_backends():
    def plain(x):
        spec = pl.BlockSpec((256,), lambda i: (i,))
        return pl.pallas_call(
            lambda x_ref, o_ref: _add(x_ref, x_ref, o_ref),
            grid=(x.shape[0] // 256,),
            in_specs=[spec],
            out_specs=spec,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        )(x)

    for target in ("h100", "triton/h100"):
        assert palladion.time(plain, jnp.ones((1 << 14,)), target=target).kernels[0].seconds > 0
