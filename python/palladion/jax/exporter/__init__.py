"""The exporter: JAX's kernel calls as kernel text (docs/spec/kernel-text.md).
Entry points are in palladion/jax/interception.py.
"""
