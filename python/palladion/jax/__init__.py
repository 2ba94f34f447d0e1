"""What meets JAX: kernels caught and written as kernel text, kernel text back to JAX, and JAX's private names.

`import jax` in here is JAX itself, as every import of this package is written in full
(conformance/import_arrows_test.py).
"""
