"""What every other part stands on: errors, element types, whole files, words for a terminal.
Needs no JAX and no library.
"""
