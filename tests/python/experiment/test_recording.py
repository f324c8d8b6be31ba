"""Recorded sites are replayed."""

import json
import os
from pathlib import Path

import pytest
from cells import write_part

from sibyl.bench.options import Wishes
from sibyl.bench.session import make_grid
from sibyl.errors import CommandError
from sibyl.experiment import recording
from sibyl.experiment.grid import COLLECTIVES
from sibyl.experiment.options import recorded_pattern
from sibyl.experiment.recording import choose_site, pattern_text, read_recording
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
    with pytest.raises(CommandError, match="2 call sites"):
        pattern_text(f"{path}#2", 2)
    with pytest.raises(CommandError, match="neither a shape nor a file"):
        pattern_text(str(tmp_path / "absent"), 2)


def test_times_are_from_any_origin(tmp_path: Path) -> None:
    path = tmp_path / "of an epoch\u2028and more"
    path.write_text("# call\n1700000000.5\n1700000000\n# call\n3\n7\n")
    heading = "# call {} of of an epoch and more"
    lines = pattern_text(str(path), 2).split("\n")
    assert lines == [heading.format(0), "0.5", "0.0", heading.format(1), "0.0", "4.0", ""]


def test_a_pipe_that_could_be_read_once_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CommandError, match="pipe: no regular file"):
        recorded_pattern(str(tmp_path / "pipe"), "gather", [])


@pytest.mark.parametrize(
    ("collective", "wished", "root"), [("gather", None, 1), ("gather", 0, 0), ("scan", None, 0)]
)
def test_the_recorded_root_is_taken(
    tmp_path: Path, collective: str, wished: int | None, root: int
) -> None:
    name = write_recording(tmp_path / "recording.json", (collective, 8, 1))
    text = Path(name).read_text().replace('"root": 0', f'"root": {-1 if root == 0 else root}')
    Path(name).write_text(text)
    assert make_grid(collective, Wishes(pattern=name, root=wished)).root == root
    assert make_grid("bcast", Wishes(pattern=name, root=wished)).root == (wished or 0)


def write_recording(path: Path, *sites: tuple[str, int, int]) -> str:
    """A recording of 2 ranks with call sites of so many bytes and calls."""
    listed = [
        {
            "communicator": 0,
            "group": [0, 1],
            "collective": collective,
            "root": 0,
            "bytes": size,
            "calls": [{"number": i, "times": [0.0, 0.25]} for i in range(calls)],
        }
        for collective, size, calls in sites
    ]
    path.write_text(json.dumps({"format": "sibyl-arrivals", "version": 1, "sites": listed}))
    return str(path)


def test_the_site_of_a_collective_and_its_size_is_taken_or_asked_for(tmp_path: Path) -> None:
    sites = (("reduce", 4096, 9), ("gather", 100, 8), ("gather", 200, 7), ("scan", 8, 6))
    name = write_recording(tmp_path / "recording.json", *sites)
    assert choose_site(name, "reduce")[0] == name
    found, site = choose_site(name, "scan")
    assert (found, site.collective, site.whole_size) == (f"{name}#3", "scan", 8)
    # Of a gather the size is that of all blocks.
    assert choose_site(name, "gather", [400])[1].size == 200
    assert choose_site(f"{name}#1", "bcast")[1].size == 100
    with pytest.raises(CommandError, match=r"2 call sites of gather; say which.*#1 gather.*#2 ga"):
        choose_site(name, "gather", [1000])
    with pytest.raises(CommandError, match=r"no call site of bcast; say which.*#0 reduce"):
        choose_site(name, "bcast")
    alone = write_recording(tmp_path / "alone.json", ("reduce", 4096, 1))
    assert choose_site(alone, "bcast")[1].collective == "reduce"
    # Beside shapes as by itself.
    text, beside = recorded_pattern(f"flat,{name}", "scan", [])
    assert text == f"flat,{name}#3"
    assert beside is not None and beside.collective == "scan"
    assert recorded_pattern("flat,uniform", "scan", []) == ("flat,uniform", None)


def test_a_recording_is_parsed_once_for_all_collectives_and_anew_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    loads = json.loads

    def counted(text: str) -> object:
        parsed.append(text)
        return loads(text)

    monkeypatch.setattr(recording.json, "loads", counted)
    name = write_recording(tmp_path / "recording.json", ("reduce", 8, 1), ("scan", 8, 2))
    for collective in COLLECTIVES:
        found, _ = recorded_pattern(f"{name}#0", collective, [])
        pattern_text(found, 2)
    assert len(parsed) == 1
    write_recording(tmp_path / "recording.json", ("reduce", 8, 2), ("scan", 8, 1))
    assert choose_site(f"{name}#0", "bcast")[1].collective == "reduce"
    assert len(parsed) == 2


def test_an_empty_recording_is_refused_with_the_reason(tmp_path: Path) -> None:
    name = write_recording(tmp_path / "empty.json")
    for refused in (read_recording, lambda path: pattern_text(str(path), 2)):
        with pytest.raises(CommandError, match=r"empty recording.*called no collective"):
            refused(Path(name))


def test_a_size_that_no_program_has_is_refused(tmp_path: Path) -> None:
    name = write_recording(tmp_path / "huge.json", ("reduce", 10**400, 1))
    with pytest.raises(CommandError, match="bytes is no number of bytes"):
        read_recording(Path(name))


@pytest.mark.parametrize("content", [b"a secret\n", b"\xff\x00", b'{"a": "secret"}', b"\n", b"1\n"])
def test_a_bad_pattern_file_is_named_and_not_printed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pattern"
    path.write_bytes(content)
    with pytest.raises(CommandError) as refusal:
        pattern_text(str(path), 2)
    assert str(path) in str(refusal.value)
    assert "secret" not in str(refusal.value)
