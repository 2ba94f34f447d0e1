"""What users call: run, check, sweep, time, fit, advise, reduce, golden and compare, each a module of its own.
For users: docs/python.md.
"""
