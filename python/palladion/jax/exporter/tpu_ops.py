"""Primitives of Mosaic TPU that are something else in kernel text: keys of its own generator are their words, what only
a profiler or the compiler's schedule sees is nothing,
and what JAX itself spells with other primitives is written as those.

Based on: JAX 0.10.2, `jax/_src/pallas/{einshape.py,mosaic/primitives.py,mosaic/random.py}`.
"""

import jax
import jax.numpy as jnp

from palladion.base.errors import ExportError
from palladion.jax.exporter.parameters import knows
from palladion.jax.exporter.types import tpu_key_words


def pass_on(writer, eqn, env):
    """The results are the operands."""
    for variable, atom in zip(eqn.outvars, eqn.invars):
        env[variable] = writer.read(env, atom)


@knows("label")
def _trace_value(writer, eqn, env):
    """Only a profile shows it."""


@knows()
def _add_dependency(writer, eqn, env):
    """pltpu.touch: an order for the compiler. Here the accesses of a core are in order anyway."""
    pass_on(writer, eqn, env)


@knows("memory_space")
def _memory_space(writer, eqn, env):
    """Where the compiler is to keep a value; no value changes."""
    pass_on(writer, eqn, env)


def results_of(writer, eqn, function, *operands) -> list:
    """Writes the equations of `function`, called with the texts `operands` of values with these types: (text, shape,
    dtype).
    """
    avals = [jax.ShapeDtypeStruct(shape, dtype) for _, shape, dtype in operands]
    jaxpr = jax.make_jaxpr(function)(*avals)
    with writer.inside(eqn):
        return writer.inline(jaxpr, [text for text, _, _ in operands])


def _written_as(writer, eqn, env, function, *operands):
    """The equations of `function` instead."""
    env.update(zip(eqn.outvars, results_of(writer, eqn, function, *operands)))


@knows()
def _split(writer, eqn, env):
    """The words of a key."""
    (key,) = eqn.invars
    _written_as(
        writer,
        eqn,
        env,
        lambda words: [words[0, i] for i in range(len(eqn.outvars))],
        (writer.read(env, key), tpu_key_words(key.aval.dtype), jnp.uint32),
    )


@knows("impl")
def _join(writer, eqn, env):
    """A key of its words."""
    words = [(writer.read(env, word), (), jnp.uint32) for word in eqn.invars]
    _written_as(
        writer, eqn, env, lambda *each: jnp.stack(each).reshape(tpu_key_words(eqn.outvars[0].aval.dtype)), *words
    )


@knows("equation", "sizes", "assert_is_tile_preserving")
def _einshape(writer, eqn, env):
    from jax._src.pallas import einshape

    params, (x,) = eqn.params, eqn.invars
    _written_as(
        writer,
        eqn,
        env,
        lambda value: einshape._einshape(params["equation"], value, **dict(params["sizes"])),
        (writer.read(env, x), x.aval.shape, x.aval.dtype),
    )


def _impl(aval):
    """JAX's implementation of keys of the generator of a TPU; None of any other value."""
    return aval.dtype._impl if tpu_key_words(aval.dtype) is not None else None


def _words(writer, env, atom, impl):
    """A key as an operand of `_written_as`."""
    return writer.read(env, atom), tuple(atom.aval.shape) + tuple(impl.key_shape), jnp.uint32


def on_tpu_keys(handlers: dict) -> dict:
    """The handlers of `random_...` primitives and of `get`;
    keys of a TPU's generator are written as their words, all others as before.
    """

    def seed(writer, eqn, env, impl):
        (value,) = eqn.invars
        _written_as(
            writer,
            eqn,
            env,
            lambda v: impl.seed(v).astype(jnp.uint32),
            (writer.read(env, value), value.aval.shape, value.aval.dtype),
        )

    def same(writer, eqn, env, impl):
        pass_on(writer, eqn, env)

    def bits(writer, eqn, env, impl):
        params, (key,) = eqn.params, eqn.invars
        _written_as(
            writer,
            eqn,
            env,
            lambda k: jax.lax.bitcast_convert_type(
                impl.random_bits(k, params["bit_width"], params["shape"]), jnp.uint32
            ),
            _words(writer, env, key, impl),
        )

    def fold_in(writer, eqn, env, impl):
        key, data = eqn.invars
        _written_as(
            writer,
            eqn,
            env,
            impl.fold_in,
            (writer.read(env, key), key.aval.shape, key.aval.dtype),
            (writer.read(env, data), data.aval.shape, data.aval.dtype),
        )

    def get(writer, eqn, env, impl):
        """As Mosaic TPU does it: each word by itself, for scalar memory gives scalars only."""
        ref, *indices = eqn.invars
        if indices or eqn.outvars[0].aval.shape or len(impl.key_shape) != 2:
            raise ExportError("of keys of a TPU's generator one is read at a time, from a ref that holds one")
        words = [writer.fresh() for _ in range(impl.key_shape[1])]
        for i, word in enumerate(words):
            writer.emit(
                "get",
                args=[f"{writer.read(env, ref)}.at[0, {i}]"],
                results=[word],
                types=["u32[]"],
                loc=writer.location(eqn),
            )
        join = lambda *each: jnp.stack(each).reshape(impl.key_shape)  # noqa: E731
        _written_as(writer, eqn, env, join, *((word, (), jnp.uint32) for word in words))

    writers = {
        "get": get,
        "random_seed": seed,
        "random_wrap": same,
        "random_unwrap": same,
        "random_bits": bits,
        "random_fold_in": fold_in,
    }

    def choice(own, written):
        def handler(writer, eqn, env):
            impl = _impl(eqn.outvars[0].aval) or _impl(eqn.invars[0].aval)
            written(writer, eqn, env, impl) if impl is not None else own(writer, eqn, env)

        handler.parameters = own.parameters
        return handler

    return {name: choice(handlers[name], written) for name, written in writers.items()}


TPU_OPS = {
    "prng_split": _split,
    "prng_join": _join,
    "trace_value": _trace_value,
    "add_dependency": _add_dependency,
    "with_memory_space_constraint": _memory_space,
    "einshape_lo": _einshape,
}
