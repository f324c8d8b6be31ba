"""Judge an MPI library by performance guidelines (`sibyl guidelines`).

A guideline says that a collective is not slower than another way to the same result: `catalogue`
lists them, `groups` says what is measured in turns, `judge` compares both sides, `output` and
`page` tell it, `selection` turns what was learned into tables of algorithms. What measures is
`sibyl.experiment`.
"""
