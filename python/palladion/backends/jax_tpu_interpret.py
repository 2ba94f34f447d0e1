"""JAX's TPU interpreter (`pltpu.InterpretParams`) with its race detection.

It says only that there was a race, not of which kind: the finding is RACE_*.
A kernel for another backend than the TPU is not supported.
"""

import sys

from jax._src.pallas.mosaic.interpret import interpret_pallas_call
from jax.experimental.pallas import tpu as pltpu

from palladion.backends.jax_kernels import kernel_of, outputs_of
from palladion.backends.protocol import Answer, NotSupported, Question, serve

RACES = "RACE_*"


def run(question: Question) -> Answer:
    if not question.target.startswith(("generic", "mosaic_tpu")):
        raise NotSupported(f"it interprets kernels for TPUs; this one is for {question.target}")
    kernel = kernel_of(question, pltpu.InterpretParams(detect_races=True))
    interpret_pallas_call.reset_tpu_interpret_mode_state()  # an error leaves the state of its kernel behind
    outputs = outputs_of(question, kernel)
    raced = bool(getattr(interpret_pallas_call.races, "races_found", False))
    return Answer(None if raced else outputs, findings=[RACES] if raced else [], finds=[RACES])


if __name__ == "__main__":
    sys.exit(serve(run))
