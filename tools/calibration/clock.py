"""The clock of a GPU's SMs while something runs, measured on the GPU: a thread reads both of its counters,
cycles and nanoseconds.

What the driver says (nvidia-smi, NVML) is no measurement: on an H200 it stays at 1.98 GHz where any use of tensor cores
has the SMs at 1.80 GHz, and a product of random numbers at 1.5. The thread needs room on an SM beside what runs.
Needs CuPy.
"""

import dataclasses
import time

APART = 20000  # cycles between two readings, about 10 us
COUNTERS = r"""
extern "C" __global__ void counters(long long* seen, int times, long long apart) {
  for (int i = 0; i < times; ++i) {
    const long long cycles = clock64();
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    seen[2 * i] = cycles;
    seen[2 * i + 1] = now;
    while (clock64() - cycles < apart) {}
  }
}"""


@dataclasses.dataclass(frozen=True)
class Rate:
    """In Hz: over all of the time, and what 5 % of the readings are below and above."""

    mean: float
    least: float
    most: float


def rate_of(readings) -> Rate:
    """`readings`: (cycles, nanoseconds) in a row. The first fifth is left out: until then the clock follows what began
    to run.
    """
    import numpy as np

    seen = np.asarray(readings, np.int64)
    late = seen[seen[:, 1] > seen[0, 1] + 0.2 * (seen[-1, 1] - seen[0, 1])]
    parts = np.diff(late, axis=0)
    cycles, nanoseconds = late[-1] - late[0]
    rates = 1e9 * parts[:, 0] / parts[:, 1]
    return Rate(1e9 * cycles / nanoseconds, float(np.percentile(rates, 5)), float(np.percentile(rates, 95)))


def rate_during(run, seconds=0.1) -> Rate:
    """Where `run()`, which gives arrays of JAX, is called again and again for so long."""
    import cupy
    import jax
    import numpy as np

    counters = cupy.RawKernel(COUNTERS, "counters")
    jax.block_until_ready(run())
    times = int(seconds * 2e9 / APART)
    seen, stream = cupy.zeros(2 * times, cupy.int64), cupy.cuda.Stream(non_blocking=True)
    with stream:
        counters((1,), (1,), (seen, np.int32(times), np.int64(APART)))
    start, waiting = time.perf_counter(), []
    while time.perf_counter() - start < 1.3 * seconds:
        waiting.append(run())
        if len(waiting) > 4:
            jax.block_until_ready(waiting.pop(0))
    jax.block_until_ready(waiting)
    stream.synchronize()
    return rate_of(seen.get().reshape(times, 2))
