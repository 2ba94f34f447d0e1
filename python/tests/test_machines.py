"""Machine descriptions from Python, and those of TPUs against JAX's own table of chips."""

import importlib.util

import pytest

import palladion
from palladion import machines

HOME = "jax._src.tpu_info"  # from JAX 0.12 on; before, of Pallas
tpu_info = importlib.import_module(HOME if importlib.util.find_spec(HOME) else "jax._src.pallas.mosaic.tpu_info")
VERSIONS = {"v4": "TPU_V4", "v5e": "TPU_V5E", "v5p": "TPU_V5P", "v6e": "TPU_V6E", "v7x": "TPU_7X"}
# Of the table: our number, and whether the table's is of one core.
SAME = {
    "chip.generation": ("generation", False),
    "register.lanes": ("num_lanes", False),
    "register.sublanes": ("num_sublanes", False),
    "mxu.count": ("num_mxus", False),
    "mxu.size": ("mxu_column_size", False),
    "mxu.accumulators": ("num_accumulators", False),
    "vmem.size": ("vmem_capacity_bytes", False),
    "smem.size": ("smem_capacity_bytes", False),
    "cmem.size": ("cmem_capacity_bytes", False),
    "dram.size": ("hbm_capacity_bytes", True),
    "dram.peak": ("mem_bw_bytes_per_second", True),
    "peak.bf16": ("bf16_ops_per_second", True),
    "peak.int8": ("int8_ops_per_second", True),
    "peak.fp8": ("fp8_ops_per_second", True),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_a_tpu_is_what_jax_says(name):
    ours = machines.show(name)
    cores = int(ours.numbers["chip.cores"].value)
    chip = tpu_info._get_tpu_info_impl(tpu_info.ChipVersion[VERSIONS[name]], cores)
    compared = 0
    for number, (field, of_core) in SAME.items():
        theirs = getattr(chip, field) * (cores if of_core else 1)
        if theirs == 0:  # not available
            assert number not in ours.numbers
        else:
            assert ours.numbers[number].base_value == pytest.approx(theirs, rel=1e-12), number
            compared += 1
    assert compared >= 10
    assert tpu_info.chip_version_from_device_kind(ours.kind) == tpu_info.ChipVersion[VERSIONS[name]]


def test_every_machine_is_there():
    assert machines.names() == ["b200", "h100", "h200", "v4", "v5e", "v5p", "v6e", "v7x"]


def test_a_what_if_changes_what_follows():
    before, after = machines.show("h100"), machines.show("h100", {"chip.cores": 66})
    assert after.numbers["chip.cores"].basis == "whatif" == after.numbers["peak.bf16"].basis
    assert after.numbers["peak.bf16"].value == pytest.approx(before.numbers["peak.bf16"].value / 2)
    assert after.numbers["dram.peak"] == before.numbers["dram.peak"]
    assert machines.show("h100") == before


def test_what_is_not_there_is_an_error():
    with pytest.raises(palladion.PalladionError, match="no machine is called 'h101'; there are b200, h100"):
        machines.show("h101")
    with pytest.raises(palladion.PalladionError, match="h100 has no number 'l2.sise'; the nearest are l2.size"):
        machines.show("h100", {"l2.sise": "3 MiB"})
