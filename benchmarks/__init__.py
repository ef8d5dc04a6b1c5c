"""How fast partwise is beside other libraries, and its parts beside what bounds them: `python -m benchmarks --help`.

How it is measured, and the tables: docs/benchmarks.md.
"""
