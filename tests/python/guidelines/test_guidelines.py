"""`sibyl guidelines` on this machine: what it judges and writes, and that MPIs obey its tables."""

import csv
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from conftest import Mpi, Sibyl, assert_usage_error
from installed_mpis import benchmark_of

from sibyl.guidelines.catalogue import GUIDELINES
from sibyl.guidelines.selection import mpich, openmpi, own
from sibyl.guidelines.selection.choices import RankRules, Rule
from sibyl.mpi.command_line import launcher_command, launcher_environment
from sibyl.mpi.installation import library_of_program

pytestmark = pytest.mark.suite

QUICK = ["-n", 2, "--iterations", 3, "--warm-up", 1, "--blocks", "10"]
RANKS = 5
TABLES = {"mpich": mpich.FILE, "openmpi": openmpi.FILE}


@pytest.fixture
def guidelines(
    sibyl: Sibyl, mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command, with a journal of its own, where there is a benchmark for this MPI."""
    benchmark_of(mpi.launcher)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda *words: sibyl("guidelines", "--mpi", mpi.option, *words)


def test_every_guideline_is_judged_and_every_result_is_right(
    guidelines: Callable[..., subprocess.CompletedProcess[str]], sibyl: Sibyl
) -> None:
    """On three ranks: vectors of fewer elements, and that the ranks do not divide."""
    words = ["-n", 3, "--iterations", 1, "--warm-up", 0, "--blocks", "1,7", "--under", "sibyl"]
    result = guidelines(*words, "--problems", "same,spikes", "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((sibyl.directory / "a.csv").open()))
    assert {(row["guideline"], row["under"]) for row in rows} == {
        (guideline.name, under) for guideline in GUIDELINES for under in ("native", "sibyl")
    }
    irregular = {guideline.name for guideline in GUIDELINES if guideline.everywhere}
    assert irregular == {"(2)", "(2s)", "(2a)", "(2r)", "(2t)", "(6av)", "(6rv)"}
    assert {row["guideline"] for row in rows if row["problem"] == "spikes"} == irregular
    for row in rows:
        assert row["verdict"] != "WRONG"
        assert float(row["left_avg_us"]) >= float(row["left_min_us"]) > 0
        if row["guideline"] == "(9)":
            assert (row["block"], row["elements"]) == ("0", "")
        elif row["problem"] == "same":
            assert int(row["elements"]) == int(row["padded_elements"]) == 3 * int(row["block"])
        else:
            assert int(row["padded_elements"]) == 3 * 5 * int(row["block"])


def test_what_was_learned_is_shown_on_a_page_and_written_as_tables(
    guidelines: Callable[..., subprocess.CompletedProcess[str]],
    sibyl: Sibyl,
    mpi: Mpi,
    reduction_order: Path,
) -> None:
    words = ["--collectives", "gather,gatherv,exscan,reduce,allreduce", "--problems", "same"]
    words += ["--under", "sibyl", "--json", "a.json", "--page", "page", "--tables", "tables"]
    result = guidelines(*QUICK, *words)
    assert result.returncode == 0, result
    document = json.loads((sibyl.directory / "a.json").read_text())
    assert document["cells"][0]["job"]["ranks"] == 2
    assert "MPI_Gatherv" in (sibyl.directory / "page" / "index.html").read_text()
    for text in ("Guideline (2)", "SIBYL_Gather", "MPI_Allreduce", "in the paper"):
        assert text in result.stdout

    # The tables: measured, written, and accepted by the MPI.
    measured = {name for cell in document["cells"] for name in cell["samples"]}
    assert any(name.startswith("reduce/native:") for name in measured)
    assert {"gather/linear", "exscan/123-doubling", "allreduce/ring"} <= measured
    table = sibyl.directory / "tables" / TABLES[mpi.launcher.flavour]
    names = {path.name for path in (sibyl.directory / "tables").iterdir()}
    assert names == {table.name, "sibyl-selection.txt"}
    assert table.name in result.stdout
    told = run_order(mpi, reduction_order, sibyl.directory, with_table(mpi, table), 64, -100)
    assert told["gather 100"] == "right"


def test_guidelines_are_judged_under_late_arrivals_too(
    guidelines: Callable[..., subprocess.CompletedProcess[str]], sibyl: Sibyl
) -> None:
    words = ["--collectives", "reduce,exscan,bcast", "--problems", "same", "--compute", "1ms"]
    words += ["--pattern", "none,skewed", "--max-delay", "2ms", "--json", "a.json"]
    result = guidelines(*QUICK, *words)
    assert result.returncode == 0, result
    cells = json.loads((sibyl.directory / "a.json").read_text())["cells"]
    assert {cell["cell"]["pattern"] for cell in cells} == {"none", "skewed"}
    for cell in cells:
        late = cell["cell"]["max_delay"]
        assert late == (2e-3 if cell["cell"]["pattern"] == "skewed" else 0)
        spreads = [spread for of in cell["samples"].values() for spread in of["spread_s"]]
        assert max(spreads) > late / 2 or max(spreads) == late == 0
    assert "skewed arrivals up to 2 ms" in result.stdout


def test_a_simulated_cluster_is_judged_as_it_is(simulated: Sibyl) -> None:
    words = ["--on", "smpi", "-n", 64, "--ranks-per-node", 16, "--collectives", "gatherv"]
    words += ["--problems", "same,spikes", "--blocks", "1,1000", "--mpi", "openmpi"]
    result = simulated("guidelines", *words, "--csv", "a.csv")
    assert result.returncode == 0, result
    rows = list(csv.DictReader((simulated.directory / "a.csv").open()))
    verdicts = {(row["problem"], row["block"]): row["verdict"] for row in rows}
    # A linear gather of 64 small blocks against a tree; little of much data against all padded.
    assert verdicts["same", "1"] == "VIOLATED"
    assert verdicts["spikes", "1000"] == "holds"
    assert rows[0]["mpi"] == "SMPI choosing as Open MPI"


def run_order(
    mpi: Mpi, program: Path, directory: Path, variables: Mapping[str, str], *numbers: int
) -> dict[str, str]:
    """Run programs/reduction_order.c; what it says of each number."""
    words = [str(program), *map(str, numbers)]
    done = subprocess.run(
        launcher_command(mpi.launcher, RANKS, variables, words),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**launcher_environment(mpi.launcher), **variables},
    )
    assert done.returncode == 0, done
    found = {}
    for line in done.stdout.splitlines():
        collective, number, told = line.split()
        found[f"{collective} {number}"] = told
    assert len(found) == len(numbers), done
    return found


def forced(mpi: Mpi, algorithm: str) -> dict[str, str]:
    """The variables that force an algorithm of reduce."""
    if mpi.launcher.flavour == "mpich":
        return {"MPIR_CVAR_REDUCE_INTRA_ALGORITHM": algorithm}
    number = {"linear": "1", "rabenseifner": "7"}[algorithm]
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_reduce_algorithm": number,
    }


def with_table(mpi: Mpi, path: Path) -> dict[str, str]:
    """The variables that put a table in force, as the command tells to."""
    if mpi.launcher.flavour == "mpich":
        return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path)}
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
    }


def write_table(mpi: Mpi, program: Path, directory: Path, learned: list[RankRules]) -> Path:
    """A table of this MPI with these rules."""
    if mpi.launcher.flavour == "mpich":
        path = directory / mpich.FILE
        linked = library_of_program(program)
        assert linked is not None
        library = linked[1]
        tree = mpich.to_tree(learned, mpich.built_in(library), library.read_bytes())
        path.write_text(mpich.to_text(tree))
        return path
    path = directory / openmpi.FILE
    numbers = {"reduce": {"linear": 1, "rabenseifner": 7}, "gather": {"binomial": 2}}
    path.write_text(openmpi.to_text(learned, numbers, ["made by hand"]))
    return path


def test_the_mpi_obeys_a_table_and_by_size(mpi: Mpi, reduction_order: Path, tmp_path: Path) -> None:
    """Rounding tells which algorithm has added."""
    is_mpich = mpi.launcher.flavour == "mpich"
    small, large = ("reduce_scatter_gather", "binomial") if is_mpich else ("linear", "rabenseifner")
    numbers = (64, 4096, 32768)

    def told(variables: Mapping[str, str]) -> dict[str, str]:
        return run_order(mpi, reduction_order, tmp_path, variables, *numbers)

    usual, first, second = told({}), told(forced(mpi, small)), told(forced(mpi, large))
    assert first["reduce 64"] != usual["reduce 64"], "the test cannot tell these apart"
    assert second["reduce 4096"] != usual["reduce 4096"], "the test cannot tell these apart"
    rules = (Rule(0, small), Rule(1024, large), Rule(65536, None))
    table = write_table(mpi, reduction_order, tmp_path, [RankRules("reduce", 4, 8, rules)])
    assert told(with_table(mpi, table)) == {
        "reduce 64": first["reduce 64"],
        "reduce 4096": second["reduce 4096"],
        "reduce 32768": usual["reduce 32768"],
    }
    # Made for other numbers of ranks it changes nothing.
    for least, most in ((2, RANKS - 1), (RANKS + 1, 16)):
        table = write_table(
            mpi, reduction_order, tmp_path, [RankRules("reduce", least, most, rules)]
        )
        assert told(with_table(mpi, table)) == usual


def test_open_mpi_gathers_as_its_table_says(
    mpi: Mpi, reduction_order: Path, tmp_path: Path
) -> None:
    """The messages tell: in a binomial tree not all go to the root."""
    if mpi.launcher.flavour != "openmpi":
        pytest.skip("MPICH has one algorithm for gather")
    monitoring = {
        "OMPI_MCA_pml_monitoring_enable": "2",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(tmp_path / "messages"),
    }

    def receivers(variables: Mapping[str, str]) -> set[str]:
        told = run_order(mpi, reduction_order, tmp_path, variables | monitoring, -5000)
        assert told == {"gather 5000": "right"}  # in place at the root
        lines = [
            line.split()
            for path in tmp_path.glob("messages*")
            for line in path.read_text().splitlines()
        ]
        for path in tmp_path.glob("messages*"):
            path.unlink()
        return {line[2] for line in lines if line[0] == "I"}

    everywhere = receivers({})
    if not everywhere:
        pytest.skip("this Open MPI does not monitor messages")
    assert everywhere == {str(RANKS - 1)}
    rules = [RankRules("gather", 4, 8, (Rule(0, "binomial"),))]
    table = write_table(mpi, reduction_order, tmp_path, rules)
    assert receivers(with_table(mpi, table)) > everywhere


def test_sibyl_obeys_its_own_table(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    def served(name: str) -> set[str]:
        rules = [RankRules("exscan", 2, 3, (Rule(0, name), Rule(1000, "native")))]
        (sibyl.directory / own.FILE).write_text(own.to_text(rules, ["made by hand"]))
        environment = {**os.environ, "SIBYL_TABLE": str(sibyl.directory / own.FILE)}
        words = ["run", "-n", 2, "--mpi", mpi.option, "--quiet", "--report", "r.json", "--", job]
        result = sibyl(*words, env=environment)
        assert result.returncode == 0, result
        entries = json.loads((sibyl.directory / "r.json").read_text())["entries"]
        return {entry["algorithm"] for entry in entries}

    assert "two-op-doubling" in served("two-op-doubling")
    assert "1-doubling" in served("1-doubling")
    assert served("native") <= {"native"}


def test_bad_input_ends_in_one_line(sibyl: Sibyl) -> None:
    for words, part in (
        (["--collectives", "alltoallw"], "alltoallw"),
        (["--collectives", "reduce", "--problems", "spikes"], "same"),
        (["--pattern", "skewed"], "--max-delay"),
        (["--csv", "absent/a.csv"], "absent/a.csv"),
    ):
        assert_usage_error(sibyl("guidelines", *words), part)
    assert list(sibyl.directory.iterdir()) == []
