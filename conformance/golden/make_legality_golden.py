"""Writes legality.txt: small kernels, and whether JAX's own lowering for the backend takes or refuses each.

Usage: make_legality_golden.py [--out FILE]      (default: legality.txt.gz beside this script; needs PYTHONPATH=python)

Each entry is a line `=== NAME TARGET lowered|refused` and the kernel's text. The C++ test
emu/check/legality/golden_test.cc looks for ILLEGAL in each: where JAX lowers there must be none, where it refuses at
least one. JAX lowers for a TPU or GPU that is not there (`lowering_platforms`), which needs no hardware. Does not
catch: what the compilers behind the lowering refuse.
"""

import argparse
import pathlib
import re

import golden_files
import jax
import jax.numpy as jnp
import numpy as np
import palladion
from jax._src import mesh as mesh_lib
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as plt
from palladion.jax.exporter.elementwise_names import ELEMENTWISE

BACKENDS = {
    "mosaic_tpu/v5e": ("tpu", pltpu.CompilerParams),
    "triton/h100": ("cuda", plt.CompilerParams),
    "mosaic_gpu/h100": ("cuda", plgpu.CompilerParams),
}
TPU, TRITON, GPU = BACKENDS
F32, BF16, I32, I8, U32 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.int8, jnp.uint32


def shape(dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


class Case:
    def __init__(self, name, target, body, ins, out, **call):
        self.name, self.target = name, target
        platform, params = BACKENDS[target]
        self.platform, self.ins = platform, ins
        call.setdefault("compiler_params", params())
        self.function = lambda *args: pl.pallas_call(body, out_shape=out, **call)(*args)

    def text(self):
        text = palladion.export(self.function, *self.ins)
        lines = [re.sub(r"( #l\d+)(?=;?$)|( #l\d+)(?= *[;{]?$)", "", line) for line in text.splitlines()]
        return "\n".join(line for line in lines if not re.match(r"(file|loc|producer) ", line))

    def verdict(self):
        device = mesh_lib.AbstractDevice("TPU v5e", 1, "tpu")
        mesh = jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)
        try:
            if self.platform == "tpu":
                with jax.sharding.use_abstract_mesh(mesh):
                    jax.jit(self.function).trace(*self.ins).lower(lowering_platforms=("tpu",))
            else:
                jax.jit(self.function).trace(*self.ins).lower(lowering_platforms=("cuda",))
            return "lowered", ""
        except Exception as error:  # a refusal has many types
            return "refused", f"{type(error).__name__}: {error}"


def copy(x, o):
    o[...] = x[...]


def blocked(array, block, **spec):
    rank = len(array)
    return dict(
        grid=tuple(-(-n // (b or 1)) for n, b in zip(array, block)),
        in_specs=[pl.BlockSpec(block, lambda *i: i[:rank], **spec)],
        out_specs=pl.BlockSpec(block, lambda *i: i[:rank], **spec),
    )


def block_cases():
    random = np.random.default_rng(1)
    sizes = [1, 2, 7, 8, 16, 24, 64, 100, 128, 200, 256, 384, 512, 1024, 2048, 3072]
    for n in range(60):
        rank = int(random.integers(1, 4))
        array = tuple(int(random.choice(sizes)) for _ in range(rank))
        block = tuple(int(a if random.random() < 0.3 else random.choice([s for s in sizes if s <= a])) for a in array)
        if rank == 3 and random.random() < 0.3:
            block = (None, *block[1:])
        dtype = [F32, BF16, I8, I32][int(random.integers(4))]
        yield Case(f"block_{n}", TPU, copy, [shape(array, dtype)], shape(array, dtype), **blocked(array, block))
    for count in (1, 2, 3):
        yield Case(
            f"buffers_{count}",
            TPU,
            copy,
            [shape((16, 256))],
            shape((16, 256)),
            **blocked((16, 256), (8, 128), pipeline_mode=pl.Buffered(count)),
        )
    for space in (pl.ANY, pltpu.SMEM, pltpu.VMEM):
        yield Case(
            f"moves_in_{space}".replace(".", "_").lower(),
            TPU,
            lambda x, o: None,
            [shape((16, 256))],
            shape((16, 256)),
            **blocked((16, 256), (8, 128), memory_space=space),
        )
    elements = [pl.BlockSpec((pl.Element(8), pl.Element(128)), lambda i: (8 * i, 0))]
    mixed = [pl.BlockSpec((pl.Element(8), 128), lambda i: (8 * i, 0))]
    for name, specs in (("elements", elements), ("elements_and_blocks", mixed)):
        yield Case(name, TPU, lambda x, o: None, [shape((16, 128))], shape((8, 128)), grid=(2,), in_specs=specs)
        yield Case(name, GPU, lambda x, o: None, [shape((16, 128))], shape((8, 128)), grid=(2,), in_specs=specs)


VMEM, SMEM, HBM = (
    (lambda s: pl.BlockSpec(memory_space=s))(pltpu.VMEM),
    pl.BlockSpec(memory_space=pltpu.SMEM),
    pl.BlockSpec(memory_space=pl.ANY),
)


def access_cases():
    """x in VMEM, s in SMEM, h in HBM, o in VMEM, c in SMEM."""

    def case(name, body):
        return Case(
            name,
            TPU,
            body,
            [shape((8, 128)), shape((4,), I32), shape((8, 128))],
            (shape((8, 128)), shape((4,), F32)),
            in_specs=[VMEM, SMEM, HBM],
            out_specs=(VMEM, SMEM),
        )

    def store_scalar(x, s, h, o, c):
        o[1, 1] = 1.0

    def store_smem(x, s, h, o, c):
        c[1] = 1.0

    def store_smem_array(x, s, h, o, c):
        c[...] = jnp.zeros((4,), F32)

    def load_hbm(x, s, h, o, c):
        o[...] = h[...]

    def load_vmem(x, s, h, o, c):
        o[...] = x[...]

    def load_smem(x, s, h, o, c):
        c[s[0]] = 1.0

    def load_smem_array(x, s, h, o, c):
        o[...] = jnp.broadcast_to(s[...].sum().astype(F32), (8, 128))

    def scalar_of_vmem(x, s, h, o, c):
        c[0] = x[0, 0]

    def index_array(x, s, h, o, c):
        o[...] = x[jax.lax.broadcasted_iota(I32, (8,), 0)]

    def load_mask(x, s, h, o, c):
        o[...] = pltpu.load(x, mask=jnp.ones((8, 128), jnp.bool_))

    def store_mask(x, s, h, o, c):
        pltpu.store(o, x[...], mask=x[...] > 0)

    def strided(x, s, h, o, c):
        o[pl.ds(0, 4, 2)] = x[pl.ds(0, 4, 2)]

    def strided_then_sliced(x, s, h, o, c):
        o[0:2] = x.at[pl.ds(0, 4, 2)][0:2]

    def dynamic_row(x, s, h, o, c):
        o[s[0]] = x[s[1]]

    for body in (
        store_scalar,
        store_smem,
        store_smem_array,
        load_hbm,
        load_vmem,
        load_smem,
        load_smem_array,
        scalar_of_vmem,
        index_array,
        load_mask,
        store_mask,
        strided,
        strided_then_sliced,
        dynamic_row,
    ):
        yield case(body.__name__, body)

    def store_mask_16(x, o):
        pltpu.store(o, x[...], mask=x[...] > 0)

    yield Case("store_mask_16", TPU, store_mask_16, [shape((16, 128), BF16)], shape((16, 128), BF16))


def of_one_operand():
    """Elementwise operations of the registry on one f32; a new one comes by itself."""
    for name in ELEMENTWISE:
        f = getattr(jax.lax, name, None)
        try:
            if f is not None and jax.eval_shape(f, shape((16, 128))).dtype == F32:
                yield name, f
        except (TypeError, ValueError):  # of more operands, or of integers
            pass


def operation_cases():
    """Operations over matrices, on every backend that the operation might have."""

    def unary(name, target, f, dtype=F32, dims=(16, 128)):
        out = jax.eval_shape(f, shape(dims, dtype))

        def body(x, o):
            o[...] = f(x[...])

        return Case(name, target, body, [shape(dims, dtype)], out)

    functions = {
        "exp": jnp.exp,
        "erf": jax.lax.erf,
        "expm1": jnp.expm1,
        "tan": jnp.tan,
        "sinh": jnp.sinh,
        "acos": jnp.arccos,
        "cbrt": jnp.cbrt,
        "floor": jnp.floor,
        "sqrt": jnp.sqrt,
        "rsqrt": jax.lax.rsqrt,
        "round": jnp.round,
        "erf_inv": jax.lax.erf_inv,
        "log1p": jnp.log1p,
        "logistic": jax.nn.sigmoid,
        "rev": lambda x: jax.lax.rev(x, (0,)),
        "cumsum": lambda x: jax.lax.cumsum(x, 1),
        "sort": lambda x: jax.lax.sort(x, dimension=1),
        "reduce_prod": lambda x: jax.lax.reduce_prod(x, (1,))
        if hasattr(jax.lax, "reduce_prod")
        else jnp.prod(x, axis=1),
        "transpose": lambda x: x.T,
        "nextafter": lambda x: jax.lax.nextafter(x, x),
        "is_finite": lambda x: jnp.isfinite(x).astype(F32),
        "pad": lambda x: jnp.pad(x, ((0, 16), (0, 128))),
        "concatenate": lambda x: jnp.concatenate([x, x], axis=1),
    }
    functions |= {name: f for name, f in of_one_operand() if name not in functions}
    for target in BACKENDS:
        for name, f in functions.items():
            yield unary(name, target, f)
    for dtype in (F32, BF16, I32, U32, I8):
        yield unary(
            f"reduce_max_{jnp.dtype(dtype).name}",
            TPU,
            lambda x: jnp.broadcast_to(x.max(axis=0, keepdims=True), x.shape),
            dtype,
            (32, 128),
        )
    for dtype in (F32, BF16, I8, jnp.uint8):
        for target in (TPU, TRITON):

            def dot(x, y, o):
                o[...] = jax.lax.dot_general(x[...], y[...], (((1,), (0,)), ((), ())), preferred_element_type=o.dtype)

            out = shape((128, 128), F32 if jnp.issubdtype(dtype, jnp.floating) else I32)
            yield Case(f"dot_{jnp.dtype(dtype).name}", target, dot, [shape((128, 128), dtype)] * 2, out)


def triton_cases():
    for block in ((8, 128), (8, 100), (6, 128), (1, 1), (3, 3)):
        array = tuple(2 * b for b in block)
        yield Case(f"tensor_{block[0]}_{block[1]}", TRITON, copy, [shape(array)], shape(array), **blocked(array, block))
    x = shape((64,))
    yield Case("scratch", TRITON, lambda x, o, s: None, [x], x, scratch_shapes=[pltpu.VMEM((64,), F32)])

    def batched(x, y, o):
        o[...] = jax.lax.dot_general(x[...], y[...], (((2,), (1,)), ((0,), (0,))))

    def chained(x, o):
        o[0:16] = x.at[0:32][0:16]

    def halves(x, o):
        o[...] = jnp.concatenate([x[...], x[...]])

    def pairs(x, o):
        o[...] = jnp.concatenate([x[...].reshape(64, 1), x[...].reshape(64, 1)], axis=1)

    def gathered(x, i, o):
        o[...] = plt.load(x.at[i[...]])

    yield Case("dot_batched", TRITON, batched, [shape((2, 32, 32))] * 2, shape((2, 32, 32)))
    yield Case("chained", TRITON, chained, [x], x)
    yield Case("concatenate_rows", TRITON, halves, [x], shape((128,)))
    yield Case("concatenate_pairs", TRITON, pairs, [x], shape((64, 2)))
    yield Case("gathered", TRITON, gathered, [x, shape((32,), I32)], shape((32,)))


def triton_type_cases():
    """Element types for which JAX's lowering has no code. What only Triton's compiler refuses is recorded in
    conformance/hardware."""
    lax, dims = jax.lax, (16, 128)
    pairs = {"div": lax.div, "nextafter": lax.nextafter, "add": lax.add, "rem": lax.rem}
    single = {
        "logistic": lax.logistic,
        "erf_inv": lax.erf_inv,
        "integer_pow_-2": lambda x: lax.integer_pow(x, -2),
        "integer_pow_2": lambda x: lax.integer_pow(x, 2),
        "exp": lax.exp,
        "sqrt": lax.sqrt,
    }

    def case(name, f, dtype, count):
        xs = [shape(dims, dtype)] * count

        def body(*refs):
            refs[-1][...] = f(*[ref[...] for ref in refs[:-1]])

        return Case(f"{name}_{jnp.dtype(dtype).name}", TRITON, body, xs, jax.eval_shape(f, *xs))

    for dtype in (jnp.float16, BF16, F32):
        for name, f in pairs.items():
            yield case(name, f, dtype, 2)
        for name, f in single.items():
            yield case(name, f, dtype, 1)
    for narrow in (jnp.float8_e4m3fn, jnp.float8_e5m2):
        for dtype in (I8, jnp.int16, I32, U32, jnp.float16, BF16, F32, jnp.bool_):
            yield case(
                f"to_{jnp.dtype(dtype).name}", lambda x, dtype=dtype: lax.convert_element_type(x, dtype), narrow, 1
            )
            yield case(
                f"to_{jnp.dtype(narrow).name}", lambda x, narrow=narrow: lax.convert_element_type(x, narrow), dtype, 1
            )


def move_cases():
    """Values by indices that are values, and output blocks that come back."""

    def indexed(name, target, f, dims=(16, 128), index=(16, 128)):
        out = jax.eval_shape(f, shape(dims), shape(index, I32))

        def body(x, i, o):
            o[...] = f(x[...], i[...])

        return Case(name, target, body, [shape(dims), shape(index, I32)], out)

    along = lambda axis, mode: lambda x, i: jnp.take_along_axis(x, i, axis, mode=mode)
    for mode in ("fill", "clip", "promise_in_bounds"):
        for axis in (0, 1):
            yield indexed(f"take_along_axis_{axis}_{mode}", TPU, along(axis, mode))
    for axis in (0, 1, 2):
        yield indexed(f"take_along_axis_{axis}_of_3", TPU, along(axis, "promise_in_bounds"), (8, 8, 128), (8, 8, 128))
    yield indexed("take_rows", TPU, lambda x, i: x.at[i[:, 0]].get(mode="promise_in_bounds"))
    yield indexed("take_fewer", TPU, along(1, "promise_in_bounds"), (16, 256), (16, 128))
    yield indexed("diagonal", TPU, lambda x, i: jnp.broadcast_to(jnp.diagonal(x), (128, 128)), (128, 128))
    for target in BACKENDS:
        yield indexed("scatter", target, lambda x, i: x.at[i[:, 0]].set(0.0))
        yield indexed("scatter_add", target, lambda x, i: x.at[i[:, 0]].add(1.0))
    for mode in (pl.RevisitMode.ANY, pl.RevisitMode.IMMEDIATE):
        for count in (1, 2):
            yield Case(
                f"revisit_{mode.value}_{count}",
                TPU,
                copy,
                [shape((16, 256))],
                shape((16, 256)),
                **blocked((16, 256), (8, 128), pipeline_mode=pl.Buffered(count, revisit=mode)),
            )
    for name, f in {"max": jnp.max, "min": jnp.min, "sum": jnp.sum, "argmax": jnp.argmax}.items():
        yield Case(
            f"reduce_{name}_i32",
            TRITON,
            lambda x, o, f=f: o.__setitem__(..., f(x[...], axis=1).astype(I32)),
            [shape((16, 128), I32)],
            shape((16,), I32),
        )

    def reduced(name, f, dtype, out):
        return Case(name, TPU, lambda x, o: o.__setitem__(..., f(x[...])), [shape((16, 128), dtype)], out)

    for dtype in (F32, BF16, I32):
        yield reduced(f"argmin_{jnp.dtype(dtype).name}", lambda x: jax.lax.argmin(x, 1, I32), dtype, shape((16,), I32))
    for dtype in (jnp.bool_, I32):
        yield reduced(
            f"reduce_or_{jnp.dtype(dtype).name}",
            lambda x: jax.lax.reduce_or(x, (1,)).astype(I32),
            dtype,
            shape((16,), I32),
        )
    for reverse in (False, True):
        yield Case(
            f"cumsum_reverse_{reverse}",
            TRITON,
            lambda x, o, r=reverse: o.__setitem__(..., jax.lax.cumsum(x[...], 1, reverse=r)),
            [shape((16, 128))],
            shape((16, 128)),
        )


def all_cases():
    for family in (block_cases, access_cases, operation_cases, triton_cases, triton_type_cases, move_cases):
        yield from family()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("legality.txt.gz"))
    parser.add_argument("--reasons", action="store_true", help="print why each is refused")
    arguments = parser.parse_args()
    entries = []
    for case in all_cases():
        try:
            text = case.text()
        except Exception as error:  # what JAX does not even trace is no kernel
            print(f"left out: {case.name} on {case.target}: {type(error).__name__}: {str(error)[:200]}")
            continue
        verdict, reason = case.verdict()
        if arguments.reasons and reason:
            print(f"{case.name} {case.target}: {reason[:160]!r}")
        entries.append(f"=== {case.name} {case.target} {verdict}\n{text}\n")
    golden_files.write(arguments.out, "".join(entries))


if __name__ == "__main__":
    main()
