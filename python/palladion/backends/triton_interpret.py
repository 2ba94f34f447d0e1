"""Triton's interpreter (TRITON_INTERPRET=1), for the kernels that triton_source.py can write. It looks for no mistakes.

Needs the package `triton`; without it nothing is supported.
"""

import linecache
import os
import sys

import numpy as np

from palladion.backends.protocol import Answer, NotSupported, Question, serve
from palladion.backends.triton_source import triton_source

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported


def _interpreted(source: str):
    try:
        import triton
        import triton.language as tl
    except ImportError as error:
        raise NotSupported(f"Triton is not installed here: {error}") from error
    name = f"<kernel {hash(source)}>"
    # Triton reads the source of its functions
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module = {"tl": tl, "__name__": "triton_kernel"}
    exec(compile(source, name, "exec"), module)
    return triton.jit(module["kernel"])


def run(question: Question) -> Answer:
    kernel = _interpreted(triton_source(question.text))
    inputs = [np.ascontiguousarray(array) for array in question.inputs.values()]
    outputs = {name: np.zeros(one.shape, one.dtype) for name, one in question.outputs.items()}
    kernel[(1,)](*[array.ctypes.data for array in (*inputs, *outputs.values())])
    return Answer(outputs)


if __name__ == "__main__":
    sys.exit(serve(run))
