"""What programs do with JAX's own interpreters of TPU and GPU kernels besides running them: they ask afterwards whether
races were found, have that forgotten, and force an interpreter on a stretch of the program.
The part of `jax_versions` that bridge/jax_state.py needs.

While `answer` holds, `interpret_pallas_call.races` (TPU) and `get_races()` (GPU) answer for the kernels that ran in
Palladion too, and `reset_tpu_interpret_mode_state` and `reset_gpu_interpret_mode_state` have their answer forgotten.
Modules are known by name and are not imported here. `plgpu.as_torch_kernel` compiles for a GPU where no interpreter
answers (`answer_torch`). What it does not catch: a module of JAX that is imported later, until `answer` is called
again, and functions of these names that a program has imported one by one before.
"""

import sys
import types
from collections.abc import Callable

from jax._src import config, core

_TPU, _GPU = (
    "jax._src.pallas.mosaic.interpret.interpret_pallas_call",
    "jax._src.pallas.mosaic_gpu.interpret.interpret_pallas_call",
)
_TORCH = "jax._src.pallas.mosaic_gpu.torch"
_RESETS = {
    "reset_tpu_interpret_mode_state": (_TPU, "jax.experimental.pallas.tpu", "jax._src.pallas.mosaic.interpret"),
    "reset_gpu_interpret_mode_state": (_GPU,),
}


class Races:
    """JAX's state of its race detector (None: its interpreter ran no kernel), with Palladion's kernels."""

    def __init__(self, own, found: Callable[[object], bool]):
        self._own, self._found = own, found

    @property
    def races_found(self) -> bool:
        return self._found(self._own) or bool(getattr(self._own, "races_found", False))

    def __getattr__(self, name):  # its logs of reads and writes
        return getattr(self._own, name)


class _Put:
    """What was put in place, by module and name, to be put back."""

    def __init__(self):
        self.before = {}  # (module's name, attribute) -> what was there


_put = _Put()


def answer(found: Callable[[object], bool], forget: Callable[[], None]) -> None:
    """Puts the answers in place in those modules of JAX that are there.
    `found(state of JAX)`: has a kernel in Palladion had a race?
    """
    if (tpu := sys.modules.get(_TPU)) is not None and "races" in vars(tpu) and type(tpu) is types.ModuleType:
        tpu.__class__ = _module_class(found, forget)  # its own functions use the name in its namespace, which stays
    if (gpu := sys.modules.get(_GPU)) is not None and hasattr(gpu, "get_races"):
        _replace(_GPU, "get_races", lambda own: lambda: Races(_state_of(own), found))
    for name, modules in _RESETS.items():
        for module in modules:
            if hasattr(sys.modules.get(module), name):
                _replace(module, name, lambda own: lambda: (forget(), own())[1])


def answer_torch(kernel_of: Callable[[Callable], Callable | None]) -> None:
    """From now on `plgpu.as_torch_kernel(f)` is `kernel_of(f)`, or JAX's own where that is None."""
    if hasattr(sys.modules.get(_TORCH), "_compile_fn"):
        _replace(_TORCH, "_compile_fn", lambda own: lambda fn, structs: kernel_of(fn) or own(fn, structs))


def put_back() -> None:
    """As it was before `answer`."""
    for (module, name), own in _put.before.items():
        setattr(sys.modules[module], name, own)
    _put.before.clear()
    if (tpu := sys.modules.get(_TPU)) is not None:
        tpu.__class__ = types.ModuleType


def _module_class(found, forget):
    def get(module):
        return Races(vars(module)["races"], found)

    def set_(module, value):
        forget()
        vars(module)["races"] = value

    return type("_AnsweringModule", (types.ModuleType,), {"races": property(get, set_)})


def _replace(module: str, name: str, made: Callable) -> None:
    if (module, name) in _put.before:
        return
    own = _put.before[module, name] = getattr(sys.modules[module], name)
    setattr(sys.modules[module], name, made(own))


def _state_of(get_races):
    try:
        return get_races()
    except AssertionError:  # JAX's interpreter ran no kernel
        return None


def import_gpu_interpreter() -> None:
    """So that programs which read its state find the answer there."""
    try:
        __import__(_GPU)
    except ImportError:  # before 0.9
        pass


def hbm_in_run_scoped(jaxpr) -> bool:
    """Does a kernel allocate memory of HBM in `run_scoped`?"""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        if equation.primitive.name == "run_scoped":
            made = getattr(equation.params["jaxpr"], "jaxpr", equation.params["jaxpr"]).invars
            if any(str(getattr(var.aval, "memory_space", "")) in ("hbm", "any") for var in made):
                return True
        if any(hbm_in_run_scoped(inner) for inner in core.jaxprs_in_params(equation.params)):
            return True
    return False


class _KeptConfiguration:
    """JAX's configuration of interpreters, as force_tpu_interpret_mode sees it: what `keeps(value that is set)` stays
    set.
    """

    def __init__(self, own, keeps: Callable[[object], bool]):
        self._own, self._keeps = own, keeps

    def swap_local(self, value):
        kept = self._keeps(self._own.value) and value is not None and not self._keeps(value)
        return self._own.value if kept else self._own.swap_local(value)

    def __getattr__(self, name):
        return getattr(self._own, name)


def keep_configuration(keeps: Callable[[object], bool]) -> None:
    """From now on a stretch of a program that forces one of JAX's interpreters (`force_tpu_interpret_mode`) leaves what
    this thread has set as it is, where `keeps(it)`. Once."""
    if not isinstance(config.pallas_tpu_interpret_mode_context_manager, _KeptConfiguration):
        config.pallas_tpu_interpret_mode_context_manager = _KeptConfiguration(
            config.pallas_tpu_interpret_mode_context_manager, keeps
        )
