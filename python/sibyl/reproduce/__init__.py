"""Published tables and figures, repeated: ours beside theirs, and what becomes of each claim.

`catalogue` lists the items, `session` runs and writes them, the other modules hold one paper each.
"""
