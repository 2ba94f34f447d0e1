"""Sphinx's settings for the site. `tools/site_pages.py` prepares the sources that this reads.

Based on Sphinx, MyST and the theme of JAX's own documentation. All that a page needs is in the built folder: it is
readable, searchable and dark or light without a network.
"""

import pathlib
import re

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text
from sphinx.search.en import SearchEnglish

project = "Palladion"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["site/**"]
html_theme = "sphinx_book_theme"
html_title = "Palladion"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_search_scorer = str(pathlib.Path(__file__).with_name("search.js"))
html_show_sphinx = False
html_theme_options = {
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
}
# Docstrings are prose with code in single backticks, as the comments of this project are.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 100


# Questions are typed as they are asked: "how do I replay a failing schedule".
SearchEnglish.stopwords = SearchEnglish.stopwords | set(
    "about am any can could did do does don from had has have how i its me mine my need only our s should so some t "
    "than us use used using want we were what when where which who why would you your".split()
)

# The anchors that readers of Markdown make of headings, which links in these pages use.
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page that begins at a lower level, behind a generated part


class KernelTextLexer(RegexLexer):
    """Kernel text (docs/spec/kernel-text.md), for colours: not its grammar."""

    name = "pkir"
    aliases = ["pkir"]
    tokens = {
        "root": [
            (r"#.*?$", Comment.Single),
            (r'"[^"\n]*"', String),
            (words(("pkir", "kernel", "backend", "grid", "body", "in", "out", "scratch", "return", "as"), suffix=r"\b"),
             Keyword),
            (r"%[\w.]+", Name.Variable),
            (r"@[\w.]+", Name.Function),
            (r"\b(?:[biuf]\d+|bf16|ref|tile)\b", Keyword.Type),
            (r"\b\d[\w.]*", Number),
            (r"[-+*/=<>:;,{}()\[\]]", Operator),
            (r"\w+", Name),
            (r".|\n", Text),
        ]
    }  # fmt: skip


def listed_fields(app, what, name, obj, options, lines: list[str]) -> None:
    """A docstring of this project lists fields as "name: what it is", continued with an indent: a list in RST."""
    found = []
    for line in lines:
        field = re.match(r"(`?\w+`?): (.*)", line)
        if field and found and found[-1] and not found[-1].startswith(("- ", "  ")):
            found.append("")
        if field:
            found.append(f"- ``{field[1].strip('`')}``: {field[2]}")
        elif line.startswith("    ") and found and found[-1].startswith(("- ", "  ")):
            found.append("  " + line.strip())
        else:
            found.append(line)
    lines[:] = found


def setup(app) -> None:
    app.add_lexer("pkir", KernelTextLexer)
    app.connect("autodoc-process-docstring", listed_fields)
