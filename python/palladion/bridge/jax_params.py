"""What JAX's own interpret parameters mean here, by tables.

A value that has no meaning here (a callback for each grid point, a padded bound) leaves the kernel to JAX's interpreter, with a
PalladionWarning. Input: objects of the classes InterpretParams and InterpretGPUParams (JAX 0.8 to 0.12), and True. They are known by
name, so that nothing of JAX's interpreters is imported.
"""

from palladion.bridge.params import Params

CLAIMS = ("bare", "palladion", "gpu_interpret", "tpu_interpret", "interpret_true")
_CLASSES = {"InterpretParams": "tpu_interpret", "TPUInterpretParams": "tpu_interpret", "InterpretGPUParams": "gpu_interpret"}

# Fields that cannot change what a program means here: which of the legal orders is taken, sizes of tables that are not needed.
_WITHOUT_MEANING = frozenset((
    "detect_races", "on_race", "out_of_bounds_reads", "uninitialized_memory",  # translated below
    "dma_execution_mode", "random_seed", "vector_clock_size", "num_tma_threads_per_device", "allow_hbm_allocation_in_run_scoped",
    "skip_floating_point_ops",  # a short cut: here they are computed
))
# Fields that have to have this value.
_ONLY = {"num_cores_or_threads": 1, "num_cores_per_device": 1, "grid_point_recorder": None, "buffer_bounds": "logical",
         "logging_mode": None, "inline_mgpu": "error"}

RACE_CODES = ("RACE_RW", "RACE_WW", "RACE_ASYNC", "RACE_XDEV")


# What JAX's interpreter of a chip refuses whatever its parameters are, and a plain run finds: loads and stores of HBM, and no other ILLEGAL.
_ALWAYS_RAISED = {"tpu_interpret": ("ILLEGAL", "OUT_REVISIT")}


class NoMeaning(Exception):
    """The text says which field has a value that Palladion cannot honour."""


def claim_of(interpret) -> str | None:
    """Which of CLAIMS a kernel with this `interpret` belongs to; None for an object of somebody else."""
    if isinstance(interpret, Params):
        return "palladion"
    if not interpret:
        return "bare"
    if interpret is True:
        return "interpret_true"
    return next((_CLASSES[c.__name__] for c in type(interpret).__mro__ if c.__name__ in _CLASSES), None)


def translated(interpret) -> Params:
    """NoMeaning where a field cannot be honoured. JAX raises where a read is out of bounds; it reports a race and goes on, and raises
    where it has `on_race` (JAX 0.12) and that is not "warn"."""
    if interpret is True:
        return Params(on_defect="warn")
    fields = {name: getattr(interpret, name) for name in getattr(interpret, "__dataclass_fields__", ())}
    for name, value in fields.items():
        if name not in _WITHOUT_MEANING and (name not in _ONLY or value != _ONLY[name]):
            raise NoMeaning(f"{type(interpret).__name__}({name}={value!r})")
    races = bool(fields.get("detect_races"))
    fill = fields.get("uninitialized_memory", "nan")
    raising = _ALWAYS_RAISED.get(claim_of(interpret), ())
    raising += ("OOB",) if fields.get("out_of_bounds_reads", "raise") == "raise" else ()
    if races and fields.get("on_race") == "raise":
        raising += RACE_CODES
    if not races and fill == "nan":
        return Params(on_defect="warn", raise_codes=raising)
    return Params(seeds=16 if races else 1, races=races, definedness=False, contracts=False, fill=fill, on_defect="warn",
                  raise_codes=raising)
