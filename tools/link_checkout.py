"""Makes an environment use the Python package of this checkout: what `pip install -e` would do, without its build tools
and its network. Run by the environment's own interpreter: .venv/bin/python tools/link_checkout.py
"""

import os
import stat
import sys
import sysconfig
import tomllib

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python")


def main() -> None:
    with open(os.path.join(sysconfig.get_path("purelib"), "palladion-checkout.pth"), "w", encoding="utf-8") as file:
        file.write(SOURCE + "\n")
    with open(os.path.join(SOURCE, "pyproject.toml"), "rb") as file:
        scripts = tomllib.load(file)["project"].get("scripts", {})
    for name, entry in scripts.items():
        module, _, function = entry.partition(":")
        path = os.path.join(sysconfig.get_path("scripts"), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


if __name__ == "__main__":
    main()
