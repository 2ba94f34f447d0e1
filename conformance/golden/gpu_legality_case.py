"""What the kernels of gpu_legality.txt are made with (make_gpu_legality_golden.py): one kernel, and what JAX's lowering
says of it."""

import re
import sys
import zlib

import golden_files
import jax
import jax.numpy as jnp
import palladion
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F16, BF16, F32, F64, I8, U8, I16, I32, U32, I64 = (
    jnp.float16,
    jnp.bfloat16,
    jnp.float32,
    jnp.float64,
    jnp.int8,
    jnp.uint8,
    jnp.int16,
    jnp.int32,
    jnp.uint32,
    jnp.int64,
)
E4, E5 = jnp.float8_e4m3fn, jnp.float8_e5m2
LANE, WG = plgpu.LoweringSemantics.Lane, plgpu.LoweringSemantics.Warpgroup


class Case:
    def __init__(self, name, body, x=(F16, (64, 64)), semantics=LANE, approximate=False, devices=None, **mesh):
        """`devices`: {axis: size} of the mesh of devices that a kernel over several of them runs on, each with the
        whole of the operand."""
        self.name = name
        params = plgpu.CompilerParams(lowering_semantics=semantics, approx_math=approximate)
        self.x = jax.ShapeDtypeStruct(x[1], x[0])
        self.function = plgpu.kernel(body, out_type=self.x, compiler_params=params, **mesh)
        if devices:
            over = jax.sharding.AbstractMesh(
                tuple(devices.values()), tuple(devices), axis_types=(jax.sharding.AxisType.Auto,) * len(devices)
            )
            self.function = jax.shard_map(
                self.function, mesh=over, in_specs=jax.P(), out_specs=jax.P(), check_vma=False
            )

    def traced(self):
        return jax.jit(self.function).trace(self.x)

    def text(self):
        text = palladion.export(self.function, self.x)
        lines = [re.sub(r"( #l\d+)(?=;?$)|( #l\d+)(?= *[;{]?$)", "", line) for line in text.splitlines()]
        return "\n".join(line for line in lines if not re.match(r"(file|loc|producer) ", line))

    def verdict(self):
        try:
            self.traced().lower(lowering_platforms=("cuda",))
            return "lowered", ""
        except Exception as error:  # a refusal has many types
            cause = error.__cause__ or error
            return "refused", f"{type(cause).__name__}: {cause}"


def scoped(*types, axes=()):
    """A body that allocates `types` and hands the operand's ref, the output's and the allocations on."""
    return lambda body: lambda x, o: pl.run_scoped(lambda *refs: body(x, o, *refs), *types, collective_axes=axes)


def layout(dtype, swizzle, tiled=True):
    if not swizzle:
        return ()
    columns = 8 * swizzle // jnp.dtype(dtype).itemsize // 8
    return (*([plgpu.TilingTransform((8, columns))] if tiled else []), plgpu.SwizzleTransform(swizzle))


def first_line(message):
    return (str(message).splitlines() or [""])[0][:200]


def write_cases(cases, chip, arguments):
    """`cases` are (name, function that makes the Case); written are those that arguments.every keeps. Left out: what
    JAX refuses while it traces, which is no kernel yet.

    Each begins with empty caches: what JAX remembers of an operation on tensor memory does not tell collective memory
    from other memory, so that an operation may be let pass that is refused where it comes first.
    """
    entries = []
    every = getattr(arguments, "every", 1)
    for name, make in cases:
        if zlib.crc32(name.encode()) % every:
            continue
        jax.clear_caches()
        try:
            case = make()
            case.traced()
            text = case.text()
        except Exception as error:  # refused while it is traced, or in newer releases only
            print(f"{name}: not a kernel: {type(error).__name__}: {first_line(error)}", file=sys.stderr)
            continue
        verdict, why = case.verdict()
        if arguments.why:
            print(f"{name}: {verdict} {first_line(why)}", file=sys.stderr)
        entries.append(f"=== {name} mosaic_gpu/{chip} {verdict}\n{text}\n")
    golden_files.write(arguments.out, "".join(entries))
    print(
        f"{len(entries)} kernels, {sum(' refused' in entry.splitlines()[0] for entry in entries)} refused",
        file=sys.stderr,
    )
