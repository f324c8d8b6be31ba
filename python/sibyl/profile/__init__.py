"""`sibyl profile`: who is late, where, and what it costs.

From trace files to reports: `trace` reads the file of one rank, `world` puts the ranks of a run on
one clock, `calls` puts records together to calls, `attribution` splits the time in them, `places`
finds lines of source, `sites` adds up by call site, `costs` says what messages cost, `whatif`
simulates, `judgement` advises. `profile` does all of that; `document`, `terminal`, `page` (with
`heat_map` and `timeline`), `chrome`, `otf2_archive` and `table` show it. `session` is the command.
`flight` and `watch` read the same files while the program runs.
"""
