"""Where JAX asks how a kernel call is compiled for platform cpu: one rule for each primitive,
shared by all that answer.

A thread that exports or records (`answering`) answers for itself alone; then a claim on kernels for the whole process
(palladion.bridge); then the rule that was there before. The rules are in JAX's table while an answerer holds them.
"""

import contextlib
import threading

from palladion.jax import jax_lines, jax_pinned, jax_versions


class _Asked(threading.local):
    def __init__(self):
        self.answers = []  # of this thread, the innermost last: name of the primitive -> rule


class _Table:
    def __init__(self):
        self.lock = threading.Lock()
        self.holders = 0
        self.put_back = None
        # (name, context, nodes, params, the rule that was there) -> results, or None for a kernel of another library
        self.claim = None
        self.takes_bare = lambda: False  # does `claim` take the kernels of this thread that say nothing?


_asked, _table = _Asked(), _Table()


def _rule(name, fallback):
    def rule(context, *nodes, **params):
        arrays = jax_pinned.without(context)
        if _asked.answers:
            return _asked.answers[-1](name)(arrays, *nodes, **params)
        results = _table.claim(name, arrays, nodes, params, fallback) if _table.claim is not None else None
        return fallback(context, *nodes, **params) if results is None else results

    return rule


def hold():
    """Puts the rules in place; `release` as often."""
    with _table.lock:
        if _table.holders == 0:
            rules = jax_versions.register_kernel_rules("cpu", _rule)
            undo = jax_lines.with_own_lines(rules), jax_pinned.hold(_runs_kernels)
            _table.put_back = lambda: [one() for one in undo]
        _table.holders += 1


def release():
    with _table.lock:
        _table.holders -= 1
        if _table.holders == 0:
            _table.put_back()


def set_claim(claim, takes_bare):
    _table.claim, _table.takes_bare = claim, takes_bare


def _runs_kernels() -> bool:
    """Whether kernels of this thread are exported, recorded or run by Palladion."""
    return bool(_asked.answers) or _table.takes_bare()


@contextlib.contextmanager
def answering(rule_of):
    """In this thread `rule_of(name)` is the rule of the kernel call primitive `name`, before all other claims."""
    hold()
    _asked.answers.append(rule_of)
    try:
        yield
    finally:
        _asked.answers.pop()
        release()
