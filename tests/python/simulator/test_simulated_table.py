"""The table that `sibyl simulate` prints for people."""

import pytest
from rich.console import Console

from sibyl.simulator.contenders import contenders
from sibyl.simulator.model import Network
from sibyl.simulator.output import print_table
from sibyl.simulator.session import Problem, Row, Settings


def test_the_table_keeps_its_lines_whole_in_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    network = Network(25e-6, 8e-9)
    settings = Settings("reduce", network)
    problem = Problem(4, 8000, "a-recording.json#1", 0.0)
    contender = contenders("reduce", "rabenseifner")[0]
    row = Row(problem, contender, 0.0102711, (0.0102611, 0.0102711), 196e-6, 7.728e-3, 0.01, 1, 1)
    for width, quartiles in ((80, False), (120, True)):
        print_table([row], settings, Console(width=width, height=25))
        text = capsys.readouterr().out
        assert text.count("quartiles") == 1
        assert ("no room for quartiles: see --json" in text) != quartiles
        assert text.count("rabenseifner") == text.count("│ 10.27 ms │") == 1
        assert max(map(len, text.splitlines())) <= width
