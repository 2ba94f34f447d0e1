"""The module that is written: its imports, what its parts share, and one kernel.

The kernel is a `pl.pallas_call` where the text has a grid, and a `pl.kernel` or `plgpu.kernel` where it has a mesh.
"""

import importlib.util
import re

from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import mesh_call, pallas_call
from palladion.jax.jax_source.control_ops import CONTROL_OPS
from palladion.jax.jax_source.folding import folded
from palladion.jax.jax_source.gpu_ops import GPU_OPS
from palladion.jax.jax_source.memory import backend_of
from palladion.jax.jax_source.reading import read_kernel
from palladion.jax.jax_source.ref_ops import REF_OPS
from palladion.jax.jax_source.tpu_ops import TPU_OPS
from palladion.jax.jax_source.value_ops import VALUE_OPS
from palladion.jax.jax_source.writer import INDENT, Context

HANDLERS = {**VALUE_OPS, **REF_OPS, **CONTROL_OPS, **TPU_OPS, **GPU_OPS}

# a package in newer releases
_HAS_RANDOM = importlib.util.find_spec("jax._src.random").submodule_search_locations is not None

_IMPORTS = {
    "jax": "import jax",
    "jnp": "import jax.numpy as jnp",
    "np": "import numpy as np",
    "lax": "from jax import lax",
    "conditionals": "from jax._src.lax.control_flow import conditionals",
    "ad_util": "from jax._src import ad_util",
    "prng": f"from jax._src{'.random' if _HAS_RANDOM else ''} import prng",
    "threefry2x32": "from jax._src.random import threefry2x32"
    if _HAS_RANDOM
    else "from jax._src import prng as threefry2x32",
    "lax_internal": "from jax._src.lax import lax as lax_internal",
    "pallas_core": "from jax._src.pallas import core as pallas_core",
    "pl_primitives": "from jax._src.pallas import primitives as pl_primitives",
    "tpu_primitives": "from jax._src.pallas.mosaic import primitives as tpu_primitives",
    "gpu_core": "from jax._src.pallas.mosaic_gpu import core as gpu_core",
    "llvm": "from jaxlib.mlir.dialects import llvm",
    "ir": "from jaxlib.mlir import ir",
    "gpu_primitives": "from jax._src.pallas.mosaic_gpu import primitives as gpu_primitives",
    "state_primitives": "from jax._src.state import primitives as state_primitives",
    "state_types": "from jax._src.state import types as state_types",
    "tcgen05": "from jax.experimental.mosaic.gpu import tcgen05",
    "pl": "from jax.experimental import pallas as pl",
    "plgpu": "from jax.experimental.pallas import mosaic_gpu as plgpu",
    "pltpu": "from jax.experimental.pallas import tpu as pltpu",
    "pltriton": "from jax.experimental.pallas import triton as pltriton",
}
_VIEW = '''
def _view(ref, *transforms):
    """The ref under more transforms, such as JAX's own constructors of refs put there."""
    if isinstance(ref, state_types.TransformedRef):
        return state_types.TransformedRef(ref.ref, (*ref.transforms, *transforms))
    return state_types.TransformedRef(ref, transforms)

'''
_COPY = '''
def _copy(primitive, src, dst, dst_sem, src_sem, device_id, **params):
    """One half of an asynchronous copy, its operands as pltpu.make_async_copy flattens them."""
    operands, tree = tpu_primitives._dma_flatten(src, dst, dst_sem, src_sem, device_id)
    primitive.bind(*operands, tree=tree, **params)

'''


def source_of(text: str, kernel: str | None = None) -> str:
    """The source of a module with `kernel(*arrays, interpret=False)`."""
    read = folded(read_kernel(text, kernel))
    if any(operand["type"]["kind"] == "array" and operand["type"]["weak"] for operand in read["operands"]):
        raise ToJaxError("an operand of a weak type; arrays have none")
    context = Context(
        read, backend_of(read), HANDLERS, (*_IMPORTS, "_view", "_copy", "call", "made", "kernel", "interpret")
    )
    write = mesh_call.lines if read["mesh"] else pallas_call.lines
    lines = write(context)
    body = "\n".join(INDENT + line if line else "" for line in lines)
    parameters = [
        *(
            context.names.of(operand["name"])
            for operand in read["operands"]
            if operand["role"] in ("bound", "prefetch", "in")
        )
    ]
    head = (
        f"def kernel({', '.join([*parameters, '*', 'interpret=False'])}):\n"
        if parameters
        else "def kernel(*, interpret=False):\n"
    )
    if context.wide:
        body = f"{INDENT}with jax.enable_x64(True):\n" + "\n".join(
            INDENT + line if line else "" for line in body.split("\n")
        )
    prelude = "\n".join(text for name, text in (("_view(", _VIEW), ("_copy(", _COPY)) if name in body)
    return _imports(prelude + body) + prelude + "\n" + head + body + "\n"


def _imports(code: str) -> str:
    used = [line for name, line in _IMPORTS.items() if re.search(rf"(?<![\w.]){name}\.", code)]
    return '"""Made by palladion.to_jax_source from kernel text."""\n' + "\n".join(used) + "\n"
