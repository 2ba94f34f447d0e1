"""Writes the parts of docs/, and the lists of operations elsewhere, that code knows, or checks that they are fresh.

    python3 tools/gen_docs.py --check --palladion build/palladion
    python3 tools/gen_docs.py --write --palladion build/palladion

A generated part stands between the two comments `generated:NAME` and `/generated:NAME`, of HTML or behind #; BLOCKS has
one function per NAME. --check also fails on a marker that no function knows and on a function that no page uses. Blocks
that ask the command (the operation list) need a built `palladion`; without one --check is an error, never a pass.
"""

import argparse
import collections
import difflib
import functools
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys

import case_docs
import includes
import learn_docs
import links
import machine_docs
import operation_docs
import pins
import scoreboard
import verdict_docs
from case_docs import case_files

ROOT = includes.ROOT
MARKER = re.compile(
    r"(?P<open>(?:<!--| *#) generated:(?P<name>[\w-]+)(?: -->)?\n)(?P<body>.*?)"
    r"(?P<close>(?:<!--| *#) /generated:(?P=name)\b)",
    re.DOTALL,
)
OTHER_FILES = (
    "python/palladion/base/check_options.py",
    "python/palladion/jax/exporter/elementwise_names.py",
    "semantics/registry/parse_fuzz.dict",
)


def include_arrows() -> str:
    arrows = collections.defaultdict(set)
    libraries = collections.defaultdict(set)
    for include in includes.all_includes():
        source = includes.part_of(include.source)
        if source is None or includes.TEST_OR_TOOL.match(include.source) and source not in includes.PUBLIC_ONLY:
            continue
        arrows[source]  # noqa: B018 - a part without arrows is listed too
        library = includes.library_of(include.target)
        target = includes.part_of(include.target) if include.quoted else None
        if library is not None:
            libraries[source].add(library)
        elif target is not None and target != source:
            arrows[source].add(target)
    lines = ["| part | includes | libraries |", "|---|---|---|"]
    for part in includes.ALLOWED:
        if part in arrows:
            seen = ", ".join(f"`{name}`" for name in includes.ALLOWED if name in arrows[part])
            lines.append(f"| `{part}` | {seen or 'nothing'} | {', '.join(sorted(libraries[part])) or 'none'} |")
    return "\n".join(lines) + "\n"


def findings(palladion: str) -> str:
    """The pages of `palladion explain`, a section for each code, behind a table of all."""
    pages = json.loads(
        subprocess.run([palladion, "explain", "--format=json"], check=True, capture_output=True, text=True).stdout
    )
    lines = ["| code | severity | rule |", "|---|---|---|"]
    for page in pages:
        lines.append(f"| [{page['code']}](#{links.slug(page['code'])}) | {page['severity']} | {page['rule']} |")
    for page in pages:
        lines += ["", f"## {page['code']}", "", f"*{page['rule']}* ({page['severity']})", "", page["text"].strip(), ""]
        source = f"from=emu/front/reports/explain/{page['code']}.txt"
        lines += _kernel_and_fix(page["python"], f"python {source}", f"diff {source}")
        lines += ["", "<details><summary>The same as kernel text</summary>", ""]
        lines += [*_kernel_and_fix(page, "pkir", "diff"), "", "</details>"]
    return "\n".join(lines) + "\n"


def _kernel_and_fix(page: dict, language: str, change: str) -> list[str]:
    """The wrong kernel and the lines that mend it, in fences of those words."""
    fix = [line.removeprefix("  ") for line in page["fix"].rstrip("\n").splitlines()]
    return [f"```{language}", page["wrong"].strip(), "```", "", "The fix:", "", f"```{change}", *fix, "```"]


def _limits(palladion: str, part: slice, prefix: str = "") -> str:
    """The rules of emu/check/legality whose names begin with `prefix`, as `palladion explain` has them;
    a section for each family of names.
    """
    pages = json.loads(
        subprocess.run([palladion, "explain", "--format=json"], check=True, capture_output=True, text=True).stdout
    )
    families = collections.defaultdict(list)
    for limit in next(page for page in pages if page["code"] == "ILLEGAL")["limits"]:
        if limit["name"].startswith("tpu.") == (prefix == "tpu."):
            families[" ".join(limit["name"].split(".")[part])].append(limit)
    lines = [f"{sum(map(len, families.values()))} limits."]
    for family, limits in families.items():
        lines += ["", f"## {family}", "", "| limit | rule | from | what to do |", "|---|---|---|---|"]
        lines += [f"| `{one['name']}` | {one['rule']} | {one['source']} | {one['fix']} |" for one in limits]
    return "\n".join(lines) + "\n"


def gpu_limits(palladion: str) -> str:
    """The tables of emu/check/legality/gpu/*.cc."""
    return _limits(palladion, slice(0, 1))


def tpu_limits(palladion: str) -> str:
    """The tables of emu/check/legality/tpu/*.cc."""
    return _limits(palladion, slice(1, 2), "tpu.")


def tpu_compiler(palladion: str) -> str:
    """The tables of emu/check/legality/refusals_*.cc."""
    pages = json.loads(
        subprocess.run([palladion, "explain", "--format=json"], check=True, capture_output=True, text=True).stdout
    )
    rules = next(page for page in pages if page["code"] == "COMPILER")["limits"]
    lines = [
        f"{len(rules)} rules.",
        "",
        "| rule | chips | what it says | severity, how sure | from | what to do |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{one['name']}` | {one['chips']} | {one['rule']} | {one['severity']}: {one['certainty']} | {one['source']} "
        f"| {one['fix']} |"
        for one in rules
    ]
    return "\n".join(lines) + "\n"


def dtypes() -> str:
    """From the table of semantics/base/dtype.cc, whose order and completeness the compiler checks."""
    with open(os.path.join(ROOT, "semantics/base/dtype.cc"), encoding="utf-8") as file:
        rows = re.findall(r'\{DType::k\w+, "(\w+)", "(\w+)", DTypeKind::k(\w+), (\d+), (\d+)\}', file.read())
    lines = ["| type | NumPy, ml_dtypes | kind | bits | bytes in memory |", "|---|---|---|---|---|"]
    lines += [f"| `{name}` | `{numpy}` | {kind.lower()} | {bits} | {size} |" for name, numpy, kind, bits, size in rows]
    return "\n".join(lines) + "\n"


def policies() -> str:
    """From the table of scheduler/policies/portfolio.cc, and the cycle of seeds in it."""
    with open(os.path.join(ROOT, "scheduler/policies/portfolio.cc"), encoding="utf-8") as file:
        text = re.sub(r'"\s*\n\s*"', "", file.read())  # a literal over several lines
    rows = re.findall(r'\{PolicyKind::k(\w+),\s*"([\w-]+)",\s*"([^"]+)",\s*"([^"]+)"', text)
    seeds = {}
    for array, first in (("kFirst", 0), ("kCycle", 3)):
        names = re.search(r"constexpr std::array %s = \{(.*?)\};" % array, text, re.DOTALL)[1]
        kinds = re.findall(r"PolicyKind::k(\w+)", names)
        for at, kind in enumerate(kinds):
            seeds[kind] = str(first + at) if array == "kFirst" else f"{first + at}, {first + at + len(kinds)}, ..."
    lines = ["| policy | seeds | which agent runs next | what it finds best |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {seeds.get(kind, '')} | {what} | {finds} |" for kind, name, what, finds in rows]
    return "\n".join(lines) + "\n"


def packages() -> str:
    lines = ["| package | what for | group |", "|---|---|---|"]
    with open(os.path.join(ROOT, "tools/apt_packages.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                group, name, purpose = line.split(maxsplit=2)
                lines.append(f"| `{name}` | {purpose.strip()} | {group} |")
    return "\n".join(lines) + "\n"


def presets() -> str:
    with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
        configure = json.load(file)["configurePresets"]
    lines = ["| preset | folder | what it is |", "|---|---|---|"]
    for preset in configure:
        if not preset.get("hidden"):
            folder = "build" if preset["name"] == "release" else f"build-{preset['name']}"
            lines.append(f"| `{preset['name']}` | `{folder}` | {preset['displayName']} |")
    return "\n".join(lines) + "\n"


def spec_pages() -> str:
    lines = []
    for path in sorted(glob.glob(os.path.join(ROOT, "docs/spec/**/*.md"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            title = next((line.lstrip("# ").strip() for line in file if line.startswith("# ")), os.path.basename(path))
        lines.append(f"- [{title}]({os.path.relpath(path, os.path.join(ROOT, 'docs'))})")
    return "\n".join(lines) + "\n"


def dev_commands() -> str:
    text = subprocess.run([os.path.join(ROOT, "dev"), "help"], check=True, capture_output=True, text=True).stdout
    return "```console\n$ ./dev help\n" + text.rstrip("\n") + "\n```\n"


def hunted() -> str:
    """The runs of `./dev hunt --record`, a column for each family: sums over the runs of one commit."""
    sums = collections.defaultdict(collections.Counter)
    with open(os.path.join(ROOT, "emu/tools/hunt/runs.tsv"), encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split("\t")
        for line in file:
            row = dict(zip(names, line.rstrip("\n").split("\t"), strict=True))
            sums[row["family"], row["commit"]].update(
                {name: int(row[name]) for name in names if name not in ("commit", "family", "first")}
            )
    lines = [
        "| family | commit | " + " | ".join(name.replace("_", " ") for name in names[3:]) + " |",
        "|---" * (len(names) - 1) + "|",
    ]
    lines += [
        f"| {family} | `{commit}` | " + " | ".join(str(count[name]) for name in names[3:]) + " |"
        for (family, commit), count in sorted(sums.items())
    ]
    return "\n".join(lines) + "\n"


def python_versions() -> str:
    def version_of(pin: re.Match) -> str:
        where = {None: "", "<": " (Python before {})", ">=": " (Python from {})"}[pin["compare"]]
        return f"{pin['name']} {pin['version']}" + where.format(pin["python"])

    return ", ".join(version_of(pin) for pin in pins.pins()) + "\n"


def jax_deprecated() -> str:
    """From python/palladion/jax/jax_deprecated.py, which needs no JAX."""
    path = os.path.join(ROOT, "python/palladion/jax/jax_deprecated.py")
    spec = importlib.util.spec_from_file_location("jax_deprecated", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.table()


def argued_findings() -> str:
    """From python/palladion/real_kernels/findings.py, which needs no JAX."""
    path = os.path.join(ROOT, "python/palladion/real_kernels/findings.py")
    spec = importlib.util.spec_from_file_location("argued_findings", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    lines = ["| cases | kernel | finding | | why it stays |", "|---|---|---|---|---|"]
    for one in module.ARGUED:
        lines.append(f"| {one.case} … | `{one.kernel}` | {one.code} ({one.severity}) | {one.truth} | {one.why} |")
    return "\n".join(lines) + "\n"


def reduced_kernels() -> str:
    """From conformance/reduced_kernels.json, which python/tests/reduced_kernels.py writes."""
    with open(os.path.join(ROOT, "conformance/reduced_kernels.json"), encoding="utf-8") as stream:
        rows = json.load(stream)["rows"]
    lines = [
        "| kernel | mistake | finding | instructions | programs | input elements | candidates |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        pairs = [f"{before} → {after}" for before, after in zip(row["sizes"][::2], row["sizes"][1::2])]
        lines.append(
            f"| {row['kernel']} | {row['mistake']} | {row['finding']} | "
            + " | ".join(pairs)
            + f" | {row['candidates']} |"
        )
    return "\n".join(lines) + "\n"


def mutation_score() -> str:
    """From conformance/mutation_score.json, which `python -m palladion.real_kernels --check --record-score` writes."""
    return _score(
        "conformance/mutation_score.json",
        lambda outcomes: [f"- {name}: {what}." for name, what in outcomes.items()] + [""],
    )


def documented_score() -> str:
    """From conformance/documented_score.json, which python/tests/documented_kernels.py writes."""
    return _score("conformance/documented_score.json", lambda outcomes: [])


def blackwell_score() -> str:
    """From conformance/blackwell_score.json, which python/tests/blackwell_mutants.py writes."""
    return _score("conformance/blackwell_score.json", lambda outcomes: [])


def _score(path, meanings) -> str:
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        score = json.load(file)["all"]
    outcomes = score["outcomes"]
    lines = [
        f"{score['mutants']} mutants of {score['kernels']} kernels, each checked with {score['seeds']} seeds on the "
        "inputs of its original.",
        "",
    ]
    lines += [
        *meanings(outcomes),
        "| mutation | mutants | " + " | ".join(outcomes) + " | reported or refused, of those that are not equivalent |",
    ]
    lines.append("|---" * (len(outcomes) + 3) + "|")
    rows = score["counts"] | {"all": {name: sum(row[name] for row in score["counts"].values()) for name in outcomes}}
    for kind, row in rows.items():
        wrong = sum(row.values()) - row["equivalent"]
        share = f"{100 * (row['reported'] + row['refused']) / wrong:.0f} %" if wrong else ""
        lines.append(
            f"| {kind} | {sum(row.values())} | " + " | ".join(str(row[name]) for name in outcomes) + f" | {share} |"
        )
    lines += ["", "Those that survived:" if score["survived"] else "None survived.", ""]
    lines += [f"- {one['case']}, `{one['kernel']}`: {one['what']} ({one['why']})" for one in score["survived"]]
    return "\n".join(lines).rstrip("\n") + "\n"


def gpu_corpus() -> str:
    """The patterns of conformance/gpu_corpus/patterns.py and the cases that are there."""
    spec = importlib.util.spec_from_file_location(
        "patterns_of_corpus", os.path.join(ROOT, "conformance/gpu_corpus/patterns.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = ["| number | the mistake | finding | racy | clean | |", "|---|---|---|---|---|---|"]
    groups = list(module.PATTERNS.items()) + [
        ("litmus", "litmus tests: message passing, store buffering, independent reads, 2+2W")
    ]
    for number, what in groups:
        cases = case_files.texts(f"gpu_corpus/{number}_*")
        racy = [text for name, text in cases.items() if name.endswith("_racy")]
        codes = {mark for text in racy for mark in re.findall(r"//~ .*", text)}
        names = sorted({name for marks in codes for name in re.findall(r"[A-Z]+(?:_[A-Z0-9]+)*", marks)})
        missing = "" if cases else module.INEXPRESSIBLE.get(number, "no case")
        lines.append(
            f"| {number} | {what} | {', '.join(names)} | {len(racy) or ''} | {len(cases) - len(racy) or ''} | "
            f"{missing} |"
        )
    return "\n".join(lines) + "\n"


BLOCKS = {
    "include-arrows": include_arrows,
    "dtypes": dtypes,
    "policies": policies,
    "hunted": hunted,
    "verdicts": verdict_docs.verdicts,
    "facts": verdict_docs.facts,
    "checkers": verdict_docs.checkers,
    "proofs": verdict_docs.proofs,
    "denying-findings": verdict_docs.denying_findings,
    "exercises": learn_docs.chapters,
    "spec-pages": spec_pages,
    "packages": packages,
    "presets": presets,
    "dev-commands": dev_commands,
    "python-versions": python_versions,
    "jax-deprecated": jax_deprecated,
    "argued-findings": argued_findings,
    "mutation-score": mutation_score,
    "reduced-kernels": reduced_kernels,
    "documented-score": documented_score,
    "blackwell-score": blackwell_score,
    "gpu-corpus": gpu_corpus,
    "backends": scoreboard.backends_table,
    "scoreboard": lambda: scoreboard.families_table(scoreboard.read_records()),
    "scoreboard-failures": lambda: scoreboard.failures_list(scoreboard.read_records()),
    "scoreboard-confirmed": lambda: scoreboard.confirmed_table(scoreboard.read_confirmed()),
    "scoreboard-codes": lambda: scoreboard.codes_table(scoreboard.read_records()),
    "rule-cases": case_docs.rule_cases,
}


@functools.cache
def help_tables(palladion: str) -> dict:
    table = subprocess.run([palladion, "help", "--format=json"], check=True, capture_output=True, text=True).stdout
    return json.loads(table)


def all_commands(palladion: str) -> dict:
    return {command["name"]: command for command in help_tables(palladion)["commands"]}


def keywords(palladion: str) -> list:
    return [option for option in help_tables(palladion)["check_options"] if option["keyword"]]


def default_of(option: dict) -> object:
    if option["kind"] == "switch":
        return option["fallback"] == "1"
    if not option["fallback"]:
        return None
    return int(option["fallback"]) if option["kind"] == "number" else option["fallback"]


def keyword_rows(palladion: str) -> str:
    """The rows of python/palladion/base/check_options.py."""
    lines = ["OPTIONS = {"]
    for option in keywords(palladion):
        words = [json.dumps(option["kind"]), repr(default_of(option)).replace("'", '"')]
        if option["kind"] == "choice":
            choices = ", ".join(json.dumps(one) for one in option["values"].split("|"))
            words.append(f"({choices})")
        if option["replays"]:
            words.append("replays=True")
        lines.append(f'    "{option["name"]}": Option({", ".join(words)}),')
    return "\n".join([*lines, "}", ""])


def keyword_table(palladion: str) -> str:
    """The same for readers."""
    lines = ["| keyword | default, and others | |", "|---|---|---|"]
    for option in keywords(palladion):
        default = default_of(option)
        values = [json.dumps(default) if isinstance(default, str) else repr(default)]
        if option["kind"] == "choice":
            values += [json.dumps(one) for one in option["values"].split("|") if one != default]
        lines.append(f"| `{option['name']}` | {', '.join(f'`{one}`' for one in values)} | {option['help']} |")
    return "\n".join(lines) + "\n"


def options_of(name: str, palladion: str) -> str:
    """The options of one command, as `palladion help NAME` has them. What `run` has too is said there."""
    known = {option["name"]: option["help"] for option in all_commands(palladion)["run"]["options"]}
    lines = ["| option | |", "|---|---|"]
    for option in all_commands(palladion)[name]["options"]:
        choices = option["value"].split("|")
        value = (
            " or ".join([", ".join(f"`{one}`" for one in choices[:-1]), f"`{choices[-1]}`"]) if len(choices) > 1 else ""
        )
        letter = f"`-{option['letter']} {option['value']}`, " if option["letter"] else ""
        spelled = f"--{option['name']}" + (f" {option['value']}" if option["value"] and not value else "")
        text = "As of `run`." if name != "run" and known.get(option["name"]) == option["help"] else option["help"]
        # `--format text` or `json`
        shown = f"`{spelled} {choices[0]}`" + value.removeprefix(f"`{choices[0]}`") if value else f"`{spelled}`"
        lines.append(f"| {letter}{shown} | {text} |")
    return "\n".join(lines) + "\n"


COMMANDS_WITH_OPTIONS = (
    "run",
    "check",
    "trace",
    "why",
    "log",
    "diff",
    "golden",
    "compare",
    "mutate",
    "reduce",
    "explain",
    "show",
    "print",
    "conformance",
    "machines",
    "time",
    "advise",
    "fit",
    "ops",
    "help",
)

COMMAND_BLOCKS = (
    {f"options-{name}": functools.partial(options_of, name) for name in COMMANDS_WITH_OPTIONS}
    | {"check-options": keyword_rows, "check-keywords": keyword_table}
    | {"findings": findings, "gpu-limits": gpu_limits, "tpu-limits": tpu_limits, "tpu-compiler": tpu_compiler}
    | machine_docs.BLOCKS
    | operation_docs.BLOCKS
)


def linked(block: str, page: str) -> str:
    """The links of a block, which name pages by their names alone (`python.md#targets`) or by their paths from docs/,
    as links from `page`, a path from the root; those that lead somewhere from its folder stay.
    """
    folder = os.path.dirname(os.path.join(ROOT, page))
    pages = glob.glob(os.path.join(ROOT, "docs/*/*.md"))
    pages = [one for one in pages if not one.startswith(os.path.join(ROOT, "docs/spec"))]

    def link(found: re.Match) -> str:
        if ":" in found[2] or os.path.isfile(os.path.join(folder, found[2])):
            return found[0]
        place = links.place_of(found[2], pages)
        if place is None:
            raise SystemExit(f"{page}: a generated part has a link to {found[2]}: there is no such page in docs/")
        return found[1] + os.path.relpath(place, folder)

    return re.sub(r"(\]\()([\w./:-]+\.md)(?=[#)])", link, block)


def regenerate(text: str, page: str, blocks: dict, used: set[str]) -> str:
    def replace(match: re.Match) -> str:
        name = match["name"]
        if name not in blocks:
            raise SystemExit(f"{page}: nothing generates '{name}'; tools/gen_docs.py knows {', '.join(blocks)}")
        used.add(name)
        return match["open"] + linked(blocks[name](), page) + match["close"]

    fresh = MARKER.sub(replace, text)
    if len(re.findall(r"(?:<!--| *#) /?generated:", text)) != 2 * len(MARKER.findall(text)):
        raise SystemExit(f"{page}: a 'generated' comment has no partner")
    return fresh


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="exit 1 and print a diff where a page is stale")
    mode.add_argument("--write", action="store_true", help="write the pages")
    parser.add_argument("--palladion", default=os.path.join(ROOT, "build/palladion"), help="the built command")
    arguments = parser.parse_args()
    palladion = os.path.abspath(arguments.palladion)
    blocks = BLOCKS | {name: functools.partial(block, palladion) for name, block in COMMAND_BLOCKS.items()}
    used: set[str] = set()
    stale = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True)) + [
        os.path.join(ROOT, name) for name in ("README.md", *OTHER_FILES)
    ]:
        page = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = regenerate(old, page, blocks, used)
        if new == old:
            continue
        if arguments.write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print(f"wrote {page}")
        else:
            stale += 1
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, "fresh"))
    if unused := set(blocks) - used:
        print(f"no page has the generated parts {', '.join(sorted(unused))}")
        stale += 1
    if stale:
        print("Run ./dev docs and commit what it wrote.")
    return stale > 0


if __name__ == "__main__":
    sys.exit(main())
