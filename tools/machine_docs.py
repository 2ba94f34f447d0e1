"""The generated parts of docs/reference/machines.md, from `palladion machines --json`."""

import json
import subprocess


def _described(palladion: str) -> dict:
    return json.loads(
        subprocess.run([palladion, "machines", "--json"], check=True, capture_output=True, text=True).stdout
    )


def _named(rows: list, head: str) -> str:
    lines = [f"| {head} | |", "|---|---|"]
    return "\n".join(lines + [f"| `{row['name']}` | {row['meaning']} |" for row in rows]) + "\n"


def bases(palladion: str) -> str:
    rows = _described(palladion)["bases"]
    return _named([row for row in rows if row["name"] != "whatif"], "basis")


def sources(palladion: str) -> str:
    return _named(_described(palladion)["sources"], "source")


def _shown(number: dict | None) -> str:
    """A value with its unit; its basis is added where it is not the maker's."""
    if number is None:
        return ""
    value = f"{number['value']:g}" if number["value"] < 1e5 else f"{number['value']:.0f}"
    basis = "" if number["basis"] == "vendor" else f" ({number['basis']})"
    return f"{value} {number['unit']}".strip() + basis


def _table(palladion: str, wanted) -> str:
    described = _described(palladion)
    machines = [machine for machine in described["machines"] if wanted(machine["family"])]
    families = {machine["family"] for machine in machines}
    lines = [
        "| number | " + " | ".join(machine["name"] for machine in machines) + " | |",
        "|---" * (len(machines) + 2) + "|",
    ]
    for row in described["numbers"]:
        if families.isdisjoint(row["families"]):
            continue
        cells = [next((one for one in machine["numbers"] if one["name"] == row["name"]), None) for machine in machines]
        lines.append(f"| `{row['name']}` | " + " | ".join(map(_shown, cells)) + f" | {row['meaning']} |")
    return "\n".join(lines) + "\n"


def gpus(palladion: str) -> str:
    return _table(palladion, lambda family: family != "tpu")


def tpus(palladion: str) -> str:
    return _table(palladion, lambda family: family == "tpu")


BLOCKS = {"machine-bases": bases, "machine-sources": sources, "machine-gpus": gpus, "machine-tpus": tpus}
