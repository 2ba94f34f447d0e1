"""How time and memory grow with a launch: programs, blocks, threads, clusters, devices, copies in flight,
loop iterations, bytes.

    ./dev bench scale [--filter X] [--json FILE] [--no-docs]

Each kernel is made in several sizes and run by `palladion run` and `palladion check --seeds 1` in
a process of its own. What counts is the processor time and the peak of resident memory for one unit (a block, an
iteration, a kilobyte), without what the same kernel of one unit takes, over the same at the smallest size: 1 is linear.
Then these ratios become a part of docs/explanation/benchmarks.md. Exit code 1 when a kernel failed or none was chosen. What this
does not show: other schedules than the first, and host threads.
"""

import argparse
import dataclasses
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))

import measured_part  # noqa: E402

AIM = 1.25  # of time and of memory for one unit, at the largest size over the smallest

PROGRAMS = """pkir 1;
kernel @programs {{
  backend triton;
  in %x: i32[{n},32];
  grid [{n}];
  out %o: i32[{n},32];
  body @programs (%xr: ref<default,i32[{n},32]>, %or: ref<default,i32[{n},32]>) {{
    %p = program_id{{axis=0}}() : i32[];
    %v = get(%xr.at[%p, *]) : i32[32];
    %w = add(%v, 1:i32) : i32[32];
    _ = swap(%or.at[%p, *], %w) : i32[32];
    return;
  }}
}}
"""

_MESH = """pkir 1;
kernel @k {{
  backend mosaic_gpu;
  in %x: i32[{rows},{columns}] space gmem;
  out %o: i32[{rows},{columns}] space gmem;
  mesh gpu {{grid=[{grid}], grid_names=[{grid_name}], cluster=[{cluster}], cluster_names=[{cluster_name}], threads={threads}, {thread_name}}};
  body @k (%xr: ref<gmem,i32[{rows},{columns}]> as "x_ref", %or: ref<gmem,i32[{rows},{columns}]> as "o_ref") {{
{body}
    return;
  }}
}}
"""  # fmt: skip


def mesh(body: str, rows, columns=32, grid="", cluster="", threads="") -> str:
    return _MESH.format(
        rows=rows,
        columns=columns,
        grid=grid,
        grid_name='"i"' if grid else "",
        cluster=cluster,
        cluster_name='"c"' if cluster else "",
        threads=threads or "none",
        thread_name='thread_name="wg"' if threads else "thread_name=none",
        body=body,
    )


_SCOPE = """    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[32]> as "s", %b: ref<smem,barrier{arrivals=1}[1]> as "b") {
      copy_gmem_to_smem{oob_mode=zeros}(src=%xr.at[%i, *], dst=%s, barrier=%b.at[0]);
      barrier_wait(barrier=%b.at[0]);
      copy_smem_to_gmem{commit_group=true}(src=%s, dst=%or.at[%i, *]);
      wait_smem_to_gmem{wait_read_only=false}(0:i32);
      return;
    };"""


def programs(n: int) -> str:
    return PROGRAMS.format(n=n)


def blocks(n: int) -> str:
    return mesh('    %i = axis_index{axis="i"}() : i32[];\n' + _SCOPE, n, grid=n)


def threads(n: int) -> str:
    body = """    %i = axis_index{axis="i"}() : i32[];
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,i32[32]> as "s", %full: ref<smem,barrier{arrivals=1}[1]> as "full", %ready: ref<smem,barrier{arrivals=1}[1]> as "ready") {
      %wg = axis_index{axis="wg"}() : i32[];
      cond(%wg) {
        copy_gmem_to_smem{oob_mode=zeros}(src=%xr.at[%i, *], dst=%s, barrier=%full.at[0]);
        barrier_wait(barrier=%full.at[0]);
        %v = get(%s) : i32[32];
        %w = add(%v, %v) : i32[32];
        _ = swap(%s, %w) : i32[32];
        commit_smem();
        barrier_arrive(barrier=%ready);
        return;
      } {
        barrier_wait(barrier=%ready);
        copy_smem_to_gmem{commit_group=true}(src=%s, dst=%or.at[%i, *]);
        wait_smem_to_gmem{wait_read_only=false}(0:i32);
        return;
      };
      return;
    };"""  # fmt: skip
    return mesh(body, n, grid=n, threads="2")


def clusters(n: int) -> str:
    body = """    %j = axis_index{axis="i"}() : i32[];
    %c = axis_index{axis="c"}() : i32[];
    %j2 = mul(%j, 2:i32) : i32[];
    %i = add(%j2, %c) : i32[];
    run_scoped{collective_axes=[]}() (%all: ref<smem,cluster_barrier{axes=["c"], arrivals=1, orders_tensor_core=false, leader_tracked=false}[1]> as "all", %s: ref<smem,i32[32]> as "s", %b: ref<smem,barrier{arrivals=1}[1]> as "b") {
      copy_gmem_to_smem{collective_axes=["c"], leader_tracked=none, oob_mode=zeros}(src=%xr.at[%j, *], dst=%s, barrier=%b);
      barrier_wait(barrier=%b);
      %v = get(%s) : i32[32];
      _ = swap(%or.at[%i, *], %v) : i32[32];
      commit_smem();
      barrier_arrive(barrier=%all);
      barrier_wait(barrier=%all);
      return;
    };"""  # fmt: skip
    return mesh(body, 2 * n, grid=n, cluster="2")


def in_flight(n: int) -> str:
    body = f"""    run_scoped{{collective_axes=[]}}() (%s: ref<smem,i32[{n},4]> as "s", %b: ref<smem,barrier{{arrivals={n}}}[1]> as "b") {{
      _ = scan{{length={n}, reverse=false}}(init=0:i32) (%i: i32[]) {{
        copy_gmem_to_smem{{oob_mode=zeros}}(src=%xr.at[%i, *], dst=%s.at[%i, *], barrier=%b.at[0]);
        %next = add(%i, 1:i32) : i32[];
        return %next;
      }} : i32[];
      barrier_wait(barrier=%b.at[0]);
      return;
    }};"""
    return mesh(body, n, columns=4)


def iterations(n: int) -> str:
    inner = _SCOPE.replace("\n", "\n  ")
    body = f"""    _ = scan{{length={n}, reverse=false}}(init=0:i32) (%i: i32[]) {{
  {inner}
      %next = add(%i, 1:i32) : i32[];
      return %next;
    }} : i32[];"""
    return mesh(body, n)


def operand(kilobytes: int) -> str:
    return mesh(
        "    %v = get(%xr) : i32[{n},256];\n    _ = swap(%or, %v) : i32[{n},256];".replace("{n}", str(kilobytes)),
        kilobytes,
        columns=256,
    )


def devices(n: int) -> str:
    body = f"""    %sem = get_global{{what="sem"}}() : ref<gmem,sem[]>;
    %d = axis_index{{axis="d"}}() : i32[];
    %up = add(%d, 1:i32) : i32[];
    %next = rem(%up, {n}:i32) : i32[];
    %v = get(%xr) : i32[1,32];
    _ = swap(%or.peer(%next, mesh), %v) : i32[1,32];
    semaphore_signal{{device_id_type=mesh}}(ref=%sem, inc=1:i32, device_id=%next, core_index=none);
    semaphore_wait(ref=%sem, value=1:i32, decrement=true);"""
    return mesh(body, 1).replace("backend mosaic_gpu;", f"backend mosaic_gpu;\n  devices {{d={n}}};")


def blocks_of_devices(count: int):
    """Each block signals the one with its number on the next device,
    and writes there: blocks of all devices by their number.
    """

    def text(n: int) -> str:
        body = f"""    %i = axis_index{{axis="i"}}() : i32[];
    %d = axis_index{{axis="d"}}() : i32[];
    %up = add(%d, 1:i32) : i32[];
    %next = rem(%up, {count}:i32) : i32[];
    run_scoped{{collective_axes=[]}}() (%sem: ref<gmem,sem[]> as "sem", %s: ref<smem,i32[32]> as "s", %b: ref<smem,barrier{{arrivals=1}}[1]> as "b") {{
      copy_gmem_to_smem{{oob_mode=zeros}}(src=%xr.at[%i, *], dst=%s, barrier=%b.at[0]);
      barrier_wait(barrier=%b.at[0]);
      %v = get(%s) : i32[32];
      _ = swap(%or.peer(%next, mesh).at[%i, *], %v) : i32[32];
      semaphore_signal{{device_id_type=mesh}}(ref=%sem, inc=1:i32, device_id=%next, core_index=none);
      semaphore_wait(ref=%sem, value=1:i32, decrement=true);
      return;
    }};"""
        each = max(1, n // count)
        return mesh(body, each, grid=each).replace(
            "backend mosaic_gpu;", f"backend mosaic_gpu;\n  devices {{d={count}}};"
        )

    return text


_TENSOR = """pkir 1;
kernel @k {{
  backend mosaic_gpu;
  in %x: f16[128,64] space gmem;
  in %y: f16[64,128] space gmem;
  out %o: f32[{rows},128] space gmem;
  mesh gpu {{grid=[{grid}], grid_names=[{grid_name}], cluster=[], cluster_names=[], threads=none, thread_name=none}};
  body @k (%xr: ref<gmem,f16[128,64]> as "x_ref", %yr: ref<gmem,f16[64,128]> as "y_ref", %or: ref<gmem,f32[{rows},128]> as "o_ref") {{
    {first}
    run_scoped{{collective_axes=[]}}() (%a: ref<smem,f16[16,1,8,64]> as "a", %acc: ref<tmem,f32[128,128]> as "acc",
    %b: ref<smem,f16[8,2,8,64]> as "b", %done: ref<smem,barrier{{arrivals=1, orders_tensor_core=true}}[1]> as "done",
    %full: ref<smem,barrier{{arrivals=2, orders_tensor_core=false}}[1]> as "full", %left: ref<tmem,f16[128,64] {{packing=2}}> as "left") {{
      copy_gmem_to_smem{{oob_mode=zeros}}(src=%xr, dst=%a.unswizzle(128).untile[8,64], barrier=%full);
      copy_gmem_to_smem{{oob_mode=zeros}}(src=%yr, dst=%b.unswizzle(128).untile[8,64], barrier=%full);
      barrier_wait(barrier=%full);
      %v = get(%a.unswizzle(128).untile[8,64]) : f16[128,64];
      _ = scan{{length={length}, reverse=false}}(init=0:i32) (%k: i32[]) {{
        async_store_tmem(ref=%left, value=%v);
        commit_tmem();
        tcgen05_mma{{collective_axis=none, arrive=true, scaled=false, sparse=false}}(acc=%acc, a=%left, b=%b.unswizzle(128).untile[8,64], accumulate=false, barrier=%done);
        barrier_wait(barrier=%done);
        %w = async_load_tmem(src=%acc) : f32[128,128];
        wait_load_tmem();
        %next = add(%k, 1:i32) : i32[];
        return %next;
      }} : i32[];
      return;
    }};
    return;
  }}
}}
"""  # fmt: skip


def tensor_memory(n: int) -> str:
    return _TENSOR.format(rows=128, grid="", grid_name="", first="", length=n)


def tensor_memory_blocks(n: int) -> str:
    return _TENSOR.format(rows=128, grid=n, grid_name='"i"', first="", length=1)


@dataclasses.dataclass
class Case:
    unit: str
    text: object  # of a size
    sizes: tuple
    check_sizes: tuple = ()  # where they are others


CASES = {
    "programs": Case("program of a plain grid", programs, (1 << 14, 1 << 16, 1 << 18, 1 << 20)),
    "blocks": Case("block: copy, wait, store", blocks, (1 << 14, 1 << 16, 1 << 18, 1 << 20)),
    "threads": Case("block of two threads with a barrier", threads, (1 << 13, 1 << 15, 1 << 17, 1 << 19)),
    "clusters": Case("cluster of two blocks, multicast and barrier", clusters, (1 << 12, 1 << 14, 1 << 16, 1 << 18)),
    "copies in flight": Case("copy of one block, all in flight at once", in_flight, (1 << 10, 1 << 11, 1 << 12)),
    "devices": Case("GPU of a ring: store to the next one, signal, wait", devices, (1 << 7, 1 << 8, 1 << 9, 1 << 10)),
    "blocks of two devices": Case(
        "block of a GPU: copy, store to the next GPU, signal, wait", blocks_of_devices(2), (1 << 13, 1 << 15, 1 << 17)
    ),
    "blocks of eight devices": Case(
        "block of a GPU: copy, store to the next GPU, signal, wait", blocks_of_devices(8), (1 << 13, 1 << 15, 1 << 17)
    ),
    "tensor memory": Case("TMEM store, product, load in one block", tensor_memory, (1 << 7, 1 << 9, 1 << 11)),
    "blocks with tensor memory": Case(
        "block: TMEM store, product, load", tensor_memory_blocks, (1 << 6, 1 << 8, 1 << 10)
    ),
    # Of a check each operation knows all before it that histories remember.
    "loop iterations": Case(
        "iteration with a scope, copy, wait, store",
        iterations,
        (1 << 14, 1 << 16, 1 << 18),
        (1 << 12, 1 << 14, 1 << 16),
    ),
    "operand bytes": Case("kilobyte, copied by one block", operand, (1 << 12, 1 << 14, 1 << 16)),
}


def measure_once(what: str, text: str) -> tuple:
    """(seconds of the processor, bytes at the peak) of one process."""
    with tempfile.TemporaryDirectory(prefix="palladion-") as folder:
        path = os.path.join(folder, "k.pkir")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        inputs = [
            word for name in re.findall(r"^  in %(\w+):", text, re.MULTILINE) for word in ("--in", f"{name}=iota")
        ]
        command = [os.path.join(ROOT, "build/palladion"), what, path, *inputs]
        command += ["--out", folder] if what == "run" else ["--seeds", "1", "--no-contracts"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [os.path.join(ROOT, "build/bench/peak_memory"), *command], capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f"{what} of\n{text}\nended with {done.returncode}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(done.stdout)


def measure_least(what: str, text: str, times: int) -> tuple:
    """The least of so many, and of up to seven where one takes less than a quarter of a second: short ones scatter."""
    found = measure_once(what, text)
    for _ in range(max(times, 7 if found[0] < 0.25 else 1) - 1):
        found = min(found, measure_once(what, text))
    return found


def measure(name: str, case: Case) -> list:
    rows = []
    for what in ("run", "check"):
        base = measure_least(what, case.text(1), 3)
        row = {"name": name, "unit": case.unit, "what": what, "sizes": []}
        sizes = case.check_sizes if what == "check" and case.check_sizes else case.sizes
        for size in sizes:
            found = measure_least(what, case.text(size), 3 if size == sizes[0] else 1)
            row["sizes"].append(
                {"size": size, "seconds": (found[0] - base[0]) / size, "bytes": (found[1] - base[1]) / size}
            )
        for of in ("seconds", "bytes"):
            row[of] = row["sizes"][-1][of] / row["sizes"][0][of]
        rows.append(row)
        print(line(row), flush=True)
    return rows


def line(row: dict) -> str:
    return f"{row['name']:18} {row['what']:6}" + "".join(
        f"  {s['size']}: {s['seconds'] * 1e6:.2f} us {s['bytes']:.0f} B" for s in row["sizes"]
    )


def curve(row: dict, of: str) -> str:
    first = row["sizes"][0][of]
    return ", ".join(f"{size[of] / first:.2f}" for size in row["sizes"][1:])


def page_lines(rows: list) -> list:
    lines = [
        "| what | for each | sizes | microseconds | time for one at the larger sizes | bytes | memory at these | |",
        "|---" * 8 + "|",
    ]
    for row in rows:
        first, last = row["sizes"][0], row["sizes"][-1]
        met = "met" if row["seconds"] <= AIM and row["bytes"] <= AIM else "missed"
        lines.append(
            f"| {row['name']}, {row['what']} | {row['unit']} | {first['size']} … {last['size']} | "
            f"{first['seconds'] * 1e6:.2f} | {curve(row, 'seconds')} | {first['bytes']:.0f} | {curve(row, 'bytes')} | "
            f"{met} |"
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only the kernels whose name contains this")
    parser.add_argument("--json", metavar="FILE", help="also write all numbers as JSON")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/explanation/benchmarks.md as it is")
    options = parser.parse_args()
    rows = [row for name, case in CASES.items() if options.filter in name for row in measure(name, case)]
    if not rows:
        print(f"no kernel has {options.filter!r} in its name", file=sys.stderr)
        return 1
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    if not options.no_docs and not options.filter:
        text = (
            "\n".join(
                [
                    f"{measured_part.host_sentence()} Aim for one unit at the largest size over the smallest: at most "
                    f"{AIM:g}.",
                    "",
                    *page_lines(rows),
                ]
            )
            + "\n"
        )
        measured_part.write(os.path.join(ROOT, "docs/explanation/benchmarks.md"), "scale", text)
    print("\n".join(page_lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
