"""Simulated time: the plans that run, on a model of a network.

`run.simulate` is the function for programs; the rest of the package is the command
`sibyl simulate`: contenders (names to plans), session (the grid), output, picture and page.
"""
