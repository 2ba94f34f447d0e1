"""The kernels for GPUs that ship in JAX's wheel, at the sizes of `./dev run`."""

import functools

import jax
import numpy as np
from bounds import Bound
from palladion.real_kernels import gpu_kernels, hopper_kernels
from recorded import Recorded


def problem(case):
    """Arguments are made on the CPU: some take a division, which a GPU may round otherwise."""
    with jax.default_device(jax.devices("cpu")[0]):
        made = case.make()
        return made.function, tuple(np.asarray(x) for x in made.args)


def recorded():
    for module, target in ((gpu_kernels, "triton/h100"), (hopper_kernels, "mosaic_gpu/h100")):
        for case in module.cases():
            bound = Bound(
                absolute=case.atol,
                relative=case.rtol,
                why="upstream's tolerance; it is for both kernels and XLA's part of the function",
            )
            yield Recorded(f"wheel/{case.name}", functools.partial(problem, case), case.target or target, bound)
