"""The benchmark under arrival patterns: what to measure, how to judge it, how to show it.

The measurements are made by an MPI program, sibyl-bench-<flavour> (tools/bench), which prints raw
samples. This package lays out the grid, runs the jobs, keeps what is finished when a run is
interrupted, and turns samples into statistics, tables and plots. Nothing here needs an MPI.
"""
