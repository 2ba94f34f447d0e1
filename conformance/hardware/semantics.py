"""Mosaic GPU lowers a kernel that does not say otherwise by warpgroups from JAX 0.11 on, and by lanes before: here
either can be had."""

import contextlib

from jax.experimental.pallas import mosaic_gpu as plgpu

LANE, WARPGROUP = "lane", "warpgroup"


@contextlib.contextmanager
def lowered_by(name):
    """Kernels without semantics of their own, made and compiled within, have these."""
    wanted = plgpu.LoweringSemantics.Lane if name == LANE else plgpu.LoweringSemantics.Warpgroup
    make = plgpu.CompilerParams.__init__
    before = make.__defaults__, make.__kwdefaults__
    values, named = list(before[0] or ()), dict(before[1] or {})
    if "lowering_semantics" in named:
        named["lowering_semantics"] = wanted
    else:
        values = [wanted if isinstance(value, plgpu.LoweringSemantics) else value for value in values]
        if wanted not in values:
            raise RuntimeError(
                "plgpu.CompilerParams has no default of lowering_semantics where it was in JAX 0.8 to 0.12"
            )
    make.__defaults__, make.__kwdefaults__ = tuple(values), named or None
    try:
        yield
    finally:
        make.__defaults__, make.__kwdefaults__ = before
