"""Clusters come up and go down whole, whatever interrupts the command."""

import os
import platform
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import (
    assert_nothing_left,
    assert_usage_error,
    namespaces_of,
    needs_namespaces,
    sibyl,
    start,
    wait_until,
)
from forked_command import COMMAND

from sibyl.cli import main
from sibyl.cluster import lifecycle, network, state
from sibyl.cluster.state import NETNS
from sibyl.errors import CommandError


def inside(namespace: str, *words: str) -> str:
    command = ["nsenter", f"--net={NETNS / namespace}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_namespaces
def test_up_twice_changes_nothing(name: str) -> None:
    first = sibyl("cluster", "up", "--hosts", 3, "--name", name)
    assert (first.returncode, "is up: 3 hosts, 100 Mbit/s" in first.stdout) == (0, True), first
    before = [(NETNS / each).stat().st_ino for each in namespaces_of(name)]
    assert len(before) == 4
    second = sibyl("cluster", "up", "--hosts", 3, "--name", name)
    assert (second.returncode, "is up already" in second.stdout) == (0, True), second
    assert [(NETNS / each).stat().st_ino for each in namespaces_of(name)] == before


@needs_namespaces
def test_both_directions_of_every_link_get_the_rate_and_another_rate_reshapes(name: str) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    before = (NETNS / f"sibyl-{name}-1").stat().st_ino
    result = sibyl("cluster", "up", "--hosts", 2, "--rate", "20mbit", "--name", name)
    assert "is reshaped (was 100 Mbit/s): 2 hosts, 20 Mbit/s" in result.stdout, result
    assert (NETNS / f"sibyl-{name}-1").stat().st_ino == before
    ends = [inside(f"sibyl-{name}-{host}", "tc", "qdisc", "show", "dev", "eth0") for host in (0, 1)]
    switch = f"sibyl-{name}-switch"
    ends += [inside(switch, "tc", "qdisc", "show", "dev", f"port{host}") for host in (0, 1)]
    assert all("tbf" in end and "rate 20Mbit" in end for end in ends), ends


@needs_namespaces
def test_the_switch_keeps_as_much_as_is_asked_for_and_the_hosts_a_seconds_worth(name: str) -> None:
    plain = sibyl("cluster", "up", "--hosts", 2, "--name", name)
    assert "queues of" not in plain.stdout, plain
    result = sibyl("cluster", "up", "--hosts", 2, "--queue", "64KiB", "--name", name)
    assert "is reshaped" in result.stdout and "queues of 64 KiB" in result.stdout, result
    shown = {
        place: inside(place, "tc", "-d", "qdisc", "show", "dev", device)
        for place, device in ((f"sibyl-{name}-switch", "port1"), (f"sibyl-{name}-1", "eth0"))
    }
    # 64 KiB last 5 ms at 100 Mbit/s; tc says it in time or in bytes.
    assert re.search(r"limit 64Kb|lat 3\.\d+ms|lat 4\.\d+ms", shown[f"sibyl-{name}-switch"]), shown
    assert re.search(r"lat 1s|limit 1[12]\d+Kb", shown[f"sibyl-{name}-1"]), shown
    assert_usage_error(
        sibyl("cluster", "up", "--hosts", 2, "--queue", "1K", "--name", name), "--queue"
    )


def test_what_contradicts_itself_is_refused(name: str, tmp_path: Path) -> None:
    assert_usage_error(sibyl("cluster", "down", "--all", "--name", name), "--all and --name")
    program = tmp_path / "program"
    program.write_text("mine")
    result = sibyl("cluster", "check", "--name", name, "--program", program, "--json", program)
    assert_usage_error(result, "would take the place of what --program names")
    assert program.read_text() == "mine"


@needs_namespaces
def test_another_number_of_hosts_rebuilds(name: str) -> None:
    sibyl("cluster", "up", "--hosts", 3, "--name", name)
    result = sibyl("cluster", "up", "--hosts", 2, "--name", name)
    assert "is rebuilt (was 3 hosts at 100 Mbit/s): 2 hosts" in result.stdout, result
    assert namespaces_of(name) == [f"sibyl-{name}-{each}" for each in ("0", "1", "switch")]


@needs_namespaces
def test_a_damaged_cluster_is_told_and_mended(name: str) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    subprocess.run(["ip", "netns", "delete", f"sibyl-{name}-1"], check=True)
    assert "damaged" in sibyl("cluster", "status").stdout
    assert_usage_error(sibyl("cluster", "run", "--name", name, "--", "true"), "damaged", "up")
    result = sibyl("cluster", "up", "--hosts", 2, "--name", name)
    assert "is rebuilt (was damaged)" in result.stdout, result


@needs_namespaces
def test_nothing_of_the_machine_is_changed(name: str) -> None:
    def machine() -> tuple[str, ...]:
        files = sorted(Path("/proc/sys/net/ipv4/neigh/default").glob("gc_thresh*"))
        files += [Path("/proc/sys/net/ipv4/tcp_congestion_control"), Path("/etc/hosts")]
        links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True)
        return (*(file.read_text() for file in files), links.stdout)

    before = machine()
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    assert machine() == before
    neighbours = inside(f"sibyl-{name}-0", "ip", "neighbour")
    assert neighbours.count("PERMANENT") == 1
    congestion = inside(f"sibyl-{name}-0", "cat", "/proc/sys/net/ipv4/tcp_congestion_control")
    assert congestion == "reno\n"


@needs_namespaces
def test_down_removes_all_and_says_when_there_is_none(name: str) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    sleeper = subprocess.Popen(["nsenter", f"--net={NETNS / f'sibyl-{name}-0'}", "sleep", "60"])
    assert sibyl("cluster", "down", "--name", name).stdout == f"cluster '{name}' is down\n"
    assert sleeper.wait(5) != 0
    assert_nothing_left(name)
    again = sibyl("cluster", "down", "--name", name)
    assert (again.returncode, again.stdout) == (0, f"there is no cluster '{name}'\n")


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("made", [1, 12])
def test_an_interrupted_up_leaves_nothing_half_built(
    name: str, number: signal.Signals, made: int
) -> None:
    process = start("cluster", "up", "--hosts", 60, "--name", name)
    assert wait_until(lambda: len(namespaces_of(name)) >= made)
    os.kill(process.pid, number)
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert_nothing_left(name)


@needs_namespaces
def test_an_interrupted_down_is_finished(name: str) -> None:
    sibyl("cluster", "up", "--hosts", 40, "--name", name)
    process = start("cluster", "down", "--name", name)
    assert wait_until(lambda: len(namespaces_of(name)) < 41)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)
    assert_nothing_left(name)


@needs_namespaces
def test_a_down_killed_at_its_very_end_leaves_no_lock(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sibyl("cluster", "up", "--hosts", 2, "--name", name)
    release = state.Lock.release
    child = os.fork()
    if child == 0:
        this = os.getpid()

        def killed_before(lock: state.Lock) -> None:
            if os.getpid() == this:  # and not its guardian
                os.kill(this, signal.SIGKILL)
            release(lock)

        monkeypatch.setattr(state.Lock, "release", killed_before)
        lifecycle.take_down(name)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert_nothing_left(name)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["up"], "--hosts"),
        (["up", "--hosts", 0], "1 to"),
        (["up", "--hosts", 1000], "1 to"),
        (["up", "--hosts", "x"], "--hosts"),
        (["up", "--hosts", 2, "--rate", "fast"], "--rate 100mbit"),
        (["up", "--hosts", 2, "--rate", "1bit"], "mbit"),
        (["up", "--hosts", 2, "--rate", "0mbit"], "between"),
        (["up", "--hosts", 2, "--name", "../x"], "--name"),
        (["up", "--hosts", 2, "--name", ""], "--name"),
        (["down", "--name", "A B"], "--name"),
        (["run", "--name", "no-such", "--", "true"], "sibyl cluster up"),
        (["run", "-n", 0, "--", "true"], "-n 0"),
        (["run", "--ranks-per-host", 0, "--", "true"], "--ranks-per-host 0"),
        (["run", "--native", "--set", "exscan=auto", "--", "true"], "--native"),
        (["run", "--", "no-such-program"], "no-such-program"),
        (["run"], "PROGRAM"),
        (["check", "--name", "no-such"], "no-such"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
@needs_namespaces
def test_bad_input_ends_in_one_line(
    words: list[object], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["cluster", *map(str, words)])
    assert ended.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert part in lines[0]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, setpriv")
def test_without_rights_one_line_says_which() -> None:
    words = ["setpriv", "--bounding-set", "-net_admin", "--inh-caps", "-net_admin"]
    result = subprocess.run(
        [*words, *COMMAND, "cluster", "up", "--hosts", "2"], capture_output=True, text=True
    )
    assert_usage_error(result, "CAP_NET_ADMIN")


def test_elsewhere_than_on_linux_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(CommandError, match="needs Linux"):
        network.check_possible()


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(network, "_SBIN", ())
    with pytest.raises(CommandError, match="apt install iproute2"):
        network.check_possible()
    for name in ("ip", "tc", "nsenter", "unshare"):
        (tmp_path / name).symlink_to("/bin/true")
    with pytest.raises(CommandError, match="setpriv; install util-linux"):
        network.check_possible()


@pytest.mark.parametrize(
    ("text", "rate"),
    [("100mbit", 10**8), ("1.5Gbit", 1_500_000_000), ("64kbit", 64_000), ("10 Mbit/s", 10**7)],
)
def test_rates_are_read_as_tc_writes_them(text: str, rate: int) -> None:
    assert state.parse_rate(text) == rate


def test_every_host_has_its_own_address_and_the_switch_another() -> None:
    cluster = state.Cluster("x", state.MOST_HOSTS, 10**8, 64)
    addresses = {cluster.address(host) for host in range(cluster.hosts)}
    assert len(addresses | {cluster.switch_address}) == state.MOST_HOSTS + 1
