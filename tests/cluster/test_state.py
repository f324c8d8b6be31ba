"""What is known of clusters: only from a place that nobody else can write to, and only what is
sound, since it goes into commands that root runs."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from sibyl.cluster import lifecycle, network, state
from sibyl.cluster.state import Cluster, Damaged
from sibyl.commands.cluster import down, status
from sibyl.errors import CommandError
from sibyl.processes.identity import Identity


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The directory of the states of a user who may not write to /run; not made yet."""
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != "/run" and access(path, mode))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "sibyl-cluster"


def test_states_are_kept_for_this_user_alone(place: Path) -> None:
    with state.locked("x"):
        assert place.stat().st_mode & 0o777 == 0o700
        assert place.stat().st_uid == os.geteuid()


def test_without_a_run_time_directory_each_user_has_a_directory(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert state.directory().name == f"sibyl-cluster-{os.geteuid()}"


@pytest.mark.parametrize("what", ["open", "link", "file"])
def test_a_directory_that_others_may_have_made_is_refused(place: Path, what: str) -> None:
    if what == "open":
        place.mkdir()
        place.chmod(0o777)
    elif what == "link":
        place.symlink_to(place.parent)
    else:
        place.write_text("")
    for use in (lambda: state.load("x"), state.load_all, lambda: state.take_lock("x")):
        with pytest.raises(CommandError, match="remove it"):
            use()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_directory_of_somebody_else_is_refused(place: Path) -> None:
    place.mkdir(mode=0o700)
    os.chown(place, 65534, 65534)
    with pytest.raises(CommandError, match="somebody else"):
        state.load("x")


GOOD = {"name": "x", "hosts": 2, "rate": 10**8, "subnet": 64, "complete": True}


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "y"},
        {"hosts": 0},
        {"hosts": "2; reboot"},
        {"hosts": True},
        {"rate": "100mbit burst 1"},
        {"rate": 1.5},
        {"subnet": 0},
        {"subnet": "64.0.0.1/8 dev eth0\n"},
        {"complete": 1},
        {"more": 1},
    ],
    ids=str,
)
def test_a_state_with_a_field_that_is_none_is_damaged(
    place: Path, wrong: dict[str, object]
) -> None:
    place.mkdir(mode=0o700)
    (place / "x.json").write_text(json.dumps(GOOD))
    assert state.load("x") == Cluster("x", 2, 10**8, 64)
    (place / "x.json").write_text(json.dumps(GOOD | wrong))
    found = state.load("x")
    assert isinstance(found, Damaged) and "x.json is damaged" in found.problem
    with pytest.raises(CommandError, match=r"x\.json is damaged .*sibyl cluster up --hosts N"):
        state.existing("x")


def test_a_damaged_state_keeps_no_other_cluster_and_can_be_taken_down(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    netns = tmp_path / "netns"
    netns.mkdir()
    for name in ("sibyl-x-0", "sibyl-x-switch", "sibyl-x-y-0", "sibyl-y-0", "x-0"):
        (netns / name).touch()
    monkeypatch.setattr(state, "NETNS", netns)
    monkeypatch.setattr(network, "check_possible", lambda: None)
    monkeypatch.setattr(network, "remove", state.forget)
    place.mkdir(mode=0o700)
    state.save(Cluster("y", 2, 10**8, 64))
    (place / "x.json").write_text('{"name": "x", "ho')
    assert status() == 0
    said = capsys.readouterr().out
    assert "x: damaged; remove it with: sibyl cluster down --name x\n" in said
    assert "y: 2 hosts, 100 Mbit/s" in said
    assert status(as_json=True) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert listed["x"]["namespaces"] == ["sibyl-x-0", "sibyl-x-switch"]
    assert (listed["x"]["condition"], listed["x"]["hosts"]) == ("damaged", None)
    assert down("x") == 0
    assert state.names() == ["y"]


def test_one_cluster_that_stays_does_not_keep_the_others(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(network, "check_possible", lambda: None)
    monkeypatch.setattr(network, "remove", state.forget)
    place.mkdir(mode=0o700)
    for number, name in enumerate(("b", "c")):
        state.save(Cluster(name, 2, 10**8, 64 + number))
    (place / "a.json").write_text("{}")
    with state.locked("b"):
        assert down(all_clusters=True) == 2
    out, errors = capsys.readouterr()
    assert out == "cluster 'a' is down\ncluster 'c' is down\n"
    (used,) = errors.splitlines()
    assert "cluster 'b' is in use" in used
    assert state.names() == ["b"]


def test_the_holder_of_a_lock_is_known_by_when_it_began(place: Path) -> None:
    with state.locked("x"):
        assert state.holder("x") == Identity.of(os.getpid())
    assert state.holder("x") is None


def test_a_process_that_has_got_the_holder_s_number_is_not_ended(place: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        lock = state.take_lock("x")
        assert lock is not None
        it = Identity.of(stranger.pid)
        assert it is not None
        # As if the holder had had this number, and its guardian still held the lock.
        os.truncate(lock.handle, 0)
        os.pwrite(lock.handle, f"{it.pid} {it.began - 1}".encode(), 0)
        lifecycle._end_holder("x")
        assert stranger.poll() is None
        os.truncate(lock.handle, 0)
        os.pwrite(lock.handle, str(it).encode(), 0)
        lifecycle._end_holder("x")
        assert stranger.wait(5) == -signal.SIGKILL
        lock.release()
    finally:
        stranger.kill()
        stranger.wait()


def test_a_path_with_blanks_is_one_word_of_root_s_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "a b; touch c"
    folder.mkdir()
    program = folder / "ip"
    program.write_text("#!/bin/sh\ncat > /dev/null\n")
    program.chmod(0o755)
    asked = []
    monkeypatch.setattr(network, "tool", lambda name: str(folder / name))
    monkeypatch.setattr(network, "_run", lambda words, text: asked.append(words))
    network._ip(["link set lo up"], "sibyl-x-0")
    script = asked[0][-1]
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, input="", text=True, check=False)
    assert done.returncode == 0, script
    assert not (tmp_path / "c").exists()
