"""The collective id of a kernel that names its barrier semaphore by a tag, or leaves the id to JAX.

Based on: JAX 0.12, `jax/_src/tpu_custom_call.py`: kernels with one tag have one id, and so have kernels whose code is
the same under `jax_pallas_auto_assign_collective_ids`. JAX counts such ids in each program; here an id is made of what
it stands for, so that programs that run one after another agree.
"""

import zlib

import jax

from palladion.base.errors import ExportError
from palladion.jax import jax_versions

_FIRST, _IDS = 1 << 30, 1 << 30  # far from those that users choose


def _tags(jaxprs) -> list:
    """Of each call of get_barrier_semaphore: its tag, or None."""
    inner = [one for jaxpr in jaxprs for one in jax_versions.all_jaxprs(jaxpr)]
    return [eqn.params.get("tag") for one in inner for eqn in one.eqns if eqn.primitive.name == "get_barrier_semaphore"]


def collective_id(params, jaxprs, grid="") -> int | None:
    """The `collective_id` of the text, None for none; `params` are the TPU's compiler parameters, or None."""
    given, tags = getattr(params, "collective_id", None), _tags(jaxprs)
    mode = getattr(jax.config, "jax_pallas_auto_assign_collective_ids", "no")
    named = {tag for tag in tags if tag is not None}
    if len(named) > 1:
        raise ExportError(
            "one kernel has one barrier semaphore, and get_barrier_semaphore is called with the tags "
            f"{', '.join(sorted(map(repr, named)))}; give all of them one tag"
        )
    if named and given is not None and mode != "override":
        raise ExportError(
            f"compiler_params have collective_id={given} and get_barrier_semaphore has the tag "
            f"{named.pop()!r}; give one of the two"
        )
    if not tags or (given is not None and mode != "override"):
        return given
    skips = getattr(params, "skip_device_barrier", False)
    if named:
        return _number(("tag", named.pop(), skips))
    return _number(("module", [str(jaxpr) for jaxpr in jaxprs], str(grid), skips)) if mode != "no" else given


def _number(key) -> int:
    return _FIRST + zlib.crc32(repr(key).encode()) % _IDS
