import jax.numpy as jnp
from palladion.learn.statement import Statement, random

EXERCISE = Statement(
    title="A load that is overtaken",
    kind="mend",
    target="b200",
    function="both",
    inputs=lambda: [(random((128, 64), 2, jnp.float16), random((64, 64), 3, jnp.float16))],
    reference=lambda x, y: jnp.stack([x.astype(jnp.float32) @ y.astype(jnp.float32)] * 2),
    rtol=1e-3,
    atol=1e-3,
    hints=(
        "When has plgpu.async_load_tmem read its source?",
        "The second product may begin when the load has ended.",
    ),
)
