"""Which target a kernel runs on: what the user says, else what the kernel says, else `generic`."""

from palladion import _library

_WRITTEN_FOR = {"mosaic_tpu": "TPUs", "mosaic_gpu": "GPUs, with Mosaic GPU", "triton": "GPUs, with Triton"}


def known() -> dict:
    """Backends by chip: {"h100": ["triton", "mosaic_gpu"], ...}."""
    chips = {}
    for name in _library.targets():
        backend, slash, chip = name.partition("/")
        if slash:
            chips.setdefault(chip, []).append(backend)
    return chips


def check_name(target: str | None):
    """PalladionError for a target that no kernel could have."""
    if target is not None and target not in _library.targets() and target not in known():
        raise _library.PalladionError(f"unknown target {target!r}; give one of the chips {', '.join(known())}, or one of "
                                      f"{', '.join(_library.targets())}", _library.MALFORMED)


def resolve(target: str | None, kernel: str, backend: str) -> str:
    """The target's full name; "" leaves it to the kernel. `backend` is what the kernel's own hints say, or ""."""
    check_name(target)
    if target is None or target == "generic":
        return target or ""
    chips = known()
    backends = chips.get(target) or [target.partition("/")[0]]
    if backend and backend not in backends:
        fitting = [chip for chip, names in chips.items() if backend in names]
        raise _library.PalladionError(
            f"the target {target!r} does not fit kernel @{kernel}, which is written for {_WRITTEN_FOR[backend]} (its compiler "
            f"parameters, mesh or memory spaces say so). Give one of the chips {', '.join(fitting)}, or leave the target out",
            _library.MALFORMED)
    # A kernel that says nothing is what JAX compiles with Triton on a GPU.
    return target if target not in chips else f"{backend or backends[0]}/{target}"
