"""Parts of a page that measurements write, between the comments `measured:NAME` and `/measured:NAME`.

They are not checked for freshness like the generated parts (gen_docs.py): two runs never give the same numbers.
"""

import datetime
import os
import re


def host_sentence() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        host = next(
            (line.split(":", 1)[1].strip() for line in stream if line.startswith("model name")), "an unknown processor"
        )
    return f"Measured {datetime.date.today().isoformat()} on {host}, {os.cpu_count()} cores."


def write(page: str, name: str, text: str):
    """Replaces the part; ValueError when the page has none of that name."""
    with open(page, encoding="utf-8") as stream:
        old = stream.read()
    part = re.compile(rf"(<!-- measured:{name} -->\n).*?(<!-- /measured:{name} -->\n)", re.DOTALL)
    if not part.search(old):
        raise ValueError(f"{page} has no part <!-- measured:{name} --> ... <!-- /measured:{name} -->")
    with open(page, "w", encoding="utf-8") as stream:
        stream.write(part.sub(lambda match: match[1] + text + match[2], old))
