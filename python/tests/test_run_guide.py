"""What the example of docs/guides/run.md leaves behind. That its blocks run is tested by test_doc_blocks.py."""

import subprocess

import numpy as np

from doc_blocks import ROOT, Reader, blocks

PAGE = "docs/guides/run.md"


def test_the_files_that_the_example_writes(tmp_path):
    reader = Reader(tmp_path)
    try:
        for block in blocks(PAGE):
            reader.read(block)
    finally:
        reader.close()
    assert np.array_equal(np.load(tmp_path / "outdir/o.npy"), np.arange(1, 9, dtype=np.float32))
    inputs = ["kernel.pkir", "--in", "x=x.npy", "--in", "y=y.npy"]
    subprocess.run([ROOT / "build/palladion", "check", *inputs], cwd=tmp_path, check=True)
    assert " ".join(["palladion check", *inputs]) in (ROOT / PAGE).read_text(encoding="utf-8")
