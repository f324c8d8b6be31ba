"""Clairvoyant schedules from Python and the command: arrays, plans, files, and bad input."""

import json
from pathlib import Path

import numpy
import pytest
from conftest import Sibyl

import sibyl as package

GENERATORS = ["linear", "pairing-heap", "segment-tree", "fast"]
EXAMPLE = [0.0, 0.0, 0.0, 1.1]  # section 4.2 of the paper, with 4 segments and rounds of 1 s


def test_the_example_of_the_paper_begins_as_the_paper_says() -> None:
    events = package.clairvoyant(EXAMPLE, segments=4, round_time=1.0)
    assert events.dtype.names == ("round", "sender", "receiver", "segment")
    assert events[:4].tolist() == [(0, 1, 0, 0), (0, 0, 1, 1), (1, 2, 0, 0), (1, 3, 1, 1)]


def test_the_array_owns_what_the_generator_wrote_and_no_copy() -> None:
    events = package.clairvoyant(EXAMPLE, segments=4, round_time=1.0)
    base = events
    while isinstance(base.base, numpy.ndarray):
        base = base.base
    assert base.ctypes.data == events.ctypes.data
    assert not base.flags.owndata
    first = events[0].item()
    package.clairvoyant(EXAMPLE, segments=4, round_time=1.0)
    assert events[0].item() == first


@pytest.mark.parametrize("root_order", ["first", "availability"])
def test_all_generators_give_the_same_events(root_order: str) -> None:
    arrivals = package.arrival_pattern("uniform:40:7", 40)
    wanted = package.clairvoyant(arrivals, 30, 0.3, 5, "linear", root_order)
    assert len(wanted) >= 39 * 30
    for generator in GENERATORS:
        events = package.clairvoyant(arrivals, 30, 0.3, 5, generator, root_order)
        assert numpy.array_equal(events, wanted)


def test_one_rank_gets_its_events_alone() -> None:
    arrivals = package.arrival_pattern("uniform:40:7", 40)
    events = package.clairvoyant(arrivals, 30, 0.3, 5)
    own = events[(events["sender"] == 9) | (events["receiver"] == 9)]
    assert numpy.array_equal(package.clairvoyant(arrivals, 30, 0.3, 5, rank=9), own)


def test_one_rank_or_no_segment_is_an_empty_schedule() -> None:
    assert package.clairvoyant([3.0], 4, 1.0).shape == (0,)
    assert package.clairvoyant([3.0, 0.0], 0, 1.0).shape == (0,)


def test_plans_of_many_patterns_are_proven_and_exported() -> None:
    for pattern in ["flat", "uniform:9:1", "skewed:9", "root-late:9", "fixed:9", "normal:9:2"]:
        for root in (0, 3, 8):
            for in_place in (False, True):
                plan = package.make_plan(
                    "reduce",
                    "clairvoyant",
                    9,
                    root=root,
                    in_place=in_place,
                    arrivals=package.arrival_pattern(pattern, 9, root).tolist(),
                    segments=7,
                    round_time=0.5,
                )
                plan.verify()
                assert plan.segments == 7
                assert plan.one_ported
    assert len(json.loads(plan.to_json())["programs"]) == 9
    assert plan.to_svg().startswith("<")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"arrivals": [0.0, float("nan")]}, "rank 1 is not a number"),
        ({"arrivals": [float("inf"), 0.0]}, "rank 0 is infinite"),
        ({"arrivals": [0.0, -1.0]}, "rank 1 is negative"),
        ({"arrivals": []}, "0 ranks"),
        ({"round_time": 0.0}, "round time is not positive"),
        ({"round_time": -1.0}, "round time is not positive"),
        ({"round_time": 1e-310}, "denormal"),
        ({"round_time": float("nan")}, "round time is not a finite"),
        ({"root": 2}, "root is 2"),
        ({"root": -1}, "root is -1"),
        ({"segments": -1}, "segments"),
        ({"algorithm": "slow"}, "unknown generator 'slow'"),
        ({"root_order": "last"}, "unknown root order"),
        ({"rank": 2}, "rank 2"),
        ({"arrivals": [[0.0, 1.0]]}, "dimensions"),
    ],
)
def test_bad_input_is_a_value_error_of_one_line(change: dict[str, object], words: str) -> None:
    request = {"arrivals": [0.0, 1.0], "segments": 2, "round_time": 1.0, **change}
    with pytest.raises(ValueError) as caught:
        package.clairvoyant(**request)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def plan_words(**change: object) -> list[object]:
    options = {
        "--algorithm": "clairvoyant",
        "--generator": "fast",
        "--ranks": 4,
        "--segments": 4,
        "--round-time": 1.0,
        "--root": 0,
        **{"--" + name.replace("_", "-"): value for name, value in change.items()},
    }
    return ["plan", "reduce", *(word for pair in options.items() for word in pair)]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "arrivals.txt"
    path.write_text("".join(f"{time!r}\n" for time in EXAMPLE), encoding="utf-8")
    return path


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_command_writes_the_events_in_order(
    sibyl: Sibyl, example: Path, tmp_path: Path, generator: str
) -> None:
    file = tmp_path / "events.csv"
    result = sibyl(*plan_words(arrivals=example, generator=generator, events=file))
    assert result.returncode == 0, result
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["round,sender,receiver,segment", "0,1,0,0", "0,0,1,1"]
    events = package.clairvoyant(EXAMPLE, 4, 1.0)
    assert [tuple(map(int, line.split(","))) for line in lines[1:]] == events.tolist()


def test_the_command_writes_json_and_a_picture(sibyl: Sibyl, example: Path, tmp_path: Path) -> None:
    picture = tmp_path / "plan.svg"
    result = sibyl(*plan_words(arrivals=example, json="-", svg=picture))
    assert result.returncode == 0, result
    assert len(json.loads(result.stdout)["programs"]) == 4
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_the_summary_counts_messages(sibyl: Sibyl) -> None:
    result = sibyl(*plan_words(arrivals="uniform:5:3", root_order="availability"))
    assert result.returncode == 0, result
    assert "reduce clairvoyant, 4 ranks, root 0" in result.stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"round_time": 0}, "round time is not positive"),
        ({"round_time": "1e-310"}, "denormal"),
        ({"round_time": "nan"}, "not a finite number"),
        ({"root": 4}, "--root 4 is not a rank"),
        ({"ranks": 0}, "at least 1 rank"),
        ({"segments": 0}, "0 segments"),
        ({"generator": "slow"}, "unknown generator"),
        ({"root_order": "last"}, "unknown root order"),
        ({"arrivals": "uniform:-1:3"}, "negative"),
        ({"arrivals": "uniform:nan:3"}, "not a number"),
        ({"arrivals": "no-such-file"}, "cannot read the arrival pattern"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(
    sibyl: Sibyl, change: dict[str, object], words: str
) -> None:
    result = sibyl(*plan_words(**change))
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0\n1\n2\n", "has 3 arrival times for 4 ranks"),
        ("0\n1\n2\n3\n4\n", "has 5 arrival times for 4 ranks"),
        ("0\n1\nnan\n3\n", "arrivals.txt:3: 'nan' is not a number"),
        ("0\n1\ninf\n3\n", "arrivals.txt:3: 'inf' is infinite"),
        ("0\n-1\n2\n3\n", "arrivals.txt:2: '-1' is negative"),
        ("0\nlate\n2\n3\n", "arrivals.txt:2: 'late' is not a number"),
    ],
)
def test_files_of_the_wrong_form_are_one_line_and_exit_code_2(
    sibyl: Sibyl, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "arrivals.txt"
    path.write_text(text, encoding="utf-8")
    result = sibyl(*plan_words(arrivals=path))
    assert result.returncode == 2, result
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_two_outputs_do_not_share_the_terminal(sibyl: Sibyl, example: Path) -> None:
    result = sibyl(*plan_words(arrivals=example, json="-", events="-"))
    assert result.returncode == 2, result
    assert "--events and --json" in result.stderr
    assert result.stdout == ""


def test_events_are_for_algorithms_with_a_schedule(sibyl: Sibyl, tmp_path: Path) -> None:
    result = sibyl(
        "plan", "gather", "--algorithm", "linear", "--ranks", 4, "--events", tmp_path / "e.csv"
    )
    assert result.returncode == 2
    assert "--events" in result.stderr


def test_the_page_plays_the_events_and_loads_nothing(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("plan", "reduce", "--algorithm", "clairvoyant", "--ranks", "6", "--segments", "4")
    result = sibyl(*words, "--arrivals", "uniform:9:2", "--html", "a.html", "--root", "2")
    assert result.returncode == 0, result
    page = (tmp_path / "a.html").read_text()
    assert "http" not in page
    data = json.loads(page.split("const data = ")[1].split(";\n")[0])
    wanted = package.clairvoyant(package.arrival_pattern("uniform:9:2", 6), 4, 1.0, 2)
    assert data["events"] == [list(event) for event in wanted.tolist()]
    assert data["root"] == 2


def test_only_schedules_can_be_played_and_only_such_as_can_be_watched(sibyl: Sibyl) -> None:
    result = sibyl("plan", "reduce", "--algorithm", "ring", "--ranks", "4", "--html", "a.html")
    assert result.returncode == 2
    assert "no schedule of segments" in result.stderr
    words = ("plan", "reduce", "--algorithm", "clairvoyant", "--ranks", "1024")
    result = sibyl(*words, "--segments", "512", "--html", "a.html")
    assert result.returncode == 2
    assert "can be watched" in result.stderr
