"""Writes the GPU corpus' cases (conformance/gpu_corpus) to a folder: python conformance/make_gpu_cases.py FOLDER [PART
OF A NAME].
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_corpus"))
import families


def main(folder, part=""):
    for family, case in families.cases():
        name = f"{family}/{case.name}"
        if part not in name:
            continue
        os.makedirs(os.path.join(folder, family), exist_ok=True)
        with open(os.path.join(folder, f"{name}.case"), "w", encoding="utf-8") as out:
            out.write(case.text())


if __name__ == "__main__":
    main(*sys.argv[1:])
