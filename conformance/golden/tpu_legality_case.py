"""What the kernels of tpu_legality.txt are made with (make_tpu_legality_golden.py): one kernel, and what JAX's lowering
says of it."""

import re

import jax
import jax.numpy as jnp
import palladion
from jax._src import mesh as mesh_lib
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

F32, BF16, F16, I32, I16, I8, U32, U16, U8, BOOL = (
    jnp.float32,
    jnp.bfloat16,
    jnp.float16,
    jnp.int32,
    jnp.int16,
    jnp.int8,
    jnp.uint32,
    jnp.uint16,
    jnp.uint8,
    jnp.bool_,
)
E4, E5, I4 = jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.int4
TYPES = (F32, BF16, F16, E4, E5, I32, I16, I8, I4, U32, U16, U8, BOOL)
ALL, HBM, SMEM, VMEM, SEM = pl.ANY, pltpu.HBM, pltpu.SMEM, pltpu.VMEM, pltpu.SEMAPHORE
TARGET = "mosaic_tpu/v5e"


def shape(dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


def name_of(dtype):
    return jnp.dtype(dtype).name


def on_tpu():
    """The device that JAX asks about while it traces and lowers."""
    device = mesh_lib.AbstractDevice("TPU v5e", 1, "tpu")
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device))


class Case:
    """`function` of arrays of `ins`, which makes one call of a TPU kernel."""

    def __init__(self, name, function, *ins):
        self.name, self.function, self.ins = name, function, ins

    def text(self):
        with on_tpu():
            text = palladion.export(self.function, *self.ins)
        lines = [re.sub(r"( #l\d+)(?=;?$)|( #l\d+)(?= *[;{]?$)", "", line) for line in text.splitlines()]
        return "\n".join(line for line in lines if not re.match(r"(file|loc|producer) ", line))

    def lower(self):
        with on_tpu():
            jax.jit(self.function).trace(*self.ins).lower(lowering_platforms=("tpu",))

    def verdict(self):
        try:
            self.lower()
            return "lowered", ""
        except Exception as error:  # a refusal has many types
            return "refused", f"{type(error).__name__}: {error}"


def call(name, body, ins, out, **options):
    """A kernel of pallas_call whose operands are whole arrays in the default space."""
    options.setdefault("compiler_params", pltpu.CompilerParams())
    return Case(name, lambda *args: pl.pallas_call(body, out_shape=out, **options)(*args), *ins)


def traced_shape(f, *ins):
    """The shape of f's result; None where JAX does not trace f, so that making the case's text fails."""
    try:
        return jax.eval_shape(f, *ins)
    except (TypeError, ValueError, NotImplementedError, AttributeError, AssertionError):
        return None


def of_values(name, f, *ins):
    """f of the operands' values. What it gives is stored whole; scalars of f go to SMEM."""
    out = traced_shape(f, *ins)
    if out is None:
        return Case(name, f, *ins)

    def body(*refs):
        refs[-1][...] = f(*(ref[...] for ref in refs[:-1]))

    spaces = [pl.BlockSpec(memory_space=VMEM if x.shape else SMEM) for x in ins]
    return call(name, body, ins, out, in_specs=spaces, out_specs=pl.BlockSpec(memory_space=VMEM if out.shape else SMEM))


def of_scalars(name, f, *dtypes):
    """f of scalars, one of each type, in SMEM."""
    ins = [shape((1,), dtype) for dtype in dtypes]
    out = traced_shape(f, *(shape((), dtype) for dtype in dtypes))
    if out is None:
        return Case(name, f, *ins)

    def body(*refs):
        refs[-1][0] = f(*(ref[0] for ref in refs[:-1]))

    spec = pl.BlockSpec(memory_space=SMEM)
    return call(name, body, ins, shape((1,), out.dtype), in_specs=[spec] * len(ins), out_specs=spec)


def scoped(name, body, *scratch, ins=(shape((16, 128)),), out=shape((16, 128)), spaces=None, out_space=ALL, **options):
    """body(ins, out, scratch...) of refs in `spaces` (all of them in ANY unless said)."""
    spaces = spaces or [ALL] * len(ins)
    return call(
        name,
        body,
        ins,
        out,
        in_specs=[pl.BlockSpec(memory_space=s) for s in spaces],
        out_specs=pl.BlockSpec(memory_space=out_space),
        scratch_shapes=list(scratch),
        **options,
    )
