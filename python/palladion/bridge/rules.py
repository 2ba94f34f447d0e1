"""Whose kernels are taken when JAX compiles a function for platform cpu, and what becomes of them.

On other platforms the same primitives get a rule that only refuses what was
meant for Palladion, because JAX would give a parameter object that it does not know to its slow interpreter without a word.
"""

import dataclasses
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import jax

from palladion import jax_versions, lowering
from palladion.bridge import jax_params, targets, transport
from palladion.bridge.params import Params
from palladion.exporter.errors import ExportError
from palladion.exporter.kernel import alias_pairs
from palladion.exporter.writer import TextFile
from palladion.interception import write_kernel
from palladion.running import PalladionWarning


@dataclasses.dataclass(frozen=True)
class _Installed:
    claim: frozenset = frozenset(("palladion",))
    params: Params = Params()


class _Rules:
    """What is registered with JAX, which keeps one table for the process."""

    def __init__(self):
        self.lock = threading.Lock()
        self.undo = ()
        self.installed = _Installed()


_rules = _Rules()


def register():
    """Puts the rules in place, once."""
    with _rules.lock:
        if not _rules.undo:
            lowering.hold()
            lowering.set_claim(_answer)
            _rules.undo = (lowering.release, jax_versions.register_kernel_rules("gpu", _refusal("gpu")),
                           jax_versions.register_kernel_rules("tpu", _refusal("tpu")))


def install(claim: str | Iterable[str] = ("bare", "palladion"), **params: Any) -> None:
    """From now on kernels run in Palladion on platform cpu wherever `claim` says so, outside of `emulate` too.

    claim: some of "bare" (no `interpret`), "palladion" (`interpret=palladion.Params(...)`), "tpu_interpret" and "gpu_interpret" (JAX's own
    parameter objects), "interpret_true". All else goes where it went before. `params` are fields of Params, for bare kernels.
    What JAX has compiled is forgotten, so that it meets the rules. `palladion.last_report()` has what the kernels did.
    """
    claim = frozenset((claim,) if isinstance(claim, str) else claim)
    if unknown := claim - set(jax_params.CLAIMS):
        raise ValueError(f"claim has {', '.join(map(repr, sorted(unknown)))}; it may have {', '.join(jax_params.CLAIMS)}")
    how = Params(**params)
    targets.check_name(how.target)
    register()
    _rules.installed = _Installed(claim, how)
    jax.clear_caches()


def uninstall() -> None:
    """Puts back the rules that were there before `install` or `emulate`; what was compiled meanwhile is forgotten."""
    with _rules.lock:
        for undo in reversed(_rules.undo):
            undo()
        lowering.set_claim(None)
        _rules.undo = ()
        _rules.installed = _Installed()
    jax.clear_caches()


def _claimed(interpret) -> Params | None:
    emulating = jax_versions.interpret_configuration()
    if isinstance(emulating, Params):  # also for a kernel function that was made before, or in another `emulate`
        return emulating
    claim = jax_params.claim_of(interpret)
    if claim is None or (claim not in _rules.installed.claim and claim != "palladion"):
        return None
    if claim == "palladion":
        return interpret
    if claim == "bare":
        return _rules.installed.params
    try:
        return jax_params.translated(interpret)
    except jax_params.NoMeaning as error:
        warnings.warn(f"{error} has no meaning in Palladion, so JAX's interpreter runs this kernel", PalladionWarning, stacklevel=3)
        return None


def _answer(name, context, nodes, params):
    how = _claimed(params.get("interpret"))
    return None if how is None else transport.lowered(context, nodes, _call_of(name, context, params, how))


def _call_of(name, context, params, how: Params) -> transport.KernelCall:
    file = TextFile()
    info = write_kernel(file, name, context, params)
    bounds = len(context.avals_in) - _operand_count(name, params) if name == "pallas_call" else 0
    aliases = [(bounds + source, out) for source, out in alias_pairs(params["input_output_aliases"])]
    target = targets.resolve(how.target, info.name, info.backend)
    call = transport.KernelCall(file.text(), target, how.options_text(), how.session, context.avals_in, context.avals_out, aliases)
    call.prepare()  # now, so that what cannot run is an error of the call that asks for it
    return call


def _operand_count(name, params) -> int:
    """Operands without the bounds of a dynamic grid, which JAX's numbers of aliased operands leave out."""
    mapping = params["grid_mapping"]
    return mapping.num_index_operands + mapping.num_inputs


def _refusal(platform):
    def make(name, fallback):
        def rule(context, *nodes, **params):
            if isinstance(params.get("interpret"), Params):
                raise ExportError(f"Palladion emulates on the CPU, and this program is compiled for platform {platform}. Put its arrays there: "
                                  "run it under `with jax.default_device(jax.devices('cpu')[0])`, or set JAX_PLATFORMS=cpu")
            if fallback is None:
                raise NotImplementedError(f"JAX has no rule for {name} on platform {platform}")
            return fallback(context, *nodes, **params)
        return rule
    return make
