"""What the entry point `palladion` names, so that `pytest -p palladion` finds the plugin.

A module of its own, because pytest refuses to register one twice: with `-p palladion.pytest_plugin` it would be.
"""

pytest_plugins = ("palladion.pytest_plugin",)
