"""Return addresses as lines of source, by programs that are compiled here."""

import itertools
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from profile_traces import Writer

from sibyl.profile.places import Place, Places, demangled, short_names
from sibyl.profile.trace import read_trace

C = """#include <stdio.h>
__attribute__((noinline)) int step(int n) {
  n += puts("step");
  return n + 1;
}
static inline __attribute__((always_inline)) int small(int n) {
  return puts("small") + n;
}
int main(void) {
  return small(step(1)) > 0 ? 0 : 1;
}
"""
TAIL_CALLS = """int MPI_Barrier(int), MPI_Bcast(int);
__attribute__((noinline)) int step(int n) {
  n += 2;
  return MPI_Barrier(n);
}
__attribute__((noinline)) int outer(int n) {
  return step(n * 3);
}
__attribute__((noinline)) int either(int n) {
  if (n > 7) return MPI_Barrier(n);
  return MPI_Bcast(n);
}
int main(int n, char **words) {
  int sum = step(n);
  sum += outer(n);
  sum += either(n);
  sum += MPI_Barrier(n);
  return sum;
}
"""
FORTRAN = """module work
contains
subroutine step(n)
  integer :: n
  call away(n)
  n = n + 1
end subroutine
end module
subroutine away(n)
  integer :: n
  call farther(n)
  n = n + 1
end subroutine
subroutine farther(n)
  integer :: n
  n = n + 1
end subroutine
program p
  use work
  integer :: n = 1
  call step(n)
end program
"""


def built(directory: Path, compiler: str, source: str, suffix: str, *options: str | Path) -> Path:
    if shutil.which(compiler) is None or shutil.which("objdump") is None:
        pytest.skip(f"no {compiler}, or no objdump")
    path = directory / f"source{suffix}"
    path.write_text(source)
    program = directory / "program"
    subprocess.run([compiler, *options, path, "-o", program], check=True, cwd=directory)
    return program


def returns_of(program: Path, callee: str) -> list[int]:
    """Where calls of a function return to, relative to where the program is loaded."""
    words = ["objdump", "-d", "--no-show-raw-insn", program]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    found = []
    for line, after in itertools.pairwise(lines):
        if re.search(rf"call.*<{callee}(@plt)?>", line):
            address = int(after.partition(":")[0], 16)
            found.append(address - 0x400000 if address > 0x400000 else address)
    return found


def places_of(program: Path, returns: list[int], directory: Path) -> list[Place]:
    writer = Writer(0, 1)
    for address in returns:
        writer.site(module=str(program), offset=address, function="nearest")
    trace = read_trace(writer.write(directory))
    places = Places()
    return [places.of_site(trace, site) for site in range(len(returns))]


@pytest.mark.parametrize("position", ["-pie", "-no-pie"])
def test_debug_information_tells_the_line_also_of_what_was_inlined(
    tmp_path: Path, position: str
) -> None:
    program = built(tmp_path, "cc", C, ".c", "-g", "-O1", position)
    found = places_of(program, returns_of(program, "puts"), tmp_path)
    assert sorted((Path(p.path).name, p.line, p.function) for p in found) == [
        ("source.c", 3, "step"),
        ("source.c", 7, "small"),
    ]


@pytest.mark.parametrize("option", ["-pie", "-no-pie", "-fno-plt", "-fcf-protection"])
def test_a_call_that_ends_a_function_and_is_a_jump_has_its_own_line(
    tmp_path: Path, option: str
) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("jumps are read on x86-64 alone")
    library = tmp_path / "libstandin.so"
    standins = "int MPI_Barrier(int n) { return n; }\nint MPI_Bcast(int n) { return n; }\n"
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    subprocess.run(words, check=True, input=standins, text=True)
    options = ("-g", "-O2", option, "-Wl,--no-as-needed", library)
    program = built(tmp_path, "cc", TAIL_CALLS, ".c", *options)
    returns = [returns_of(program, name) for name in ("step", "outer", "either", "MPI_Barrier")]
    assert [len(each) for each in returns[:3]] == [1, 1, 1]
    found = places_of(program, list(itertools.chain(*returns)), tmp_path)
    assert [(place.line, place.function) for place in found] == [
        (4, "step"),
        (4, "step"),
        (16, "main"),  # it is one of two jumps, and nobody knows which
        *[(17, "main")] * len(returns[3]),
    ]


def test_a_fortran_procedure_has_the_name_of_its_module(tmp_path: Path) -> None:
    program = built(tmp_path, "gfortran", FORTRAN, ".f90", "-g", "-O0")
    (found,) = places_of(program, returns_of(program, "away_"), tmp_path)
    assert (Path(found.path).name, found.line, found.function) == ("source.f90", 5, "work::step")


def test_a_fortran_procedure_outside_of_modules_has_the_name_that_it_has_in_the_source(
    tmp_path: Path,
) -> None:
    program = built(tmp_path, "gfortran", FORTRAN, ".f90", "-g", "-O0")
    (found,) = places_of(program, returns_of(program, "farther_"), tmp_path)
    assert (Path(found.path).name, found.line, found.function) == ("source.f90", 11, "away")


def test_without_debug_information_module_and_offset_stand_for_the_line(tmp_path: Path) -> None:
    program = built(tmp_path, "cc", C, ".c", "-O1")
    returns = returns_of(program, "puts")
    found = places_of(program, returns, tmp_path)
    assert sorted(place.function for place in found) == ["main", "step"]
    assert short_names(found)[found[0]] == f"program+{returns[0]:#x}"
    assert all(place.line == 0 for place in found)
    subprocess.run(["strip", program], check=True)
    stripped = places_of(program, returns, tmp_path)
    assert [place.function for place in stripped] == ["nearest", "nearest"]


def test_a_module_that_is_gone_or_none_is_named(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.so"
    (found,) = places_of(nothing, [0x40], tmp_path)
    assert (found.path, found.line, found.function) == (str(nothing), 0, "nearest")
    nothing.write_text("no object")
    assert places_of(nothing, [0x40], tmp_path) == [found]


def test_python_sites_say_it_themselves(tmp_path: Path) -> None:
    writer = Writer(0, 1)
    writer.site("/a/model.py", 12, "Model.step")
    trace = read_trace(writer.write(tmp_path))
    assert Places().of_site(trace, 0) == Place("/a/model.py", 12, "Model.step")


def test_names_are_as_in_the_source() -> None:
    assert demangled("_ZN3app4Grid4stepEi") == "app::Grid::step(int)"
    assert demangled("__work_MOD_step") == "work::step"
    assert demangled("MAIN__") == "main program"
    assert demangled("step") == "step"
    assert demangled("_Zwhatever") == "_Zwhatever"
    # Parts and copies that compilers make of a function.
    assert demangled("main.cold") == "main"
    assert demangled("step.constprop.0.isra.0.cold") == "step"
    assert demangled("_ZN3app4Grid4stepEi.part.0") == "app::Grid::step(int)"
    assert demangled("__work_MOD_step.constprop.0") == "work::step"


def test_files_of_one_name_are_told_apart_by_folders() -> None:
    one, two = Place("/p/a/main.c", 3, "f"), Place("/p/b/main.c", 3, "f")
    other = Place("/p/a/grid.c", 9, "g")
    assert list(short_names([one, two, other]).values()) == ["a/main.c", "b/main.c", "grid.c"]
    assert short_names([one, other])[one] == "main.c"
