"""Runs the cells of a notebook that comes as JSON on stdin, and prints as JSON what each of them shows: its error,
stderr, the page.

With IPython where it is installed. Without it by the rules of IPython's documentation, which are few: an error is shown
with its causes (and what it was raised in the middle of, unless that is suppressed), each with its frames but those
that have `__tracebackhide__`, and in the end with the name of its class, its text and its notes, or as its
`_render_traceback_` says; the value of a last expression is shown by its `_repr_html_`, else its repr. What that leaves
out: how IPython colours and cuts the lines around a frame.
"""

import ast
import contextlib
import importlib.util
import io
import json
import linecache
import sys
import traceback


def run_by_ipython(cells: list) -> list:
    from IPython.core.interactiveshell import InteractiveShell

    shell, shown = InteractiveShell.instance(), []
    shell.run_line_magic("colors", "NoColor")
    for cell in cells:
        errors, pages = io.StringIO(), []
        shell.showtraceback = lambda *_, out=errors, **__: out.write("\n".join(_lines_of(shell)))
        shell.displayhook.write_format_data = lambda data, *_, out=pages: out.append(data)
        shell.displayhook.finish_displayhook = shell.displayhook.write_output_prompt = lambda *_: None
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            shell.run_cell(cell, store_history=True)
        page = pages[-1] if pages else {}
        shown.append(
            {
                "error": errors.getvalue(),
                "stderr": stderr.getvalue(),
                "page": page.get("text/html", page.get("text/plain", "")),
            }
        )
    return shown


def _lines_of(shell) -> list:
    kind, value, trace = sys.exc_info()
    render = getattr(value, "_render_traceback_", None)
    return render() if render else shell.InteractiveTB.structured_traceback(kind, value, trace, tb_offset=1)


def run_by_rules(cells: list) -> list:
    __tracebackhide__ = True
    names, shown = {"__name__": "__main__"}, []
    for number, cell in enumerate(cells, 1):
        error, page = "", ""
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            try:
                page = _page(_last_value(cell, f"Cell In[{number}]", names))
            except Exception as raised:
                error = "\n".join(_shown(raised))
        shown.append({"error": error, "stderr": stderr.getvalue(), "page": page})
    return shown


def _last_value(cell: str, file: str, names: dict):
    __tracebackhide__ = True  # as IPython's own frames are
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    tree = ast.parse(cell, file)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    return None if last is None else eval(compile(last, file, "eval"), names)


def _page(value) -> str:
    if value is None:
        return ""
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def _shown(error: BaseException) -> list:
    if hasattr(error, "_render_traceback_"):
        return error._render_traceback_()
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    lines = [*_shown(before), ""] if before is not None else []
    lines.append(f"{type(error).__name__}  Traceback (most recent call last)")
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file != __file__ and not frame.f_locals.get("__tracebackhide__"):
            lines += [
                f"{file}, line {line}, in {frame.f_code.co_name}",
                f"----> {linecache.getline(file, line).strip()}",
            ]
    return [*lines, f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]


def main() -> None:
    cells = json.load(sys.stdin)
    run = run_by_rules if importlib.util.find_spec("IPython") is None else run_by_ipython
    json.dump(run(cells), sys.stdout)


if __name__ == "__main__":
    main()
