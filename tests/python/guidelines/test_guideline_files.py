"""What is made of a run of `sibyl guidelines`: the table, the files, the page."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from guideline_reports import gather_report
from rich.console import Console

from sibyl.errors import CommandError
from sibyl.guidelines import output, page
from sibyl.guidelines.options import Outputs, Wishes
from sibyl.guidelines.published import published
from sibyl.guidelines.session import _write


def test_the_table_has_the_paper_s_columns_and_marks_violations_red() -> None:
    report = gather_report()
    out = io.StringIO()
    output.print_report(report, Console(file=out, width=200, force_terminal=True))
    text = out.getvalue()
    for heading in ("MPI_Gather", "Guideline (2)", "MPI_Gatherv", "SIBYL_Gatherv", "m'"):
        assert heading in text
    red = re.findall(r"\x1b\[1;31m *([0-9.]+)", text)
    assert "90.00" in red  # the native gatherv of the regular problem
    assert "50.00" in red  # Sibyl's of the spikes
    assert "4.50" in red
    assert "20.00" not in red
    assert "VIOLATED in 1 of 2 cases" in text


@pytest.mark.parametrize("width", [50, 80])
def test_the_table_fits_without_what_is_least_needed(width: int) -> None:
    out = io.StringIO()
    output.print_report(gather_report(), Console(file=out, width=width))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines() if line[:1] in "┏┡│├└") <= width
    for whole in ("MPI_Gather", "Guideline (2)", "MPI_Gatherv", "SIBYL_Gatherv", "90.00"):
        assert whole in text
    assert "no room for m'" in text
    assert "in the paper" in text


def test_csv_and_json_have_every_finding() -> None:
    report = gather_report()
    rows = list(csv.DictReader(io.StringIO(output.to_csv(report))))
    assert [row["verdict"] for row in rows] == [f.verdict for f in report.findings]
    assert rows[1]["guideline"] == "(2)"
    assert float(rows[1]["factor"]) == pytest.approx(4.5, rel=1e-2)
    assert float(rows[1]["left_avg_us"]) == pytest.approx(90, rel=1e-2)
    document = json.loads(output.to_json(report))
    assert document["format"] == "sibyl-guidelines"
    assert len(document["findings"]) == len(rows)
    assert len(document["cells"][0]["samples"]["gather/native"]["run_s"]) == 28


def test_a_page_on_standard_output_is_all_that_is_there(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = Outputs(page=Path("-"))
    outputs.check(Wishes())
    _write(gather_report(), outputs, None)
    out, errors = capfd.readouterr()
    assert out.startswith("<!doctype html>") and out.rstrip().endswith("</html>")
    assert "MPI_Gatherv" in errors
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match="--csv and --page: only one can be written to '-'"):
        Outputs(page=Path("-"), csv=Path("-")).check(Wishes())


def test_the_page_is_one_file_with_pictures_and_red_figures() -> None:
    pytest.importorskip("matplotlib")
    text = page.to_html(gather_report(), [(Path("a/rules.conf"), "reduce <5")])
    assert text.count("data:image/png;base64,") == 2
    assert not re.search(r'(?:src|href)="(?!data:)', text)
    assert '<td class="bad">90.00</td>' in text
    assert "reduce &lt;5" in text
    assert "Guideline (2)" in text


def test_the_published_factors_are_those_of_the_paper_s_tables() -> None:
    # Table 3, Open MPI 2.0.1: 170.00 over 123.00; table 1 is another library's.
    assert published("openmpi")["same", 1].factor == pytest.approx(170.0 / 123.0)
    assert published("openmpi")["same", 1].ranks == 560
    assert len(published("mpich")) == 30
    assert published("other") == {}
