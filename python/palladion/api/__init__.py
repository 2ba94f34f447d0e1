"""What users call: run, check, sweep, time, fit, advise, tune, reduce, golden and compare, each a module of its own.
For users: docs/reference/python.md.
"""
