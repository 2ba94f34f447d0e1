"""Holds what Palladion gives against what a GPU gave: bit by bit, within a kernel's bound, or where a listed deviation
allows it."""

import dataclasses
import re

import inputs
import ml_dtypes
import numpy as np
import store


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Kernels whose names match `names` may differ at the elements that `where(arguments)` gives, and do.

    `kind`: "compiler" where the backend computes something else than the operation's meaning, "undefined" where LLVM
    leaves it open, "unbounded" where no document bounds an approximation.
    """

    names: str
    kind: str
    where: object
    why: str
    smallest: str  # the smallest kernel, as an expression, and what comes out


def is_nan(x):
    return np.isnan(np.asarray(x).astype(np.float64))


def is_zero(x, negative):
    return (np.asarray(x) == 0) & (np.signbit(np.asarray(x).astype(np.float64)) == negative)


def outside(result):
    """f32, f16 or bf16 to an 8-bit integer: what the type does not hold."""
    info = np.iinfo(result)

    def where(args):
        with np.errstate(invalid="ignore"):
            x = np.trunc(np.asarray(args[0]).astype(np.float64))
            return (x > info.max) | (x < info.min)

    return where


def large_quotient(args):
    """Quotients that are not 0 when they are truncated, and -0, whose sign is lost."""
    x, y = (np.asarray(a).astype(np.float64) for a in args)
    with np.errstate(all="ignore"):
        return ~(np.abs(x) < np.abs(y) / 2) | is_zero(x, True)


DEVIATIONS = (
    Deviation(
        r"triton/neg/(f32|f16|bf16)",
        "compiler",
        lambda args: is_zero(args[0], False),
        "Pallas writes 0 - x for -x (`_minus` of its Triton lowering), and 0 - 0 is +0",
        "-x of x = +0 gives +0, not -0",
    ),
    Deviation(
        r"(triton|mosaic)/sign/(f32|f16|bf16)",
        "compiler",
        lambda args: is_zero(args[0], True) | is_nan(args[0]),
        "Pallas' lowerings compare with 0, so that the sign of zero is lost; Mosaic GPU's takes the sign of a NaN, "
        "where lax.sign gives NaN",
        "sign(x) of x = -0 gives +0; on Mosaic GPU sign(NaN) gives 1",
    ),
    Deviation(
        r"triton/rem/(f32|f16|bf16)",
        "compiler",
        large_quotient,
        "LLVM's NVPTX backend expands frem to x - trunc(x / y) y with an approximate division, so a large quotient "
        "leaves nothing right",
        "rem(x, y) of f32 x = 1.2e38, y = 0.22 gives -inf",
    ),
    Deviation(
        r"triton/rem_by_zero/(i32|u32)",
        "undefined",
        lambda args: np.asarray(args[1]) == 0,
        "LLVM leaves the remainder of a division by zero undefined; the GPU gives all bits set (a finding DIV_ZERO is "
        "reported)",
        "rem(x, y) of i32 x = 2, y = 0 gives -1",
    ),
    Deviation(
        r"triton/cast/f8e5m2_to_bf16",
        "compiler",
        lambda args: ~np.isfinite(np.asarray(args[0]).astype(np.float64)),
        "Triton widens f8e5m2 to bf16 by moving bits and takes infinities and NaN for numbers with the exponent above "
        "the largest",
        "x.astype(bf16) of f8e5m2 x = inf gives 65536",
    ),
    Deviation(
        r"mosaic/cast/(f32|f16|bf16)_to_i8",
        "undefined",
        outside(np.int8),
        "LLVM leaves fptosi undefined where the number does not fit (a finding F2I is reported): by lanes the GPU "
        "converts to i32 and drops bits, by "
        "warpgroups it gives the nearest limit",
        "x.astype(i8) of f32 x = 128 gives -128",
    ),
    Deviation(
        r"mosaic/cast/(f32|f16|bf16)_to_u8",
        "undefined",
        outside(np.uint8),
        "as to i8; negative numbers give 0 either way",
        "x.astype(u8) of f32 x = 256 gives 0",
    ),
    Deviation(
        r"mosaic/(sin|cos)_approx/f32",
        "unbounded",
        lambda args: np.abs(np.asarray(args[0])) > 100 * np.pi,
        "PTX bounds sin.approx and cos.approx up to 100 pi only",
        "sin(x) with approx_math of x = 3.4e38 gives 0",
    ),
)


def deviations(name):
    return [one for one in DEVIATIONS if re.fullmatch(one.names, name)]


def bits(x):
    return np.ascontiguousarray(x).view(inputs.WORDS[np.asarray(x).dtype.itemsize])


def same(a, b):
    """The same bits, or both NaN."""
    equal = bits(a) == bits(b)
    return equal | (is_nan(a) & is_nan(b)) if a.dtype.kind not in "iub" else equal


def ordered(x):
    """Integers that count the steps between numbers; +0 and -0 are one."""
    if x.dtype.kind in "iub":
        return x.astype(np.int64)
    word = bits(x).astype(np.int64)
    top = 1 << (8 * x.dtype.itemsize - 1)
    return np.where(word >= top, top - word, word)


def ulps(a, b):
    return np.where(same(a, b), 0, np.abs(ordered(a) - ordered(b)))


def flushed(bound, args, a, b):
    """Where an instruction that takes subnormal numbers for zeros explains the difference."""
    if not bound.flushes:
        return np.zeros(a.shape, bool)
    least = float(ml_dtypes.finfo(a.dtype).smallest_normal)
    tiny = np.abs(b.astype(np.float64)) < least
    for arg in args:
        if np.size(arg) == a.size:
            tiny |= np.abs(np.asarray(arg).ravel().astype(np.float64)) < least
    wide = a.astype(np.float64)
    return tiny & ((np.abs(wide) <= least) | (wide == -np.inf))


def within(bound, args, number, a, b):
    """Elements of hardware's output `a` that the bound allows for the reference's `b`."""
    allowed = same(a, b)
    if bound.ulp:
        zeros = (a == 0) & (b == 0)
        allowed |= (ulps(a, b) <= bound.ulp) & ~zeros & (is_nan(a) == is_nan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        wide, reference = a.astype(np.float64), b.astype(np.float64)
        room = np.zeros(a.shape)
        if bound.product is not None:
            room = store.kept(np.asarray(bound.product(args)[number]))
        room = room + bound.absolute + bound.relative * np.where(np.isfinite(reference), np.abs(reference), 0)
        allowed |= (np.abs(wide - reference) <= room) & (room > 0)
        allowed |= np.isinf(room)
    return allowed | flushed(bound, args, a, b)


@dataclasses.dataclass
class Row:
    """What came out of the comparison of one output."""

    name: str
    equal: float  # the fraction that is the same bits
    worst: int  # steps between neighbouring numbers, of what is finite
    wrong: int  # elements that neither the bound nor a deviation allows
    deviating: int  # elements that a deviation has to allow
    example: str
    why: str
    model: bool | None = None  # whether a model of the hardware has the same bits, where there is one


def modelled(one, args, number, output):
    """By the hash of the whole output, NaNs included."""
    return None if one.bound.model is None else inputs.digest([one.bound.model(args)[number]]) == output["hash"]


def compare(one, args, output, hardware, reference):
    """`output`: (number of the output, its description in the index). `hardware` is what is kept of it, `reference` is
    whole."""
    number, description = output
    b = store.kept(reference)
    a = hardware.ravel()
    if a.dtype != b.dtype or a.size != b.size:
        return Row(one.name, 0.0, 0, a.size, 0, f"{a.dtype}[{a.size}] and {b.dtype}[{b.size}]", "types or sizes differ")
    equal, allowed = same(a, b), within(one.bound, args, number, a, b)
    listed = np.zeros(a.shape, bool)
    for deviation in deviations(one.name):
        listed |= np.asarray(deviation.where(args)).ravel()
    finite = np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64)) & ~listed
    wrong = ~allowed & ~listed
    example = ""
    if wrong.any() or not equal.all():
        i = int(np.flatnonzero(wrong if wrong.any() else ~equal)[0])
        operands = [str(np.asarray(x).ravel()[i]) for x in args if np.size(x) == a.size]
        example = f"element {i}: hardware {a[i]}, Palladion {b[i]}" + (
            f", of {', '.join(operands)}" if operands else ""
        )
    return Row(
        one.name,
        float(equal.mean()),
        int(np.max(ulps(a, b)[finite], initial=0)),
        int(wrong.sum()),
        int((~allowed & listed).sum()),
        example,
        one.bound.why,
        modelled(one, args, number, description),
    )
