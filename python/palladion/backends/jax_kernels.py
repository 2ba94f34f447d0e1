"""What the adapters of JAX share: the case's kernel as a JAX function (palladion.to_jax),
called with the case's arrays.

What it does not do: PRNG keys of their own type, whose words the kernel gets; lines of debug_print. JAX refuses in many
ways what it does not do; where its words say so, the case is not supported, and else it fails.
"""

import re

import jax
import ml_dtypes
import numpy as np

import palladion
from palladion.backends.protocol import NotSupported, Question

_UNSUPPORTED = re.compile(r"not (yet )?(supported|implemented)|(does|do) not support|unsupported", re.IGNORECASE)
# Types of kernel text that JAX has no arrays of.
_NOT_IN_JAX = (np.dtype(ml_dtypes.float6_e2m3fn), np.dtype(ml_dtypes.float6_e3m2fn))


def kernel_of(question: Question, interpret=False):
    """NotSupported where JAX cannot say what the kernel does."""
    if question.budget is not None:
        raise NotSupported("JAX has no budget of loop iterations")
    for name, array in (*question.inputs.items(), *question.outputs.items()):
        if array.dtype in _NOT_IN_JAX:
            raise NotSupported(f"{name}: JAX has no arrays of {array.dtype}")
    try:
        return palladion.to_jax(question.text, interpret=interpret)
    except palladion.ToJaxError as error:
        raise NotSupported(f"no JAX source: {error}") from error


def outputs_of(question: Question, kernel) -> dict[str, np.ndarray]:
    """The results of the kernel by the outputs' names; NotSupported where JAX says that of something."""
    try:
        results = [np.asarray(result) for result in kernel(*question.inputs.values())]
    except Exception as error:
        if thrown := _says_unsupported(error):
            raise NotSupported(f"JAX: {thrown}") from error
        raise
    return dict(zip(question.outputs, results, strict=True))


def _says_unsupported(error: Exception) -> str:
    """JAX's words, or "". Of an error in a callback it has the traceback as text,
    with what was thrown on the last line.
    """
    thrown = (
        (str(error).strip().splitlines() or [""])[-1]
        if isinstance(error, jax.errors.JaxRuntimeError)
        else f"{type(error).__name__}: {error}"
    )
    return thrown if thrown.startswith("NotImplementedError") or _UNSUPPORTED.search(thrown) else ""
