"""Random kernels with lane semantics whose verdict is one of layouts of values in registers
(make_layout_legality_golden.py).

Each loads arrays in several layouts, computes with them (conversions, selects, comparisons, broadcasts along rows and
columns, reductions, reshapes, slices, casts of layouts, loops, conditionals) and stores what comes out. Drawn with a
fixed seed for each kernel.
"""

import jax.numpy as jnp
import numpy as np
from gpu_legality_case import BF16, E4, E5, F16, F32, I8, I32, Case, layout
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

L = plgpu.Layout
SHAPE = (128, 128)
FLOATS = (F16, BF16, F32)


def strided(shape, size):
    return L.WG_STRIDED(shape=shape, vec_size=size)


MATRIX = (
    L.WGMMA,
    L.WGMMA,
    L.TCGEN05,
    L.WGMMA_TRANSPOSED,
    L.TCGEN05_TRANSPOSED,
    L.TCGEN05_TMEM_NATIVE,
    L.TCGEN05_TMEM_NATIVE(4),
    L.WGMMA_8BIT,
    L.WGMMA_UPCAST_2X,
    L.WGMMA_UPCAST_4X,
    L._WGMMA_ACC_32BIT,
    L.TCGEN05_M64_COLLECTIVE(64),
)
VECTOR = (
    L.WGMMA.reduce(1),
    L.WGMMA.reduce(1),
    L.WGMMA.reduce(0),
    L.TCGEN05.reduce(1),
    L.TCGEN05.reduce(0),
    L.TCGEN05_TMEM_NATIVE.reduce(1),
    L.WGMMA_TRANSPOSED.reduce(0),
    L.TMA_INDICES,
)


class Kernel:
    """One kernel while it is traced: the values made so far, and the draw."""

    def __init__(self, seed, refs):
        self.random = np.random.default_rng(seed)
        self.refs = refs
        self.values = []

    def pick(self, things):
        return things[int(self.random.integers(len(things)))]

    def chance(self, share):
        return self.random.random() < share

    def value(self, rank=None):
        found = [value for value in self.values if rank is None or value.ndim == rank]
        return self.pick(found or [self.load(rank or 2)])

    def layout_of(self, shape):
        if self.chance(0.25):
            return strided(shape, self.pick((1, 2, 4)) if len(shape) == 2 else 1)
        return self.pick(MATRIX if len(shape) == 2 else VECTOR)

    def load(self, rank=2):
        ref = self.pick([ref for ref in self.refs if len(ref.shape) == rank])
        kind = self.random.random()
        if kind < 0.5:
            value = ref[...]
        elif kind < 0.6:
            value = plgpu.load(ref, (), layout=self.layout_of(ref.shape))
        else:
            value = plgpu.load(ref, (), layout=self.pick((MATRIX if rank == 2 else VECTOR)[:3]), optimized=False)
        self.values.append(value)
        return value

    def number(self, value):
        """Of a type that one can compute with."""
        return value.astype(F32) if value.dtype in (E4, E5, I8, jnp.bool_) else value

    def like(self, value):
        """Another value of this shape, of the same type by a conversion."""
        others = [other for other in self.values if other.shape == value.shape]
        other = self.pick(others) if others and self.chance(0.8) else jnp.full(value.shape, 2, value.dtype)
        return other.astype(value.dtype)

    # ---- steps

    def unary(self):
        value = self.number(self.value())
        functions = [
            lax.neg,
            lax.abs,
            lax.square,
            lambda x: x * 2,
            lambda x: 3 - x,
            lambda x: jnp.clip(x, 0, 1),
            lambda x: jnp.maximum(x, 0),
        ]
        if jnp.issubdtype(value.dtype, jnp.floating):
            functions += [jnp.exp, jnp.sign, lambda x: x / 2, lax.logistic]
        return self.pick(functions)(value)

    def convert(self):
        value = self.value()
        types = (
            (F16, BF16, F32, I32)
            if value.dtype not in (E4, E5, I8)
            else (F32, F16)
            if value.dtype != I8
            else (F32, I32, BF16)
        )
        if value.dtype == F32 and self.chance(0.15):
            return value.astype(self.pick((E4, E5)))
        return value.astype(I8) if value.dtype == I32 and self.chance(0.4) else value.astype(self.pick(types))

    def binary(self):
        value = self.number(self.value())
        return self.pick((lax.add, lax.mul, lax.max, lax.sub))(value, self.like(value))

    def select(self):
        value = self.number(self.value())
        tested = [other for other in self.values if other.shape == value.shape]
        tested = self.number(self.pick(tested)) if tested else value
        other = value + 1 if self.chance(0.4) else self.like(value)
        compared = self.pick((lax.gt, lax.le, lax.eq))(
            tested, self.like(tested) if self.chance(0.3) else jnp.full_like(tested, 1)
        )
        return jnp.where(compared, value, other)

    def reduce(self):
        value = self.number(self.value(self.pick((2, 2, 1))))
        axes = self.pick((0, 1, 1, 1, (0, 1))) if value.ndim == 2 else 0
        return self.pick((jnp.sum, jnp.max, jnp.min))(value, axis=axes)

    def broadcast(self):
        value = self.value(1)
        if value.shape[0] not in SHAPE:
            return value
        axis = self.pick((0, 1))
        kind = self.random.random()
        if kind < 0.15:
            return jnp.broadcast_to(value[:, None] if axis == 0 else value[None, :], SHAPE)
        wide = lax.broadcast_in_dim(value, SHAPE, (axis,))
        return wide if kind < 0.55 else plgpu.layout_cast(wide, self.pick((L.WGMMA, L.TCGEN05, *MATRIX)))

    def cast(self):
        value = self.value(self.pick((1, 2, 2)))
        return plgpu.layout_cast(value, self.layout_of(value.shape))

    def filled(self):
        value = jnp.full(self.pick((SHAPE, SHAPE, SHAPE[:1])), 1.5, self.pick(FLOATS))
        return plgpu.layout_cast(value, self.layout_of(value.shape)) if self.chance(0.6) else value

    def counted(self):
        shape = self.pick((SHAPE, SHAPE[:1]))
        made = lax.broadcasted_iota(I32, shape, int(self.random.integers(len(shape))))
        return (
            plgpu.layout_cast(made, self.pick((MATRIX if len(shape) == 2 else VECTOR)[:4]))
            if self.chance(0.9)
            else made
        )

    def reshape(self):
        value = self.value()
        shapes = (
            ((2, 64, 128), (64, 256), (16384,))
            if value.shape == SHAPE
            else ((value.size // 2, 2), (2, value.size // 2), (1, value.size))
        )
        return value.reshape(self.pick(shapes))

    def slice(self):
        value = self.value(2)
        rows, columns = value.shape
        start, size = self.pick(((0, rows), (0, rows // 2), (rows // 2, rows // 2), (8, rows - 8)))
        return lax.slice(value, (start, 0), (start + size, self.pick((columns, columns, columns // 2, 12))))

    def loop(self):
        value = self.number(self.value())
        other, scale = self.like(value), self.pick((True, False))
        first = jnp.zeros(value.shape, value.dtype) if self.chance(0.3) else value
        step = lambda c: c * 2 if scale else c + other  # noqa: E731
        kind, unroll = self.random.random(), self.pick((None, None, 2, 4))
        if kind < 0.4:
            return lax.fori_loop(0, 4, lambda _, c: step(c), first, unroll=unroll)
        if kind < 0.6:
            return lax.fori_loop(0, 4, lambda _, c: jnp.where(c > 1, other, c), first)
        if kind < 0.8:
            return lax.while_loop(lambda c: c[1] < 5, lambda c: (step(c[0]), c[1] * 2 + 1), (first, 0))[0]
        return lax.fori_loop(0, 3, lambda _, c: (c[1], c[0]), (first, other))[0]

    def cond(self):
        value = self.number(self.value())
        other = self.like(value)
        one, two = self.pick(
            (
                (lambda: value + 1, lambda: value * 2),
                (lambda: value, lambda: other),
                (lambda: other, lambda: value + other),
                (lambda: value, lambda: jnp.zeros_like(value)),
            )
        )
        return lax.cond(pl.program_id(0) > 0, one, two)

    def barrier(self):
        return lax.optimization_barrier(self.value())

    def bits(self):
        value = self.value()
        to = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.int32}[jnp.dtype(value.dtype).itemsize]
        return lax.bitcast_convert_type(value, to) if value.dtype != jnp.bool_ else value

    def store(self):
        value = self.value()
        found = [ref for ref in self.refs if ref.shape == value.shape and jnp.issubdtype(ref.dtype, jnp.floating)]
        if not found:
            return pl.debug_print("{}", value)
        ref = self.pick(found)
        ref[...] = value if value.dtype == ref.dtype else value.astype(F32).astype(ref.dtype)
        return None


STEPS = {
    "unary": 3,
    "convert": 5,
    "binary": 5,
    "select": 4,
    "reduce": 4,
    "broadcast": 3,
    "cast": 3,
    "filled": 3,
    "counted": 1,
    "reshape": 1,
    "slice": 1,
    "loop": 3,
    "cond": 2,
    "barrier": 0.4,
    "bits": 0.5,
    "load": 4,
}


def random_kernel(seed):
    def body(x, o):
        def inside(plain, narrow, tiled, wide, row, column, bytes_):
            kernel = Kernel(seed, [x, o, plain, narrow, tiled, wide, row, column, bytes_])
            names, weights = list(STEPS), np.array(list(STEPS.values()))
            kernel.load(kernel.pick((2, 2, 2, 1)))
            for _ in range(int(kernel.random.integers(1, 6))):
                name = str(kernel.random.choice(names, p=weights / weights.sum()))
                value = getattr(kernel, name)()
                if value is not None and name != "load" and value.ndim:
                    kernel.values.append(value)
            kernel.values = kernel.values[-2:]
            kernel.store()

        pl.run_scoped(
            inside,
            plgpu.SMEM(SHAPE, F32),
            plgpu.SMEM(SHAPE, F16),
            plgpu.SMEM(SHAPE, F16, transforms=layout(F16, 128)),
            plgpu.SMEM(SHAPE, F32, transforms=layout(F32, 128)),
            plgpu.SMEM(SHAPE[:1], F32),
            plgpu.SMEM(SHAPE[1:], F32),
            plgpu.SMEM(SHAPE, E4),
        )

    return Case(f"layouts_{seed}", body, x=(F32, SHAPE), grid=(2,), grid_names=("g",))


def kernels():
    for seed in range(600):
        yield f"layouts_{seed}", lambda seed=seed: random_kernel(seed)
