"""Makes an environment use the Python package of this checkout: what `pip install -e` would do, without its build tools
and its network. Run by the environment's own interpreter: .venv/bin/python tools/link_checkout.py
"""

import os
import stat
import sys
import sysconfig
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def write_in(folder: str, name: str, text: str) -> None:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def main() -> None:
    packages = sysconfig.get_path("purelib")
    write_in(packages, "palladion-checkout.pth", os.path.join(ROOT, "python") + "\n")
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    described = os.path.join(packages, f"palladion-{project['version']}.dist-info")
    write_in(described, "METADATA", f"Metadata-Version: 2.1\nName: palladion\nVersion: {project['version']}\n")
    groups = project.get("entry-points", {}).items()
    write_in(
        described,
        "entry_points.txt",
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {entry}\n" for name, entry in rows.items()) for group, rows in groups
        ),
    )
    for name, entry in project.get("scripts", {}).items():
        module, _, function = entry.partition(":")
        path = os.path.join(sysconfig.get_path("scripts"), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


if __name__ == "__main__":
    main()
