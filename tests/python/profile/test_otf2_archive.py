"""An OTF2 archive is there as a whole or not at all."""

from pathlib import Path

import pytest
from profile_traces import MS, Writer

from sibyl.errors import CommandError
from sibyl.profile import otf2_archive, session
from sibyl.profile.options import Launch, Outputs


def test_what_cannot_be_written_to_its_end_leaves_no_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("otf2")
    (tmp_path / "traces").mkdir()
    writer = Writer(0, 1)
    writer.call(2 * MS, 3 * MS)
    writer.write(tmp_path / "traces")

    def profile() -> int:
        launch, outputs = Launch(traces=tmp_path / "traces"), Outputs(trace=tmp_path / "a.otf2")
        return session.profile_program([], launch, outputs, ["sibyl", "profile"])

    def fails(*_: object) -> None:
        raise RuntimeError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(otf2_archive, "_calls_of", fails)
        assert profile() == 1
    assert "a.otf2: cannot be written: no space left" in capsys.readouterr().err
    assert not (tmp_path / "a.otf2").exists()
    assert profile() == 0
    assert (tmp_path / "a.otf2" / "traces.otf2").exists()
    with pytest.raises(CommandError, match="is there already"):
        profile()
    assert (tmp_path / "a.otf2" / "traces.otf2").exists()
