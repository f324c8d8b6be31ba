"""No output takes the place of another one, or of what a command reads."""

from pathlib import Path

import pytest
from conftest import Sibyl, assert_usage_error

from sibyl.errors import CommandError
from sibyl.files import check_all_writable

PLAN = "plan gather --algorithm linear -n 3"
BOTH = "both name"
LOST = "would take the place of what {} names"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("run --report r.json --record r.json -- true", f"--report and --record {BOTH} r.json"),
        ("run --report r.json --learn ./r.json -- true", f"--report and --learn {BOTH} r.json"),
        ("run --report used --hostfile used -- true", LOST.format("--hostfile")),
        ("run --report used -- ./used", LOST.format("PROGRAM")),
        ("run --compare 2 --json used --hostfile used -- true", LOST.format("--hostfile")),
        ("run --compare 2 --json used -- ./used", LOST.format("PROGRAM")),
        ("profile --json used -- ./used", LOST.format("PROGRAM")),
        ("predict used --json used", LOST.format("TRACE")),
        ("predict used --csv link", LOST.format("TRACE")),
        ("predict used --csv new --json ./new", f"--csv and --json {BOTH} new"),
        ("simulate gather --pattern used --json used", LOST.format("--pattern")),
        ("simulate gather --pattern used#0 --html used", LOST.format("--pattern")),
        ("simulate gather --calibration used --json used", LOST.format("--calibration")),
        ("bench gather --pattern used --csv used", LOST.format("--pattern")),
        ("bench all --json a --page ./a", f"--json and --page {BOTH} a"),
        ("guidelines -n 3 --pattern used --csv used", LOST.format("--pattern")),
        ("guidelines --page a.html --csv a.html", f"--csv and --page {BOTH} a.html"),
        ("profile --html a --json a -- true", f"--html and --json {BOTH} a"),
        ("profile --calibration used.json --json used.json -- true", "--calibration"),
        ("profile --hostfile used --json used -- true", LOST.format("--hostfile")),
        ("fft-plot used.png used.png", LOST.format("FILE.json")),
        (f"{PLAN} --json a --svg a", f"--json and --svg {BOTH} a"),
        (f"{PLAN} --order used --json used", LOST.format("--order")),
        (f"{PLAN} --sizes used --json used", LOST.format("--sizes")),
        (f"{PLAN} --arrivals used --json used", LOST.format("--arrivals")),
    ],
)
def test_one_file_for_two_is_refused(sibyl: Sibyl, words: str, part: str) -> None:
    for name in ("used", "used.png"):
        (sibyl.directory / name).write_text("0\n1\n2\n")
    (sibyl.directory / "used.json").write_text('{"alpha": 1e-6, "beta": 1e-9}')
    (sibyl.directory / "link").symlink_to("used")
    assert_usage_error(sibyl(*words.split()), part)
    assert (sibyl.directory / "used").read_text() == "0\n1\n2\n"
    assert not (sibyl.directory / "a").exists()


def test_devices_take_several_outputs_and_standard_output_one(tmp_path: Path) -> None:
    null = Path("/dev/null")
    check_all_writable({"--csv": null, "--json": null, "--html": None}, [("--pattern", null)])
    (tmp_path / "link").symlink_to(null)
    check_all_writable({"--csv": null, "--json": tmp_path / "link"})
    check_all_writable({"--csv": Path("-"), "--json": tmp_path / "new"})
    with pytest.raises(CommandError, match="only one can be written to '-'"):
        check_all_writable({"--csv": Path("-"), "--json": Path("-")})


def test_links_to_one_file_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(CommandError, match="say two files"):
        check_all_writable({"--csv": tmp_path / "link", "--json": tmp_path / "file"})
