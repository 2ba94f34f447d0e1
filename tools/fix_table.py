"""Makes the fixes of findings that are a change of the kernel text,
and says how many of them work: the table of docs/reference/reports.md.

    python3 tools/fix_table.py [--mutants]   of the conformance cases; of right kernels that lack one wait, arrival,
                                             signal or fence

A fix works when the finding is gone afterwards and no other is there; one that does not work is an error. The changes
are the findings' own `edits`; python/tests/fix_edits.py puts them into the text.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import fix_edits  # noqa: E402

FOLDERS = ("checks", "findings", "gpu", "gpu_corpus", "grid", "tpu")
_WORKS = "gone"
_TRIED = (_WORKS, "stays", "another", "refused")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", action="store_true")
    arguments = parser.parse_args()
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        source = (
            (one for name in FOLDERS for one in fix_edits.mutants(at, f"{name}/*"))
            if arguments.mutants
            else fix_edits.kernels(*FOLDERS)
        )
        for one in source:
            for judged in fix_edits.judge(*one, at):
                counts[judged.finding["code"]][judged.outcome] += 1
                if judged.outcome in _TRIED and judged.outcome != _WORKS:
                    print(judged, file=sys.stderr)
    print("| code | findings | symptoms | with an edit | that works |\n|---|---|---|---|---|")
    for code, outcomes in [*sorted(counts.items()), ("all", sum(counts.values(), collections.Counter()))]:
        tried = sum(outcomes[outcome] for outcome in _TRIED)
        print(f"| {code} | {sum(outcomes.values())} | {outcomes['symptom']} | {tried} | {outcomes[_WORKS]} |")
    return int(tried != outcomes[_WORKS])  # of all


if __name__ == "__main__":
    sys.exit(main())
