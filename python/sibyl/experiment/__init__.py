"""What all commands that measure share.

Grids of cells, the places where they are measured, the journal of what is done, samples and their
statistics, and how plots look. `bench`, `guidelines`, `reproduce`, `prediction` and `simulator` are
above it and take from it, not from each other.
"""
