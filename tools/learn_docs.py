"""The list of chapters and exercises in docs/learn/index.md, from python/palladion/learn/course.py and the statements.
Run by tools/gen_docs.py, which has nothing installed: the files are parsed, not imported.
"""

import ast
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEARN = os.path.join(ROOT, "python/palladion/learn")


def _tree(*path: str) -> ast.Module:
    with open(os.path.join(LEARN, *path), encoding="utf-8") as file:
        return ast.parse(file.read())


def _assigned(tree: ast.Module, name: str) -> ast.expr:
    return next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]
    )


def _words(name: str) -> dict[str, str]:
    """The texts of a statement, by their names."""
    call = _assigned(_tree("exercises", name, "statement.py"), "EXERCISE")
    return {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}


def chapters() -> str:
    kinds = ast.literal_eval(_assigned(_tree("statement.py"), "KINDS"))
    lines = ["| chapter | exercise | | on |", "|---|---|---|---|"]
    for chapter in _assigned(_tree("course.py"), "CHAPTERS").elts:
        page, title, names = (ast.literal_eval(argument) for argument in chapter.args)
        first = f"[{title}]({page}.md)"
        for name in names:
            words = _words(name)
            lines.append(f"| {first} | `{name}`: {words['title']} | {kinds[words['kind']]} | `{words['target']}` |")
            first = ""
    return "\n".join(lines) + "\n"
