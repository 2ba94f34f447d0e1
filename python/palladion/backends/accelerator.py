"""Real Pallas, compiled for the GPU or TPU of this host.
Where there is none, and for kernels of another backend, it is not supported.

What it does not see: whether the chip is of the generation that the case's target names. A case that is wrong on
purpose may take the device with it; the runner ends this process after its time.
"""

import sys

import jax

from palladion.backends.jax_kernels import kernel_of, outputs_of
from palladion.backends.protocol import Answer, NotSupported, Question, serve

_BACKENDS = {"gpu": ("triton", "mosaic_gpu"), "tpu": ("mosaic_tpu",)}


def run(question: Question) -> Answer:
    platform = jax.default_backend()
    if platform not in _BACKENDS:
        raise NotSupported(f"JAX has no GPU and no TPU here; its devices are {platform}")
    if not question.target.startswith(("generic", *_BACKENDS[platform])):
        raise NotSupported(f"this host has a {platform}; the kernel is for {question.target}")
    return Answer(outputs_of(question, kernel_of(question)))


if __name__ == "__main__":
    sys.exit(serve(run))
