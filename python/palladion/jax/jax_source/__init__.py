"""Kernel text back to JAX: the inverse of the exporter.

`to_jax_source` writes a Python module, `to_jax` runs that module and gives its function,
so there is one implementation.
"""

from collections.abc import Callable


def to_jax_source(text: str, *, kernel: str | None = None) -> str:
    """The source of a Python module with `kernel(*arrays, interpret=False)`,
    which makes the same kernel call as the text.

    `kernel` is needed where the text has several. Raises ToJaxError, with the line and the operation,
    for what JAX cannot say.
    """
    from palladion.jax.jax_source.source import source_of

    return source_of(text, kernel)


def to_jax(text: str, *, kernel: str | None = None, interpret: object = False) -> Callable:
    """A function of JAX that calls the kernel: inputs in the order of its operands (bound, prefetch, in),
    outputs as a tuple.

    One output is a tuple, too. `interpret` is for the kernel call: False, True, or the InterpretParams of one of JAX's
    interpreters. Raises as `to_jax_source` does.
    """
    source = to_jax_source(text, kernel=kernel)
    module = {"__name__": "palladion_kernel"}
    exec(compile(source, "<palladion.to_jax>", "exec"), module)

    def call(*arrays):
        return module["kernel"](*arrays, interpret=interpret)

    call.source = source
    return call
