"""Where JAX's interpreters do not keep to the documentation, so that a difference is theirs: a pattern of the kernel text, and the reason."""

import re

_KNOWN = (  # modes, pattern of the text, reason
    (("tpu",), r"addupdate\(", "JAX's TPU interpreter has no rule for `addupdate`, which its compiler for TPUs has"),
)


def known_deviation(text: str, mode: str) -> str:
    """The reason of the first known deviation that the kernel may meet; "": none."""
    return next((reason for modes, pattern, reason in _KNOWN if mode in modes and re.search(pattern, text)), "")
