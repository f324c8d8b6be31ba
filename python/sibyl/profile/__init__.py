"""`sibyl profile`: who is late, where, and what it costs.

From trace files to reports: `trace` reads the file of one rank, `world` puts the ranks of a run on
one clock, `calls` puts records together to calls, `attribution` splits the time in them, `places`
finds lines of source, `sites` adds up by call site, `whatif` simulates, `judgement` advises.
`profile` does all of that; `document`, `terminal`, `page` and `chrome` show it. `session` is the
command.
"""
