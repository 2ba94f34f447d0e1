"""Which kernels are taken when JAX compiles a function for platform cpu, and what becomes of them.

On other platforms the same primitives get a rule that only refuses what was meant for Palladion, because JAX would give
a parameter object that it does not know to its slow interpreter without a word.
"""

import dataclasses
import threading
import warnings
from collections.abc import Iterable
from typing import Any

import jax

from palladion._library import UNSUPPORTED, PalladionError
from palladion.base.errors import ExportError, PalladionWarning
from palladion.bridge import elsewhere, jax_params, jax_state, targets, transport
from palladion.bridge.channels import OUTSIDE, channels
from palladion.bridge.params import Params
from palladion.jax import jax_interpreters, jax_programs, jax_versions, lowering, probes, tensors
from palladion.jax.exporter.kernel import alias_pairs, infer_backend
from palladion.jax.exporter.writer import TextFile
from palladion.jax.interception import call_place, target_of, write_kernel
from palladion.report import refusals
from palladion.report.short_errors import short_errors


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
_OTHER_THREAD = (
    "Only interpret mode is supported on CPU backend (no GPU, no TPU). palladion.emulate is active, but not in this "
    "thread: it holds for the thread that entered it, for threads that are started inside it (threading, "
    "concurrent.futures, asyncio.to_thread), and not for those of C code or that were there before. Enter "
    "palladion.emulate in this thread, or use palladion.install"
)
_NO_SESSION = -1  # reports that are left there are dropped


def register():
    """Puts the rules in place, once."""
    jax_state.answer()
    jax_interpreters.answer_torch(lambda f: tensors.torch_kernel(f) if _takes_bare() else None)
    with _rules.lock:
        if not _rules.undo:
            lowering.hold()
            lowering.set_claim(_answer, _takes_bare)
            _rules.undo = (
                lowering.release,
                jax_programs.keep_runtime_tokens(),
                jax_versions.register_kernel_rules("gpu", _refusal("gpu")),
                jax_versions.register_kernel_rules("tpu", _refusal("tpu")),
            )


@short_errors
def install(claim: str | Iterable[str] = ("bare", "palladion"), **params: Any) -> None:
    """From now on kernels run in Palladion on platform cpu wherever `claim` says so, outside of `emulate` too.

    claim: some of "bare" (no `interpret`), "palladion" (`interpret=palladion.Params(...)`), "tpu_interpret" and
        "gpu_interpret" (JAX's own parameter objects), "interpret_true". All else goes where it went before.
    params: fields of Params, for bare kernels.

    What JAX has compiled is forgotten, so that it meets the rules. `palladion.last_report()` has what the kernels did.
    """
    claim = frozenset((claim,) if isinstance(claim, str) else claim)
    if unknown := claim - set(jax_params.CLAIMS):
        raise ValueError(
            f"claim has {', '.join(map(repr, sorted(unknown)))}; it may have {', '.join(jax_params.CLAIMS)}"
        )
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
        jax_interpreters.put_back()
        lowering.set_claim(None, lambda: False)
        _rules.undo = ()
        _rules.installed = _Installed()
    jax.clear_caches()


def _takes_bare() -> bool:
    """In this thread kernels without `interpret` run in Palladion."""
    return isinstance(jax_versions.interpret_configuration(), Params) or "bare" in _rules.installed.claim


def _claimed(context, name, params) -> Params | None:
    interpret = params.get("interpret")
    if jax_params.claim_of(interpret) == "gpu_interpret":
        jax_interpreters.import_gpu_interpreter()
    jax_state.answer()  # a kernel's parameters bring their interpreter along, but for a GPU's
    emulating = jax_versions.interpret_configuration()
    if isinstance(emulating, Params):  # also for a kernel function that was made before, or in another `emulate`
        return emulating
    claim = jax_params.claim_of(interpret)
    if claim is None or (claim not in _rules.installed.claim and claim != "palladion"):
        if claim == "bare" and channels.any_open():
            raise ValueError(_OTHER_THREAD)
        return None
    if claim == "palladion":
        return interpret
    if claim == "bare":
        return _rules.installed.params
    mesh = params["meshes"][0] if "meshes" in params else params.get("mesh")
    jaxprs = params["jaxprs"] if "jaxprs" in params else (params["jaxpr"],)
    try:
        how = jax_params.translated(
            interpret, mesh is not None, infer_backend(params.get("compiler_params"), mesh, jaxprs[0])
        )
    except jax_params.NoMeaning as error:
        warnings.warn(f"{error}; so JAX's interpreter runs this kernel", PalladionWarning, stacklevel=3)
        elsewhere.add_note(context, OUTSIDE, elsewhere.Elsewhere(name, elsewhere.JAX, str(error)))
        return None
    if (why := jax_params.refused(interpret, jaxprs)) is not None:
        raise ValueError(why)
    return how


def _answer(name, context, nodes, params, fallback):
    how = _claimed(context, params.get("name") or name, params)
    if how is None:
        return None
    if jax_programs.is_for_export(context):
        raise _no_export(context)
    jax_programs.expect_devices(context, call_place)
    jax_programs.keep_alive(context, _NotForFiles(call_place(context)))
    try:
        call = _call_of(name, context, params, how)
    except (ExportError, PalladionError) as error:
        if how.on_unsupported == "raise" or not elsewhere.is_unsupported(error):
            elsewhere.refused(how.session, _name_of(params), error)
            raise
        return _elsewhere(context, nodes, params, how, error, fallback)
    return transport.lowered(context, nodes, call, lambda: _silent(context, call, how))


class _NotForFiles:
    """Part of each compiled program with a kernel of ours: writing the program to a file fails here, with a reason."""

    def __init__(self, place: str):
        self.place = place

    def __reduce__(self):
        raise ExportError(
            "a compiled program with a kernel that Palladion emulates cannot be serialized: it calls the Palladion of "
            "this process, which no other has. Compile it outside of palladion.emulate, or where it is to run",
            self.place,
        )


def _name_of(params) -> str:
    return params.get("name") or jax_versions.function_name(
        params["jaxpr"] if "jaxpr" in params else params["jaxprs"][0]
    )


def _elsewhere(context, nodes, params, how: Params, error, fallback):
    """A kernel that Palladion cannot run, as `on_unsupported` says."""
    where = elsewhere.JAX if how.on_unsupported == "jax" else elsewhere.SKIPPED
    note = elsewhere.Elsewhere(_name_of(params), where, elsewhere.reason_of(error), refusal=refusals.refusal_of(error))
    elsewhere.add_note(context, how.session, note)
    if where == elsewhere.SKIPPED:
        return elsewhere.skipped(context, nodes)
    try:
        return fallback(context, *nodes, **{**params, "interpret": True})
    except Exception as of_jax:  # whatever JAX says, the user gets both messages
        raise PalladionError(
            f"{error}\nJAX's own interpreter, asked by on_unsupported='jax' as interpret=True, refuses it too: "
            f"{type(of_jax).__name__}: {of_jax}\nJAX may run it outside of emulate, with the interpreter of its chip "
            "(pltpu.InterpretParams)",
            UNSUPPORTED,
        ) from error


def _may_fail(context, how: Params) -> bool:
    """A call that fails on one of several devices leaves the others waiting for it, and XLA ends the process.
    The error is raised at the session's end.
    """
    return how.session == OUTSIDE or not jax_programs.is_one_of_several(context)


def _silent(context, call: transport.KernelCall, how: Params) -> transport.KernelCall:
    """The same results from one schedule, and no report.
    Outside of a session it fails where the other fails, for the same reason.
    """
    one = (
        dataclasses.replace(how, seeds=1, exhaustive=False, all_seeds=False, launches=1)
        if how.checks and how.session != OUTSIDE
        else how
    )
    options = one.options_text(_may_fail(context, how))
    return transport.KernelCall(
        call.text, call.target, options, _NO_SESSION, (call.in_avals, call.out_avals), call.aliases, call.info
    )


def _call_of(name, context, params, how: Params) -> transport.KernelCall:
    file, target = TextFile(), probes.given(how.target)
    info = write_kernel(file, name, context, params, target)
    bounds = len(context.avals_in) - _operand_count(name, params) if name == "pallas_call" else 0
    aliases = [(bounds + source, out) for source, out in alias_pairs(params["input_output_aliases"])]
    options = how.options_text(_may_fail(context, how))
    target = target_of(info, target)
    call = transport.KernelCall(
        file.text(), target or "", options, how.session, (context.avals_in, context.avals_out), aliases, info
    )
    try:
        call.prepare()  # now, so that what cannot run is an error of the call that asks for it
    except PalladionError as error:
        raise refusals.refused(error, call.text, None, target, how.legality != "off" and how.contracts) from None
    return call


def _operand_count(name, params) -> int:
    """Operands without the bounds of a dynamic grid, which JAX's numbers of aliased operands leave out."""
    mapping = params["grid_mapping"]
    return mapping.num_index_operands + mapping.num_inputs


def _no_export(context) -> ExportError:
    return ExportError(
        "jax.export meets a kernel that Palladion emulates: what it would write calls the Palladion of this process, "
        "which no other has. Export the program outside of palladion.emulate, for the platform that it is for, or "
        "with interpret=True",
        call_place(context),
    )


def _refusal(platform):
    def make(name, fallback):
        def rule(context, *nodes, **params):
            if isinstance(params.get("interpret"), Params):
                if jax_programs.is_for_export(context):
                    raise _no_export(context)
                raise ExportError(
                    f"Palladion emulates on the CPU, and this program is compiled for platform {platform}. Put its "
                    "arrays there: run it under `with jax.default_device(jax.devices('cpu')[0])`, or set "
                    "JAX_PLATFORMS=cpu",
                    call_place(context),
                )
            if fallback is None:
                raise NotImplementedError(f"JAX has no rule for {name} on platform {platform}")
            return fallback(context, *nodes, **params)

        return rule

    return make
