"""`sibyl run` starts unmodified programs under every MPI here, and stays out of their way."""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import MPIS, Mpi, Sibyl, assert_usage_error
from forked_command import COMMAND


def test_a_report_on_stdout_is_all_that_is_there(sibyl: Sibyl, mpi: Mpi) -> None:
    words = ("--", "/bin/sh", "-c", "echo said")
    result = sibyl("run", "-n", 1, "--mpi", mpi.option, "--report", "-", *words)
    assert json.loads(result.stdout)["exit_code"] == 0
    assert "said" in result.stderr.splitlines()
    refused = sibyl("run", "-n", 1, "--mpi", mpi.option, "--report", "-", "--record", "-", *words)
    assert_usage_error(refused, "--report and --record: only one can be written to '-'")


def test_a_program_is_served_by_the_chosen_algorithm(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    words = ["run", "-n", 3, "--mpi", mpi.option, "--set", "exscan=two-op-doubling"]
    result = sibyl(*words, "--report", "report.json", "--", job)
    assert result.returncode == 0, result
    report = json.loads((sibyl.directory / "report.json").read_text())
    assert report["world_size"] == 3
    assert report["ranks_reported"] == 3
    assert report["missing_ranks"] == []
    assert report["exit_code"] == 0
    entries = {e["algorithm"]: e for e in report["entries"] if e["collective"] == "exscan"}
    assert "two-op-doubling" in entries
    served = entries["two-op-doubling"]
    assert served["communicator_size"] == 3
    assert served["ranks"] == 3
    assert served["bytes"] == served["calls"] * 3 * 8
    assert 0 < served["seconds_mean"] <= served["seconds_max"]
    assert sum(entry["calls"] for entry in entries.values()) == 20
    assert "two-op-doubling" in result.stderr
    assert result.stdout == ""


TO_ALL = {
    "allreduce": "ring",
    "bcast": "chain",
    "reduce_scatter": "pairwise",
    "reduce_scatter_block": "circulant",
    "allgather": "ring",
    "allgatherv": "spread",
    "alltoall": "bruck",
    "alltoallv": "shifted",
    "barrier": "dissemination",
}


def test_collectives_that_go_to_all_ranks_are_served_by_name(
    sibyl: Sibyl, mpi: Mpi, to_all: Path
) -> None:
    words = ["run", "-n", 3, "--mpi", mpi.option, "--report", "report.json"]
    for collective, algorithm in TO_ALL.items():
        words += ["--set", f"{collective}={algorithm}"]
    result = sibyl(*words, "--", to_all)
    assert result.returncode == 0, result
    entries = json.loads((sibyl.directory / "report.json").read_text())["entries"]
    calls = {(e["collective"], e["algorithm"]): e["calls"] for e in entries}
    assert calls == dict.fromkeys(TO_ALL.items(), 6)


def test_the_report_says_why_calls_are_left_to_the_library(
    sibyl: Sibyl, mpi: Mpi, to_all: Path
) -> None:
    words = ["run", "-n", 2, "--mpi", mpi.option, "--report", "report.json"]
    result = sibyl(*words, "--set", "bcast=native", "--", to_all)
    assert result.returncode == 0, result
    entries = json.loads((sibyl.directory / "report.json").read_text())["entries"]
    (bcasts,) = [e for e in entries if e["collective"] == "bcast"]
    assert (bcasts["algorithm"], bcasts["reasons"]) == ("native", {"choice": 6})
    assert "choice 6" in result.stderr
    assert "left to the MPI library by choice" in result.stderr


def test_the_mpi_is_told_from_the_program_s_linkage(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    result = sibyl("run", "-n", 2, "--report", "report.json", "--", job)
    assert result.returncode == 0, result
    report = json.loads((sibyl.directory / "report.json").read_text())
    assert report["world_size"] == 2
    assert mpi.launcher.version in report["mpi"]


def test_reproducible_has_sibyl_serve_from_the_first_call(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    words = ["run", "-n", 3, "--mpi", mpi.option, "--reproducible", "--report", "report.json"]
    result = sibyl(*words, "--", job)
    assert result.returncode == 0, result
    report = json.loads((sibyl.directory / "report.json").read_text())
    entries = [entry for entry in report["entries"] if entry["collective"] == "exscan"]
    assert sum(entry["calls"] for entry in entries) == 20
    assert "native" not in {entry["algorithm"] for entry in entries}


def test_native_leaves_the_calls_to_the_mpi_library(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    words = ["run", "-n", 2, "--mpi", mpi.option, "--set", "exscan=native"]
    result = sibyl(*words, "--report", "report.json", "--quiet", "--", job)
    assert result.returncode == 0, result
    report = json.loads((sibyl.directory / "report.json").read_text())
    assert {entry["algorithm"] for entry in report["entries"]} <= {"native"}
    assert "sibyl" not in result.stderr.lower()


def test_arguments_reach_the_program_as_they_are(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    words = ["two words", "--quiet", "-n", "*", ""]
    options = ["--mpi", mpi.option, "-n", 2, "--quiet"]
    result = sibyl("run", *options, "--", job, "arguments", *words)
    assert result.stdout == "".join(f"[{word}]" for word in words) + "\n", result
    result = sibyl("run", *options, job, "arguments", "--quiet")
    assert result.stdout == "[--quiet]\n", result


def test_the_exit_code_is_the_program_s(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    for code in (1, 2, 77):
        result = sibyl("run", "-n", 2, "--mpi", mpi.option, "--quiet", "--", job, "exit", code)
        assert result.returncode == code, result


def test_an_abort_is_told_with_the_ranks_that_are_missing(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    result = sibyl("run", "-n", 2, "--mpi", mpi.option, "--", job, "abort", 3)
    assert result.returncode == 3, result
    assert "no rank has reported" in result.stderr


def test_standard_input_reaches_rank_0(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    text = "one line\nand another\n" * 100
    words = ["run", "-n", 2, "--mpi", mpi.option, "--quiet", "--", job, "cat", len(text)]
    result = sibyl(*words, input=text)
    assert result.returncode == 0, result
    assert result.stdout == text


def test_settings_and_an_existing_preload_reach_every_rank(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    libm = "libm.so.6"
    environment = {**os.environ, "SIBYL_SCAN": "native", "LD_PRELOAD": libm}
    words = ["run", "-n", 2, "--mpi", mpi.option, "--quiet", "--set", "gather=binomial", "--", job]

    def values(name: str) -> set[str]:
        result = sibyl(*words, "environment", name, env=environment)
        return {line.split(" ", 1)[1] for line in result.stdout.splitlines()}

    assert values("SIBYL_GATHER") == {"binomial"}
    assert values("SIBYL_SCAN") == {"native"}
    (preload,) = values("LD_PRELOAD")
    shim, before = preload.split(":")
    assert Path(shim).name == "libsibyl-preload.so"
    assert before == libm


def test_a_shell_script_between_launcher_and_program_is_untouched(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    script = sibyl.directory / "script.sh"
    script.write_text(f'#!/bin/bash\nexport LANG=C\n"{job}" ok && echo $(echo done)\n')
    script.chmod(0o755)
    words = ["run", "-n", 2, "--mpi", mpi.option, "--report", "report.json", "--", "./script.sh"]
    result = sibyl(*words)
    assert result.returncode == 0, result
    assert result.stdout == "done\ndone\n"
    report = json.loads((sibyl.directory / "report.json").read_text())
    assert any(entry["algorithm"] != "native" for entry in report["entries"])


def test_more_ranks_than_cores_are_started(sibyl: Sibyl, mpi: Mpi, job: Path) -> None:
    ranks = (os.cpu_count() or 1) + 2
    if ranks > 34:
        ranks = 34
    result = sibyl("run", "-n", ranks, "--mpi", mpi.option, "--report", "r.json", "--", job)
    assert result.returncode == 0, result
    assert json.loads((sibyl.directory / "r.json").read_text())["ranks_reported"] == ranks


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_job_and_leaves_no_process(
    tmp_path: Path, mpi: Mpi, job: Path, number: signal.Signals
) -> None:
    command = [*COMMAND, "run", "-n", "2", "--mpi", mpi.option, "--", str(job), "sleep"]
    started = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        ranks = [int(started.stdout.readline()) for _ in range(2)]
        assert all(_alive(pid) for pid in ranks)
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        launcher = int(children[0])
        started.send_signal(number)
        started.communicate(timeout=30)
        assert started.returncode != 0
        deadline = time.monotonic() + 5
        while any(map(_alive, [*ranks, launcher])) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(_alive, [*ranks, launcher]))
    finally:
        started.kill()
        started.communicate()


def test_ctrl_c_in_a_terminal_ends_the_job_and_gives_the_terminal_back(
    tmp_path: Path, mpi: Mpi, job: Path
) -> None:
    command = [*COMMAND, "run", "-n", "2", "--mpi", mpi.option, "--quiet", "--", str(job), "sleep"]
    words = shlex.join(command)
    # The shell must own the terminal again afterwards, or `read` would stop it for ever.
    shell = ["/bin/bash", "-c", f"trap : INT; {words}; read answer; echo code=$? got=$answer"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(shell[0], shell)
    output = b""
    ranks: list[int] = []
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and b"got=" not in output:
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    output += os.read(terminal, 4096)
                except OSError:  # the shell has ended
                    break
            numbers = re.findall(rb"^(\d+)\r?$", output, re.MULTILINE)
            if len(numbers) == 2 and not ranks:
                ranks = [int(number) for number in numbers]
                os.write(terminal, b"\x03")
            elif ranks and not any(map(_alive, ranks)):
                os.write(terminal, b"back\n")
                time.sleep(0.5)
        assert ranks, output
        assert b"code=0 got=back" in output, output
        assert not any(map(_alive, ranks))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_a_job_in_the_background_leaves_the_shell_its_terminal(tmp_path: Path) -> None:
    """Ctrl-Z, `bg`, and the shell answers; `fg`, and the job reads what is typed."""
    go = tmp_path / "go"
    launcher = (
        "import os, time; print('the' + 're', flush=True)\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.05)\n"
        "print('got=' + input(), flush=True)"
    )
    script = tmp_path / "job.py"
    script.write_text(
        "import os, sys; from sibyl.processes.job import run_job\n"
        f"print('code=' + str(run_job([sys.executable, '-c', {launcher!r}], os.environ)))\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv("/bin/bash", ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"])
    output = b""

    def answer_to(typed: bytes, wanted: bytes) -> None:
        nonlocal output
        output = b""
        os.write(terminal, typed)
        deadline = time.monotonic() + 20
        while wanted not in output and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.2)[0]:
                output += os.read(terminal, 4096)
        assert wanted in output, (typed, output)

    try:
        answer_to(shlex.join([sys.executable, str(script)]).encode() + b"\n", b"there")
        answer_to(b"\x1a", b"Stopped")
        answer_to(b"bg\n", b"&")
        time.sleep(0.5)  # it has heard of that
        answer_to(b"echo still-$((6*7))\n", b"still-42")
        answer_to(b"fg\n", b"job.py")
        time.sleep(0.5)
        go.touch()
        answer_to(b"word\n", b"got=word")
        answer_to(b"echo back-$((6*7))\n", b"back-42")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)


def test_signals_of_the_program_s_own_go_to_the_launcher() -> None:
    """As often as they come, and the job goes on."""
    launcher = (
        "import os, signal; own = {signal.SIGUSR1, signal.SIGUSR2}; "
        "signal.pthread_sigmask(signal.SIG_BLOCK, own); "
        "got = [os.kill(os.getppid(), n) or signal.sigwait(own) for n in sorted(own) * 3]; "
        "print(*map(int, got), flush=True)"
    )
    code = (
        "import os, sys; from sibyl.processes.job import run_job; "
        f"print(run_job([sys.executable, '-c', {launcher!r}], os.environ))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    numbers = f"{int(signal.SIGUSR1)} {int(signal.SIGUSR2)}"
    assert done.stdout.splitlines() == [" ".join([numbers] * 3), "0"], done.stderr


def test_nothing_is_sent_to_a_launcher_that_nobody_stopped() -> None:
    """Open MPI's says so where a signal comes; one that stops for the terminal gets it."""
    pending = "print(signal.SIGCONT in signal.sigpending(), flush=True)"
    early = "import os, signal, time; time.sleep(0.5); " + pending
    code = (
        "import os, signal, sys; from sibyl.processes.job import run_job; "
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCONT}); "
        f"print(run_job([sys.executable, '-c', {early!r}], os.environ))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["False", "0"], done.stderr


def test_a_launcher_that_reads_before_it_has_the_terminal_goes_on(tmp_path: Path) -> None:
    launcher = "print('got=' + input(), flush=True)"
    script = tmp_path / "job.py"
    script.write_text(
        "import os, sys, time; from sibyl.processes import job\n"
        "give = job._Terminal.give\n"
        "def late(self, group):\n"
        "    time.sleep(1); give(self, group)\n"
        "job._Terminal.give = late\n"
        f"print('code=' + str(job.run_job([sys.executable, '-c', {launcher!r}], os.environ)))\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, str(script)])
    output = b""
    try:
        os.write(terminal, b"word\n")
        deadline = time.monotonic() + 20
        while b"code=" not in output and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.2)[0]:
                output += os.read(terminal, 4096)
        assert b"got=word" in output, output
        assert b"code=0" in output, output
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def in_scratch(directory: Path, body: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """A process that runs `body` in a scratch directory in `directory`, with a file in it."""
    code = (
        f"import os, shutil, signal; from sibyl.mpi.run import scratch_directory\n{before}\n"
        "with scratch_directory(shared=False) as scratch:\n"
        "    (scratch / 'a.trace').write_text('much')\n"
        f"    {body}\n"
        "print('gone on')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(directory)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_after_the_job_leaves_no_file_of_the_run(
    tmp_path: Path, number: signal.Signals
) -> None:
    send = f"signal.raise_signal({int(number)})"
    heed = "signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    done = in_scratch(tmp_path, send, heed)
    assert (done.returncode, done.stdout) == (128 + number, ""), done
    assert list(tmp_path.iterdir()) == []
    while_removing = (
        "remove = shutil.rmtree\n"
        f"shutil.rmtree = lambda *words, **more: {send} or remove(*words, **more)"
    )
    done = in_scratch(tmp_path, "pass", f"signal.signal(1, signal.SIG_DFL)\n{while_removing}")
    assert (done.returncode, done.stdout) == (128 + number, ""), done
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_is_ignored_ends_no_run(tmp_path: Path) -> None:
    ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    done = in_scratch(tmp_path, "signal.raise_signal(signal.SIGHUP)", ignored)
    assert (done.returncode, done.stdout) == (0, "gone on\n"), done


def test_streams_that_a_launcher_leaves_non_blocking_block_again() -> None:
    text = "import os; os.set_blocking(0, False)"
    code = (
        "import os, sys; from sibyl.processes.job import run_job; "
        f"status = run_job([sys.executable, '-c', {text!r}], os.environ); "
        "print(status, os.get_blocking(0))"
    )
    read, write = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=read, capture_output=True, text=True, check=False
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.stdout == "0 True\n", done


def test_a_python_program_uses_the_mpi_of_its_mpi4py(
    sibyl: Sibyl, python: Path, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "from mpi4py import MPI\n"
        "w = MPI.COMM_WORLD\n"
        "for _ in range(10):\n"
        "    below = w.exscan(1)\n"
        "assert w.rank == 0 or below == w.rank\n"
        "print(f'{w.size}\\n', end='', flush=True)\n"  # in one piece with the line's end
    )
    result = sibyl("run", "-n", 2, "--quiet", "--", python, script)
    assert result.returncode == 0, result
    assert result.stdout == "2\n2\n"


def test_the_launcher_of_the_other_mpi_is_no_choice_for_a_directory_without_one(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    (sibyl.directory / "bin").mkdir()
    assert_usage_error(sibyl("run", "--mpi", sibyl.directory, "--", job), "no mpiexec")


def test_doctor_sees_a_served_call_on_every_mpi(sibyl: Sibyl, mpi: Mpi) -> None:
    environment = {**os.environ, "PATH": f"{mpi.launcher.path.parent}:/usr/bin:/bin"}
    result = sibyl("doctor", env=environment)
    part = result.stdout.partition(str(mpi.launcher))[2]
    assert part, result
    lines = part.splitlines()
    served = next((line for line in lines if "served" in line), "")
    assert "MPI_Exscan calls on 2 ranks" in served, result
    assert "MPI_THREAD_" in part


def test_doctor_says_how_to_mend_a_machine_without_mpi(sibyl: Sibyl) -> None:
    result = sibyl("doctor", env={**os.environ, "PATH": str(sibyl.directory)})
    assert result.returncode == 1
    assert "PROBLEM" in result.stdout
    assert "install" in result.stdout
    result = sibyl("doctor", "--json", "-", env={**os.environ, "PATH": str(sibyl.directory)})
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert document["healthy"] is False
    problems = {name: why for part in document["parts"] for name, why in part["problems"].items()}
    assert "no mpiexec in PATH" in problems["launcher"]
    assert "1 problem found" in result.stderr


def test_a_program_under_another_mpi_is_warned_of_ranks_that_are_alone(
    sibyl: Sibyl, mpi: Mpi, job: Path
) -> None:
    others = [other for other in MPIS if other.launcher.flavour != mpi.launcher.flavour]
    if not others:
        pytest.skip("one MPI alone")
    result = sibyl("run", "-n", 2, "--mpi", others[0].option, "--quiet", "--", job)
    assert "each rank may find itself alone" in result.stderr
    assert f"--mpi {mpi.launcher.flavour}" in result.stderr
    result = sibyl("run", "-n", 2, "--mpi", mpi.option, "--quiet", "--", job)
    assert "alone" not in result.stderr


def test_a_recording_without_calls_is_told(sibyl: Sibyl) -> None:
    result = sibyl("run", "-n", 1, "--record", "empty.json", "--quiet", "--", "true")
    assert result.returncode == 0, result
    assert "empty.json: an empty recording" in result.stderr
    assert_usage_error(sibyl("predict", "empty.json"), "empty recording")


@pytest.mark.parametrize(
    ("words", "variable"),
    [
        ("run", "SIBYL_REPORT"),
        ("run --quiet --hang-after 60", "SIBYL_PROFILE"),
        ("profile", "SIBYL_PROFILE"),
    ],
)
def test_what_ranks_leave_lies_where_other_hosts_see_it_if_hosts_are_named(
    sibyl: Sibyl, mpi: Mpi, words: str, variable: str
) -> None:
    named = ("--launcher-args", "-host localhost")
    for more, here in ((named, True), ((), False)):
        command = [*words.split(), "-n", 1, "--mpi", mpi.option, *more]
        result = sibyl(*command, "--", "/bin/sh", "-c", f"echo ${variable}")
        assert result.returncode == 0, result
        assert (Path(result.stdout.strip()).parent == sibyl.directory) == here, result
