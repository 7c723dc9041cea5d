"""Measurements behind the numbers in `results/`; each script runs from the root of the repository as `python -m benchmarks.GROUP.NAME`."""
