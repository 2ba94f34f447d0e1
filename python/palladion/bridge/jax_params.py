"""What JAX's own interpret parameters mean here, by tables.

A value that has no meaning here (a callback for each grid point, logging) leaves the kernel to JAX's interpreter, with
a PalladionWarning that says why. Input: objects of the classes InterpretParams and InterpretGPUParams (JAX 0.8 to
0.12), and True. They are known by name, so that nothing of JAX's interpreters is imported.
"""

from palladion import _library
from palladion.bridge.params import Params
from palladion.jax import jax_devices, jax_interpreters

CLAIMS = ("bare", "palladion", "gpu_interpret", "tpu_interpret", "interpret_true")
_CLASSES = {
    "InterpretParams": "tpu_interpret",
    "TPUInterpretParams": "tpu_interpret",
    "InterpretGPUParams": "gpu_interpret",
}

# Fields whose every value is translated below, or cannot change what a program means here;
# docs/guides/jax.md says why of each.
_ANY_VALUE = frozenset(
    (
        "detect_races",
        "on_race",
        "out_of_bounds_reads",
        "uninitialized_memory",
        "dma_execution_mode",
        "buffer_bounds",
        "num_cores_or_threads",
        "num_cores_per_device",
        "allow_hbm_allocation_in_run_scoped",
        "random_seed",
        "vector_clock_size",
        "num_tma_threads_per_device",
        "skip_floating_point_ops",
    )
)
# Fields that have to have this value, and why.
_ONLY = {
    "grid_point_recorder": (None, "it records in which order JAX's interpreter visits the grid"),
    "logging_mode": (None, "it logs what JAX's interpreter does; `palladion log` has what a kernel does here"),
    "inline_mgpu": ("error", "the code that it ignores would be left out"),
}
# How many TensorCores of one device a kernel may span, and a chip that has them.
_CHIP_OF_CORES = {1: None, 2: "v5p"}

RACE_CODES = ("RACE_RW", "RACE_WW", "RACE_ASYNC", "RACE_XDEV")
# What JAX's interpreters call a race: any two accesses without an order, equal bytes too,
# and (JAX 0.12) a missing commit_smem.
RACE_CODES_OF_JAX = (*RACE_CODES, "PROXY", "SAME_VALUE")

# What JAX's interpreter of a chip refuses whatever its parameters are: codes,
# and limits of docs/reference/operations.md (loads and stores of HBM).
_ALWAYS_RAISED = {
    "tpu_interpret": ("tpu.access.space", "OUT_REVISIT"),
    "gpu_interpret": ("BAR_DOUBLE", "BAR_UNAWAITED", "BAR_PENDING", "BAR_PHASE_SKIP", "NOT_AWAITED"),
}
# What it refuses besides with out_of_bounds_reads="raise".
_RAISED_BOUNDS = ("OOB", "OOB_BLOCK")


class NoMeaning(Exception):
    """The text says which field has a value that Palladion cannot honour, and why."""


def claim_of(interpret) -> str | None:
    """Which of CLAIMS a kernel with this `interpret` belongs to; None for an object of another library."""
    if isinstance(interpret, Params):
        return "palladion"
    if not interpret:
        return "bare"
    if interpret is True:
        return "interpret_true"
    return next((_CLASSES[c.__name__] for c in type(interpret).__mro__ if c.__name__ in _CLASSES), None)


def translated(interpret, of_mesh: bool = False, backend: str = "") -> Params:
    """NoMeaning where a field cannot be honoured. JAX's interpreters judge no target. JAX raises where a read is out of
    bounds; it reports a race and goes on, and raises where it has `on_race` (JAX 0.12) and that is not "warn".
    `of_mesh`: the kernel itself says how many cores or threads it has.
    `backend`: the one that the kernel itself names, "" for none."""
    if interpret is True:
        return Params(on_defect="warn", legality="off")
    fields = {name: getattr(interpret, name) for name in getattr(interpret, "__dataclass_fields__", ())}
    for name, value in fields.items():
        if name not in _ANY_VALUE and (name not in _ONLY or value != _ONLY[name][0]):
            why = f": {_ONLY[name][1]}" if name in _ONLY else ""
            raise NoMeaning(f"{type(interpret).__name__}({name}={value!r}) has no meaning in Palladion{why}")
    races = bool(fields.get("detect_races"))
    fill = fields.get("uninitialized_memory", "nan")
    raising = _ALWAYS_RAISED.get(claim_of(interpret), ())
    raising += _RAISED_BOUNDS if fields.get("out_of_bounds_reads", "raise") == "raise" else ()
    if races and fields.get("on_race") == "raise":
        raising += RACE_CODES_OF_JAX
    given = {
        "on_defect": "warn",
        "legality": "off",
        "raise_codes": raising,
        "bounds": fields.get("buffer_bounds", "logical"),
        "target": None if of_mesh else _target(interpret, fields) or _target_of_interpreter(interpret, backend),
    }
    if not races and fill == "nan":
        return Params(**given, engines_late=fields.get("dma_execution_mode") == "on_wait")
    return Params(**given, seeds=16 if races else 1, races=races, definedness=False, contracts=False, fill=fill)


def _target(interpret, fields) -> str | None:
    """A GPU kernel has the threads that it says itself, in JAX too.
    A TPU is of the kind that an abstract mesh around names, as in JAX.
    """
    name = next((n for n in ("num_cores_or_threads", "num_cores_per_device") if n in fields), None)
    if name is None or claim_of(interpret) != "tpu_interpret":
        return None
    cores, kind = fields[name], jax_devices.abstract_device_kind()
    if cores not in _CHIP_OF_CORES:
        raise NoMeaning(
            f"{type(interpret).__name__}({name}={cores}) has no meaning in Palladion: no TPU has so many TensorCores "
            "that one kernel spans; v4 and v5p have two"
        )
    chip = next((chip for chip in _library.chips() if chip["tpu"] and chip["device_kind"] == kind), None)
    return chip["name"] if chip is not None and cores <= chip["cores"] else _CHIP_OF_CORES[cores]


def _target_of_interpreter(interpret, backend: str) -> str | None:
    """Where a kernel that names no backend runs: JAX's interpreter is of a chip, whatever the kernel says."""
    return (
        {"tpu_interpret": "v5e", "gpu_interpret": "mosaic_gpu/h100"}.get(claim_of(interpret)) if not backend else None
    )


def refused(interpret, jaxprs) -> str | None:
    """Why JAX's interpreter of TPUs refuses the kernel with these parameters, where Palladion would run it."""
    if claim_of(interpret) == "tpu_interpret" and not getattr(interpret, "allow_hbm_allocation_in_run_scoped", True):
        if any(map(jax_interpreters.hbm_in_run_scoped, jaxprs)):
            return (
                "Cannot allocate HBM in `run_scoped` (no TPU can). For a test that does it all the same: "
                f"{type(interpret).__name__}(allow_hbm_allocation_in_run_scoped=True)"
            )
    return None
