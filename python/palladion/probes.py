"""What kernels ask about the chip while Python traces them, answered for a chip that is not there: `palladion.target`.

Answered in the thread that asks: JAX's abstract device (`jax.sharding.get_abstract_mesh().abstract_device`, `pltpu.get_tpu_info()`);
of every device `device_kind`, and `core_count` and `compute_capability` (GPUs) or `num_cores` (TPUs); `cuda_versions`, where this machine
has no CUDA. The numbers are those of the machine descriptions. What a device says of its platform stays: it computes on the CPU.
Not answered: all else that a driver knows (clocks, memory, topology); under `jax.set_mesh` and inside `shard_map` the abstract
device, which there is the mesh's own.
"""

import contextlib
import dataclasses
import functools
import linecache
import sys
import threading

import jax

from palladion import _library, jax_versions
from palladion.exporter.errors import ExportError

# CUDA 12.9.1: the first whose ptxas the shipped kernels trust again (attention_mgpu refuses causal masks from 12.8.0 on before it).
_CUDA_RUNTIME_VERSION = 12091
_GPU_ONLY, _TPU_ONLY = ("core_count", "compute_capability"), ("num_cores",)


@dataclasses.dataclass(frozen=True)
class Chip:
    """A chip that targets may name, as far as kernels ask."""

    name: str  # "h100"
    device_kind: str  # "NVIDIA H100 80GB HBM3", as JAX says on that chip
    tpu: bool
    generation: int  # of a TPU, or the major compute capability
    cores: int  # SMs of a GPU; TensorCores of a TPU that one kernel may span

    def attributes(self) -> dict:
        """What a JAX device of this chip has."""
        if self.tpu:
            return {"device_kind": self.device_kind, "num_cores": self.cores}
        return {"device_kind": self.device_kind, "core_count": self.cores, "compute_capability": f"{self.generation}.0"}


@functools.cache
def _chips() -> dict:
    return {chip["name"]: Chip(**chip) for chip in _library.chips()}


class _Asked(threading.local):
    def __init__(self):
        self.chips = []  # of this thread, the innermost last; None: answers as without a target


class _Held:
    """What is in place in JAX for the process while any thread has a target."""

    def __init__(self):
        self.lock = threading.Lock()
        self.holders = 0
        self.undo = contextlib.ExitStack()


_asked, _held = _Asked(), _Held()


def current() -> Chip | None:
    """The chip that answers in this thread."""
    return _asked.chips[-1] if _asked.chips else None


def target(chip: str) -> contextlib.AbstractContextManager[Chip]:
    """`with palladion.target("h100"):` kernels that this thread traces are told that they are on this chip.

    A chip, or a target with one ("mosaic_gpu/h100"). For kernels that ask the device for its number of cores, its kind or its compute
    capability, or JAX for CUDA's version. Where and how kernels run is not changed by it; `palladion.emulate("h100")` does both.
    """
    name = chip.rpartition("/")[2]
    if (chip != name and chip not in _library.targets()) or name not in _chips():
        raise _library.PalladionError(f"no chip {chip!r} is known; give one of {', '.join(_chips())}", _library.MALFORMED)
    return _answering(_chips()[name])


def of_target(name: str | None) -> contextlib.AbstractContextManager:
    """As `target`; nothing where `name` is None or has no chip ("generic")."""
    chip = _chips().get((name or "").rpartition("/")[2])
    return contextlib.nullcontext() if chip is None else _answering(chip)


@contextlib.contextmanager
def _answering(chip: Chip):
    _hold()
    _asked.chips.append(chip)
    try:
        platform = "tpu" if chip.tpu else "cuda"
        with jax_versions.abstract_device(chip.device_kind, chip.cores, platform):
            yield chip
    finally:
        _asked.chips.pop()
        _release()


@contextlib.contextmanager
def _unasked():
    """In this thread nobody answers meanwhile."""
    _asked.chips.append(None)
    try:
        yield
    finally:
        _asked.chips.pop()


def _hold():
    with _held.lock:
        if _held.holders == 0:
            with contextlib.ExitStack() as undo:
                undo.callback(jax_versions.answer_device_attributes(("device_kind", *_GPU_ONLY, *_TPU_ONLY), _answer))
                # JAX keeps a mesh's abstract device for good: it has to be that of the real devices.
                undo.callback(jax_versions.make_abstract_meshes_in(_unasked))
                undo.callback(jax_versions.replace_missing_cuda_versions(_CudaVersions()))
                _held.undo = undo.pop_all()
        _held.holders += 1


def _release():
    with _held.lock:
        _held.holders -= 1
        if _held.holders == 0:
            _held.undo.close()


def _answer(name: str):
    chip = current()
    return None if chip is None else chip.attributes().get(name)


class _CudaVersions:
    """Stands for the module that JAX has where CUDA is installed."""

    def cuda_runtime_get_version(self) -> int:
        chip = current()
        if chip is None or chip.tpu:
            raise ExportError(_advice("JAX for CUDA's version"))
        return _CUDA_RUNTIME_VERSION

    def __getattr__(self, name):
        raise AttributeError(f"palladion.target answers cuda_runtime_get_version only, not {name}")


def _advice(asked: str) -> str:
    chip = current()
    if chip is None:
        return (f"the program asks {asked}, and this machine cannot answer. Say which chip it is for: "
                'with palladion.target("h100"): ... answers for that chip')
    kind = "a TPU" if chip.tpu else "a GPU"
    return f"the program asks {asked}, which the target {chip.name} ({kind}) does not have; give the chip that it is written for"


def explained(error: BaseException) -> ExportError | None:
    """The error to raise instead, where a probe met nobody who could answer; None for any other error."""
    frame, line = _user_frame(error.__traceback__)
    asked = None
    if isinstance(error, AttributeError) and isinstance(error.obj, jax.Device) and error.name in _GPU_ONLY + _TPU_ONLY:
        asked = f"a device for its {error.name}"
    elif isinstance(error, AssertionError) and frame is not None and _misses_cuda_versions(frame, line):
        asked = "JAX for CUDA's version"
    elif isinstance(error, ValueError) and str(error).startswith("Unsupported TPU device kind"):
        asked = "JAX what TPU this is"
    if asked is None:
        return None
    return ExportError(_advice(asked), f"{frame.f_code.co_filename}:{line}" if frame is not None else "")


def _user_frame(traceback):
    """(frame, line) of the innermost frame of the user's Python, or (None, 0)."""
    found = None, 0
    while traceback is not None:
        if jax_versions.is_user_file(traceback.tb_frame.f_code.co_filename):
            found = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _misses_cuda_versions(frame, line: int) -> bool:
    """The frame's module has JAX's `cuda_versions`, which is None here, and this line of it asks."""
    if frame.f_globals.get("cuda_versions", sys) is not None:
        return False
    return "cuda_versions" in linecache.getline(frame.f_code.co_filename, line)
