"""Asks the search of the built site the questions of docs/site/questions.txt, as newcomers type them, and fails where
the page that answers one is not among the first five.

It runs the site's own scripts in a browser without a window. Not tested: the search field, and what its page looks
like.
"""

import html
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, "build/site/html")
QUESTIONS = os.path.join(ROOT, "docs/site/questions.txt")
SHOWN = 5

# The names of the pages, best first; the pages' own search keeps the best at the end.
_ASK = """<script>
window.onload = () => {
  const pages = (question) => Search._performSearch(...Search._parseQuery(question)).map((one) => one[0]);
  const found = %s.map((question) => pages(question).reverse());
  document.documentElement.innerHTML = "<body><pre id='found'></pre></body>";
  document.getElementById("found").textContent = JSON.stringify(found);
};
</script></body>"""


def questions(text: str) -> list[tuple[str, list[str]]]:
    """(question, names of the pages that answer it): `question | page page`, lines with # aside."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.partition("|")[0].strip(), line.partition("|")[2].split()) for line in lines]


def search(asked: list[str], built: str = BUILT) -> list[list[str]]:
    """The names of the pages that the search finds for each question, best first."""
    with open(os.path.join(built, "search.html"), encoding="utf-8") as file:
        page = file.read().replace("</body>", _ASK % json.dumps(asked))
    path = os.path.join(built, "questions.html")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        command = [
            "chromium-headless-shell",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ]
        shown = subprocess.run([*command, f"file://{path}"], check=True, capture_output=True, text=True).stdout
    finally:
        os.unlink(path)
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', shown, re.DOTALL)[1]))


def misses(asked: list[tuple[str, list[str]]], found: list[list[str]]) -> list[str]:
    wrong = []
    for (question, answers), pages in zip(asked, found, strict=True):
        first = list(dict.fromkeys(pages))[:SHOWN]
        if not set(answers) & set(first):
            wrong.append(f"{question}: {' or '.join(answers)} is not among the first {SHOWN}: {', '.join(first)}")
    return wrong


def main() -> int:
    with open(QUESTIONS, encoding="utf-8") as file:
        asked = questions(file.read())
    wrong = misses(asked, search([question for question, _ in asked]))
    print("\n".join(wrong) or f"site: {len(asked)} questions, each with its page among the first {SHOWN}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
