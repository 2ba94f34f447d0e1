"""The version of the Python package, written into every text it produces."""

VERSION = "0.1"
