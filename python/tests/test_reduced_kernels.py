"""The table of docs/guides/reduce.md is what `palladion reduce` makes of its kernels today; every row is also seen
again and reduced again there.
"""

import json

import jax

import reduced_kernels

if jax.__version_info__[:2] == (0, 10):  # other releases trace some kernels to other texts

    def test_the_recorded_rows_are_fresh():
        recorded = json.loads(reduced_kernels.RECORDED.read_text(encoding="utf-8"))["rows"]
        assert (
            reduced_kernels.rows(reduced_kernels.mistakes()) == recorded
        ), "stale: run python python/tests/reduced_kernels.py, and then ./dev docs"


def test_every_kernel_got_smaller():
    rows = json.loads(reduced_kernels.RECORDED.read_text(encoding="utf-8"))["rows"]
    assert len(rows) > 30 and len({row["finding"] for row in rows}) > 10
    for row in rows:
        assert all(after <= before for before, after in zip(row["sizes"][::2], row["sizes"][1::2])), row
        assert row["sizes"][1] <= 10, row
