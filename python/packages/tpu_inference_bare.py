"""The package tpu-inference without what serves models: its kernels and its own tests import from here, unchanged.

Importing `tpu_inference` itself wants vLLM, torch, torchax and libtpu, none of which a kernel uses. So the package is entered as a
bare folder, its `__init__` not run, and those modules are replaced by empty ones with the few names that are read on import. What a
stand-in cannot do is an AttributeError or a failure of its own, never a result.
"""

import importlib.util
import logging
import sys
import types


class Named:
    """What a dtype or class of a replaced module is here: nothing but itself."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self):
        return self.name


def _module(name: str, **names) -> types.ModuleType:
    made = sys.modules.setdefault(name, types.ModuleType(name))
    made.__dict__.update(names)
    made.__dict__.setdefault("__path__", [])
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, made)
    return made


class _Logger(logging.Logger):
    """vLLM's own has a warning that it says once."""

    warning_once = info_once = debug_once = lambda self, *args, **kwargs: None


def _bare_package(name: str) -> None:
    found = importlib.util.find_spec(name)
    if found is None:
        raise ImportError(f"{name} is not installed; `./dev test-packages` installs it")
    sys.modules[name] = made = types.ModuleType(name)
    made.__path__ = list(found.submodule_search_locations)


def install() -> None:
    """Once, before the first import of `tpu_inference`."""
    _bare_package("tpu_inference")
    importlib.import_module("tests")
    _module("vllm")
    _module("vllm.logger", _VllmLogger=_Logger, init_logger=_Logger)
    _module("vllm.envs")
    _module("vllm.utils")
    torch = _module("torch", dtype=Named, Tensor=Named)
    for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2",
                  "float8_e4m3fnuz", "float8_e5m2fnuz"):
        setattr(torch, dtype, Named(f"torch.{dtype}"))
    _module("torchax")
    _module("torchax.ops")
    _module("torchax.ops.mappings", j2t_dtype=Named, t2j=Named, t2j_dtype=Named)
    _module("requests", RequestException=OSError)
    _module("tests.test_utils", poison_tpu_memory=lambda: None)  # the emulated memory is poisoned anyway
