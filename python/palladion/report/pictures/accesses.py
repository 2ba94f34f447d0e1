"""The accesses of a program, as the data of the page of programs has them (emu/tools/debug/trace_page.h)."""

KINDS = ("read", "write", "atomic")  # names of their colours, too


def box_text(access: list) -> str:
    """ "[0:128, 3]" """
    parts = []
    for start, count, step in zip(access[4], access[5], access[6]):
        end = start + (count - 1) * step + 1
        parts.append(str(start) if count == 1 else f"{start}:{end}" + (f":{step}" if step != 1 else ""))
    return "[" + ", ".join(parts) + "]" + ("" if access[3] else " in part")


def reach(access: list, rank: int) -> tuple[int, int, int, int]:
    def span(d):
        if d < 0 or rank == 0:
            return 0, 1
        start = access[4][d]
        return start, start + (access[5][d] - 1) * access[6][d] + 1

    return *span(rank - 1), *span(rank - 2 if rank > 1 else -1)
