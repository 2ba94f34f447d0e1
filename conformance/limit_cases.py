"""Cases of the limits of backends: for each row of docs/spec/tpu-limits.md and gpu-limits.md a kernel that breaks it.

Kernels are those of conformance/golden: of a TPU what JAX 0.10.2 refused to lower (tpu_legality.txt), of a GPU what the
rule's source forbids (gpu_limits.txt) or JAX refused (gpu_legality.txt). A table says for each limit which kernel, and
the lines of its findings. Limits that no kernel of JAX's breaks are written by hand, in conformance/cases/limits_tpu.
Does not catch: a kernel that breaks another limit first;
the name in brackets, which each case asks for, would not be found then.
"""

import dataclasses
import functools
import pathlib
import re
import sys
import textwrap

from limit_tables import GPU, GPU_REFUSED, MENDED, PRINTED, TPU, UNPRINTED

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "conformance/golden"
sys.path.append(str(GOLDEN))
import golden_files  # noqa: E402

ONE_BLOCK = 'grid=[1], grid_names=["g"], cluster=[], cluster_names=[], threads=none, thread_name=none'


@functools.cache
def rules(page):
    """Limit -> (rule, source), of the page's generated tables."""
    text = (ROOT / "docs/spec" / page).read_text(encoding="utf-8")
    return {m[1]: (m[2], m[3]) for m in re.finditer(r"^\| `([\w.-]+)` \| (.*?) \| (.*?) \|", text, re.MULTILINE)}


@dataclasses.dataclass(frozen=True)
class LimitCase:
    limit: str
    page: str
    target: str
    kernel: str
    marks: dict  # line of the kernel, from 1 -> the codes that are found there
    oracle: str

    @property
    def path(self):
        # A test's name must not have a minus, which GoogleTest's filter takes for a word of its own.
        return f"limits_{self.target[7:10]}/{self.limit.replace('-', '_')}"

    def text(self):
        rule, source = rules(self.page)[self.limit]
        prose = f"Illegal, by the rule that {rule} ({source}). {self.oracle}"
        lines = [f"# spec: {self.page}#{self.limit}"]
        lines += [f"# {line}" for line in textwrap.wrap(prose, 110, break_on_hyphens=False)]
        lines += [f"# target: {self.target}", "# exit: 1", "# schedules: 1", f"# finding: ILLEGAL [{self.limit}]"]
        lines += ["--- kernel", *self.marked()]
        inputs = re.findall(r"^  (?:in|prefetch|bound) %(\w+):", self.kernel, re.MULTILINE)
        if inputs:
            lines += ["--- inputs", *(f"{name} = zeros" for name in inputs)]
        if self.limit in PRINTED:
            lines += ["--- expect", *(f'print "{line}"' for line in PRINTED[self.limit])]
        return "\n".join(lines) + "\n"

    def marked(self):
        for number, line in enumerate(self.kernel.rstrip("\n").split("\n"), 1):
            yield f"{line}  //~ {self.marks[number]}" if number in self.marks else line


@functools.cache
def lowered_or_refused(file):
    """Name -> (target, verdict, kernel text)."""
    kernels = {}
    for part in golden_files.read(GOLDEN / f"{file}.gz").split("=== ")[1:]:
        head, _, text = part.partition("\n")
        name, target, verdict = head.split()
        kernels[name] = (target, verdict, text)
    return kernels


def refused_by_jax(limit, page, file, name, marks):
    target, verdict, kernel = lowered_or_refused(file)[name]
    if verdict != "refused":
        raise ValueError(f"limit_tables.py: {limit}: JAX takes the kernel {name}; expected one that it refuses")
    oracle = f"JAX 0.10.2 refuses to lower this kernel ({name} of conformance/golden/{file})."
    kernel = re.sub(r"(?m)^ *debug_print.*\n", "", kernel) if limit in UNPRINTED else kernel
    return LimitCase(limit, page, target, kernel, marks, oracle)


def tpu():
    for limit, (name, marks) in TPU.items():
        yield refused_by_jax(limit, "tpu-limits.md", "tpu_legality.txt", name, marks)


@functools.cache
def broken_pairs():
    """Limit -> the fields of its pairs in gpu_limits.txt, as they are broken."""
    pairs = {}
    for part in (GOLDEN / "gpu_limits.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        limit, *lines = [line for line in part.split("\n") if line and not line.startswith("#")]
        fields = {}
        for key, _, value in (line.partition(" ") for line in lines):
            value = re.sub(r"<<(?!<)(.*?)\|\|.*?>>", r"\1", value)
            fields[key] = fields.get(key, "") + f"      {value};\n" if key == "do" else value
        pairs.setdefault(limit, []).append(fields)
    return pairs


def over_a_mesh(fields, also):
    """The kernel that emu/check/legality/gpu/limits_test.cc makes of a pair, with waits for what it begins."""
    operand = fields.get("x", "f16[64,64]")
    devices = f"\n  devices {fields['devices']};" if "devices" in fields else ""
    producer = f"producer \"{fields['producer']}\";\n" if "producer" in fields else ""
    return f"""pkir 1;
{producer}kernel @k {{
  backend mosaic_gpu;
  params {fields.get("params", "{}")};{devices}
  in %x: {operand} space gmem;
  mesh gpu {{{fields.get("mesh", ONE_BLOCK)}}};
  body @k (%xr: ref<gmem,{operand}>) {{
    run_scoped{{collective_axes={fields.get("axes", "[]")}}}() ({fields.get("scope", "")}) {{
{fields.get("do", "")}{"".join(f"      {line};" + chr(10) for line in also)}      return;
    }};
    return;
  }}
}}
"""


def gpu():
    for limit, (name, marks) in GPU_REFUSED.items():
        yield refused_by_jax(limit, "gpu-limits.md", "gpu_legality.txt", name, marks)
    for limit, (number, marks) in GPU.items():
        fields = broken_pairs()[limit][number]
        kernel = over_a_mesh(fields, MENDED.get(limit, ()))
        target = fields.get("target", "mosaic_gpu/h100")
        oracle = "Its text is made of conformance/golden/gpu_limits.txt."
        yield LimitCase(limit, "gpu-limits.md", target, kernel, marks, oracle)


FAMILIES = (tpu, gpu)
