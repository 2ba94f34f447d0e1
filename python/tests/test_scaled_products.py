"""Products of Blackwell with block scales and with a sparse operand (scaled_kernels.py): their numbers against NumPy's
in double precision, packed as JAX's documentation and its own helper pack them, and what JAX's lowering says of the
same kernels.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import palladion
from scaled_kernels import E4M3, E8M0, F4, F8, F8_WIDE, Product, inputs, matmul

BF16 = ml_dtypes.bfloat16
PRODUCTS = {
    "mxfp8": Product(F8, E8M0),
    "mxfp8_wide": Product(F8_WIDE, E8M0),
    "mxfp8_32_columns": Product(F8, E8M0, n=32),
    "mxfp8_96_columns": Product(F8, E8M0, n=96),
    "mxfp4": Product(F4, E8M0),
    "nvfp4": Product(F4, E4M3),
    "sparse_f8": Product(F8, sparse=True),
    "sparse_bf16": Product(BF16, sparse=True),
    "sparse_i8": Product(np.int8, sparse=True, acc=np.int32),
    "sparse_mxfp8": Product(F8, E8M0, sparse=True, k=512),
    "sparse_mxfp4": Product(F4, E8M0, sparse=True, k=512),
    "sparse_nvfp4": Product(F4, E4M3, sparse=True, k=512),
    "64_rows": Product(BF16, m=64, k=128),
    "pair_of_64_rows": Product(BF16, m=64, k=128, blocks=2),
    "pair_sparse_mxfp8": Product(F8, E8M0, sparse=True, k=512, blocks=2),
    "pair": Product(F8, E8M0, blocks=2),
    "pair_256_columns": Product(F8, E8M0, n=256, blocks=2),
    "pair_sparse": Product(BF16, sparse=True, blocks=2),
    "pair_64_rows": Product(F8, E8M0, m=64, blocks=2),
    "pair_64_rows_256_columns": Product(F8, E8M0, m=64, n=256, blocks=2),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_is_numpys_and_has_no_defect(name):
    product = PRODUCTS[name]
    arguments, exact = inputs(product)
    expected = exact.astype(product.acc)  # the one rounding
    report = palladion.check(
        matmul(product), *arguments, reference=lambda *_: jnp.asarray(expected), rtol=0, atol=0, seeds=4, target="b200"
    )
    assert not report.findings, report


@pytest.mark.parametrize("name", PRODUCTS)
def test_jax_lowers_the_kernel(name):
    """The text comes from a kernel that JAX itself takes for a B200."""
    product = PRODUCTS[name]
    arguments, _ = inputs(product)
    with palladion.target("b200"):
        traced = jax.jit(matmul(product)).trace(*arguments)
        if name in ("sparse_mxfp4", "sparse_nvfp4") and jax.__version_info__ >= (0, 12):
            # JAX 0.12's verifier wants metadata of A's shape, which JAX 0.10 did not; what the product computes is the
            # same.
            with pytest.raises(Exception, match="a_sparse_metadata"):
                traced.lower(lowering_platforms=("cuda",))
            return
        assert traced.lower(lowering_platforms=("cuda",)).as_text()
