"""One row of the table of real kernels: a shipped op at one size, what it is compared with, and how closely.

Tolerances are those of the op's upstream tests; where upstream has none for a type, `note` says so.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas import tpu as pltpu


@dataclasses.dataclass(frozen=True)
class Problem:
    """`function(*args)` calls the shipped kernels. `peer(*args)` is the same in JAX's interpreter,
    None where it cannot run.

    `oracle(*args)` is what the results are compared with; the peer where it is None.
    """

    function: object
    args: tuple
    peer: object
    oracle: object = None
    in_numpy: bool = False  # the oracle is NumPy's and is called, not compiled


@dataclasses.dataclass(frozen=True)
class Case:
    """`make` builds the problem when its turn comes."""

    group: int  # of the groups of shipped kernels, easiest first
    op: str
    variant: str  # types, sizes, options
    make: object
    atol: float
    rtol: float = 0.0
    oracle_name: str = "interpret=True"
    ragged: str = ""  # which edge is ragged here, or why none can be
    note: str = ""
    quick: bool = False  # part of --quick
    target: str | None = None  # of the kernels that ask for a chip; the others say what they are for themselves

    @property
    def name(self) -> str:
        return f"{self.op} {self.variant}"


def arrays(seed, *shapes, dtype=jnp.float32):
    """Standard normal arrays, the same on every host."""
    generator = np.random.default_rng(seed)
    return tuple(jnp.asarray(generator.standard_normal(shape), dtype) for shape in shapes)


def in_hlo_interpreter(function):
    """`function` with JAX's HLO interpreter forced on its kernels, for ops without an `interpret` argument."""

    def forced(*args):
        with pltpu.force_tpu_interpret_mode(True):
            return function(*args)

    return forced


def with_gradients(function, count, seed=7):
    """(*args) -> (results, gradients of the first `count` arguments for a fixed random cotangent)."""

    def both(*args):
        rest = args[count:]
        out, pull_back = jax.vjp(lambda *first: function(*first, *rest), *args[:count])
        leaves, tree = jax.tree.flatten(out)
        cotangents = [c.astype(leaf.dtype) for c, leaf in zip(arrays(seed, *[leaf.shape for leaf in leaves]), leaves)]
        return out, pull_back(jax.tree.unflatten(tree, cotangents))

    return both


def short_type(dtype) -> str:
    return {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}[np.dtype(dtype).name]
