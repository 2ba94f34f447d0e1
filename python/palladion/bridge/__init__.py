"""Kernels inside any JAX program run in Palladion: `emulate`, `install`, `Params`. For users: docs/guides/jax.md."""
