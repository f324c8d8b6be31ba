#!/usr/bin/env python3
"""Judges `sibyl profile` by programs that nobody has seen: drawn anew, with known late ranks.

  held_out.py --mpi openmpi|mpich|DIR [--language c|fortran|python]... [--ranks P]...
              [--seed S] [--programs K] [--sibyl PATH] [--python PATH]

A program has seven call sites of collectives, in an order, on lines and in functions that the seed
draws, as it does which rank sleeps how long before each call of a site (10 to 60 ms), and which
other one sleeps a third of that. A barrier before each site has all ranks begin it together. Every
rank writes down when it came to each call, by the clock of the machine: where ranks share
processors with others that spin, a sleep ends when its turn comes; and a collective that holds
nobody up (bcast, reduce, gather, scan) leaves whoever slept once behind, and who comes last is then
for the clocks to say.

Of each site it asks what `sibyl profile --json` says: file, line, function and calls as they are in
the source; first the rank that came last most often; of every rank that is named, its share as the
clocks have it, and its lateness within 10 % of theirs (of the others a millisecond where that is
more); and where the collective holds all ranks up, that it is the drawn rank, in 95 % of the calls
or more.
Prints a table and what it comes to; exit 1 where anything differs.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = {
    "allreduce": (
        "MPI_Allreduce(a, b, {n}, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        "call MPI_Allreduce(a, b, {n}, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)",
        "world.Allreduce(a[:{n}], b[:{n}])",
    ),
    "allgather": (
        "MPI_Allgather(a, {n}, MPI_INT, b, {n}, MPI_INT, MPI_COMM_WORLD);",
        "call MPI_Allgather(a, {n}, MPI_INTEGER, b, {n}, MPI_INTEGER, MPI_COMM_WORLD, ierr)",
        "world.Allgather(a[:{n}], b[:{n} * size])",
    ),
    "alltoall": (
        "MPI_Alltoall(a, {n}, MPI_INT, b, {n}, MPI_INT, MPI_COMM_WORLD);",
        "call MPI_Alltoall(a, {n}, MPI_INTEGER, b, {n}, MPI_INTEGER, MPI_COMM_WORLD, ierr)",
        "world.Alltoall(a[:{n} * size], b[:{n} * size])",
    ),
    "reduce_scatter_block": (
        "MPI_Reduce_scatter_block(a, b, {n}, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        "call MPI_Reduce_scatter_block(a, b, {n}, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)",
        "world.Reduce_scatter_block(a[:{n} * size], b[:{n}])",
    ),
    "bcast": (
        "MPI_Bcast(a, {n}, MPI_INT, 0, MPI_COMM_WORLD);",
        "call MPI_Bcast(a, {n}, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)",
        "world.Bcast(a[:{n}], root=0)",
    ),
    "reduce": (
        "MPI_Reduce(a, b, {n}, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);",
        "call MPI_Reduce(a, b, {n}, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)",
        "world.Reduce(a[:{n}], b[:{n}], root=0)",
    ),
    "gather": (
        "MPI_Gather(a, {n}, MPI_INT, b, {n}, MPI_INT, 0, MPI_COMM_WORLD);",
        "call MPI_Gather(a, {n}, MPI_INTEGER, b, {n}, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)",
        "world.Gather(a[:{n}], b[:{n} * size], root=0)",
    ),
    "scan": (
        "MPI_Scan(a, b, {n}, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        "call MPI_Scan(a, b, {n}, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)",
        "world.Scan(a[:{n}], b[:{n}])",
    ),
    "barrier": (
        "MPI_Barrier(MPI_COMM_WORLD);",
        "call MPI_Barrier(MPI_COMM_WORLD, ierr)",
        "world.Barrier()",
    ),
}
HOLD_ALL_UP = ("allreduce", "allgather", "alltoall", "reduce_scatter_block", "barrier")
MOST = 1 << 14  # elements of a buffer
FUNCTIONS = ("relax", "exchange", "norm", "assemble", "advance", "sweep", "project", "couple")


@dataclass
class Site:
    collective: str
    function: str
    late: int
    second: int  # sleeps a third as long
    seconds: float
    calls: int
    elements: int
    line: int = 0

    def call(self, language):
        return CALLS[self.collective][language].format(n=self.elements)


def drawn_sites(draw, ranks):
    sites = []
    for function in draw.sample(FUNCTIONS, 7):
        late, second = draw.sample(range(ranks), 2)
        sites.append(
            Site(
                draw.choice(sorted(CALLS)),
                function,
                late,
                second,
                draw.uniform(0.01, 0.06),
                draw.randint(12, 30),
                draw.randint(1, MOST // ranks),
            )
        )
    return sites


@dataclass(frozen=True)
class Language:
    """A program's parts: `before` and `after` stand around each call of a site."""

    file: str
    comment: str
    begin: str
    function: str
    before: str
    call: str
    after: str
    main: str
    use: str
    end: str


LANGUAGES = {
    "c": Language(
        "app.c",
        "//",
        begin=f"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static int rank, size, a[{MOST}], b[{MOST}];
static FILE* own;
static void come(int site, int late, int second, double seconds) {{
  const double sleep = rank == late ? seconds : rank == second ? seconds / 3 : 0;
  const struct timespec time = {{0, (long)(sleep * 1e9)}};
  if (sleep > 0) nanosleep(&time, NULL);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(own, "%d %lld\\n", site, now.tv_sec * 1000000000LL + now.tv_nsec);
}}""",
        function="static void {function}(void) {{",
        before="""
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < {calls}; ++i) {{
    come({number}, {late}, {second}, {seconds:.6f});""",
        call="    {call}",
        after="  }\n}",
        main="""
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[40];
  snprintf(name, sizeof name, "own.%d", rank);
  own = fopen(name, "w");""",
        use="  {function}();",
        end="  fclose(own);\n  MPI_Finalize();\n  return argc == 0;\n}",
    ),
    "fortran": Language(
        "app.f90",
        "!",
        begin=f"""
module work
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: timespec
    integer(c_long) :: seconds, nanoseconds
  end type
  interface
    integer(c_int) function clock_gettime(clock, now) bind(C)
      import
      integer(c_int), value :: clock
      type(timespec) :: now
    end function
    integer(c_int) function usleep(time) bind(C)
      import
      integer(c_int), value :: time
    end function
  end interface
  integer :: rank, size, ierr, a({MOST}) = 1, b({MOST})
contains
  subroutine come(site, late, second, seconds)
    integer, intent(in) :: site, late, second
    double precision, intent(in) :: seconds
    type(timespec) :: now
    integer(c_int) :: done
    if (rank == late) done = usleep(int(seconds * 1d6))
    if (rank == second) done = usleep(int(seconds * 1d6 / 3))
    done = clock_gettime(1, now)
    write(10, '(i0,1x,i0)') site, now%seconds * 1000000000_8 + now%nanoseconds
  end subroutine""",
        function="  subroutine {function}()\n    integer :: i",
        before="""
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 1, {calls}
      call come({number}, {late}, {second}, {seconds:.6f}d0)""",
        call="      {call}",
        after="    end do\n  end subroutine",
        main="""
end module
program main
  use work
  implicit none
  character(len=40) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  write(name, '(a,i0)') 'own.', rank
  open(10, file=name)""",
        use="  call {function}()",
        end="  close(10)\n  call MPI_Finalize(ierr)\nend program",
    ),
    "python": Language(
        "app.py",
        "#",
        begin=f"""
import time
import numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
a = numpy.ones({MOST}, dtype="i")
b = numpy.zeros({MOST}, dtype="i")
own = []
def come(site, late, second, seconds):
    if rank == late:
        time.sleep(seconds)
    if rank == second:
        time.sleep(seconds / 3)
    own.append((site, time.monotonic_ns()))""",
        function="def {function}():",
        before="""
    world.Barrier()
    for _ in range({calls}):
        come({number}, {late}, {second}, {seconds:.6f})""",
        call="        {call}",
        after="",
        main="",
        use="{function}()",
        end="""
with open(f"own.{rank}", "w") as file:
    file.writelines(f"{site} {at}\\n" for site, at in own)""",
    ),
}


def written(name, draw, sites):
    """The lines of a program, after which the sites know theirs."""
    language = LANGUAGES[name]
    lines = []

    def add(text):
        lines.extend(text.strip("\n").split("\n") if text else [])

    def gap():
        lines.extend([f"{language.comment} ..."] * draw.randint(0, 9))

    add(language.begin)
    for number, site in enumerate(sites):
        gap()
        add(language.function.format(**vars(site)))
        gap()
        add(language.before.format(number=number, **vars(site)))
        add(language.call.format(call=site.call(list(LANGUAGES).index(name))))
        site.line = len(lines)
        add(language.after)
    add(language.main)
    for site in sites:
        add(language.use.format(**vars(site)))
    add(language.end)
    return lines


def launcher_of(mpi):
    """Compilers of this MPI, by language."""
    folder = Path(mpi)
    if folder.is_dir():
        return {"c": str(folder / "bin" / "mpicc"), "fortran": str(folder / "bin" / "mpifort")}
    return {"c": f"mpicc.{mpi}", "fortran": f"mpifort.{mpi}"}


def arrivals(folder, site, ranks):
    """Seconds, of each call a list over the ranks."""
    of_rank = []
    for rank in range(ranks):
        lines = (Path(folder) / f"own.{rank}").read_text().splitlines()
        of_rank.append([int(at) / 1e9 for number, at in map(str.split, lines) if number == site])
    return list(zip(*of_rank, strict=True))


@dataclass
class Known:
    """When a rank came to the calls of a site, as `sibyl profile` defines it."""

    share: float  # of the calls in which it came last
    lateness: float  # over those, or over all where there are none


def known_of(calls, rank):
    late = [t[rank] - statistics.median(t[:rank] + t[rank + 1 :]) for t in calls]
    last = [max(range(len(t)), key=t.__getitem__) == rank for t in calls]
    counted = [one for one, is_last in zip(late, last, strict=True) if is_last] or late
    return Known(sum(last) / len(calls), statistics.median(counted))


def judged(site, known, found, name):
    """What is wrong with what the profile says of a site, and the largest error of a lateness."""
    here = [s for s in found if s["line"] == site.line and s["collective"] == site.collective]
    if len(here) != 1:
        return [f"{len(here)} sites"], 0.0
    (said,) = here
    wrong = []
    if Path(said["file"] or "").name != name or said["calls"] != site.calls:
        wrong.append(f"{said['file']}, {said['calls']} calls")
    if site.function not in said["function"]:
        wrong.append(f"function {said['function']}")
    largest = max(one.share for one in known)
    if not said["late"] or known[said["late"][0]["rank"]].share != largest:
        return [*wrong, f"named {said['late'][:1]}"], 0.0
    error = 0.0
    for late in said["late"]:
        own = known[late["rank"]]
        off = abs(late["median_lateness"] - own.lateness)
        if abs(late["share"] - own.share) > 0.5 / site.calls:
            wrong.append(f"share {late['share']:.2f} of rank {late['rank']}")
        slack = 0.0 if own.share == largest else 0.001
        if off > max(0.1 * abs(own.lateness), slack):
            wrong.append(f"lateness {late['median_lateness']:.6f} of rank {late['rank']}")
        if own.share == largest:
            error = max(error, off / own.lateness)
    first = said["late"][0]
    if site.collective in HOLD_ALL_UP and (first["rank"] != site.late or first["share"] < 0.95):
        wrong.append(f"not as drawn: {first['rank']} in {first['share']:.2f}")
    return wrong, error


def one_program(language, ranks, seed):
    draw = random.Random(f"{language} {ranks} {seed}")
    sites = drawn_sites(draw, ranks)
    lines = written(language, draw, sites)
    name = LANGUAGES[language].file
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text("\n".join(lines) + "\n")
        if language == "python":
            program = [options.python, name]
        else:
            compiler = launcher_of(options.mpi)[language]
            subprocess.run([compiler, "-O2", "-g", name, "-o", "app"], cwd=folder, check=True)
            program = ["./app"]
        command = [options.sibyl, "profile", "-n", str(ranks), "--mpi", options.mpi]
        command += ["--json", "profile.json", "--top", "1", "--", *program]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"held_out: {command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        document = json.loads((Path(folder) / "profile.json").read_text())
        result = Result()
        for i, site in enumerate(sites):
            calls = arrivals(folder, str(i), ranks)
            known = [known_of(calls, rank) for rank in range(ranks)]
            wrong, error = judged(site, known, document["sites"], name)
            last = max(range(ranks), key=lambda rank: known[rank].share)
            print(
                f"{language:8}{ranks:3} {site.collective:21}rank {site.late} slept "
                f"{site.seconds * 1e3:6.3f} ms; last was {last} in {known[last].share:.2f}, by "
                f"{known[last].lateness * 1e3:7.3f} ms: {'; '.join(wrong) or 'right'}",
                flush=True,
            )
            result.add(site, known, wrong, error)
    return result


@dataclass
class Result:
    """Of sites."""

    sites: int = 0
    right: int = 0
    hold_up: int = 0  # all ranks
    least_share: float = 1.0  # of the drawn ranks of those, by the clocks
    error: float = 0.0

    def add(self, site, known, wrong, error):
        self.sites += 1
        self.right += not wrong
        self.error = max(self.error, error)
        if site.collective in HOLD_ALL_UP:
            self.hold_up += 1
            self.least_share = min(self.least_share, known[site.late].share)

    def join(self, other):
        self.sites += other.sites
        self.right += other.right
        self.hold_up += other.hold_up
        self.least_share = min(self.least_share, other.least_share)
        self.error = max(self.error, other.error)


def main():
    result = Result()
    for k in range(options.programs):
        for language in options.language or sorted(LANGUAGES):
            for ranks in options.ranks or [2, 4]:
                result.join(one_program(language, ranks, options.seed + k))
    print(
        f"{result.right} of {result.sites} sites right, lateness off by at most "
        f"{100 * result.error:.1f} %; in {result.hold_up} that hold all ranks up the drawn rank "
        f"came last in {result.least_share:.2f} of the calls or more"
    )
    return result.right != result.sites


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--language", action="append", choices=sorted(LANGUAGES))
    parser.add_argument("--ranks", action="append", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=1)
    parser.add_argument("--sibyl", type=Path, default=ROOT / ".venv" / "bin" / "sibyl")
    parser.add_argument(
        "--python", type=Path, help="with the mpi4py of that MPI; .venv/mpi4py-MPI if absent"
    )
    options = parser.parse_args()
    # Programs run in a folder of their own.
    if Path(options.mpi).is_dir():
        options.mpi = str(Path(options.mpi).absolute())
    options.sibyl = options.sibyl.absolute()
    python = options.python or ROOT / ".venv" / f"mpi4py-{options.mpi}" / "bin" / "python"
    options.python = python.absolute()
    sys.exit(main())
