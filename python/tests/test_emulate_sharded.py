"""palladion.emulate in programs over several devices that XLA partitions: sharded_programs.py in its own process."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("transport, partitioner", [("", "shardy"), ("", "gspmd"), ("callback", "shardy")])
def test_partitioned_programs_have_the_numbers_of_interpret_true(transport, partitioner):
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, "sharded_programs.py"), partitioner],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"PALLADION_TRANSPORT": transport},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "one device's defect is reported\nall is well\n"
