"""All cases of the GPU corpus, with the folder that each belongs to."""

import barriers
import block_scales
import clusters
import copies
import devices
import fences
import issuers
import launch_control
import litmus
import matrix_units
import memory
import pages
import pages_blackwell
import pages_matrix
import pages_pairs
import pair_memory
import pairs
import quiet
import reuse
import rows
import scratch
import semaphores
import shared_memory
import tensor_members
import tensor_memory

CORPUS = (shared_memory, copies, fences, matrix_units, barriers, clusters, semaphores, memory, scratch, litmus, issuers, reuse,
          devices, pairs, tensor_memory, rows, block_scales, pair_memory, tensor_members, launch_control)
EXAMPLES = (pages, pages_matrix, pages_blackwell, pages_pairs, quiet)


def cases():
    for folder, modules in {"gpu_corpus": CORPUS, "gpu": EXAMPLES}.items():
        for module in modules:
            for case in module.cases():
                yield folder, case
