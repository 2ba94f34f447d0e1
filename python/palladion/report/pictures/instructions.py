"""The source of a kernel, and the instructions that one program runs. Long lists are cut, and say so."""

from palladion.report.pictures.accesses import KINDS
from palladion.report.pictures.svg import MARGIN, WIDTH, Canvas

_MOST_ROWS = 26


def draw_instructions(canvas: Canvas, data: dict, program: dict, top: float):
    left = MARGIN
    steps = _shown_steps(data, program)
    lines = _shown_lines(data, program)
    half = 540 if lines else 0
    if lines:
        canvas.path(f"M{MARGIN} {top - 12}H{WIDTH - MARGIN}", "line")
        file = data["sources"][0][0]
        canvas.heading(left, top + 8, "source")
        canvas.text(left + 60, top + 8, file.rpartition("/")[2], size=10.5, fill="soft", mono=True)
        _source(canvas, data, (program, lines), (left, top + 28, half - 30))
    at = left + half
    place = (at, top + 28, WIDTH - MARGIN - at)
    if "schedule" in data:
        canvas.heading(at, top + 8, "the run, in the order of the schedule")
        _run(canvas, data, program, place)
    elif steps:
        canvas.heading(at, top + 8, f"what {program['n']} does")
        _steps(canvas, data, steps, place)


def _shown_lines(data: dict, program: dict) -> list[tuple[str, int, str]]:
    """Of a long source those that this program runs, with their neighbours."""
    lines = [(file, number, text) for file, listed in data["sources"] for number, text in listed]
    if len(lines) > _MOST_ROWS:
        run = _line_kinds(data, program)
        touching = {at for at, kinds in run.items() if kinds != {3}}
        for wanted, reach in ((set(run), 2), (set(run), 1), (touching, 1), (touching, 0)):
            near = [one for one in lines if any((one[0], one[1] + d) in wanted for d in range(-reach, reach + 1))]
            if near and len(near) <= _MOST_ROWS:
                return near
    return lines[:_MOST_ROWS]


def _line_kinds(data: dict, program: dict) -> dict[tuple[str, int], set[int]]:
    """By (file, line): 0 read, 1 written, 2 atomic, 3 computed."""
    found: dict[tuple[str, int], set[int]] = {}
    for step in program.get("s", []):
        loc = data["instrs"][step[0]][2]
        if loc >= 0 and not data["instrs"][step[0]][4]:
            kinds = {access[0] for access in step[2]} or {3}
            found.setdefault(tuple(data["places"][loc]), set()).update(kinds)
    return found


def _source(canvas: Canvas, data: dict, what: tuple, place: tuple):
    program, lines = what
    x, y, width = place
    kinds = _line_kinds(data, program)
    indent = min((len(text) - len(text.lstrip()) for _, _, text in lines if text.strip()), default=0)
    for file, number, text in lines:
        done = kinds.get((file, number), set())
        for place_of, kind in enumerate(kind for kind in (0, 1, 2) if kind in done):
            canvas.rect((x + place_of * 4, y - 10, 3, 14), KINDS[kind])
        fill = "ink" if done else "soft"
        canvas.text(x + 38, y, str(number), size=10.5, mono=True, fill="soft", anchor="end")
        canvas.text(x + 46, y, text[indent:].expandtabs(4), size=11.5, mono=True, fill=fill, width=width - 46)
        y += 17


def _shown_steps(data: dict, program: dict) -> list:
    """What touches memory, and what computes arrays; scalars are left out."""
    return [(data["instrs"][step[0]][0], step) for step in program.get("s", []) if _is_shown(data, step)]


def _is_shown(data: dict, step: list) -> bool:
    made = data["instrs"][step[0]][3]
    return bool(step[2] or (made and not made.endswith("[]")))


def scheduled_steps(data: dict) -> list[tuple[int, list]]:
    """(program, step) of a replayed run in the order in which they began; what touches memory alone."""
    placed = [(number, data["programs"][number]["s"][step]) for number, step in data["schedule"]]
    return [(number, step) for number, step in placed if step[2]]


def _run(canvas: Canvas, data: dict, program: dict, place: tuple):
    """Where there is no room for all: from a little before the program that is shown begins."""
    x, y, width = place
    steps = scheduled_steps(data)
    own = [at for at, (number, _) in enumerate(steps) if data["programs"][number] is program]
    first = max(0, min((own or [0])[0] - _MOST_ROWS // 4, len(steps) - _MOST_ROWS))
    shown = steps[first : first + _MOST_ROWS]
    left_out = len(steps) - len(shown)
    for number, step in shown:
        mine = data["programs"][number] is program
        who = data["programs"][number]["n"]
        canvas.text(x, y, who, size=11, bold=mine, fill="ink" if mine else "soft", width=112)
        for kind, words in step_texts(data, step)[:1]:
            colour = {"reads": "read", "writes": "write"}.get(kind, "atomic")
            canvas.text(x + 118, y, kind, size=11, fill=colour, bold=True)
            canvas.text(x + 168, y, words, size=11, mono=True, fill="ink" if mine else "soft", width=width - 168)
        y += 17
    if left_out:
        canvas.text(x, y, f"and {left_out} more instructions (the page has all)", size=11, fill="soft")


def step_texts(data: dict, step: list) -> list[tuple[str, str]]:
    """(kind, words): "reads", "x_ref[0:128, 0:128]" ...; the kind of what only computes is ""."""
    name, _, _, made, around = data["instrs"][step[0]]
    verbs = ("reads", "writes", "updates")
    touched = step[2]
    if around and len(touched) == 2 and touched[0][1] == touched[1][1]:  # of a copy of a block, the array's side
        touched = touched[1:] if name.startswith("flush") else touched[:1]
    return [(verbs[kind], name + box) for kind, name, box in touched] or [("", made)]


def _steps(canvas: Canvas, data: dict, steps: list, place: tuple):
    x, y, width = place
    rows = 0
    for number, (name, step) in enumerate(steps):
        texts = step_texts(data, step)[:3]
        if rows + len(texts) > _MOST_ROWS:
            words = f"and {len(steps) - number} more instructions (the page has all)"
            canvas.text(x, y, words, size=11, fill="soft")
            break
        indent = min(12 * step[1], 60)
        canvas.text(x + indent, y, name, size=11.5, mono=True, width=128 - indent)
        for kind, words in texts:
            if kind:
                colour = {"reads": "read", "writes": "write"}.get(kind, "atomic")
                canvas.text(x + 134, y, kind, size=11, fill=colour, bold=True)
            fill = "ink" if kind else "soft"
            canvas.text(x + 184, y, words, size=11, mono=True, fill=fill, width=width - 184)
            y += 17
            rows += 1
