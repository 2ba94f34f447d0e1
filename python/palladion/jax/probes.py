"""What programs ask about the chip while Python traces them, answered for a chip that is not there: `palladion.target`.

Answered in the thread that asks, to all but JAX's own placing of programs (jax_devices.py): of every device what
`Chip.of_device` says, of its client `platform` and `platform_version`, and so `jax.default_backend()`;
`jax.devices("gpu")` and its kin, which are the CPU's devices; JAX's abstract device, in meshes too, and so
`pltpu.get_tpu_info()`; `cuda_versions`, where this machine has no CUDA. The numbers are those of the machine
descriptions. How many devices and processes there are, and where programs run, stays. Not answered: all else that a
driver knows (clocks, topology, occupied memory).
"""

import contextlib
import dataclasses
import functools
import linecache
import sys
import threading

import jax

from palladion import _library
from palladion.base.errors import ExportError
from palladion.jax import jax_devices, jax_versions
from palladion.report.short_errors import short_errors

# CUDA 12.9.1: the first whose ptxas the shipped kernels trust again (attention_mgpu refuses causal masks from 12.8.0 on
# before it).
_CUDA_RUNTIME_VERSION = 12091
_GPU_ONLY = ("core_count", "compute_capability", "device_vendor")
_TPU_ONLY = ("num_cores", "coords", "core_on_chip")
_OF_BOTH = ("platform", "device_kind", "slice_index", "memory_stats")


@dataclasses.dataclass(frozen=True)
class Chip:
    """A chip that targets may name, as far as kernels ask."""

    name: str  # "h100"
    device_kind: str  # "NVIDIA H100 80GB HBM3", as JAX says on that chip
    tpu: bool
    generation: int  # of a TPU, or the major compute capability
    cores: int  # SMs of a GPU; TensorCores of a TPU that one kernel may span
    hbm_bytes: int

    @property
    def platform(self) -> str:
        return "tpu" if self.tpu else "gpu"

    def stands_for(self, backend: str) -> bool:
        """Whether JAX on this chip has the backend of this name."""
        return backend in (("tpu",) if self.tpu else ("gpu", "cuda"))

    def of_device(self, device: jax.Device) -> dict:
        """What a JAX device of this chip has. The devices lie in a line;
        each has its memory to itself, and nothing is in it.
        """
        stats = {
            "bytes_limit": self.hbm_bytes,
            "bytes_in_use": 0,
            "peak_bytes_in_use": 0,
            "largest_alloc_size": 0,
            "num_allocs": 0,
        }
        known = {
            "platform": self.platform,
            "device_kind": self.device_kind,
            "slice_index": 0,
            "memory_stats": lambda: dict(stats),
        }
        if self.tpu:
            return known | {"num_cores": self.cores, "coords": [device.id, 0, 0], "core_on_chip": 0}
        return known | {
            "core_count": self.cores,
            "compute_capability": f"{self.generation}.0",
            "device_vendor": "NVIDIA Corporation",
        }

    def of_client(self) -> dict:
        version = f"TFRT {self.device_kind}" if self.tpu else f"cuda {_CUDA_RUNTIME_VERSION // 10 * 10}"
        return {"platform": self.platform, "platform_version": f"PJRT C API\n{version}"}


@functools.cache
def _chips() -> dict:
    return {chip["name"]: Chip(**chip) for chip in _library.chips()}


class _Asked(threading.local):
    def __init__(self):
        self.targets = []  # of this thread, [name, Chip or None], the one entered last is the last
        self.outermost = None  # the context of the first: what it found is put back by the last that leaves


class _Held:
    """What is in place in JAX for the process while any thread has a target."""

    def __init__(self):
        self.lock = threading.Lock()
        self.holders = 0
        self.undo = contextlib.ExitStack()


_asked, _held = _Asked(), _Held()
_compiled_for = jax_devices.chip_context()


def current() -> Chip | None:
    """The chip that answers in this thread."""
    return _asked.targets[-1][1] if _asked.targets else None


def given(target: str | None) -> str | None:
    """The target to run on where the user gives this one: it, else that of the `target` or `emulate` around;
    PalladionError for none.
    """
    if target is not None:
        if not isinstance(target, str):
            raise TypeError(f'target is the name of a chip, such as "h100"; found {target!r}')
        _library.resolved_target(target)
        return target
    return _asked.targets[-1][0] if _asked.targets else None


@short_errors
def target(chip: str) -> contextlib.AbstractContextManager[Chip | None]:
    """`with palladion.target("h100"):` kernels that this thread traces see this chip.

    A chip, or a target with one ("mosaic_gpu/h100"); with "generic" nothing is answered. For programs that ask the
    device for its platform, its number of cores, its kind, ..., or JAX for CUDA's version. It is the target of what
    Palladion runs meanwhile with no target of its own. Where all else runs is not changed by it.
    """
    return of_target(given(chip))


def of_target(name: str | None) -> contextlib.AbstractContextManager:
    """As `target`; nothing where `name` is None."""
    return contextlib.nullcontext() if name is None else _answering(name)


@contextlib.contextmanager
def _answering(name: str):
    chip = _chips().get(name.rpartition("/")[2])
    _hold()
    mine, context = [name, chip], _compiled_for(name)
    context.__enter__()
    if not _asked.targets:
        _asked.outermost = context
    _asked.targets.append(mine)
    try:
        yield chip
    finally:
        # Coroutines of one thread may leave in another order than they entered: the last one that is
        # still inside answers.
        _asked.targets[:] = [one for one in _asked.targets if one is not mine]
        if _asked.targets:
            _compiled_for(_asked.targets[-1][0]).__enter__()
        else:
            _asked.outermost.__exit__(None, None, None)
        _release()


def _hold():
    with _held.lock:
        if _held.holders == 0:
            with contextlib.ExitStack() as undo:
                undo.callback(jax_devices.answer_attributes(_answers()))
                undo.callback(
                    jax_devices.answer_backends(lambda name: (chip := current()) is not None and chip.stands_for(name))
                )
                undo.callback(jax_devices.replace_missing_cuda_versions(_CudaVersions()))
                _held.undo = undo.pop_all()
        _held.holders += 1


def _release():
    with _held.lock:
        _held.holders -= 1
        if _held.holders == 0:
            _held.undo.close()


def _answers() -> list:
    def asked_of(facts):
        """A function of the object that was asked: None where no chip answers, or where that chip has no such thing."""

        def make(name):
            return lambda one: facts(chip, one).get(name) if (chip := current()) is not None else None

        return make

    device, client = asked_of(Chip.of_device), asked_of(lambda chip, _: chip.of_client())
    abstract = asked_of(
        lambda chip, _: {"abstract_device": jax_devices.abstract_device(chip.device_kind, chip.cores, chip.platform)}
    )
    return [
        *((jax.Device, name, device(name)) for name in (*_OF_BOTH, *_GPU_ONLY, *_TPU_ONLY)),
        *((jax_devices.client_class(), name, client(name)) for name in ("platform", "platform_version")),
        (jax_devices.abstract_mesh_class(), "abstract_device", abstract("abstract_device")),
    ]


class _CudaVersions:
    """Stands for the module that JAX has where CUDA is installed."""

    def cuda_runtime_get_version(self) -> int:
        self._expect_gpu("JAX for CUDA's version")
        return _CUDA_RUNTIME_VERSION

    def cuda_supports_multicast(self, device: int = 0) -> bool:
        """Stores to all GPUs of an NVLink switch at once (plgpu.multicast_ref): each GPU that has a target here has
        them.
        """
        self._expect_gpu("JAX whether CUDA supports multicast")
        return True

    @staticmethod
    def _expect_gpu(asked: str):
        chip = current()
        if chip is None or chip.tpu:
            raise ExportError(_advice(asked))

    def __getattr__(self, name):
        raise AttributeError(
            f"palladion.target answers cuda_runtime_get_version and cuda_supports_multicast, not {name}"
        )


def _advice(asked: str) -> str:
    chip = current()
    if chip is None:
        return (
            f"the program asks {asked}, and this machine cannot answer. Say which chip it is for: "
            'with palladion.target("h100"): ... answers for that chip'
        )
    kind = "a TPU" if chip.tpu else "a GPU"
    return (
        f"the program asks {asked}, which the target {chip.name} ({kind}) does not have; give the chip that it is "
        "written for"
    )


def explained(error: BaseException) -> ExportError | None:
    """The error to raise instead, where a probe found no target that could answer; None for any other error."""
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
