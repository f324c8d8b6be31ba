"""`sibyl bench calls`: samples of bare calls, read, judged and written."""

import csv
import io
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cells import around
from conftest import PROGRAMS, Mpi, Sibyl, assert_usage_error
from installed_mpis import benchmark_of

from sibyl.bench.calls import (
    judge_calls,
    judge_input,
    limits,
    read_lines,
    read_run,
    verdict_of,
)
from sibyl.bench.options import Outputs
from sibyl.errors import CommandError
from sibyl.experiment.judge import Chances
from sibyl.mpi.command_line import launcher_command, launcher_environment

pytestmark = pytest.mark.suite

BEGIN = {
    "type": "begin",
    **{"date": "2026-01-01T00:00:00Z", "mpi": "Some MPI 1.0", "flavour": "openmpi", "sibyl": "1"},
    **{"cpu": "a processor", "cores": 2, "ranks": 2, "simulated": False, "command": "sibyl-bench"},
    **{"collective": "exscan", "reference": "native", "held": ["auto"], "repetitions": 24},
    **{"warm_up": 1, "alpha_near_s": 1e-6, "alpha_far_s": 1e-6},
}


def cell_of(times: dict[str, list[float]], batches: bool = False) -> dict[str, Any]:
    series: list[dict[str, Any]] = []
    for name, samples in times.items():
        series.append({"algorithm": name, "single_s": samples})
        if batches:
            series[-1]["batch_s"] = [time / 2 for time in samples]
    cell = {"type": "calls", "operator": "bxor", "count": 1, "bytes": 8, "batch": 50}
    return {**cell, "message_s": 3e-6, "wrong": [], "series": series}


def verdicts_of(times: dict[str, list[float]], **begin: object) -> dict[str, str]:
    run = judge_calls({**BEGIN, **begin}, [cell_of(times)])
    return {line.algorithm: line.verdict for line in run.lines}


def text_of(*cells: dict[str, Any], **begin: object) -> str:
    lines = [{**BEGIN, **begin}, *cells, {"type": "end"}]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def test_only_who_is_held_can_be_too_slow() -> None:
    times = {"native": around(1e-5), "auto": around(2e-5), "other": around(2e-5)}
    verdicts = {"native": "reference", "auto": "SLOWER", "other": ""}
    assert verdicts_of(times) == verdicts
    assert verdicts_of({"native": around(1e-5), "auto": around(5e-6)})["auto"] == "faster"
    assert verdicts_of({"native": around(1e-5), "auto": around(1.03e-5)})["auto"] == "not slower"


def test_nothing_is_called_not_slower_that_only_the_200_ns_allow() -> None:
    assert verdicts_of({"native": around(1e-7), "auto": around(1.6e-7)}) == {
        "native": "reference",
        "auto": "within the margin",
    }
    within, slower = Chances(1.0, 1.0, 0.01), Chances(0.01, 1.0, 1.0)
    assert verdict_of(True, within, 1.04) == "not slower"
    assert verdict_of(True, within, 1.06) == "within the margin"
    assert verdict_of(False, within, 1.5) == "", "nothing is claimed of it"
    assert verdict_of(True, slower, 1.5) == "SLOWER"


def test_so_few_calls_that_nothing_can_be_shown_are_undecided() -> None:
    times = {"native": [1e-5, 1.01e-5, 1.02e-5], "auto": [9e-5, 9.1e-5, 9.2e-5]}
    assert verdicts_of(times)["auto"] == "undecided"
    assert verdicts_of({**times, "auto": times["native"]})["auto"] == "undecided"


def test_who_is_held_must_take_part(sibyl: Sibyl) -> None:
    slow = cell_of({"native": around(1e-5), "123-doubling": around(9e-5)})
    assert_usage_error(sibyl("bench", "calls", input=text_of(slow)), "no calls of auto")
    wrong = {**slow, "wrong": ["auto"]}
    assert sibyl("bench", "calls", input=text_of(wrong)).returncode == 3


def test_of_simulated_times_one_sample_is_enough() -> None:
    times = {"native": [1e-5], "auto": [1.2e-5], "other": [9e-6]}
    verdicts = verdicts_of(times, simulated=True)
    assert verdicts == {"native": "reference", "auto": "SLOWER", "other": "faster"}


def test_the_comparisons_of_a_run_are_corrected_together() -> None:
    weak = {"native": [1.0, 2, 3, 4, 5], "auto": [0.1, 0.2, 0.3, 2.5, 0.5]}
    alone = judge_calls(BEGIN, [cell_of(weak)]).lines[1]
    many = judge_calls(BEGIN, [cell_of(weak)] * 20).lines[1]
    assert (alone.verdict, many.verdict) == ("faster", "undecided")
    assert many.p_faster > alone.p_faster


def test_batches_are_compared_apart() -> None:
    lines = judge_calls(BEGIN, [cell_of({"native": [2.0], "auto": [3.0]}, batches=True)]).lines
    shown = [(line.algorithm, line.batch, line.median, line.ratio) for line in lines]
    single, batched = [("native", 1, 2, 1), ("auto", 1, 3, 1.5)], [("native", 50, 1, 1)]
    assert shown == [*single, *batched, ("auto", 50, 1.5, 1.5)]


def test_limits_follow_the_direction_of_the_data() -> None:
    cell = {"message_s": 5e-6}
    four = {**BEGIN, "ranks": 4}
    assert limits(four, cell) == pytest.approx((2e-6 + 4e-6, 10e-6))
    assert limits({**four, "collective": "reduce"}, cell) == pytest.approx((5e-6, 5e-6))
    assert limits({**four, "collective": "gather"}, cell) == pytest.approx((13e-6, 13e-6))
    assert limits({**four, "collective": "bcast"}, cell) == pytest.approx((5e-6, 10e-6))
    assert limits({**four, "collective": "allreduce"}, cell) == pytest.approx((7e-6, 10e-6))
    assert limits({**four, "collective": "alltoall"}, cell) == pytest.approx((13e-6, 13e-6))
    nothing = {"message_s": 1e-6}
    assert limits({**four, "collective": "barrier"}, nothing) == pytest.approx((2e-6, 2e-6))
    assert limits({**four, "collective": "allgather"}, nothing) == pytest.approx((2e-6, 2e-6))
    assert limits({**BEGIN, "ranks": 1}, cell) == (0, 0)


def test_a_run_is_whole_or_none() -> None:
    text = text_of(cell_of({"native": [1.0]}))
    begin, cells = read_run(["a word of the launcher\n", *text.splitlines(keepends=True)])
    assert (begin["collective"], len(cells)) == ("exscan", 1)
    for broken in ("", text.replace('"end"', '"more"'), text[:-30], '{"type":"begin"}\n'):
        with pytest.raises(CommandError):
            read_run(broken.splitlines())


def test_a_line_that_is_deeper_than_python_goes_is_torn() -> None:
    with pytest.raises(CommandError, match="is torn"):
        read_run(['{"type":"calls","series":' + "[" * 200_000])


def judge(monkeypatch: pytest.MonkeyPatch, samples: bytes, outputs: Outputs) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(samples), encoding="utf-8"))
    return judge_input(outputs)


def test_what_cannot_be_written_for_its_depth_is_none_of_sibyl_bench(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Python reads lists in lists to a depth at which it may not write them."""
    cell = cell_of({"native": [1.0], "auto": [1.0]})
    for depth in range(800, 1000):
        text = text_of(cell, command="DEEP").replace('"DEEP"', "[" * depth + "]" * depth)
        with suppress(CommandError):
            judge(monkeypatch, text.encode(), Outputs(json=tmp_path / "a.json"))


def test_input_is_read_up_to_a_bound() -> None:
    assert list(read_lines(io.BytesIO(b"12345\n\xff78"), 9)) == ["12345\n", "\ufffd78"]
    for endless in (b"12345\n6789", b"1234567890"):
        with pytest.raises(CommandError, match="more than 9 bytes"):
            list(read_lines(io.BytesIO(endless), 9))


def test_what_a_launcher_says_besides_need_not_be_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of({"native": around(1e-5), "auto": around(5e-6)})
    assert judge(monkeypatch, b"caf\xe9\n" + text_of(cell).encode(), Outputs()) == 0


def test_the_exit_status_says_slower_and_wrong(sibyl: Sibyl) -> None:
    good = cell_of({"native": around(1e-5), "auto": around(9e-6)})
    slow = cell_of({"native": around(1e-5), "auto": around(2e-5)})
    assert sibyl("bench", "calls", input=text_of(good)).returncode == 0
    result = sibyl("bench", "calls", "--csv", "a.csv", "--json", "a.json", input=text_of(slow))
    assert result.returncode == 1, result
    assert "slower than allowed: auto, operator bxor, count 1, single calls" in result.stdout
    rows = list(csv.DictReader((sibyl.directory / "a.csv").open()))
    assert [row["verdict"] for row in rows] == ["reference", "SLOWER"]
    document = json.loads((sibyl.directory / "a.json").read_text())
    assert not document["never_slower"]
    assert [line["verdict"] for line in document["lines"]] == ["reference", "SLOWER"]
    wrong = {**slow, "wrong": ["linear"]}
    result = sibyl("bench", "calls", input=text_of(wrong))
    assert result.returncode == 3, result
    assert "WRONG RESULT: linear, operator bxor, count 1" in result.stdout


def test_bad_input_is_one_line(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("bench", "calls", input="nothing\n"), "sibyl-bench")
    text = text_of(cell_of({"native": [1.0]}))
    assert_usage_error(sibyl("bench", "calls", "--csv", "no/a.csv", input=text), "no/a.csv")
    text = text_of(cell_of({"native": [1.0], "auto": [1.0]}))
    for name in ("held", "series", "algorithm", "alpha_near_s"):
        lacking = text.replace(f'"{name}"', '"other"')
        assert_usage_error(sibyl("bench", "calls", input=lacking), "sibyl-bench")
    for name in ("cpu", "message_s", "date", "repetitions"):  # some of them only files hold
        lacking = text.replace(f'"{name}"', '"other"')
        result = sibyl("bench", "calls", "--json", "a.json", input=lacking)
        assert_usage_error(result, "no lines of sibyl-bench")
        assert result.stdout == ""
    for native, auto in (([1.0], [1.0, 2.0]), ([], [])):
        uneven = text_of(cell_of({"native": native, "auto": auto}))
        assert_usage_error(sibyl("bench", "calls", input=uneven), "no lines of sibyl-bench")
    assert_usage_error(sibyl("bench", "calls", input=text + text), "one at a time")


def run_calls(mpi: Mpi, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """What the MPI program prints."""
    program = benchmark_of(mpi.launcher)
    words = [str(program), "--operators", "bxor", "--repetitions", "5", "--warm-up", "1", *words]
    return subprocess.run(
        launcher_command(mpi.launcher, 2, variables, words),
        env=launcher_environment(mpi.launcher),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(
    ("reference", "left"), [("native", []), ("123-doubling", ["123-doubling"])]
)
def test_who_goes_wrong_after_its_first_call_is_found(
    mpi: Mpi, tmp_path: Path, reference: str, left: list[str]
) -> None:
    library = tmp_path / "libgoes_wrong.so"
    words = [mpi.wrapper, "-shared", "-fPIC", PROGRAMS / "goes_wrong.c", "-o", library, "-ldl"]
    subprocess.run(words, check=True, env={**os.environ, "OMPI_MCA_btl": "self"})
    asked = ["--counts", "100", "--batch-us", "0", "--reference", reference]
    asked += ["--algorithms", "native,123-doubling"]
    result = run_calls(mpi, asked, LD_PRELOAD=str(library))
    _, (cell,) = read_run(result.stdout.splitlines(keepends=True))
    assert cell["wrong"] == ["native"]
    assert [series["algorithm"] for series in cell["series"]] == left
    assert result.returncode == 3, result


def test_what_the_program_prints_is_judged(sibyl: Sibyl, mpi: Mpi, tmp_path: Path) -> None:
    result = run_calls(mpi, ["--counts", "1,100", "--algorithms", "auto", "--batch-us", "5"])
    assert result.returncode == 0, result
    samples = result.stdout
    # Five samples can show nothing at 5 % that is not so at first sight, on a busy machine either.
    result = sibyl("bench", "calls", "--json", "a.json", input=samples)
    assert result.returncode in (0, 1), result
    document = json.loads((sibyl.directory / "a.json").read_text())
    assert {(line["algorithm"], line["count"]) for line in document["lines"]} == {
        (name, count) for name in ("native", "auto") for count in (1, 100)
    }
    assert document["provenance"]["ranks"] == 2
