"""Hopper kernels here and in JAX's GPU interpreter: what `./dev bench peers` adds to docs/explanation/benchmarks.md for
them.

Each case of gpu_cases.py gets a process of its own (measure_gpu_case.py): the interpreter keeps state that an exception
spoils, and waits for ever where one of its threads fails while others wait for it.
"""

import concurrent.futures
import statistics

import peers_page

SECONDS = 150  # one case
WORKERS = 4  # cases at a time: processor time is compared, and much of a case is imports and waiting
AIM = 100


def measure_all(run, cases) -> list:
    """`run(name, what, limit)` runs measure_gpu_case.py and says what it printed, or {"error": why not}."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda case: _measure(run, case["name"]), cases))


def _measure(run, name: str) -> dict:
    row = {"name": name, "races": run(name, "races", SECONDS)}
    if "error" in row["races"]:
        row["ours"] = run(name, "ours", SECONDS)
    else:
        row["plain"] = run(name, "plain", SECONDS)
    print(f"{name:70} " + " ".join(cells(row)), flush=True)
    return row


def ratio(measured: dict):
    return measured["interpreter"] / measured["ours"] if "interpreter" in measured else None


def cells(row) -> list:
    if "error" in row["races"]:
        ours = "clean" if "ours" in row.get("ours", {}) else f"failed: {row['ours']['error']}"
        return ["", "", f"{reason(row['races']['error'])} (here: {ours})"]
    plain = row["plain"]
    return [
        f"{ratio(row['races']):.0f}x",
        f"{ratio(plain):.0f}x" if ratio(plain) else "not measured: " + reason(plain["error"]),
        "",
    ]


def reason(error: str) -> str:
    return error.replace("|", "\\|").replace("<", "&lt;")


def aim_lines(rows) -> list:
    ratios = [(ratio(row["races"]), row["name"]) for row in rows if ratio(row["races"])]
    if not ratios:
        return []
    least, name = min(ratios)
    lines = ["| what | aim | measured | |", "|---|---|---|---|"]
    for what, value, where in (
        ("median", statistics.median(value for value, _ in ratios), ""),
        ("least", least, f" ({name})"),
    ):
        lines.append(
            f"| race detection, {what} | at least {AIM} | {value:.0f}x{where} | {'met' if value >= AIM else 'missed'} |"
        )
    return lines


def write(page: str, rows: list, subset: bool):
    scope = "A part of the cases." if subset else f"{len(rows)} cases."
    lines = [f"{peers_page.measured_part.host_sentence()} {scope}", "", *aim_lines(rows), ""]
    lines += [
        "| kernel | race detection over a check | interpreter over a run | why the interpreter does not run it |",
        "|---|---|---|---|",
    ]
    lines += ["| " + " | ".join([row["name"], *cells(row)]) + " |" for row in rows]
    peers_page.measured_part.write(page, "gpu-peers", "\n".join(lines) + "\n")


def failed(rows) -> bool:
    """Did a case give nothing of ours?"""
    return not rows or any("error" in row.get("ours", {}) for row in rows)
