"""Bad input ends in one line that says what is wrong, and exit code 2, for every command."""

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Sibyl, assert_usage_error
from rich.console import Console
from typer.main import get_command

from sibyl import __version__, cli
from sibyl import algorithms as algorithms_of
from sibyl.cli import app
from sibyl.commands import algorithms
from sibyl.errors import CommandError
from sibyl.memory import check_plan_memory
from sibyl.terminal import Terminal


def test_version_is_the_library_s(sibyl: Sibyl) -> None:
    header = Path(__file__).parents[2] / "include" / "sibyl" / "version.h"
    result = sibyl("--version")
    assert result.returncode == 0
    assert result.stdout == f"sibyl {__version__}\n"
    assert f'SIBYL_VERSION_STRING "{__version__}"' in header.read_text()


def subcommands(group: Any, before: str = "") -> Iterator[str]:
    """Those of groups too."""
    for name, command in group.commands.items():
        yield f"{before}{name}"
        if hasattr(command, "commands"):
            yield from subcommands(command, f"{before}{name} ")


def test_every_command_has_help(sibyl: Sibyl) -> None:
    found = list(subcommands(get_command(app)))
    assert {"run", "profile", "bench", "cluster up"} <= set(found)
    for command in found:
        for option in ("--help", "-h"):
            result = sibyl(*command.split(), option)
            assert result.returncode == 0, (command, option)
            assert f"Usage: sibyl {command}" in result.stdout


@pytest.mark.parametrize(
    "words", [["verify", "--fast"], ["cluster", "up"], ["simulate"], ["plan", "exscan"], ["fly"]]
)
def test_errors_of_usage_point_to_the_subcommand_s_help(sibyl: Sibyl, words: list[str]) -> None:
    command = " ".join(
        ["sibyl", *(word for word in words if word not in ("--fast", "exscan", "fly"))]
    )
    assert_usage_error(sibyl(*words), f"(see: {command} --help)")


@pytest.mark.parametrize("words", [["profile", "--json"], ["cluster", "run", "-n"]])
def test_an_option_without_its_value_points_to_the_subcommand_s_help(
    sibyl: Sibyl, words: list[str]
) -> None:
    named = " ".join(word for word in words if not word.startswith("-"))
    assert_usage_error(sibyl(*words), f"requires an argument. (see: sibyl {named} --help)")


def test_shells_complete_commands_options_and_collectives(sibyl: Sibyl) -> None:
    for line, expected in (
        ("sibyl ver", "verify"),
        ("sibyl verify --ro", "--roots"),
        ("sibyl verify exs", "exscan"),
        ("sibyl plan gather --algorithm bin", "binomial"),
    ):
        environment = {**os.environ, "_SIBYL_COMPLETE": "complete_bash", "COMP_WORDS": line}
        environment["COMP_CWORD"] = str(line.count(" "))
        result = sibyl(env=environment)
        assert expected in result.stdout.split(), result


def test_json_to_standard_output_leaves_words_for_people_to_the_other(
    sibyl: Sibyl, tmp_path: Path
) -> None:
    (tmp_path / "trace").write_text("# call 0\n0\n1\n# call 1\n0\n2\n")
    for words, said in (
        (["verify", "exscan", "--ranks", "1..4"], "plans proven"),
        (["reproduce"], "published tables"),
        (["predict", "trace"], "smallest error"),
        (["simulate", "exscan", "-n", "4"], "lower bound"),
    ):
        result = sibyl(*words, "--json", "-")
        assert result.returncode == 0, result
        assert json.loads(result.stdout)
        assert said in result.stderr
        assert not (tmp_path / "-").exists()
    verified = json.loads(sibyl("verify", "exscan", "--ranks", "2", "--json", "-").stdout)
    assert verified["proven"] is True
    assert {row["problem"] for row in verified["algorithms"]} == {None}


def test_the_list_of_clusters_goes_where_it_is_asked_for(sibyl: Sibyl, tmp_path: Path) -> None:
    assert isinstance(json.loads(sibyl("cluster", "status", "--json").stdout), list)
    assert isinstance(json.loads(sibyl("cluster", "status", "--json", "-").stdout), list)
    assert sibyl("cluster", "status", "--json", "clusters.json").stdout == ""
    assert isinstance(json.loads((tmp_path / "clusters.json").read_text()), list)
    refused = sibyl("cluster", "status", "clusters.json")
    assert_usage_error(refused, "say: sibyl cluster status --json clusters.json")


def test_numbers_of_things_have_their_plural_forms(sibyl: Sibyl) -> None:
    words = ["verify", "exscan", "--algorithm", "hybrid", "--ranks"]
    one = sibyl(*words, "1").stdout
    assert "(1 rank), " in one
    assert "plans proven (2 ranks)" in sibyl(*words, "2").stdout
    words = ["plan", "exscan", "--algorithm", "hybrid", "--ranks"]
    assert "exscan hybrid, 1 rank\n" in sibyl(*words, 1).stdout
    assert "1 part a vector of 1 element\n" in sibyl(*words, 4, "--count", 1).stdout
    assert "1 part a vector of 2 elements\n" in sibyl(*words, 4, "--count", 2).stdout


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["fly"], "fly"),
        (["algorithms", "--xml"], "--xml"),
        (["plan"], "COLLECTIVE"),
        (["plan", "exscan", "--algorithm", "hybrid"], "ranks"),
        (["plan", "exscan", "--algorithm", "hybrid", "--ranks", "many"], "--ranks"),
        (["plan", "exscan", "--algorithm", "hybrid", "--ranks", "0"], "at least 1"),
        (["plan", "exscan", "--algorithm", "hybrid", "--ranks", "-3"], "at least 1"),
        (["plan", "exscan", "--algorithm", "hybrid", "--ranks", "99999999999"], "out of range"),
        (["plan", "exscan", "--algorithm", "hybrid", "--ranks", f"1{20 * '0'}"], "out of range"),
        (
            f"plan scan --algorithm doubling -n 4 --goal x --count {2**62}".split(),
            "fewer elements",
        ),
        (["plan", "alltoallw", "--algorithm", "hybrid", "--ranks", "4"], "gather"),
        (["plan", "exscan", "--algorithm", "binomial", "--ranks", "4"], "123-doubling"),
        (["plan", "gather", "--algorithm", "binomial", "--ranks", "4", "--root", "4"], "0..3"),
        (["plan", "gather", "--algorithm", "binomial", "--ranks", "4", "--root", "-1"], "0..3"),
        (["plan", "scan", "--algorithm", "doubling", "--ranks", "4", "--count", "-1"], "count"),
        (["plan", "scan", "--algorithm", "doubling", "--ranks", "4", "--svg", "no/x"], "no/x"),
        (["plan", "scan", "--algorithm", "doubling", "--ranks", "4", "--json", "no/x"], "no/x"),
        (["plan", "scan", "--algorithm", "doubling", "--ranks", "4", "--goal", "no/x"], "no/x"),
        (["verify", "exscan"], "ranks"),
        (["verify", "alltoallw", "--ranks", "1..4"], "alltoallw"),
        (["verify", "exscan", "--ranks", "0..5"], "begin at 1"),
        (["verify", "exscan", "--ranks", "9..3"], "3..9"),
        (["verify", "exscan", "--ranks", "1-5"], "A..B"),
        (["verify", "exscan", "--ranks", "1..2..3"], "A..B"),
        (["verify", "exscan", "--ranks", ".."], "A..B"),
        (["verify", "exscan", "--ranks", "1..99999999999"], "2147483647"),
        (["verify", "exscan", "--ranks", "1..3", "--algorithm", "linear"], "hybrid"),
        (["verify", "gather", "--ranks", "1..3", "--roots", "some"], "sample"),
        (["cluster", "check", "--name", "absent", "--json", "no/x"], "--json no/x"),
        (["cluster", "up", "--hosts", "2", "--rate", f"1{310 * '0'}gbit"], "100gbit"),
        (["run"], "PROGRAM"),
        (["run", "-n", "0", "--", "true"], "-n 0"),
        (["run", "-n", "-2", "--", "true"], "-n -2"),
        (["run", "-n", "two", "--", "true"], "-n"),
        (["run", "--set", "exscan", "--", "true"], "COLLECTIVE=ALGORITHM"),
        (["run", "--set", "=hybrid", "--", "true"], "COLLECTIVE=ALGORITHM"),
        (["run", "--set", "exscan=", "--", "true"], "COLLECTIVE=ALGORITHM"),
        (["run", "--set", "exscan=fast", "--", "true"], "123-doubling"),
        (["run", "--set", "alltoallw=native", "--", "true"], "exscan, scan, gather, scatter"),
        (["run", "--report", "no/file.json", "--", "true"], "no directory"),
        (["run", "--report", ".", "--", "true"], "directory"),
        (["run", "--mpi", "no-such-directory", "--", "true"], "no-such-directory"),
        (["run", "--mpi", ".", "--", "true"], "no mpiexec"),
        (["run", "--launcher-args", "'open", "--", "true"], "quotes"),
        (["run", "--", "no-such-program"], "no-such-program"),
        (["run", "--", "./no-such-program"], "does not exist"),
        (["run", "--", "/"], "directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(sibyl: Sibyl, words: list[str], part: str) -> None:
    assert_usage_error(sibyl(*words), part)


@pytest.mark.parametrize("ranks", [200_000_000, 2**31 - 1])
def test_plans_that_do_not_fit_into_memory_are_refused(sibyl: Sibyl, ranks: int) -> None:
    for words in (
        ["plan", "scan", "--algorithm", "doubling"],
        ["plan", "allreduce", "--algorithm", "ring"],
        ["plan", "reduce", "--algorithm", "clairvoyant"],
        ["verify", "exscan"],
        ["verify", "alltoall", "--algorithm", "pairwise"],
    ):
        result = sibyl(*words, "--ranks", ranks)
        assert_usage_error(result, f"--ranks {ranks}: {words[1]}", "GiB of memory", "fewer ranks")


def test_what_is_made_from_a_plan_takes_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 18}  # 4 GiB
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    row = next(row for row in algorithms_of("allgather") if row.name == "ring")
    check_plan_memory(row, 3000)  # 18 million steps
    with pytest.raises(CommandError, match=r"ring has about 1\.8e\+07 steps and takes 9\."):
        check_plan_memory(row, 3000, beside=500)
    with pytest.raises(CommandError, match="--ranks 6000: allgather ring"):
        check_plan_memory(row, 6000)
    # Of a power of two ranks those that are counted are not the inner ones of a tree alone.
    tree = next(row for row in algorithms_of("bcast") if row.name == "binomial")
    check_plan_memory(tree, 1 << 23)  # 2 GiB
    # Nodes of one rank each: what goes around a ring between them.
    for collective in ("allgather", "allreduce"):
        levels = next(row for row in algorithms_of(collective) if row.name == "two-level")
        check_plan_memory(levels, 1000)
        with pytest.raises(CommandError, match=f"--ranks 20000: {collective} two-level"):
            check_plan_memory(levels, 20_000)


def test_what_the_verifier_knows_of_units_and_of_barriers_takes_memory_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 4 << 18}  # 4 GiB
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    circulant = next(row for row in algorithms_of("allgather") if row.name == "circulant")
    doubling = next(row for row in algorithms_of("reduce_scatter") if row.name == "doubling")
    barrier = next(row for row in algorithms_of("barrier") if row.name == "dissemination")
    for row, fits, too_many in (
        (circulant, 5000, 20_000),  # p units at a rank, and scratch
        (doubling, 300, 600),  # 2 p^2 units at a rank
        (barrier, 10_000, 40_000),  # 2 p log2 p steps, each with p bits
    ):
        check_plan_memory(row, too_many)
        check_plan_memory(row, fits, proven=True)
        with pytest.raises(CommandError, match=f"--ranks {too_many}: {row.collective} {row.name}"):
            check_plan_memory(row, too_many, proven=True)


def test_memory_that_is_not_there_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "sibyl: there is not enough memory for that; ask for less of it\n"
    )


def test_no_room_for_temporary_files_and_a_directory_that_is_gone_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def told(fail: Callable[[], object]) -> str:
        monkeypatch.setattr(cli, "app", lambda **_: fail())
        with pytest.raises(SystemExit) as left:
            cli.main([])
        assert left.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    nowhere = [str(tmp_path / "one"), str(tmp_path / "other")]
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: nowhere)
    monkeypatch.setattr(tempfile, "tempdir", None)
    line = told(tempfile.TemporaryDirectory)
    assert str(nowhere) in line and line.endswith("make room in one of them, or set TMPDIR")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "the working directory is gone" in told(Path.cwd)


def test_a_program_that_may_not_be_executed_is_told_how_to_be_mended(sibyl: Sibyl) -> None:
    (sibyl.directory / "notes.txt").write_text("no program\n")
    assert_usage_error(sibyl("run", "--", "./notes.txt"), "chmod +x ./notes.txt")
    assert_usage_error(sibyl("run", "--", "notes.txt"), "./notes.txt")


def test_no_mpi_in_path_is_told_how_to_be_mended(sibyl: Sibyl) -> None:
    (sibyl.directory / "program").write_text("#!/bin/sh\n")
    (sibyl.directory / "program").chmod(0o755)
    environment = {**os.environ, "PATH": str(sibyl.directory)}
    for words in (["--"], ["--mpi", "openmpi", "--"], ["--mpi", "mpich", "--"]):
        assert_usage_error(sibyl("run", *words, "./program", env=environment), "install")


def test_a_library_directory_without_the_library_is_told(sibyl: Sibyl, job: Path) -> None:
    environment = {**os.environ, "SIBYL_LIBRARY_DIR": str(sibyl.directory)}
    result = sibyl("run", "-n", "1", "--", job, env=environment)
    assert_usage_error(result, "SIBYL_LIBRARY_DIR", "libsibyl-preload.so")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0\n1\n2\n", "rank 3 is missing"),
        ("0\n1\n2\n4\n", "order.txt:4"),
        ("0\n1\n1\n3\n", "line 2"),
        ("0\n1 2\n3\n", "order.txt:2"),
        ("0\n-1\n3\n", "order.txt:2"),
        ("", "missing"),
    ],
)
def test_a_malformed_order_file_is_told_by_line(sibyl: Sibyl, text: str, part: str) -> None:
    (sibyl.directory / "order.txt").write_text(text)
    words = ["plan", "gather", "--algorithm", "linear", "--ranks", 4, "--order", "order.txt"]
    assert_usage_error(sibyl(*words), part)


def test_an_unreadable_order_file_is_told(sibyl: Sibyl) -> None:
    words = ["plan", "gather", "--algorithm", "linear", "--ranks", 4, "--order"]
    assert_usage_error(sibyl(*words, "absent.txt"), "absent.txt")
    (sibyl.directory / "binary").write_bytes(b"\xff\xfe\x00")
    assert_usage_error(sibyl(*words, "binary"), "not text")


def test_an_order_that_an_algorithm_cannot_take_is_told(sibyl: Sibyl) -> None:
    (sibyl.directory / "order.txt").write_text("1\n2\n3\n")
    words = ["plan", "scan", "--algorithm", "doubling", "--ranks", 4, "--order", "order.txt"]
    assert_usage_error(sibyl(*words), "order")


def test_the_table_of_algorithms_fits_80_columns(
    sibyl: Sibyl, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    narrow = Console(file=out, width=80)
    monkeypatch.setattr(algorithms, "console_beside", lambda **_: narrow)
    assert algorithms.list_algorithms(False) == 0
    lines = out.getvalue().splitlines()
    assert max(len(line) for line in lines if line[:1] in "┏┡│├└") <= 80
    assert "reduce_scatter_block" in out.getvalue() and "linear-synchronised" in out.getvalue()
    assert "--json" in lines[-1]
    monkeypatch.delenv("COLUMNS", raising=False)
    assert "operators" in sibyl("algorithms").stdout
    monkeypatch.setenv("COLUMNS", "80")
    assert "operators" not in sibyl("algorithms").stdout
    monkeypatch.setenv("COLUMNS", "0")  # a terminal that does not know
    assert "reduce_scatter_block" in sibyl("algorithms").stdout
    assert Terminal(stderr=True).width == 80
