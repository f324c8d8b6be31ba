"""A run's traces outlive a report that could not be made: the run may have taken hours."""

from pathlib import Path

import pytest
from profile_traces import MS, Writer

from sibyl.errors import CommandError
from sibyl.mpi.run_options import RunOptions
from sibyl.profile import session
from sibyl.profile.options import Launch, Outputs

LAUNCH = Launch(ranks=1)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where directories for runs are made; a run leaves one trace."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()

    def run(_program: object, options: RunOptions, _hostfile: object) -> int:
        writer = Writer(0, 1)
        writer.call(2 * MS, 3 * MS)
        writer.write(Path(options.variables["SIBYL_PROFILE"]))
        return 0

    monkeypatch.setattr(session, "run_program", run)
    return tmp_path / "tmp"


def profile(outputs: Outputs, traces: Path | None = None) -> int:
    """Of a run, or of what one has left."""
    program, launch = (["true"], LAUNCH) if traces is None else ([], Launch(traces=traces))
    return session.profile_program(program, launch, outputs, ["sibyl", "profile"])


def assert_kept(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trace is there, and the user knows where."""
    (kept,) = directory.iterdir()
    assert f"sibyl profile --traces {kept}" in capsys.readouterr().err
    assert len([*kept.glob("*.trace")]) == 1


def test_no_result_takes_the_place_of_a_trace(tmp_path: Path) -> None:
    writer = Writer(0, 1)
    writer.call(2 * MS, 3 * MS)
    writer.write(tmp_path)
    (trace,) = tmp_path.iterdir()
    before = trace.read_bytes()
    with pytest.raises(CommandError, match="--traces"):
        profile(Outputs(json=trace), tmp_path)
    assert trace.read_bytes() == before
    # Beside the traces there is room, and what lies there from the time before is no trace.
    for _ in range(2):
        assert profile(Outputs(json=tmp_path / "late.json"), tmp_path) == 0


def test_the_table_in_force_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.txt"
    table.write_text("reduce 2 0 ring\n")
    monkeypatch.setenv("SIBYL_TABLE", str(table))
    with pytest.raises(CommandError, match="SIBYL_TABLE"):
        profile(Outputs(table=table))
    assert table.read_text() == "reduce 2 0 ring\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_where_the_analysis_ends_early(
    directory: Path,
    error: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(session, "make_profile", fail)
    with pytest.raises(error):
        profile(Outputs())
    assert_kept(directory, capsys)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_where_the_end_of_the_run_is_interrupted(
    directory: Path,
    error: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As by a second Ctrl-C, while what is left of the run is ended."""
    run = session.run_program

    def end(*words: object) -> int:
        run(*words)  # type: ignore[arg-type]
        raise error

    monkeypatch.setattr(session, "run_program", end)
    with pytest.raises(error):
        profile(Outputs())
    assert_kept(directory, capsys)


def test_where_a_report_cannot_be_written(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    page = tmp_path / "reports" / "page.html"
    made = session.make_profile

    def make(*words: object) -> object:
        page.parent.rmdir()
        return made(*words)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(session, "make_profile", make)
        assert profile(Outputs(html=page)) == 1
    (kept,) = directory.iterdir()
    assert profile(Outputs(), kept) == 0


def test_where_all_went_well_nothing_is_left(directory: Path) -> None:
    assert profile(Outputs()) == 0
    assert [*directory.iterdir()] == []
