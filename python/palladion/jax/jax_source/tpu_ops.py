"""Operations of TPUs, and the semaphores that GPUs have as well: copies, signals and waits, matrix units."""

import inspect

from palladion.base.errors import ToJaxError
from palladion.jax.jax_deprecated import spelled
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.gpu_ops import named
from palladion.jax.jax_source.spelling import attribute_text, tuple_text


def _device(block, instr, attrs):
    """The device of a signal or a copy: None, a number, a tuple of coordinates, or a dict by the axes' names."""
    devices = [block.arg(arg) for arg in instr["args"] if arg.get("arg") == "device_id"]
    if "device_axes" in attrs:
        return "{" + ", ".join(f"{axis!r}: {device}" for axis, device in zip(attrs["device_axes"], devices)) + "}"
    if len(devices) > 1:
        return tuple_text(devices)
    return devices[0] if devices else "None"


def _device_type(attrs) -> str:
    kind = attrs.get("device_id_type")
    return f"{spelled('pl.DeviceIdType')}.{kind.text.upper() if kind is not None else 'MESH'}"


def _other_device_type(attrs) -> str:
    """The argument `device_id_type`, where it is not MESH: JAX 0.12 warns of it, and MESH is its default everywhere."""
    text = _device_type(attrs)
    return "" if text.endswith(".MESH") else f", device_id_type={text}"


def _signal(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    device = _device(block, instr, attrs)
    if "memory_scope" in attrs:
        return (
            f"plgpu.semaphore_signal({texts['ref']}, {texts['inc']}, device_id={device}, "
            f"memory_scope={attribute_text(attrs['memory_scope'])})"
        )
    core = texts.get("core_index", "None")
    where = (
        ""
        if device == "None" and core == "None"
        else f", device_id={device}{_other_device_type(attrs)}, core_index={core}"
    )
    return f"pl.semaphore_signal({texts['ref']}, {texts['inc']}{where})"


def _wait(block, instr):
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    scope = f", memory_scope={attribute_text(attrs['memory_scope'])}" if "memory_scope" in attrs else ""
    decrement = "" if texts.get("decrement", "True") == "True" else f", decrement={texts['decrement']}"
    return f"{'plgpu' if scope else 'pl'}.semaphore_wait({texts['ref']}, {texts['value']}{decrement}{scope})"


def _copy(block, instr, bound: str) -> str:
    """A copy's primitive with its operands as JAX's copies flatten them: a wait may stand where its start does not."""
    texts, attrs = named(block, instr), reading.attributes(instr["attrs"])
    operands = [texts.get(name, "None") for name in ("src", "dst", "dst_sem", "src_sem")]
    return f"_copy({bound}, {', '.join(operands)}, {_device(block, instr, attrs)}, device_id_type={_device_type(attrs)}"


def _dma_start(block, instr):
    attrs = reading.attributes(instr["attrs"])
    return (
        _copy(block, instr, "tpu_primitives.dma_start_p")
        + f", priority={attrs.get('priority', 0)}, add={attrs.get('add', False)})"
    )


def _dma_wait(block, instr):
    name = _wait_parameter()
    return (
        _copy(block, instr, "tpu_primitives.dma_wait_p")
        + f", {name}={reading.attributes(instr['attrs']).get(name, False)})"
    )


def _wait_parameter() -> str:
    """The parameter for the end of a copy that is awaited: JAX 0.12 renamed it, and each takes only its own name."""
    from jax._src.pallas.mosaic import primitives

    known = inspect.signature(primitives._dma_wait_abstract_eval).parameters
    return next(name for name in ("is_wait_send", "insert_dummy_device") if name in known)


def _matmul_push(block, instr):
    attrs = reading.attributes(instr["attrs"])
    return (
        f"pltpu.matmul_push_rhs({block.arg(instr['args'][0])}, {attrs['staging_register']}, {attrs['mxu_index']}, "
        f"transpose={attrs.get('transpose', False)})"
    )


def _matmul_acc(block, instr):
    attrs = reading.attributes(instr["attrs"])
    return (
        f"pltpu.matmul_acc_lhs({attrs['acc_addr']}, {block.arg(instr['args'][0])}, {attrs['mxu_index']}, "
        f"{attrs.get('load_staged_rhs')})"
    )


def _matmul_pop(block, instr):
    attrs, result = reading.attributes(instr["attrs"]), instr["types"][0]
    return (
        f"pltpu.matmul_pop({attrs['acc_addr']}, {spelling.shape_text(result['shape'])}, "
        f"{spelling.dtype_text(result['dtype'])}, {attrs['mxu_index']})"
    )


def _repeat(block, instr):
    raise ToJaxError("JAX 0.10 and later write pltpu.repeat with other operations")


TPU_OPS = {
    "semaphore_signal": _signal,
    "semaphore_wait": _wait,
    "semaphore_read": lambda block, instr: f"pl.semaphore_read({named(block, instr)['ref']})",
    "get_barrier_semaphore": lambda block, instr: "pltpu.get_barrier_semaphore()",
    "dma_start": _dma_start,
    "dma_wait": _dma_wait,
    "matmul_push_rhs": _matmul_push,
    "matmul_acc_lhs": _matmul_acc,
    "matmul_pop": _matmul_pop,
    "tpu.repeat": _repeat,
}
