"""What the adapters of JAX share: the case's kernel as a JAX function (palladion.to_jax), called with the case's arrays.

What it does not do: PRNG keys of their own type, whose words the kernel gets; lines of debug_print.
"""

import ml_dtypes
import numpy as np

import palladion
from palladion.backends.protocol import NotSupported, Question

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
    """The results of the kernel by the outputs' names; NotSupported where JAX says that it does not implement something."""
    try:
        results = [np.asarray(result) for result in kernel(*question.inputs.values())]
    except NotImplementedError as error:
        raise NotSupported(f"JAX does not implement it: {error}") from error
    return dict(zip(question.outputs, results, strict=True))
