"""JAX's interpreter of Mosaic GPU kernels (`InterpretGPUParams`, from JAX 0.9) with its race detection.

It says only that there was a race, not of which kind: the finding is RACE_*.
A kernel for another backend than Mosaic GPU is not supported.
"""

import sys

from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams

from palladion.backends.jax_kernels import kernel_of, outputs_of
from palladion.backends.protocol import Answer, NotSupported, Question, serve
from palladion.jax import probes

RACES = "RACE_*"


def _races_found() -> bool:
    try:
        return bool(interpret_pallas_call.get_races().races_found)
    except AssertionError:  # no kernel ran
        return False


def run(question: Question) -> Answer:
    if not question.target.startswith("mosaic_gpu"):
        raise NotSupported(f"it interprets kernels for Mosaic GPU; this one is for {question.target}")
    kernel = kernel_of(question, InterpretGPUParams(detect_races=True))
    interpret_pallas_call.reset_gpu_interpret_mode_state()  # an error leaves the state of its kernel behind
    with probes.of_target(question.target):  # tracing asks the device what it is
        outputs = outputs_of(question, kernel)
    raced = _races_found()
    return Answer(None if raced else outputs, findings=[RACES] if raced else [], finds=[RACES])


if __name__ == "__main__":
    sys.exit(serve(run))
