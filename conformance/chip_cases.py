"""Cases of one kernel on several chips: legal where it fits, refused where it does not.

The sizes are those of the chips' own documents, as JAX's tpu_info.py has them (emu/chip/machines/chip.cc). Does not
catch: what a compiler needs of the memory itself.
"""

import dataclasses

import numpy as np
from case_writer import expectation, spec_lines

DEFAULT = {"v4": 16, "v5e": 16, "v5p": 16, "v6e": 32, "v7x": 32}  # MiB of a kernel without vmem_limit_bytes
VMEM = {"v4": 16, "v5e": 128, "v5p": 64, "v6e": 128, "v7x": 64}  # MiB of a core


@dataclasses.dataclass(frozen=True)
class ScratchCase:
    chip: str
    mebibytes: int
    asks: bool  # for all that the core has

    @property
    def path(self):
        return f"chips/vmem_{'' if self.asks else 'default_'}{self.mebibytes}_mib_{self.chip}"

    def text(self):
        fits = self.mebibytes < (VMEM if self.asks else DEFAULT)[self.chip]
        scratch = f"ref<vmem,f32[{self.mebibytes * 2048},128]>"
        lines = spec_lines(self.path, "contracts.md#capacity.1")
        if self.asks:
            lines.append(f"# {self.mebibytes} MiB of scratch in the {VMEM[self.chip]} MiB of a core of a {self.chip}.")
        else:
            lines.append(
                f"# {self.mebibytes} MiB of scratch in the {DEFAULT[self.chip]} MiB of a kernel that asks for no more "
                f"on a {self.chip}."
            )
        lines += [
            f"# target: mosaic_tpu/{self.chip}",
            *["# exit: 1"] * (not fits),
            "# schedules: 1",
            "--- kernel",
            "pkir 1;",
        ]
        lines.append("kernel @k {" + "  //~ CAPACITY" * (not fits))
        lines += ["  backend mosaic_tpu;", *[f"  params {{vmem_limit_bytes={VMEM[self.chip] << 20}}};"] * self.asks]
        lines += ["  grid [];", "  in %x: i32[8,128] space vmem;", "  out %o: i32[8,128] space vmem;"]
        lines += [f"  scratch %s: {scratch};"]
        lines += [f"  body @k (%xr: ref<vmem,i32[8,128]>, %or: ref<vmem,i32[8,128]>, %sr: {scratch}) {{"]
        lines += ["    %v = get(%xr) : i32[8,128];", "    _ = swap(%or, %v) : i32[8,128];", "    return;", "  }", "}"]
        lines += ["--- inputs", "x = iota", "--- expect", *expectation("o", np.arange(1024, dtype=np.int32))]
        return "\n".join(lines) + "\n"


def scratch():
    for mebibytes in (40, 100):
        for chip in VMEM:
            yield ScratchCase(chip, mebibytes, True)
    for mebibytes in (15, 24, 40):
        for chip in VMEM:
            yield ScratchCase(chip, mebibytes, False)


FAMILIES = (scratch,)
