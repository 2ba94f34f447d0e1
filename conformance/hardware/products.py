"""Matrix products of small operands by the tensor cores, of every type: what they keep of each product, and in which
order they add.

Each kernel makes 64 x 64 sums of K products: K is that of one instruction, or of four that follow each other.
"""

import functools

import inputs
import jax
import numpy as np
import tensor_core
from bounds import EXACT, Bound
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas import triton as plt
from recorded import Recorded

M = N = 64
I8, I32 = np.dtype(np.int8), np.dtype(np.int32)
OPERANDS = {
    "f16": inputs.F16,
    "bf16": inputs.BF16,
    "f32": inputs.F32,
    "f8e4m3fn": inputs.E4M3,
    "f8e5m2": inputs.E5M2,
    "i8": I8,
}
RESULTS = {
    "f16": ("f32", "f16"),
    "bf16": ("f32",),
    "f32": ("f32",),
    "f8e4m3fn": ("f32", "f16"),
    "f8e5m2": ("f32", "f16"),
    "i8": ("i32",),
}
TYPES = {"f32": inputs.F32, "f16": inputs.F16, "i32": I32}
SPANS = {"f16": 7, "bf16": 14, "f32": 14, "f8e4m3fn": 5, "f8e5m2": 10}


def near(seed, dtype, k):
    """Numbers of one size: the sum keeps nearly all bits of the products."""
    if dtype.kind == "i":
        return inputs.bits(seed, (M, k), dtype), inputs.bits(seed + 1, (N, k), dtype)
    return inputs.uniform(seed, (M, k), -1, 1, dtype), inputs.uniform(seed + 1, (N, k), -1, 1, dtype)


def apart(seed, dtype, k):
    """Numbers of many sizes: the largest decides which bits of the others are kept."""
    span = SPANS[dtype_tag(dtype)]
    return inputs.powers(seed, (M, k), -span, span, dtype), inputs.powers(seed + 1, (N, k), -span, span, dtype)


def cancelled(seed, dtype, k):
    """A large product and its opposite, and small ones between: what is left is what the sum kept of the small ones."""
    a, b = near(seed, dtype, k)
    large = 2.0 ** (SPANS[dtype_tag(dtype)] - (1 if dtype.itemsize > 1 else 0))
    a[:, 0], a[:, k - 1] = large, -large
    b[:, 0] = b[:, k - 1] = np.asarray(inputs.powers(seed + 2, (N,), -2, 2, dtype)).astype(dtype)
    return a, b


def anything(seed, dtype, k):
    """Random bits in every eighth element, so that NaN, infinities and subnormals meet numbers."""
    a, b = apart(seed, dtype, k)
    a[:, ::8] = inputs.bits(seed + 3, a[:, ::8].shape, dtype)
    b[: N // 2, 1::8] = inputs.bits(seed + 4, b[: N // 2, 1::8].shape, dtype)
    return a, b


def subnormal(seed, dtype, k):
    """Subnormal operands on one side."""
    a, b = near(seed, dtype, k)
    smallest = float(inputs.ml_dtypes.finfo(dtype).smallest_subnormal)
    mantissas = int(round(float(inputs.ml_dtypes.finfo(dtype).smallest_normal) / smallest))
    a = (
        ((inputs.words(seed + 5, M * k) % np.uint64(mantissas)).astype(np.float64) * smallest)
        .astype(dtype)
        .reshape(M, k)
    )
    return a, (b.astype(np.float64) * 8).astype(dtype)


def zeros(seed, dtype, k):
    """Zeros of both signs, and rows of one sign alone."""
    a, b = np.zeros((M, k), dtype), np.ones((N, k), dtype)
    a[::2] = -a[::2]
    a[::4, ::3] = -a[::4, ::3]
    b[::3] = -b[::3]
    return a, b


def tiny(seed, dtype, k):
    """Products about the smallest number of the result: where does a sum of small terms lose them?

    Row i has one product 2^-25 (of f16; the least halved elsewhere) times 2^j, and one of 2^-i below it.
    """
    a, b = np.zeros((M, k), dtype), np.zeros((N, k), dtype)
    info = inputs.ml_dtypes.finfo(dtype)
    least = int(np.round(np.log2(float(info.smallest_subnormal))))
    half = -25 - least if dtype.itemsize < 4 and dtype != inputs.BF16 else -20
    for i in range(M):
        a[i, 0], a[i, 1] = (-1.0) ** (i // 32) * 2.0 ** max(least, -14), (-1.0) ** (i // 32) * 2.0 ** max(least, -24)
    for j in range(N):
        b[j, 0] = 2.0 ** max(least, -11) if j < 32 else 2.0 ** max(least, half)
        b[j, 1] = 2.0 ** max(least, -(j % 32))
    if dtype in (inputs.BF16, inputs.F32):
        for i in range(M):
            a[i, :2] = [(-1.0) ** (i % 2) * 2.0 ** (-60 - i), 2.0 ** (-70 - i)]
        for j in range(N):
            b[j, :2] = [2.0 ** (-60 - j % 8), 2.0 ** (-60 - j)]
    return a, b


def ties(seed, dtype, k):
    """Numbers halfway between two of TensorFloat-32, over even and odd ones, times 1."""
    a, b = np.zeros((M, k), dtype), np.zeros((N, k), dtype)
    tie = ((inputs.words(seed, M) & np.uint64(0x007FE000)) | np.uint64(0x3F801000)).astype(np.uint32).view(np.float32)
    a[:, 0], b[:, 0] = np.where(np.arange(M) % 2, -tie, tie), np.resize(np.array([1, 2, 4, 8], dtype), N)
    return a, b


def dtype_tag(dtype):
    return next(tag for tag, one in OPERANDS.items() if one == dtype)


KINDS = {
    "near": near,
    "apart": apart,
    "cancelled": cancelled,
    "anything": anything,
    "subnormal": subnormal,
    "zeros": zeros,
    "tiny": tiny,
    "ties": ties,
}


def wgmma(make, dtype, out, with_c=False):
    """a [M, k] times b [N, k] transposed, which is the one form that all types have."""
    a, b = make()
    k = a.shape[1]
    swizzle = min(128, k * dtype.itemsize)
    tiles = (plgpu.TilingTransform((8, swizzle // dtype.itemsize)), plgpu.SwizzleTransform(swizzle))
    c = inputs.powers(40, (M, N), -4, 4, out) if with_c else None

    def body(a_ref, b_ref, *rest):
        c_ref, o_ref, a_smem, b_smem, full = rest if with_c else (None, *rest)
        plgpu.copy_gmem_to_smem(a_ref, a_smem, full)
        plgpu.copy_gmem_to_smem(b_ref, b_smem, full)
        plgpu.barrier_wait(full)

        def scope(acc):
            plgpu.wgmma(acc, a_smem, plgpu.transpose_ref(b_smem, (1, 0)))
            return acc[...]

        def add(acc):
            plgpu.wgmma(acc, a_smem, plgpu.transpose_ref(b_smem, (1, 0)))

        if with_c:
            index = ((),) if jax.__version_info__ < (0, 11) else ()
            o_ref[...] = pl.run_state(add)(
                plgpu.ACC.init(plgpu.load(c_ref, *index, layout=plgpu.Layout.WGMMA, optimized=False))
            )
        else:
            o_ref[...] = pl.run_scoped(scope, plgpu.ACC((M, N), out))

    kernel = plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((M, N), out),
        scratch_types=[
            plgpu.SMEM((M, k), dtype, transforms=tiles),
            plgpu.SMEM((N, k), dtype, transforms=tiles),
            plgpu.Barrier(num_arrivals=2),
        ],
    )
    return kernel, (a, b, c) if with_c else (a, b)


def triton_dot(make, dtype, out, rows, precision):
    a, b = make()
    a, b = a[:rows], np.ascontiguousarray(b[:rows].T)

    def body(a_ref, b_ref, o_ref):
        o_ref[...] = lax.dot_general(
            a_ref[...], b_ref[...], (((1,), (0,)), ((), ())), precision=precision, preferred_element_type=out
        )

    kernel = pl.pallas_call(
        body, out_shape=jax.ShapeDtypeStruct((rows, rows), out), compiler_params=plt.CompilerParams(num_warps=4)
    )
    return kernel, (a, b)


def room_of(result, arithmetic):
    """What the kept bits of `tensor_core.py` leave open: a bit of 2^-F of the largest term for each term, and the
    roundings of the links."""

    def room(args):
        return [tensor_core.largest_error(*[np.asarray(x) for x in args], dtype=TYPES[result], arithmetic=arithmetic)]

    return room


def _bound(tag, result, arithmetic="wgmma"):
    if tag == "i8":
        return EXACT

    def model(args):
        a, b, *c = (np.asarray(x) for x in args)
        return [tensor_core.computed(arithmetic, a, b, TYPES[result], *c)]

    return Bound(product=room_of(result, arithmetic), model=model, why=tensor_core.ARITHMETIC[arithmetic])


def arithmetic_of(tag, label, result, rows):
    """How Triton multiplies on Hopper. It avoids wgmma for 8-bit floats where the sum is f32, for its 13 bits."""
    if tag == "f32":
        return "fma" if label == "_ieee" else "tf32"
    if tag.startswith("f8"):
        return "mma" if result == "f16" and rows == 64 else "halves"
    return "mma"


def recorded():
    for tag, dtype in OPERANDS.items():
        step = 32 // dtype.itemsize  # one instruction
        for result in RESULTS[tag]:
            for seed, (kind, make) in enumerate(KINDS.items()):
                if (dtype.kind == "i" and kind != "near") or (kind == "ties" and tag != "f32"):
                    continue
                for k in (step, 4 * step):
                    given = functools.partial(make, 1000 + 10 * seed, dtype, k)
                    yield Recorded(
                        f"products/wgmma/{tag}_{result}/{kind}/k{k}",
                        functools.partial(wgmma, given, dtype, TYPES[result]),
                        "mosaic_gpu/h100",
                        _bound(tag, result),
                    )
            if dtype.kind != "i":
                given = functools.partial(apart, 1100, dtype, 4 * step)
                yield Recorded(
                    f"products/wgmma/{tag}_{result}/with_c/k{4 * step}",
                    functools.partial(wgmma, given, dtype, TYPES[result], True),
                    "mosaic_gpu/h100",
                    _bound(tag, result),
                )
        yield from _triton(tag, dtype, step)


def _triton(tag, dtype, step):
    precisions = (
        {"": None}
        if tag != "f32"
        else {"": None, "_tf32": lax.DotAlgorithmPreset.TF32_TF32_F32, "_ieee": lax.DotAlgorithmPreset.F32_F32_F32}
    )
    kinds = (
        ("near",)
        if dtype.kind == "i"
        else ("near", "apart", "anything", "zeros", "tiny") + (("ties",) if tag == "f32" else ())
    )
    for result in RESULTS[tag]:
        for rows in (16, 64):
            for label, precision in precisions.items():
                for kind in kinds:
                    given = functools.partial(KINDS[kind], 1200, dtype, max(4 * step, 32))
                    name = f"products/dot/{tag}_{result}{label}/{kind}/{rows}"
                    yield Recorded(
                        name,
                        functools.partial(triton_dot, given, dtype, TYPES[result], rows, precision),
                        "triton/h100",
                        _bound(tag, result, arithmetic_of(tag, label, result, rows)),
                    )
