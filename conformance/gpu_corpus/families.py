"""All cases of the GPU corpus, with the folder that each belongs to."""

import barriers
import clusters
import copies
import fences
import issuers
import litmus
import matrix_units
import memory
import pages
import pages_matrix
import quiet
import reuse
import scratch
import semaphores
import shared_memory

CORPUS = (shared_memory, copies, fences, matrix_units, barriers, clusters, semaphores, memory, scratch, litmus, issuers, reuse)
EXAMPLES = (pages, pages_matrix, quiet)


def cases():
    for folder, modules in {"gpu_corpus": CORPUS, "gpu": EXAMPLES}.items():
        for module in modules:
            for case in module.cases():
                yield folder, case
