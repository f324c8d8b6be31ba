"""Sibyl's own libraries: found where they are, and named as the loader can read it."""

from pathlib import Path

import pytest

from sibyl.commands import doctor
from sibyl.errors import CommandError
from sibyl.mpi.command_line import rank_environment
from sibyl.mpi.library import RECORDER, SHIM, find_shim, preload_list
from sibyl.profile.recorder import recorder_variables


@pytest.fixture(params=["My Projects", "a:b"])
def split(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Sibyl's libraries lie: a directory at whose name the loader splits LD_PRELOAD."""
    directory = tmp_path / request.param
    directory.mkdir()
    (directory / SHIM).touch()
    (directory / RECORDER).touch()
    monkeypatch.setenv("SIBYL_LIBRARY_DIR", str(directory))
    return directory


def test_a_path_that_the_loader_would_split_is_refused(split: Path, tmp_path: Path) -> None:
    mend = f"move Sibyl, or link {split} under a path without them and set SIBYL_LIBRARY_DIR"
    for ask in (
        lambda: rank_environment(find_shim(), {}, tmp_path),
        lambda: recorder_variables(tmp_path),
        lambda: preload_list("/usr/lib/libm.so.6", split / "libsibyl-cluster-idle.so"),
    ):
        with pytest.raises(CommandError, match=mend) as refused:
            ask()
        assert "\n" not in str(refused.value)
        assert refused.value.exit_code == 2


def test_a_link_without_blanks_is_taken(
    split: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "sibyl"
    link.symlink_to(split)
    monkeypatch.setenv("SIBYL_LIBRARY_DIR", str(link))
    monkeypatch.setenv("LD_PRELOAD", "/a b/lib.so")  # the user's own is handed on as it is
    variables = rank_environment(find_shim(), {}, tmp_path)
    assert variables["LD_PRELOAD"] == f"{link / SHIM}:/a b/lib.so"
    assert recorder_variables(tmp_path)["LD_PRELOAD"] == str(link / RECORDER)


def test_the_doctor_tells_of_a_path_that_the_loader_would_split(
    split: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "installed_launchers", lambda: [])
    monkeypatch.setattr(doctor, "_examine_mpi4py", lambda findings: None)
    assert doctor.examine() == 1
    assert f"PROBLEM: {split / SHIM}: blanks and colons" in capsys.readouterr().out
