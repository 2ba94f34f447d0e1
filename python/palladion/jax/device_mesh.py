"""Kernels that the devices of a mesh run together: which calls need one another, and how their calls become one.

In shard_map each device calls its kernel by itself. A kernel that reaches the memory of other devices, or signals them,
cannot run so: the calls of all devices meet, one runs the kernel for all, with the operands of each along a first
dimension, and each takes its results. Based on: docs/spec/tpu-copies.md#devices, docs/spec/gpu-devices.md. Limits:
shard_map over all axes of its mesh; each device calls the kernel as often.
"""

import math
import os
import threading
from collections.abc import Callable

import jax
import numpy as np

from palladion._library import MALFORMED, PalladionError
from palladion.base.errors import ExportError
from palladion.jax import jax_programs, jax_versions
from palladion.jax.exporter.async_ops import ASYNC_OPS
from palladion.jax.exporter.parameters import unflatten

_NAME_A_DEVICE = ("dma_start", "semaphore_signal")
_NAME_ALL_DEVICES = ("semaphore_signal_multicast", "multimem_store", "multimem_load_reduce")
_VIEWS_OF_DEVICES = ("PeerMemRef", "MulticastRef")
_SECONDS = 60.0  # that a device waits for another one's call, after the last that came


def mesh_of(context, jaxprs, on_tpu, own_axes=()) -> dict:
    """{axis: size} of the devices that have to run a kernel of these functions together;
    {} where each can run it by itself.

    own_axes: those of the kernel's own mesh of cores, which from JAX 0.12 on are named as devices are.
    """
    mesh, automatic = jax_programs.mesh_of(context)
    eqns = [eqn for jaxpr in jaxprs for inner in jax_versions.all_jaxprs(jaxpr) for eqn in inner.eqns]
    if not any(_names_a_device(eqn, own_axes) or _is_placed(eqn, mesh) for eqn in eqns):
        return {}
    if math.prod(mesh.values()) == 1:  # a device may name itself
        return (mesh or {"device": 1}) if on_tpu else mesh
    if automatic:
        raise ExportError(
            "the kernel reaches other devices, and shard_map is over some axes of the mesh: let it be over "
            f"{automatic} too"
        )
    return mesh


def _is_placed(eqn, axes) -> bool:
    return eqn.primitive.name == "axis_index" and _is_in(eqn.params["axis_name"], axes)


def _is_in(name, axes) -> bool:
    names = name if isinstance(name, (tuple, list)) else (name,)
    return any(one in axes for one in names)


def _names_a_device(eqn, own_axes) -> bool:
    name = eqn.primitive.name
    if name in _NAME_ALL_DEVICES or any(_views_a_device(value) for value in eqn.params.values()):
        return True
    if name == "semaphore_signal_parallel":
        *_, devices = unflatten(eqn.params["args_tree"], eqn.invars)
        return any(device is not None for device in devices)
    if name not in _NAME_A_DEVICE:
        return False
    row = ASYNC_OPS[eqn.primitive.name]
    device = dict(zip(row.operands, unflatten(eqn.params[row.tree], eqn.invars))).get("device_id")
    return device is not None and not (isinstance(device, dict) and all(axis in own_axes for axis in device))


def _views_a_device(tree) -> bool:
    """A parameter is the tree of a view's transforms, and one of them leads to another device, or to all."""
    if not isinstance(tree, jax.tree_util.PyTreeDef):
        return False
    node = tree.node_data()
    here = node is not None and getattr(node[0], "__name__", "") in _VIEWS_OF_DEVICES
    return here or any(_views_a_device(child) for child in tree.children())


class Meeting:
    """The calls of one kernel by the devices of a mesh: `run(inputs) -> outputs` has all of them,
    along a first dimension.
    """

    def __init__(self, name: str, devices: int, run: Callable):
        self._name, self._devices, self._run = name, devices, run
        self._changed = threading.Condition()
        self._calls = [0] * devices  # so many each device has begun
        self._rounds = {}

    def __call__(self, device: int, arrays: list) -> tuple:
        with self._changed:
            number = self._calls[device]
            self._calls[device] += 1
            now = self._rounds.setdefault(number, _Round())
            now.arrays[device] = arrays
            self._changed.notify_all()
            if len(now.arrays) < self._devices:
                self._wait(now)
                return now.take(device)
        try:
            stacked = [
                np.stack([np.asarray(now.arrays[d][i]) for d in range(self._devices)]) for i in range(len(arrays))
            ]
            now.results = self._run(stacked)
        except BaseException as error:
            now.error = error
        with self._changed:
            now.done = True
            del self._rounds[number]
            self._changed.notify_all()
        return now.take(device)

    def _wait(self, now):
        seconds = float(os.environ.get("PALLADION_DEVICE_SECONDS", _SECONDS))
        while not now.done:
            before = len(now.arrays)
            came = self._changed.wait_for(lambda before=before: now.done or len(now.arrays) > before, timeout=seconds)
            if not came and len(now.arrays) < self._devices:
                missing = [d for d in range(self._devices) if d not in now.arrays]
                now.error = PalladionError(
                    f"kernel {self._name}: {_listed(missing)} did not come to the kernel within {seconds:g} seconds "
                    "after the others, which wait there; call it on every device of the mesh, as often on each",
                    MALFORMED,
                )
                now.done = True
                self._changed.notify_all()


class _Round:
    def __init__(self):
        self.arrays, self.results, self.error, self.done = {}, None, None, False

    def take(self, device):
        if self.error is not None:
            raise self.error
        return tuple(np.asarray(result[device], order="C") for result in self.results)


def _listed(devices) -> str:
    return ("device " if len(devices) == 1 else "devices ") + ", ".join(map(str, devices))
