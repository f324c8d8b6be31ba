#!/usr/bin/env python3
"""Judges `sibyl profile` by programs that nobody has seen: drawn anew, with known late ranks.

  held_out.py --mpi openmpi|mpich|DIR [--flavour openmpi|mpich] [--language c|fortran|python]...
              [--ranks P]... [--seed S] [--programs K] [--sibyl PATH] [--python PATH]

A program has seven call sites of collectives, in an order, on lines and in functions that the seed
draws, as it does which rank sleeps how long before each call of a site (4 to 60 ms), and which other
one sleeps a third of that. Every rank writes down when it came to each call, by the clock of the
machine, so that what is known is when the ranks did come: where they share processors with ranks
that spin, a sleep ends when its turn comes; and a collective that holds nobody up (bcast, reduce,
gather, scan) leaves whoever slept once behind for good.

Of each site it asks what `sibyl profile --json` says: file, line, function and calls as they are in
the source, first the rank that came last most often, its share as the clocks have it, its lateness
within 10 % of theirs. Prints a table; exit 1 where anything differs.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

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
                draw.uniform(0.004, 0.06),
                draw.randint(12, 30),
                draw.randint(1, MOST // ranks),
            )
        )
    return sites


class Source:
    """Lines of a program, and where its sites are."""

    def __init__(self, draw, comment):
        self.lines = []
        self.draw = draw
        self.comment = comment

    def add(self, text):
        self.lines += text.strip("\n").split("\n")

    def gap(self):
        self.lines += [f"{self.comment} ..."] * self.draw.randint(0, 9)

    def add_site(self, site, text):
        self.lines.append(text)
        site.line = len(self.lines)

    def write(self, path):
        path.write_text("\n".join(self.lines) + "\n")


def c_source(draw, sites):
    source = Source(draw, "//")
    source.add(f"""
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
}}""")
    for i, site in enumerate(sites):
        source.gap()
        source.add(f"static void {site.function}(void) {{")
        source.gap()
        source.add(f"  for (int i = 0; i < {site.calls}; ++i) {{")
        source.add(f"    come({i}, {site.late}, {site.second}, {site.seconds:.6f});")
        source.add_site(site, f"    {site.call(0)}")
        source.add("  }\n}")
    source.add("""
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[40];
  snprintf(name, sizeof name, "own.%d", rank);
  own = fopen(name, "w");""")
    for site in sites:
        source.add(f"  {site.function}();")
    source.add("  fclose(own);\n  MPI_Finalize();\n  return argc == 0;\n}")
    return source


def fortran_source(draw, sites):
    source = Source(draw, "!")
    source.add(f"""
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
  end subroutine""")
    for i, site in enumerate(sites):
        source.gap()
        source.add(f"  subroutine {site.function}()\n    integer :: i")
        source.gap()
        source.add(f"    do i = 1, {site.calls}")
        source.add(f"      call come({i}, {site.late}, {site.second}, {site.seconds:.6f}d0)")
        source.add_site(site, f"      {site.call(1)}")
        source.add("    end do\n  end subroutine")
    source.add("""
end module
program main
  use work
  implicit none
  character(len=40) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  write(name, '(a,i0)') 'own.', rank
  open(10, file=name)""")
    for site in sites:
        source.add(f"  call {site.function}()")
    source.add("  close(10)\n  call MPI_Finalize(ierr)\nend program")
    return source


def python_source(draw, sites):
    source = Source(draw, "#")
    source.add(f"""
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
    own.append((site, time.monotonic_ns()))""")
    for i, site in enumerate(sites):
        source.gap()
        source.add(f"def {site.function}():")
        source.gap()
        source.add(f"    for _ in range({site.calls}):")
        source.add(f"        come({i}, {site.late}, {site.second}, {site.seconds:.6f})")
        source.add_site(site, f"        {site.call(2)}")
    for site in sites:
        source.add(f"{site.function}()")
    source.add("""
with open(f"own.{rank}", "w") as file:
    file.writelines(f"{site} {at}\\n" for site, at in own)""")
    return source


LANGUAGES = {
    "c": (c_source, "app.c"),
    "fortran": (fortran_source, "app.f90"),
    "python": (python_source, "app.py"),
}


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


def known_late(calls):
    """The rank that came last most often, its share, and its lateness as `late by` is defined."""
    last = [max(range(len(times)), key=times.__getitem__) for times in calls]
    rank = statistics.mode(last)
    late = [
        times[rank] - statistics.median(times[:rank] + times[rank + 1 :])
        for times, who in zip(calls, last, strict=True)
        if who == rank
    ]
    return rank, last.count(rank) / len(calls), statistics.median(late)


def judged(site, known, found, name):
    """What the profile says of the rank that was late at a site, and what is wrong with it."""
    here = [s for s in found if s["line"] == site.line and s["collective"] == site.collective]
    if len(here) != 1:
        return None, [f"{len(here)} sites"]
    (said,) = here
    wrong = []
    if Path(said["file"] or "").name != name or said["calls"] != site.calls:
        wrong.append(f"{said['file']}, {said['calls']} calls")
    if site.function not in said["function"]:
        wrong.append(f"function {said['function']}")
    rank, share, lateness = known
    late = next((late for late in said["late"] if late["rank"] == rank), None)
    if late is None or late["share"] < max(other["share"] for other in said["late"]):
        return None, [*wrong, f"named {said['late'][:1]}"]
    if abs(late["share"] - share) > 0.5 / site.calls:
        wrong.append("share")
    if abs(late["median_lateness"] - lateness) > 0.1 * lateness:
        wrong.append("lateness")
    return late, wrong


def one_program(language, ranks, seed):
    draw = random.Random(f"{language} {ranks} {seed}")
    sites = drawn_sites(draw, ranks)
    make, name = LANGUAGES[language]
    source = make(draw, sites)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        source.write(path)
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
        failures = 0
        for i, site in enumerate(sites):
            known = known_late(arrivals(folder, str(i), ranks))
            late, wrong = judged(site, known, document["sites"], name)
            said = f"{late['share']:.2f} {late['median_lateness'] * 1e3:8.3f}" if late else ""
            print(
                f"{language:8}{ranks:3}{seed:6} {site.collective:21}rank {site.late} slept "
                f"{site.seconds * 1e3:6.3f} ms; last was {known[0]}: {known[1]:.2f} "
                f"{known[2] * 1e3:7.3f} ms, said {said:13} {'; '.join(wrong) or 'right'}",
                flush=True,
            )
            failures += bool(wrong)
    return failures, len(sites)


def main():
    failures = sites = 0
    for k in range(options.programs):
        for language in options.language or sorted(LANGUAGES):
            for ranks in options.ranks or [2, 4]:
                wrong, all_sites = one_program(language, ranks, options.seed + k)
                failures += wrong
                sites += all_sites
    print(f"{sites - failures} of {sites} sites right")
    return failures != 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--language", action="append", choices=sorted(LANGUAGES))
    parser.add_argument("--ranks", action="append", type=int)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "big"))
    parser.add_argument("--programs", type=int, default=1)
    parser.add_argument("--sibyl", default="sibyl")
    parser.add_argument("--python", default=sys.executable, help="with the mpi4py of that MPI")
    options = parser.parse_args()
    sys.exit(main())
