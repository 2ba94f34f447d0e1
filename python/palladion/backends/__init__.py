"""Backends that the conformance suite can ask (docs/guides/backends.md):
`palladion conformance --exec "python -m palladion.backends.NAME"`.
"""
