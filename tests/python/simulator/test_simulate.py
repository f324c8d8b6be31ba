"""`sibyl simulate` and `sibyl.simulate`: closed forms, files, pictures, and bad input."""

import csv
import json
import os
import signal
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import Mpi, Sibyl, assert_usage_error

import sibyl as package
from sibyl.errors import CommandError
from sibyl.node_options import NodeOptions
from sibyl.placement import Placement
from sibyl.simulator import calibration, session, simulate
from sibyl.simulator import options as simulator_options
from sibyl.simulator.contenders import Contender, contenders
from sibyl.simulator.options import Outputs, Wishes
from sibyl.simulator.output import json_text
from sibyl.simulator.session import Problem, Row, Settings, run_cell

SMALL = ("-n", "8", "--size", "64K", "--iterations", "3")


def test_a_linear_gather_takes_the_closed_form() -> None:
    network = package.Network(alpha=0.5, beta=0.25)
    result = package.simulate("gather", "linear", ranks=9, size=6, network=network)
    assert result.run_time == 8 * (0.5 + 6 * 0.25)
    assert result.messages == 8
    assert result.bytes == 48
    assert result.exits.shape == (9,)
    assert result.events is None


def test_recorded_messages_and_waits_agree_with_the_times() -> None:
    arrivals = numpy.array([4.0, 0.0, 0.0])
    network = package.Network(alpha=1.0, beta=0.0)
    result = package.simulate(
        "gather", "linear", ranks=3, size=6, arrivals=arrivals, network=network, record=True
    )
    assert result.events is not None and result.waits is not None
    assert result.events[:, 7].max() == result.exits.max() == 6.0
    assert [1, 0, 0.0, 4.0] in result.waits.tolist()
    assert [2, 0, 0.0, 5.0] in result.waits.tolist()


def test_clairvoyant_plans_for_the_arrivals_that_are_simulated() -> None:
    arrivals = package.arrival_pattern("uniform:0.01:3", 16)
    clairvoyant = package.simulate(
        "reduce", "clairvoyant", 16, 1 << 20, arrivals=arrivals, segments=32
    )
    binomial = package.simulate("reduce", "binomial", 16, 1 << 20, arrivals=arrivals)
    assert clairvoyant.run_time < binomial.run_time


def test_sending_in_the_order_of_the_schedule_is_simulated(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "reduce", "--algorithms", "CLV", "--ranks", "16", "--size", "1MiB")
    words += ("--segments", "64", "--max-delay", "5ms", "--iterations", "3")
    assert sibyl(*words, "--json", "a.json").returncode == 0
    assert sibyl(*words, "--in-order", "--json", "b.json").returncode == 0
    free, in_order = (
        json.loads((tmp_path / name).read_text())["entries"][0] for name in ("a.json", "b.json")
    )
    assert free["messages"] == in_order["messages"]
    assert free["run_s"] != in_order["run_s"]
    assert_usage_error(sibyl("simulate", "gather", "--in-order", *SMALL), "--in-order")


def test_names_of_the_papers_are_planner_order_and_gates() -> None:
    found = contenders("gather", "LS,SLS,BSLS,bsbn,linear:sorted")
    assert [(c.row.name, c.sorted, c.background) for c in found] == [
        ("linear-synchronised", False, False),
        ("linear-synchronised", True, False),
        ("linear-synchronised", True, True),
        ("binomial", True, True),
        ("linear", True, False),
    ]
    arrivals = numpy.array([3.0, 1.0, 2.0, 1.0])
    assert found[1].order(arrivals, root=0) == [1, 3, 2]
    assert found[3].order(arrivals, root=2) == [0, 1, 3]


def test_the_files_hold_what_the_table_says(sibyl: Sibyl, tmp_path: Path) -> None:
    result = sibyl(
        *("simulate", "gather", "--algorithms", "LS,BSLS", *SMALL, "--max-delay", "0,5ms"),
        *("--csv", "a.csv", "--json", "a.json", "--plot", "a.png"),
        *("--svg", "a.svg", "--html", "a.html"),
    )
    assert result.returncode == 0, result
    assert "BSLS" in result.stdout and "lower bound" in result.stdout
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["algorithm"], r["max_delay_us"]) for r in rows] == [
        ("LS", "0"),
        ("BSLS", "0"),
        ("LS", "5000"),
        ("BSLS", "5000"),
    ]
    flat = 7 * (2 * 25e-6 + 8e-9 * 8192) + 25e-6
    assert float(rows[0]["run_us"]) == pytest.approx(flat * 1e6, rel=1e-5)
    assert float(rows[3]["run_us"]) < float(rows[2]["run_us"])
    entries = json.loads((tmp_path / "a.json").read_text())["entries"]
    assert [e["algorithm"] for e in entries] == ["LS", "BSLS", "LS", "BSLS"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    picture = ElementTree.parse(tmp_path / "a.svg").getroot()
    arrows = picture.findall("{http://www.w3.org/2000/svg}g")
    assert len(arrows) == 21
    # Of each algorithm in each cell one, the first one in the file that was named.
    pictures = ["a.svg", "a-BSLS-1.svg", "a-LS-2.svg", "a-BSLS-2.svg"]
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == sorted(pictures)
    assert len({(tmp_path / name).read_text() for name in pictures}) == 4
    assert len(list(tmp_path.glob("*.html"))) == 4
    page = (tmp_path / "a.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "const data = {" in page


def test_a_file_of_any_name_is_drawn(sibyl: Sibyl, tmp_path: Path) -> None:
    """What Matplotlib would take for a formula, too."""
    (tmp_path / "a$_$.txt").write_text("0\n0.001\n0.002\n0\n")
    words = ("-n", "4", "--pattern", "a$_$.txt", "--plot", "a.png")
    result = sibyl("simulate", "gather", *words)
    assert result.returncode == 0, result
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_simulation_is_resumed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = Settings("gather", package.Network(), iterations=3)
    wishes = Wishes(ranks="4,8", size="4K,8K", algorithms="LS,SLS", max_delay="1ms")

    def csv_text(resume: bool, code: int = 0) -> str:
        outputs = Outputs(csv=tmp_path / "a.csv", resume=resume)
        assert simulate.run(settings, wishes, NodeOptions(), outputs) == code
        return (tmp_path / "a.csv").read_text()

    whole = csv_text(resume=False)
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []
    cells: list[tuple[int, list[str]]] = []

    def until_interrupted(problem: Problem, entrants: list[Contender], *more: Any) -> Iterator[Row]:
        cells.append((problem.size, [entrant.name for entrant in entrants]))
        for row in run_cell(problem, entrants, *more):
            yield row
            if len(cells) == 2 and not resumed:  # in the middle of the second cell
                signal.raise_signal(number)

    resumed = False
    monkeypatch.setattr(simulate, "run_cell", until_interrupted)
    part = csv_text(resume=False, code=128 + number)
    assert "3 of 8 rows are kept" in capfd.readouterr().err
    assert whole.startswith(part) and len(part.splitlines()) == 1 + 3
    resumed = True
    cells.clear()
    assert csv_text(resume=True) == whole
    assert [len(names) for _, names in cells] == [0, 1, 2, 2]
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []


def test_an_all_to_all_of_too_many_ranks_is_refused_before_its_sizes_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_late(*_: object) -> None:
        raise AssertionError("a list of ranks times ranks was to be made")

    monkeypatch.setattr(session, "request_of", too_late)
    settings = Settings("alltoallv", package.Network())
    wishes = Wishes(ranks="40000", size="1GiB", algorithms="pairwise")
    with pytest.raises(CommandError, match=r"pairwise on 40000 ranks has about 3.2e\+09 steps"):
        simulate.run(settings, wishes, NodeOptions(), Outputs())


def test_the_same_simulation_is_made_once_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = Settings("gather", package.Network())
    wishes = Wishes(ranks="4", size="4K", algorithms="LS")

    def and_again(*_: object) -> None:
        simulate.run(settings, wishes, NodeOptions(), Outputs())

    monkeypatch.setattr(simulate, "_simulate", and_again)
    with pytest.raises(CommandError, match="under way in another process"):
        simulate.run(settings, wishes, NodeOptions(), Outputs())


def test_a_simulation_whose_results_cannot_be_written_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = Settings("gather", package.Network())
    wishes = Wishes(ranks="4", size="4K", algorithms="LS,SLS")
    with pytest.raises(CommandError, match="/dev/full: cannot be written"):
        simulate.run(settings, wishes, NodeOptions(), Outputs(json=Path("/dev/full")))
    assert "sibyl: 2 of 2 rows are kept, go on with" in capfd.readouterr().err
    assert len([*(tmp_path / "cache").rglob("*.jsonl")]) == 1


def test_nodes_and_loggp_and_operator_cost_are_taken(sibyl: Sibyl, tmp_path: Path) -> None:
    common = ("simulate", "exscan", "--algorithms", "two-level,123-doubling", *SMALL)
    assert sibyl(*common, "--json", "a.json").returncode == 0
    more = ("--ranks-per-node", "4", "--operator-cost", "0.1ns/B", "--json", "b.json")
    assert sibyl(*common, *more).returncode == 0
    loggp = ("--model", "loggp", "--loggp", "10us,1us,2us,4ns/B", "--json", "c.json")
    assert sibyl(*common, *loggp).returncode == 0
    times = [
        json.loads((tmp_path / f"{name}.json").read_text())["entries"][0]["run_s"] for name in "abc"
    ]
    assert len(set(times)) == 3


def test_equal_nodes_in_a_row_are_ranks_per_node(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "reduce", "--algorithms", "two-level,ordered-tree,ring", "--size", "64K")
    words += ("--max-delay", "5ms", "--iterations", "3")
    assert sibyl(*words, "-n", 10, "--ranks-per-node", 4, "--json", "a.json").returncode == 0
    assert sibyl(*words, "--nodes", "4,4,2", "--json", "b.json").returncode == 0
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_uneven_and_cyclic_nodes_share_their_links(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "allreduce", "--algorithms", "two-level,ring", "--size", "1MiB")
    words += ("--inside", "0us,0ns/B", "--nodes", "3,1,4")
    result = sibyl(*words, "--json", "a.json")
    assert result.returncode == 0, result
    assert "8 ranks" in result.stdout and "3 nodes of 1 to 4 ranks, inside" in result.stdout
    more = ("--placement", "cyclic", "--lanes", "2", "--json", "b.json")
    result = sibyl(*words, *more)
    assert "not consecutive" in result.stdout and "2 lanes" in result.stdout
    filled, dealt = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert filled["nodes"] == [0, 0, 0, 1, 2, 2, 2, 2] and "lanes" not in filled
    assert dealt["nodes"] == [0, 1, 2, 0, 2, 0, 2, 2] and dealt["lanes"] == 2
    two_level, ring = (entry["run_s"] for entry in dealt["entries"])
    # A ring that goes from node to node at every step sends all vectors over a node's link.
    assert ring > 1.5 * filled["entries"][1]["run_s"]
    assert two_level < 0.6 * ring


def test_nodes_of_any_kind_are_simulated_from_python() -> None:
    of = [0, 1, 0, 1, 2]
    network = package.Network(alpha=1.0, beta=0.5, nodes=package.Nodes(of=of))
    result = package.simulate("bcast", "two-level", 5, 6, network=network, segments=1, record=True)
    assert result.events is not None
    # Between three nodes along a chain or a tree; inside a node nothing costs anything.
    assert sum(1 for source, to, *_ in result.events if of[int(source)] != of[int(to)]) == 2
    assert result.run_time == 2 * (1 + 6 * 0.5)
    with pytest.raises(ValueError, match="nodes"):
        package.simulate("bcast", "chain", 4, 6, network=network)


def test_long_vectors_are_cut_for_scans_that_can(sibyl: Sibyl, tmp_path: Path) -> None:
    words = ("simulate", "exscan", "--algorithms", "123-doubling,pipelined-chain,two-tree")
    words += ("--ranks", "36", "--size", "800000", "--alpha", "3us", "--beta", "0.27ns/B")
    assert sibyl(*words, "--json", "a.json").returncode == 0
    assert sibyl(*words, "--segments", "1", "--json", "b.json").returncode == 0
    (doubling, chain, trees), (_, whole_chain, whole_trees) = (
        [entry["run_s"] for entry in json.loads((tmp_path / name).read_text())["entries"]]
        for name in ("a.json", "b.json")
    )
    assert chain < 0.6 * doubling and trees < 0.7 * doubling
    assert min(whole_chain, whole_trees) > doubling


def test_calibration_is_read_from_a_file(sibyl: Sibyl, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"alpha_s": 1e-3, "beta_s_per_byte": 0.0}')
    words = ("simulate", "gather", "--algorithms", "LIN", *SMALL)
    assert sibyl(*words, "--calibration", "c.json", "--json", "a.json").returncode == 0
    entry = json.loads((tmp_path / "a.json").read_text())["entries"][0]
    assert entry["run_s"] == pytest.approx(7e-3)


def test_what_was_measured_once_is_read_again_from_the_json(
    sibyl: Sibyl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured = calibration.Calibration(1.1e-6, 1 / 3e9, 7e-11, "measured")
    monkeypatch.setattr(simulator_options, "measure", lambda _: measured)
    wished = simulator_options.NetworkOptions(calibrate=True)
    network = wished.network(wished.calibrated(), Placement())
    (tmp_path / "a.json").write_text(json_text([], Settings("reduce", network)))
    again = calibration.read(tmp_path / "a.json")
    assert (again.alpha, again.beta, again.gamma) == (1.1e-6, 1 / 3e9, 7e-11)
    given = ("simulate", "reduce", "--algorithms", "BNOM", *SMALL)
    assert sibyl(*given, "--calibration", "a.json", "--json", "b.json").returncode == 0
    third = calibration.read(tmp_path / "b.json")
    assert (third.alpha, third.beta, third.gamma) == (again.alpha, again.beta, again.gamma)
    assert sibyl(*given, "--model", "loggp", "--json", "c.json").returncode == 0
    assert "alpha_s" not in json.loads((tmp_path / "c.json").read_text())


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, f'{{"alpha": 1e-6, "beta": 1{400 * "0"}}}'],
    ids=["deeper than Python goes", "more digits than a float holds"],
)
def test_a_calibration_that_python_cannot_take_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(CommandError, match=r"--calibration .*c\.json: "):
        calibration.read(tmp_path / "c.json")


def test_calibration_measures_an_mpi(sibyl: Sibyl, mpi: Mpi, tmp_path: Path) -> None:
    words = ("simulate", "reduce", "--algorithms", "BNOM", "-n", "2", "--size", "1MiB")
    words += ("--calibrate", "--mpi", mpi.option, "--beta", "1ns/B", "--json", "a.json")
    result = sibyl(*words)
    assert result.returncode == 0, result
    assert f"measured between two ranks of {mpi.launcher}" in result.stdout
    assert "beta 1 ns/B; operator" in result.stdout
    entry = json.loads((tmp_path / "a.json").read_text())["entries"][0]
    # The vector crosses at 1 ns/B; the latency and the operator come on top.
    assert entry["run_s"] > 1.048e-3
    assert entry["run_s"] < 0.05  # on however busy a machine


def test_a_busy_machine_does_not_make_bytes_free() -> None:
    costs = [{"beta_s_per_byte": 3e-10}, {"beta_s_per_byte": 2e-10}]
    assert calibration._beta([0.0, 4e-11, 6e-11], costs) == pytest.approx(5e-11)
    assert calibration._beta([0.0, 0.0], costs) == 2e-10


def test_without_an_mpi_calibration_says_so(sibyl: Sibyl, tmp_path: Path) -> None:
    empty = {**os.environ, "PATH": str(tmp_path)}
    result = sibyl("simulate", "gather", "--calibrate", env=empty)
    assert_usage_error(result, "no MPI found")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("nosuch",), "unknown collective 'nosuch'"),
        (("gather", "--algorithms", "SLIN"), "unknown algorithm 'SLIN'"),
        (("exscan", "--algorithms", "hybrid:sorted"), "takes no order"),
        (("gather", "--pattern", "wavy"), "--pattern wavy"),
        (("gather", "--beta", "fast"), "--beta 'fast'"),
        (("gather", "--queue", "1K"), "a queue holds at least"),
        (("gather", "--queue", "128K,14480,0"), "a queue needs a timeout"),
        (("gather", "--beta", f"1{310 * '0'}ns/B"), "beta is inf"),
        (("gather", "--inside", f"0us,1{310 * '0'}ns/B"), "inside a node is inf"),
        (("gather", "--inside", "1s,1s/B"), "--inside is for several ranks a node"),
        (("gather", "--ranks", "0"), "--ranks 0"),
        (("gather", "--root", "-1"), "--root -1"),
        (("gather", "--root", "48"), "--root 48"),
        (("gather", "--calibration", "none.json"), "none.json"),
        (("gather", "--calibrate", "--calibration", "c.json"), "one of them"),
        (("gather", "--calibrate", "--mpi", "/no/such"), "/no/such"),
        (("gather", "--calibrate", "--resume"), "--calibrate measures other numbers each time"),
        (
            ("reduce", "-n", "4096", "--max-delay", "1ms", "--iterations", "2000000000"),
            "--iterations 2000000000: the arrival times",
        ),
        (("gather", "--mpi", "openmpi"), "--calibrate"),
        (("gather", "--model", "token"), "--model token"),
        (("gather", "--loggp", "1us,1us,1us,1ns/B"), "--model loggp"),
        (("gather", "--model", "loggp", "--beta", "1ns/B"), "--model hockney"),
        (("gather", "--csv", "no/such/place.csv"), "cannot be written"),
        (("reduce", "--nodes", "3,1", "-n", "5"), "--nodes 3,1 hold 4"),
        (("reduce", "--nodes", "3,1", "-n", "4,8"), "--ranks 8"),
        (("reduce", "--nodes", "3,0"), "'0'"),
        (("reduce", "--nodes", "2,2", "--ranks-per-node", "2"), "say one"),
        (("reduce", "--placement", "cyclic"), "--nodes"),
        (("reduce", "--ranks-per-node", "0"), "at least 1 rank"),
        (("reduce", "--algorithms", "ring", "--ranks-per-node", "3000000000"), "16777216 at most"),
        (("gather", "--nodes", "2,2", "--lanes", "2"), "--lanes 2"),
        (("exscan", "--ranks", "2147483647", "--algorithms", "hybrid"), "of memory"),
        (("gather", "--algorithms", "BNOM", "-n", "65536", "--svg", "a.svg"), "are drawn"),
    ],
)
def test_bad_input_gets_one_line(sibyl: Sibyl, words: tuple[str, ...], part: str) -> None:
    result = sibyl("simulate", *words)
    assert result.returncode == 2, result
    assert part in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_bad_input_simulates_nothing(sibyl: Sibyl) -> None:
    assert_usage_error(sibyl("simulate", "gather", "--max-delay", "soon"), "soon")


def test_a_recording_is_simulated_with_its_ranks_and_size(sibyl: Sibyl, tmp_path: Path) -> None:
    call = {"number": 1, "times": [0.0, 0.5, 0.0, 0.0]}
    site = {"communicator": 0, "group": [0, 1, 2, 3], "collective": "gather", "root": 0}
    site |= {"bytes": 1024, "calls": [call, {**call, "times": [0.0, 0.0, 0.25, 0.0]}]}
    document = {"format": "sibyl-arrivals", "version": 1, "sites": [site]}
    (tmp_path / "recording.json").write_text(json.dumps(document))
    words = ("simulate", "gather", "--algorithms", "linear", "--pattern", "recording.json")
    result = sibyl(*words, "--json", "-")
    assert result.returncode == 0, result
    (entry,) = json.loads(result.stdout)["entries"]
    assert (entry["ranks"], entry["bytes"]) == (4, 4096)
    low, high = entry["quartiles_s"]
    assert 0.25 < low < 0.26 < 0.5 < high < 0.51
    assert "linear" in result.stderr
    site["root"] = 2
    (tmp_path / "recording.json").write_text(json.dumps(document))
    assert json.loads(sibyl(*words, "--json", "-").stdout)["root"] == 2
    assert json.loads(sibyl(*words, "--root", "0", "--json", "-").stdout)["root"] == 0
    assert_usage_error(sibyl(*words, "-n", 5), "recorded on 4 ranks, not 5")
    (tmp_path / "bad").write_text("secret\n")
    result = sibyl("simulate", "gather", "-n", 4, "--pattern", "bad")
    assert_usage_error(result, "bad:1")
    assert "secret" not in result.stderr


def test_several_pictures_go_to_files(sibyl: Sibyl) -> None:
    words = ("simulate", "gather", "--algorithms", "LS,BSLS", *SMALL)
    for option in ("--svg", "--html"):
        assert_usage_error(sibyl(*words, option, "-"), f"{option} -: several pictures")
    assert not list(sibyl.directory.glob("--*"))
    one = sibyl("simulate", "gather", "--algorithms", "LS", *SMALL, "--svg", "-")
    assert one.returncode == 0 and one.stdout.lstrip().startswith("<"), one


def test_too_many_pictures_and_times_without_units_are_refused(sibyl: Sibyl) -> None:
    words = ("simulate", "gather", "--algorithms", "LS,BSLS", *SMALL)
    delays = ",".join(f"{number}ms" for number in range(1, 14))
    assert_usage_error(sibyl(*words, "--max-delay", delays, "--svg", "a.svg"), "are 26; up to 24")
    for option, value in (("--max-delay", "5"), ("--compute", "20"), ("--alpha", "25")):
        assert_usage_error(sibyl(*words, option, value), f"time '{value}'", "with its unit")
    for option in ("--beta", "--operator-cost"):
        assert_usage_error(sibyl(*words, option, "8"), f"{option} '8'", "with its unit")


def test_the_control_is_the_same_algorithm_told_nothing() -> None:
    arrivals = numpy.array([0.0, 0.3, 0.1, 0.2])
    told, nothing, wrong = contenders("scatter", "BSLIN,none:BSLIN,shuffled:BSLIN")
    assert told.order(told.hears(arrivals), 0) == [2, 3, 1]
    assert nothing.order(nothing.hears(arrivals), 0) == [1, 2, 3]
    assert (nothing.row, nothing.sorted, nothing.background) == (told.row, True, True)
    heard = wrong.hears(arrivals)
    assert sorted(heard) == sorted(arrivals)
    assert (wrong.hears(arrivals) == heard).all()
    assert (told.depends_on_arrivals, nothing.depends_on_arrivals) == (True, False)


def test_who_takes_no_arrivals_is_told_nothing_in_vain() -> None:
    with pytest.raises(CommandError, match="takes no arrivals"):
        contenders("scatter", "none:LIN")
    assert contenders("reduce", "none:clairvoyant")[0].told == "none"


def test_a_barrier_has_no_size(sibyl: Sibyl) -> None:
    result = sibyl("simulate", "barrier", "-n", "48", "--size", "10,1M", "--json", "-")
    assert result.returncode == 0, result
    document = json.loads(result.stdout)
    assert {entry["bytes"] for entry in document["entries"]} == {0}
    assert "barrier, 48 ranks, uniform arrivals" in result.stderr


def test_blocks_without_a_byte_are_refused(sibyl: Sibyl) -> None:
    result = sibyl("simulate", "gather", "-n", "48", "--size", "16")
    assert_usage_error(result, "48 blocks have no byte each", "give 48 or more")


def test_what_was_simulated_is_counted(sibyl: Sibyl, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    words = ("--iterations", "3", "--max-delay", "5ms", "--pattern", "flat,uniform")
    sibyl("simulate", "gather", "-n", "4", "--size", "4K", *words, "--json", file)
    entries = json.loads(file.read_text())["entries"]
    assert {(entry["pattern"], entry["iterations"]) for entry in entries} == {
        ("flat", 1),
        ("uniform", 3),
    }
