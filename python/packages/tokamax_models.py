"""What the machine code means that tokamax's kernels write in place (`plgpu.inline_mgpu`): `import tokamax_models` says it to Palladion.

Based on: tokamax 0.0.12, the function that each model is named after, read as the compiler takes it.
Not covered: `warp_any` of attention for sm100, whose result differs between the warps of a warpgroup. Only a `rescale_threshold` other
than 1 asks for it.
"""

import jax.numpy as jnp
from jax import lax

import palladion

_OPS = "tokamax._src.ops"
_RAGGED = f"{_OPS}.ragged_dot.pallas_mosaic_gpu_kernel_sm100"


@palladion.model_inline(f"{_RAGGED}_quant.dequant.<locals>.scaled_w")
@palladion.model_inline(f"{_RAGGED}_quant_post_scale.dequant.<locals>.scaled_w")
def _scaled(scales, w):
    """Each lane loads its row's scale from shared memory and multiplies in the type of the scales."""
    return lax.broadcast_in_dim(scales[...], w.shape, (0,)) * w


@palladion.model_inline(f"{_RAGGED}_i8_quant.rescale_i32_tcgen05_acc.<locals>.rescale")
@palladion.model_inline(f"{_RAGGED}_fp8_quant.rescale_tcgen05_acc.<locals>.rescale")
def _rescaled(total, product, row_scales, column_scales):
    """sitofp (of fp8 nothing), the two scales' product first, then one multiply and one add; fastmath may join the last two."""
    scales = lax.broadcast_in_dim(row_scales, product.shape, (0,)) * lax.broadcast_in_dim(column_scales, product.shape, (1,))
    return product.astype(jnp.float32) * scales + total


@palladion.model_inline("tokamax._src.mosaic_gpu.int4_as_biased_f8e4m3fn.<locals>.encode")
def _biased(x):
    """xor.b32 with 0x88888888, and each nibble into the low half of a byte; `prmt` leaves their order."""
    return lax.bitcast_convert_type(((x.astype(jnp.int32) & 15) ^ 8).astype(jnp.uint8), jnp.float8_e4m3fn)


@palladion.model_inline(f"{_OPS}.attention.pallas_mosaic_gpu_common.unpack_bool_bits_tmem_native.<locals>.unpack_booleans")
def _unpacked(packed):
    """Bit i of column c becomes column 8 * c + i."""
    rows, columns = packed.shape
    bits = 8 * packed.dtype.itemsize
    wide = lax.broadcast_in_dim(packed.astype(jnp.int32), (rows, columns, bits), (0, 1))
    return (((wide >> lax.broadcasted_iota(jnp.int32, wide.shape, 2)) & 1) != 0).reshape(rows, columns * bits)
