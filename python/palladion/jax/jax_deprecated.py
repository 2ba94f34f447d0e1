"""Names of Pallas that JAX deprecates, moves or removes, and what Palladion does about each: the one list of them.

Source that Palladion writes spells such a name with `spelled(name)`. docs/reference/jax-versions.md has the list as a
table (tools/gen_docs.py), and python/tests/test_jax_deprecated.py runs kernels on a JAX without any of these names.
Importing this module needs no JAX. Based on: the sources of JAX 0.10.2 and 0.12.0.1. What later releases deprecate is
not here until they are read; a name that JAX warns of and that is missing here fails a test.
"""

import dataclasses
import importlib

# The short names of modules, as the sources that are written import them.
MODULES = {
    "pl": "jax.experimental.pallas",
    "pltpu": "jax.experimental.pallas.tpu",
    "plgpu": "jax.experimental.pallas.mosaic_gpu",
    "plsc": "jax.experimental.pallas.tpu_sc",
    "pl_primitives": "jax._src.pallas.primitives",
    "pallas_core": "jax._src.pallas.core",
}


@dataclasses.dataclass(frozen=True)
class Deprecated:
    name: str  # as kernels write it
    state: str  # in which of the releases that were read JAX warns, and in which it is gone
    instead: str  # what JAX says to write
    here: str  # what Palladion does
    others: tuple = ()  # other spellings of the same thing, the best first: in source that Palladion writes


NOT_USED = "not used by Palladion"

NAMES = (
    Deprecated(
        "pl.DeviceIdType",
        "warns in 0.12",
        "no `device_id_type=`: the form of `device_id` says it",
        "in written source only where the type is not MESH",
        ("pl_primitives.DeviceIdType",),
    ),
    Deprecated(
        "pl.reciprocal",
        "warns in 0.12",
        "`pltpu.reciprocal`",
        "written source has what this JAX has",
        ("pltpu.reciprocal", "pl_primitives.reciprocal"),
    ),
    Deprecated(
        "pl.core_map",
        "warns in 0.12",
        "`pl.kernel`",
        "written source has JAX's internal function of the same name",
        ("pallas_core.core_map",),
    ),
    Deprecated("pl.dot", "warns in 0.10.2, gone in 0.12", "`jnp.dot`, `@`", NOT_USED),
    Deprecated("pl.debug_checks_enabled", "warns in 0.10.2, gone in 0.12", "`pl.enable_debug_checks`", NOT_USED),
    Deprecated("pltpu.BufferedRefBase", "warns in 0.12", "nothing: JAX calls it internal", NOT_USED),
    Deprecated("pltpu.create_tensorcore_mesh", "warns in 0.12", "`pltpu.TensorCoreMesh`", NOT_USED),
    Deprecated("pltpu.HOST", "warns in 0.10.2, gone in 0.12", "`pl.HOST`", NOT_USED),
    Deprecated("pltpu.DeviceIdType", "warns in 0.10.2, gone in 0.12", "as for `pl.DeviceIdType`", NOT_USED),
    Deprecated("pltpu.semaphore", "warns in 0.10.2, gone in 0.12", "`pl.semaphore`", NOT_USED),
    Deprecated("pltpu.semaphore_read", "warns in 0.10.2, gone in 0.12", "`pl.semaphore_read`", NOT_USED),
    Deprecated("pltpu.semaphore_signal", "warns in 0.10.2, gone in 0.12", "`pl.semaphore_signal`", NOT_USED),
    Deprecated("pltpu.semaphore_wait", "warns in 0.10.2, gone in 0.12", "`pl.semaphore_wait`", NOT_USED),
    Deprecated("plgpu.transpose_ref", "warns in 0.12", "`ref.transpose(...)`", NOT_USED),
    Deprecated("plsc.bitcast", "warns in 0.12", "`pltpu.bitcast`", NOT_USED),
)

# Modules that are to go, and what of Palladion needs them.
GOING_MODULES = {
    "jax.experimental.pallas.triton": (
        "the backend warns in 0.12",
        "needed only by source written for Triton; the target `triton/...` runs without it",
    ),
    **{
        f"jax.experimental.pallas.ops.gpu.{name}": (
            "warns in 0.12",
            "cases of `python -m palladion.real_kernels`, left out where JAX has it no more",
        )
        for name in ("attention", "decode_attention", "layer_norm", "paged_attention", "rms_norm", "softmax")
    },
}

# Uses that warn without a name of their own.
USES = (
    (
        "`device_id_type=` of signals, copies and `plgpu.remote_ref`",
        "warns in 0.12",
        "never written for MESH, the default in 0.10.2 and 0.12",
    ),
    ("`pl.program_id` on Mosaic GPU", "warns in 0.12", "runs; `jax.lax.axis_index` runs as well"),
    ("`pl.pallas_call` for Mosaic GPU", "warns in 0.10.2, only JAX's interpreter in 0.11", "runs, as JAX 0.10 made it"),
    ("`BufferType.MANUAL` of a pipeline", "warns in 0.12", "not used by Palladion"),
)


def _has(name: str) -> bool:
    """Is it an attribute of its own, neither missing nor one that JAX warns of?"""
    module, _, attribute = name.partition(".")
    try:
        return attribute in vars(importlib.import_module(MODULES[module]))
    except ImportError:
        return False


def spelled(name: str) -> str:
    """How source for the installed JAX spells `name`, one of NAMES, so that it neither fails nor warns."""
    [row] = (row for row in NAMES if row.name == name)
    return next((one for one in (name, *row.others) if _has(one)), name)


def table() -> str:
    """The list in Markdown."""
    lines = ["| in JAX | what JAX does | JAX says to write | Palladion |", "|---|---|---|---|"]
    lines += [f"| `{row.name}` | {row.state} | {row.instead} | {row.here} |" for row in NAMES]
    lines += [f"| {use} | {state} |  | {here} |" for use, state, here in USES]
    lines += [f"| module `{module}` | {state} |  | {here} |" for module, (state, here) in GOING_MODULES.items()]
    return "\n".join(lines) + "\n"
