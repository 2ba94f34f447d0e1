"""The numbers of `./dev bench peers` as text: a line while it runs, the aims, and the part of
docs/explanation/benchmarks.md.

Only ratios: times are one machine's.
"""

import statistics
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/tools")
import measured_part  # noqa: E402

COLUMNS = ("warm", "warm, whole call", "cold", "cold, kernels", "TPU interpreter", "memory")


def ratios(row) -> dict:
    """Ours over JAX's, except the TPU interpreter's: how many times longer it takes. None: not measured."""
    found = dict.fromkeys(COLUMNS)
    if "error" not in row:
        found["warm"] = row["warm"] / row["jax_warm"]
        found["warm, whole call"] = row["warm_call"] / row["jax_warm"]
        found["cold"] = row["cold"] / row["jax_cold"]
        found["cold, kernels"] = row["cold_kernels"] / row["jax_cold"]
        found["memory"] = row["memory"]["used"] / row["memory"]["allowed"]
    tpu = row.get("tpu", {})
    if "warm" in tpu:
        found["TPU interpreter"] = tpu["tpu_interpreter"] / tpu["warm"]
    return found


def cells(row) -> list:
    texts = []
    for column, value in ratios(row).items():
        if value is not None:
            texts.append(f"{value:.0f}x" if column == "TPU interpreter" else f"{value:.2f}")
        elif column == "TPU interpreter":
            texts.append("" if "tpu" not in row else "not measured: " + row["tpu"]["error"])
        else:
            texts.append("failed: " + row["error"] if column == "warm" else "")
    return texts


def line(row) -> str:
    return f"{row['name']:70}" + "".join(f"{text:>18}" for text in cells(row))


def _aim_rows(rows) -> list:
    """(what, aim, measured, met) of every aim that was measured."""
    values = {
        column: [(ratios(row)[column], row["name"]) for row in rows if ratios(row)[column] is not None]
        for column in COLUMNS
    }
    found = []

    def aim(what, column, choose, bound, text, unit=""):
        if values[column]:
            value, name = choose(values[column])
            met = value >= bound if text.startswith("at least") else value <= bound
            found.append((what, text, f"{value:.2f}{unit}" + (f" ({name})" if name else ""), met))

    def median(pairs):
        return statistics.median(value for value, _ in pairs), ""

    aim("warm, median", "warm", median, 1.0, "at most 1")
    aim("warm, slowest", "warm", max, 3.0, "at most 3")
    aim("cold, median", "cold", median, 0.5, "at most 0.5")
    aim("cold, slowest", "cold", max, 0.5, "at most 0.5")
    aim("TPU interpreter, median", "TPU interpreter", median, 300, "at least 300", "x")
    aim("TPU interpreter, least", "TPU interpreter", min, 300, "at least 300", "x")
    aim("memory, most", "memory", max, 1.0, "at most 1")
    return found


def _aim_lines(rows) -> list:
    lines = ["| what | aim | measured | |", "|---|---|---|---|"]
    lines += [
        f"| {what} | {aim} | {measured} | {'met' if met else 'missed'} |"
        for what, aim, measured, met in _aim_rows(rows)
    ]
    return lines


def aims(rows) -> str:
    return "\n".join(_aim_lines(rows))


def write(page: str, rows: list, subset: bool):
    scope = "A part of the cases." if subset else f"All {len(rows)} cases."
    lines = [f"{measured_part.host_sentence()} {scope}", "", *_aim_lines(rows), ""]
    lines += ["| kernel | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    lines += ["| " + " | ".join([row["name"], *cells(row)]) + " |" for row in rows]
    measured_part.write(page, "peers", "\n".join(lines) + "\n")


# ---- race detection: JAX's TPU interpreter with detect_races=True beside a check


def race_cell(races: dict) -> str:
    return f"{races['tpu_races'] / races['check']:.0f}x" if "check" in races else "not measured: " + races["error"]


def race_aims(rows) -> list:
    ratios_of = [
        (row["races"]["tpu_races"] / row["races"]["check"], row["name"])
        for row in rows
        if "check" in row.get("races", {})
    ]
    if not ratios_of:
        return []
    median, (least, name) = statistics.median(value for value, _ in ratios_of), min(ratios_of)
    lines = ["| what | aim | measured | |", "|---|---|---|---|"]
    for what, value, where in (("median", median, ""), ("least", least, f" ({name})")):
        lines.append(
            f"| race detection, {what} | at least 300 | {value:.0f}x{where} | {'met' if value >= 300 else 'missed'} |"
        )
    return lines


def write_races(page: str, rows: list, subset: bool):
    rows = [row for row in rows if "races" in row]
    scope = "A part of the cases." if subset else f"{len(rows)} cases."
    lines = [
        f"{measured_part.host_sentence()} {scope}",
        "",
        *race_aims(rows),
        "",
        "| kernel | JAX's time over a check's |",
        "|---|---|",
    ]
    lines += [f"| {row['name']} | {race_cell(row['races'])} |" for row in rows]
    measured_part.write(page, "races", "\n".join(lines) + "\n")
