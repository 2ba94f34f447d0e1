"""What was found, as objects, as text and as pages. Needs no JAX."""
