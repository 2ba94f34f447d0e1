"""Pictures of kernels as SVG: `palladion.draw`, `draw_time` and `draw_layout`. Needs no JAX.

`picture` is what users get, `svg` the writer of shapes, `layout` and `time` a picture each. `program` is the third one,
in parts: `grid`, `operands` and `instructions`, of the accesses in `accesses`. That of `draw_schedule` is drawn in C++.
"""
