"""Writes sweep_legality.txt: kernels of one operation each, and whether JAX's own lowering for the backend takes or
refuses each.

Usage: make_sweep_legality_golden.py [--out FILE] [--all] [--every N] [--why] [--only TARGET]
    (default: sweep_legality.txt.gz beside this script; needs PYTHONPATH=python)

The operations of sweep_operations.py by element type, rank and, on Mosaic GPU, semantics and layout of registers,
lowered by JAX for a GPU or TPU that is not there. Kernels that begin alike are together: a line `@ TARGET` and how they
begin, then a line for each, `NAME lowered|refused` and the rest of it. The C++ test
emu/check/legality/sweep_golden_test.cc looks for ILLEGAL in each. Some are kept, drawn by their names, so that the file
stays small; --all keeps all. Left out: what JAX refuses while it traces, which is no kernel yet, and the differences
that docs/spec/contracts.md names. Does not catch: what the compilers behind the lowering refuse.
"""

import argparse
import pathlib
import re
import sys
import warnings
import zlib
from unittest import mock

import golden_files
import jax
import jax.numpy as jnp
import palladion
from jax._src import mesh as mesh_lib
from jax.experimental import pallas as pl
from jax.experimental.mosaic.gpu import core as mosaic_gpu
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plt
from sweep_operations import RANKS, gpu_values, operations, tensor_memory

LANE, WG = plgpu.LoweringSemantics.Lane, plgpu.LoweringSemantics.Warpgroup
KEPT = {"triton/h100": 60, "mosaic_gpu/h100": 12, "mosaic_gpu/b200": 50, "mosaic_tpu/v5e": 55}  # of a hundred
# What docs/spec/gpu-limits.md names as not judged, in JAX's words: most of what layout inference refuses, and memory of
# reductions.
NOT_JUDGED = (
    "Failed to infer a possible set of layouts",
    "Tiling rank different than broadcast result rank",
    "Ran out of shared memory",
    "Unsupported reduction kind",
)
GPU_SHAPES = {(128,): (256,), (16, 128): (128, 128), (4, 16, 64): (2, 64, 64)}  # which fill the tiles of WGMMA


class Kernel:
    """`function` of arrays like `ins`: one call."""

    def __init__(self, name, target, function, ins, platform):
        self.name, self.target, self.function, self.ins, self.platform = name, target, function, ins, platform

    def text(self):
        text = palladion.export(self.function, *self.ins, target=self.target)
        lines = [re.sub(r"( #l\d+)(?=;?$)|( #l\d+)(?= *[;{]?$)", "", line).strip() for line in text.splitlines()]
        return " ".join(line for line in lines if not re.match(r"(file|loc|producer|target|pkir) ", line)).strip()

    def verdict(self):
        try:
            jax.jit(self.function).trace(*self.ins).lower(lowering_platforms=(self.platform,))
            return "lowered", ""
        except Exception as error:  # a refusal has many types
            cause = error.__cause__ or error
            return "refused", f"{type(cause).__name__}: {cause}"


def shaped(dims, dtype):
    return jax.ShapeDtypeStruct(dims, jnp.dtype(dtype))


def storable(function, ins):
    """The function with an output that memory holds: 32 bits for a bool."""
    out = jax.eval_shape(function, *ins)
    if out.dtype != jnp.bool_:
        return function, out
    return lambda *xs: jax.lax.convert_element_type(function(*xs), jnp.int32), shaped(out.shape, jnp.int32)


def of_blocks(function, ins, out, params):
    def body(*refs):
        refs[-1][...] = function(*(ref[...] for ref in refs[:-1]))

    return lambda *xs: pl.pallas_call(body, out_shape=out, compiler_params=params)(*xs)


def triton():
    for name, function, dims, types in operations():
        ins = [shaped(d, t) for d, t in zip(dims, types)]
        yield (
            name,
            "triton/h100",
            lambda f=function, ins=ins: (of_blocks(*with_out(f, ins), plt.CompilerParams()), ins, "cuda"),
        )


def tpu():
    for name, function, dims, types in operations():
        if any("64" in t and "f8" not in t for t in types):
            continue  # refused as operands: tpu_legality.txt
        ins = [shaped(d, t) for d, t in zip(dims, types)]
        yield (
            name,
            "mosaic_tpu/v5e",
            lambda f=function, ins=ins: (of_blocks(*with_out(f, ins), pltpu.CompilerParams()), ins, "tpu"),
        )


def with_out(function, ins):
    function, out = storable(function, ins)
    return function, ins, out


def of_layout(function, ins, out, semantics, layout):
    """Operands read from GMEM into registers, in `layout` or as JAX chooses; bools are made of numbers."""

    def body(*refs):
        read = [
            ref[...] if layout is None else plgpu.load(ref, (), layout=layout, optimized=False) for ref in refs[:-1]
        ]
        refs[-1][...] = function(*read)

    return lambda *xs: plgpu.kernel(
        body, out_type=out, compiler_params=plgpu.CompilerParams(lowering_semantics=semantics)
    )(*xs)


def gpu():
    for name, function, dims, types in operations():
        if "bool" in types:
            continue  # no bools in memory
        dims = [GPU_SHAPES.get(d, d) if d in RANKS else d for d in dims]
        ins = [shaped(d, t) for d, t in zip(dims, types)]
        for label, semantics in (("lane", LANE), ("wg", WG)):
            yield (
                f"{name}_blocks_{label}",
                "mosaic_gpu/h100",
                lambda f=function, ins=ins, s=semantics: (
                    of_blocks(*with_out(f, ins), plgpu.CompilerParams(lowering_semantics=s)),
                    ins,
                    "cuda",
                ),
            )
            layout = plgpu.Layout.WGMMA.reduce(1) if len(dims[0]) == 1 else plgpu.Layout.WGMMA
            yield (
                f"{name}_wgmma_{label}",
                "mosaic_gpu/h100",
                lambda f=function, ins=ins, s=semantics, at=layout: (of_layout(*with_out(f, ins), s, at), ins, "cuda"),
            )


def gpu_forms():
    for name, body, (x, out), mesh in gpu_values():
        for label, semantics in (("lane", LANE), ("wg", WG)):
            params = plgpu.CompilerParams(lowering_semantics=semantics)
            yield (
                f"{name}_{label}",
                "mosaic_gpu/h100",
                lambda body=body, x=x, out=out, mesh=mesh, params=params: (
                    lambda v: plgpu.kernel(body, out_type=out, compiler_params=params, **mesh)(v),
                    [x],
                    "cuda",
                ),
            )


def blackwell():
    for name, body, x, mesh in tensor_memory():
        for label, semantics in (("lane", LANE), ("wg", WG)):
            params = plgpu.CompilerParams(lowering_semantics=semantics)
            yield (
                f"{name}_{label}",
                "mosaic_gpu/b200",
                lambda body=body, x=x, mesh=mesh, params=params: (
                    lambda v: plgpu.kernel(body, out_type=x, compiler_params=params, **mesh)(v),
                    [x],
                    "cuda",
                ),
            )


def first_line(message):
    lines = str(message).split("Error details:")[-1].strip().splitlines()
    return (lines or [""])[0][:200]


def split(text):
    """How the kernel begins, and its body."""
    at = text.index(") {", text.index(" body @")) + 3
    return text[:at], text[at:].strip()


def records(arguments):
    for family in (triton, gpu, gpu_forms, blackwell, tpu):
        seen = set()
        for name, target, make in family():
            kept = arguments.all or family is gpu_forms or zlib.crc32(name.encode()) % 100 < KEPT[target]
            kept &= zlib.crc32(name.encode()) // 100 % arguments.every == 0
            if not kept or (arguments.only and not target.startswith(arguments.only)):
                continue
            assert name not in seen, name
            seen.add(name)
            if target.startswith("mosaic_gpu/b200"):
                jax.clear_caches()  # JAX remembers of an operation on tensor memory what other memory allows
            try:
                kernel = Kernel(name, target, *make())
                jax.jit(kernel.function).trace(*kernel.ins)
                text = kernel.text()
            except Exception as error:  # refused while it is traced, or in newer releases only
                print(f"{name} {target}: not a kernel: {type(error).__name__}: {first_line(error)}", file=sys.stderr)
                continue
            verdict, why = kernel.verdict()
            if family in (gpu, gpu_forms) and name.endswith("_wg") and any(reason in why for reason in NOT_JUDGED):
                print(f"{name} {target}: not judged: {first_line(why)}", file=sys.stderr)
                continue
            if arguments.why:
                print(f"{name} {target}: {verdict} {first_line(why)}", file=sys.stderr)
            yield target, name, verdict, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("sweep_legality.txt.gz"))
    parser.add_argument("--all", action="store_true", help="leave none of them out")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N of them")
    parser.add_argument("--why", action="store_true", help="print JAX's message of each refusal")
    parser.add_argument("--only", default="", help="targets that begin so")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    groups, count, refused = {}, 0, 0
    device = mesh_lib.AbstractDevice("TPU v5e", 1, "tpu")
    tpu_mesh = jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)
    with jax.sharding.use_abstract_mesh(tpu_mesh), mock.patch.object(mosaic_gpu, "_infer_arch", lambda: (10, 0)):
        for target, name, verdict, text in records(arguments):
            begin, body = split(text)
            groups.setdefault((target, begin), []).append(f"{name} {verdict} {body}\n")
            count, refused = count + 1, refused + (verdict == "refused")
    text = "".join(f"@ {target} {begin}\n" + "".join(kernels) for (target, begin), kernels in groups.items())
    golden_files.write(arguments.out, text)
    print(f"{count} kernels, {refused} refused", file=sys.stderr)


if __name__ == "__main__":
    main()
