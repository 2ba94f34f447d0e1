"""Writes the GPU corpus' cases (conformance/gpu_corpus) to a folder: python conformance/make_gpu_cases.py FOLDER [PART
OF A NAME].
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu_corpus"))
import case_files
import families


def main(folder, part=""):
    for family, case in families.cases():
        name = f"{family}/{case.name}"
        if part in name:
            case_files.write(name, case.text(), pathlib.Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
