"""`sibyl run -- sibyl-fft` on every MPI, as on the command line, and `sibyl fft-plot`."""

import json
import math
import struct
import wave
from pathlib import Path
from typing import Any

import pytest
from conftest import Mpi, Sibyl, assert_usage_error

from sibyl.errors import CommandError
from sibyl.mpi.library import find_own_program

RATE = 8000
PNG = b"\x89PNG\r\n\x1a\n"


def fft_words(mpi: Mpi, ranks: int) -> list[object]:
    """What starts sibyl-fft; skips where FFTW or libsndfile was missing."""
    try:
        find_own_program("sibyl-fft", mpi.launcher.flavour)
    except CommandError as error:
        pytest.skip(str(error))
    return ["run", "--quiet", "--mpi", mpi.option, "-n", ranks, "--", "sibyl-fft"]


@pytest.fixture
def tone(tmp_path: Path) -> str:
    """A recording of one second: 1000 Hz at half of full scale."""
    samples = (math.sin(2 * math.pi * 1000 * i / RATE) for i in range(RATE))
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(b"".join(struct.pack("<h", round(16384 * s)) for s in samples))
    return "tone.wav"


@pytest.mark.suite
def test_a_run_finds_the_tone_and_draws_it(sibyl: Sibyl, mpi: Mpi, tone: str) -> None:
    words = fft_words(mpi, 4)
    result = sibyl(
        *words, tone, "--size", 4096, "--iterations", 5, "--gather", "native,MPI",
        "--plot", "tone.png", "--json", "tone.json",
    )  # fmt: skip
    assert result.returncode == 0, result
    assert "compared with a direct transform" in result.stdout
    assert (sibyl.directory / "tone.png").read_bytes().startswith(PNG)
    run = json.loads((sibyl.directory / "tone.json").read_text())
    assert run["check"]["spectra"] == 4  # the first and the last of both
    assert 0 < run["check"]["largest"] <= run["check"]["limit"]
    assert [times["gather"] for times in run["times"]] == ["native", "MPI"]
    for times in run["times"]:
        for name in ("whole", "run", "elapsed"):
            assert len(times[name]) == 5 and min(times[name]) > 0
    mean = run["picture"]["mean"]
    loudest = mean.index(max(mean))
    assert run["picture"]["frequencies"][loudest] == pytest.approx(1000, rel=0.02)
    assert mean[loudest] == pytest.approx(20 * math.log10(0.5), abs=0.2)
    assert len(run["picture"]["rows"]) == 5


@pytest.mark.suite
def test_a_run_leaves_no_file_but_the_picture(sibyl: Sibyl, mpi: Mpi, tone: str) -> None:
    words = fft_words(mpi, 2)
    (sibyl.directory / "a.svg.json").write_text("the user's own")
    result = sibyl(*words, tone, "--size", 1024, "--iterations", 2, "--plot", "a.svg")
    assert result.returncode == 0, result
    assert sorted(path.name for path in sibyl.directory.iterdir()) == ["a.svg", "a.svg.json", tone]
    assert (sibyl.directory / "a.svg.json").read_text() == "the user's own"


@pytest.mark.parametrize(
    ("ranks", "words", "part"),
    [
        (3, ["tone.wav"], "power of two"),
        (2, ["missing.wav"], "missing.wav"),
        (2, ["tone.wav", "--size", "1000"], "--size 1000"),
        (2, ["tone.wav", "--size", "16384"], "8000 samples"),
        (2, ["tone.wav", "--gather", "QUICK"], "QUICK"),
        (2, ["tone.wav", "--size", "1024", "--plot", "no/where.png"], "--plot no/where.png"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    sibyl: Sibyl, mpi: Mpi, tone: str, ranks: int, words: list[str], part: str
) -> None:
    result = sibyl(*fft_words(mpi, ranks), *words)
    assert result.returncode == 2, result
    lines = [line for line in result.stderr.splitlines() if line.startswith("sibyl-fft: ")]
    assert len(lines) == 1, result.stderr
    assert part in lines[0]


def whole_run() -> dict[str, Any]:
    """What sibyl-fft writes, as far as it is drawn."""
    return {
        "program": "sibyl-fft",
        "ranks": 2,
        "size": 1024,
        "recording": {"file": "a/$5 of 5$ \udce9.wav", "rate": 8000},
        "picture": {
            "frequencies": [10.0, 100.0],
            "seconds": [0.0, 0.5],
            "mean": [-20.0, -30.5],
            "rows": [[-20, -30.0], [-21.0, -31.0]],
        },
    }


def test_fft_plot_draws_a_whole_run(sibyl: Sibyl) -> None:
    (sibyl.directory / "run.json").write_text(json.dumps(whole_run()))
    result = sibyl("fft-plot", "run.json", "a.png")
    assert (result.returncode, result.stderr) == (0, "")
    assert (sibyl.directory / "a.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        ("ranks", None),
        ("size", "1024"),
        ("recording", []),
        ("recording.file", None),
        ("recording.rate", 0),
        ("picture.frequencies", []),
        ("picture.frequencies", [0, 100]),
        ("picture.frequencies", [10]),
        ("picture.seconds", [0]),
        ("picture.mean", [-20, None]),
        ("picture.mean", [-20, math.nan]),
        ("picture.rows", {"0": [1, 2]}),
        ("picture.rows", [[-20, -30], [-20]]),
        ("picture.rows", [[-20, -30], [-20, 10**400]]),
        ("picture.rows", [3, 4]),
    ],
)
def test_fft_plot_refuses_a_damaged_run(sibyl: Sibyl, place: str, damage: object) -> None:
    run = whole_run()
    *outer, name = place.split(".")
    (run[outer[0]] if outer else run)[name] = damage
    (sibyl.directory / "run.json").write_text(json.dumps(run))
    said = "run.json holds no whole run of sibyl-fft; write it again with --json"
    assert_usage_error(sibyl("fft-plot", "run.json", "a.png"), said)


def test_fft_plot_says_what_is_wrong_with_its_files(sibyl: Sibyl) -> None:
    (sibyl.directory / "other.json").write_text('{"program": "another"}')
    (sibyl.directory / "deep.json").write_text("[" * 200_000)
    assert_usage_error(sibyl("fft-plot", "missing.json", "a.png"), "missing.json")
    assert_usage_error(sibyl("fft-plot", "deep.json", "a.png"), "deep.json is no JSON")
    assert_usage_error(sibyl("fft-plot", "other.json", "a.png"), "other.json")
    assert_usage_error(sibyl("fft-plot", "other.json", "a.gif"), "a.gif")
