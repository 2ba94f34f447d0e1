"""A kernel over a mesh, as a `plgpu.kernel` or `pl.kernel`."""

from palladion.jax_source.errors import ToJaxError


def lines(context) -> list:
    raise ToJaxError("a kernel over a mesh is not written yet", "mesh", context.kernel["line"])
