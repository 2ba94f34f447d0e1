"""docs/explanation/time.md says how far its tables of whole times are off in the mean, of what was fitted and of what
was not: it is reckoned here.

Based on: the tables themselves, whose figures other tests hold. Not in it: laws of single instructions, whose tables
give a bound alone.
"""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs/explanation/time.md"


def rows_below(page, head):
    """The cells of each row of the table whose first line begins so."""
    lines = page[page.index(f"\n{head}") + 1 :].split("\n")
    assert lines[1].startswith("|---"), head
    rows = []
    for line in lines[2:]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])


def percent(cell):
    return float(cell.replace("%", ""))


def errors(page):
    """(was it fitted, its error in percent) of each figure."""
    for row in rows_below(page, "| kernel | published | cycles |"):
        yield "JAX's guide" in row[1], percent(row[4])  # the clock is from that figure
    for row in rows_below(page, "| step | published | cycles |"):
        yield row[0].startswith("6 "), 100 * (percent(row[4]) / percent(row[1]) - 1)  # the clock is from step 6
    for head in (
        "| figure | clock | published |",
        "| figure, all of a v7x |",
        "| kernel on a TPU |",
        "| other kernel on a TPU |",
        "| stream on an H200 |",
    ):
        for row in rows_below(page, head):
            yield row[-1] != "nothing", percent(row[-2])
    for row in rows_below(page, "| products of M = 128, one SM, B300 |"):
        if row[0].startswith("found"):
            yield from ((False, percent(cell)) for cell in row[1:])
    for row in rows_below(page, "| bytes in flight for each SM |"):
        if row[0].startswith("found"):  # the bandwidth is from the two last
            yield from ((i >= 4, percent(cell) - 100) for i, cell in enumerate(row[1:]))


def sentence(page):
    means = []
    for fitted in (True, False):
        of = [abs(error) for was, error in errors(page) if was == fitted]
        means.append(f"{sum(of) / len(of):.1f} % of {len(of)} figures")
    return f"Mean absolute error of the tables below: {means[0]} that a number was fitted to, {means[1]} that none was."


def test_the_page_says_the_mean_of_its_errors():
    page = PAGE.read_text(encoding="utf-8")
    assert sentence(page) in re.sub(r"\s+", " ", page), f"docs/explanation/time.md should say: {sentence(page)}"


# Of a table of rates, what a copy or a unit of its own is bound by.
BOUNDS = {
    "HBM": "kMemoryUncertainty",
    "copy": "kMemoryUncertainty",
    "unit": "kUnitUncertainty",
    "steps": "kLatencyUncertainty",
}


def tpu_errors(page):
    """(the constant of the model that says how far it may be off, its error as a share): what nothing was fitted to."""
    for row in rows_below(page, "| other kernel on a TPU |"):
        yield BOUNDS[row[1]], abs(percent(row[4])) / 100
    for row in rows_below(page, "| figure, all of a v7x |"):
        if row[-1] == "nothing":
            yield BOUNDS["copy" if row[0].startswith("a copy") else "unit"], abs(percent(row[3])) / 100


def test_three_quarters_of_what_was_not_fitted_on_tpus_are_inside_the_uncertainty():
    costs = (PAGE.parents[2] / "emu" / "timing" / "tpu" / "costs.h").read_text(encoding="utf-8")
    of = {}
    for name, error in tpu_errors(PAGE.read_text(encoding="utf-8")):
        of.setdefault(name, []).append(error)
    assert len(of) == 3
    for name, errors_of in of.items():
        stated = float(re.search(rf"{name} = ([\d.]+)", costs)[1])
        inside = sum(error <= stated for error in errors_of)
        assert inside >= 0.75 * len(errors_of), (name, errors_of)
        assert inside - sum(error == max(e for e in errors_of if e <= stated) for error in errors_of) < 0.75 * len(
            errors_of
        ), name


def test_an_error_that_changes_changes_the_mean():
    page = PAGE.read_text(encoding="utf-8")
    changed = re.sub(r"(cuBLAS, 175.5 us \| \d+ \| [\d.]+ us \| )-8 %", r"\g<1>-31 %", page)
    assert changed != page and sentence(changed) != sentence(page)
