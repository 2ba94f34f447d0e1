"""A backend to start from: copy it, and put your compiler, interpreter or device where `compiled` is made.

As it stands it compiles the kernel for JAX's default device. `palladion conformance --exec "python my_backend.py"` asks
it; what it may answer is in docs/guides/backends.md.
"""

import sys

import jax
import numpy as np

import palladion
from palladion.backends.protocol import Answer, NotSupported, Question, serve


def run(question: Question) -> Answer:
    if question.budget is not None:
        raise NotSupported("it has no budget of loop iterations")
    try:
        kernel = palladion.to_jax(question.text)  # a function of the inputs, with one pallas_call or kernel call
    except palladion.ToJaxError as error:
        raise NotSupported(f"no JAX source: {error}") from error
    compiled = jax.jit(kernel)
    results = compiled(*question.inputs.values())
    return Answer(outputs={name: np.asarray(result) for name, result in zip(question.outputs, results)})


if __name__ == "__main__":
    sys.exit(serve(run))
