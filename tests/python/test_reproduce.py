"""`sibyl reproduce`: ours beside the published numbers, verdicts, and going on where it stopped."""

import csv
import json
from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.reproduce import session
from sibyl.reproduce.catalogue import ITEMS
from sibyl.reproduce.outcome import VERDICTS, judge, published
from sibyl.reproduce.scatter_gather import mean_run_times


def test_the_table_of_scatter_is_found_again_where_delays_are_large() -> None:
    for row in published("scatter_table_3_bslin_vs_lin"):
        size, delay = int(row["size_kfloats"]), int(row["max_delay_ms"])
        if delay < 50:
            continue
        times = mean_run_times("scatter", "LIN,BSLIN", 48, size, delay, 16)
        factor = times["LIN"] / times["BSLIN"]
        assert factor == pytest.approx(float(row["speedup_lin_over_bslin"]), rel=0.12)


def test_an_item_writes_table_picture_and_verdicts(sibyl: Sibyl, tmp_path: Path) -> None:
    result = sibyl("reproduce", "exscan-table-1", "--to", "out")
    assert result.returncode == 0, result
    with (tmp_path / "out/exscan-table-1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    given = {(r["ranks"], r["elements"], r["algorithm"]): r["published_us"] for r in rows}
    assert given["1152", "100000", "123-doubling"] == "10921.26"
    assert (tmp_path / "out/exscan-table-1.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((tmp_path / "out/exscan-table-1.json").read_text())
    assert {claim["verdict"] for claim in document["claims"]} <= set(VERDICTS)
    assert document["claims"][0]["verdict"] == "held"
    assert "exscan-table-1.png" in (tmp_path / "out/index.html").read_text()
    assert "not held" in result.stdout or "held" in result.stdout


def test_all_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = [item for item in ITEMS if item.name in ("exscan-table-1", "scatter-figure-17")]
    monkeypatch.setattr(session, "ITEMS", quick)
    ran = []
    once = session._run_item

    def counted(item, *rest):
        ran.append(item.name)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return once(item, *rest)

    monkeypatch.setattr(session, "_run_item", counted)
    assert session.run([], True, tmp_path, 2) == 130
    assert "--all goes on" in capsys.readouterr().err
    assert session.run([], True, tmp_path, 2) == 0
    assert ran == ["exscan-table-1", "scatter-figure-17", "scatter-figure-17"]
    assert session.run([], True, tmp_path, 3) == 0
    assert len(ran) == 5  # other iterations are other results


def test_a_claim_names_the_cells_where_it_does_not_hold() -> None:
    claim = judge("x", [("a", True), ("b", False)], "Why.")
    assert (claim.verdict, claim.reason) == ("partly held", "1 of 2 cells (not: b). Why.")
    assert judge("x", [("a", True)], "").verdict == "held"
    assert judge("x", [("a", False)], "").verdict == "not held"


def test_bad_input_gets_one_line(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("reproduce", "table-99"), "unknown item 'table-99'", "exscan-table-1")
    assert_usage_error(sibyl("reproduce", "--all", "exscan-table-1"), "--all")
    assert_usage_error(sibyl("reproduce", "exscan-table-1", "--iterations", "0"), "at least 2")
    assert_usage_error(sibyl("reproduce", "exscan-table-1", "--to", "/proc/x"), "/proc/x")
