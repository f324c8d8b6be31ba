"""Recorded sites are replayed."""

import json
from pathlib import Path

import pytest
from cells import write_part

from sibyl.errors import CommandError
from sibyl.experiment.recording import pattern_text, read_recording
from sibyl.mpi.arrivals import merge_arrivals


def test_a_recorded_site_is_replayed_call_by_call(tmp_path: Path) -> None:
    write_part(tmp_path, 0, [[1, "gather", 1, 8, 5000], [2, "scan", -1, 4, 9000]])
    write_part(tmp_path, 1, [[1, "gather", 1, 8, 7000], [2, "scan", -1, 4, 8000]])
    path = tmp_path / "recording.json"
    path.write_text(json.dumps(merge_arrivals(tmp_path, ["app"])))
    assert [site.collective for site in read_recording(path)] == ["gather", "scan"]
    assert pattern_text(f"{path}#1", 2).splitlines()[1:] == ["1e-06", "0.0"]
    with pytest.raises(CommandError, match="recorded on 2 ranks, not 3"):
        pattern_text(str(path), 3)
    with pytest.raises(CommandError, match="2 call site"):
        pattern_text(f"{path}#2", 2)
    with pytest.raises(CommandError, match="neither a shape nor a file"):
        pattern_text(str(tmp_path / "absent"), 2)
