"""Layouts of tensor memory: JAX's objects as the attributes of kernel text,
and the text's attributes as JAX's constructors.

A part of jax_versions.py. JAX keeps a layout as tiles and no name,
so a name is found by making each of JAX's layouts anew.
"""

import importlib

_MODULE = "jax.experimental.mosaic.gpu.tcgen05"
_PACKINGS = (1, 2, 4, 8, 16, 32)
# Names of kernel text, and JAX's constructors. One that a release lacks (scales_m64_collective before 0.10) it cannot
# have made.
_OF_PACKING = {"default": "tmem_default_layout"}
_OF_COLUMNS = {"half_lane": "tmem_half_lane_layout", "m64_collective": "tmem_m64_collective_layout"}
_FIXED = {
    "scales": "scales_layout",
    "scales_m64_collective": "b_scales_m64_collective_layout",
    "sparse_metadata": "sparse_meta_layout",
}


def _made(name: str, *args):
    """JAX's layout, or None where this JAX has no such constructor or it refuses the arguments."""
    maker = getattr(importlib.import_module(_MODULE), name, None)
    try:
        return None if maker is None else maker(*args)
    except ValueError:
        return None


def _candidates(layout, columns: int):
    """(attributes, JAX's layout) of every layout that an array with so many columns can have."""
    for name, maker in _OF_PACKING.items():
        for packing in _PACKINGS:
            yield {"layout": name, "packing": packing}, _made(maker, packing)
    tile = layout.base_tile_shape[-1]  # fewer than the array's columns where batch dimensions were folded into them
    for name, maker in _OF_COLUMNS.items():
        for packing in _PACKINGS:
            attributes = {"layout": name, "packing": packing}
            yield attributes | ({"tile_columns": tile} if tile != columns else {}), _made(maker, tile, packing)
    for name, maker in _FIXED.items():
        yield {"layout": name}, _made(maker)


def attributes_of(layout, columns: int):
    """`{"layout": "half_lane", "packing": 1}` of JAX's TMEMLayout;
    None for one that no constructor of this JAX makes.
    """
    return next((found for found, made in _candidates(layout, columns) if made is not None and made == layout), None)


def source_of(attributes: dict) -> str:
    """The expression that makes JAX's layout from attributes as they are above."""
    name, packing = attributes["layout"], attributes.get("packing", 1)
    if name in _FIXED:
        return f"tcgen05.{_FIXED[name]}()"
    columns = f"{attributes['tile_columns']}, " if name in _OF_COLUMNS else ""
    return f"tcgen05.{ {**_OF_PACKING, **_OF_COLUMNS}[name]}({columns}{packing})"
