"""Which targets there are. What a word for one means for a kernel is decided in one place,
the library (semantics/base/target_names.h).
"""

from palladion import _library


def check_name(target: str | None):
    """PalladionError for a target that no kernel could have."""
    if target is not None:
        _library.resolved_target(target)
