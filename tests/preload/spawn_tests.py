"""Who is under the preload: processes that programs start, and worlds of which only some are."""

import tempfile
from pathlib import Path

from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    compile_program,
    read_reports,
    run,
    served,
    setting,
    shim,
    under_sibyl,
)

RESULT = "own 400, merged 880"


class Spawn(PreloadTest):
    of_the_preload = True

    def setUp(self):
        plain = run([c_program(PROGRAMS / "spawn.c")], ranks=2)
        if plain.returncode != 0:
            self.skipTest("this MPI starts no processes here")
        self.assertIn(RESULT, plain.stdout)

    def variables(self):
        self.reports = Path(tempfile.mkdtemp(dir=setting.work))
        return {
            "LD_PRELOAD": str(shim()),
            "SIBYL_REDUCE": "binomial",
            "SIBYL_REPORT": str(self.reports),
            "SIBYL_FIRST_SEGMENT": "77",
        }

    def check(self, done, text=RESULT):
        self.succeed(done)
        self.assertIn(text, done.stdout)
        self.assertNotIn("the info has changed", done.stdout)
        self.assertEqual(done.stderr.count("child with 77"), 2 if text else 0, done.stderr)
        reports = read_reports(self.reports)
        self.assertEqual(sorted(report["rank"] for report in reports), [0, 0, 1, 1])
        self.assertEqual(served(reports), {0: {"reduce"}, 1: {"reduce"}})

    def test_set_for_the_launcher(self):
        for how in ("one", "multiple"):
            self.check(run([c_program(PROGRAMS / "spawn.c"), how], ranks=2, **self.variables()))

    def test_given_by_the_launcher(self):
        # Open MPI's -x belongs to the parents alone from version 5 on, MPICH's -genv to all.
        words = []
        for name, value in self.variables().items():
            words += (
                ["-x", f"{name}={value}"] if setting.mpi == "openmpi" else ["-genv", name, value]
            )
        for how in ("one", "multiple"):
            program = [c_program(PROGRAMS / "spawn.c"), how]
            self.check(run([setting.mpiexec, *words, "-n", "2", *program]))
            for file in self.reports.iterdir():
                file.unlink()

    def between(self):
        return ["env", *(f"{name}={value}" for name, value in self.variables().items())]

    def test_set_between_the_launcher_and_the_program(self):
        if setting.mpi != "openmpi":
            self.skipTest("MPICH's launcher alone says what the children's environment is")
        for how in ("one", "multiple"):
            self.check(run([*self.between(), c_program(PROGRAMS / "spawn.c"), how], ranks=2))

    def test_from_fortran(self):
        if setting.mpi != "openmpi" or setting.mpifort is None:
            self.skipTest("Open MPI's Fortran bindings, and no --mpifort")
        program = compile_program(setting.mpifort, PROGRAMS / "spawn.f90")
        self.check(run([*self.between(), program], ranks=2), text="")

    def test_children_that_are_left_without_it_end_rightly_too(self):
        done = self.succeed(
            run([*self.between(), c_program(PROGRAMS / "spawn.c"), "bare"], ranks=2)
        )
        self.assertIn(RESULT, done.stdout)
        self.assertEqual(sorted(r["rank"] for r in read_reports(self.reports)), [0, 1])


class PartOfTheWorld(PreloadTest):
    """Ranks know before any message who has the preload, or the component."""

    def run_with(self, *parts):
        program = c_program(PROGRAMS / "twenty.c")
        self.reports = Path(tempfile.mkdtemp(dir=setting.work))
        variables = [
            *(f"{name}={value}" for name, value in under_sibyl().items()),
            f"SIBYL_REPORT={self.reports}",
            "SIBYL_REDUCE=binomial",
        ]
        command = [setting.mpiexec]
        for ranks, preloaded in parts:
            command += [":"] if len(command) > 1 else []
            command += ["-n", str(ranks), *(["env", *variables] if preloaded else []), program]
        done = self.succeed(run(command))
        self.assertIn("sum ", done.stdout)
        return served(read_reports(self.reports))

    def test_a_world_of_which_some_are_is_left_to_the_library(self):
        for parts in ([(2, True), (2, False)], [(1, False), (2, True)]):
            self.assertEqual(set().union(*self.run_with(*parts).values()), set(), parts)

    def test_two_programs_of_one_world_are_served(self):
        self.assertEqual(
            self.run_with((1, True), (2, True)), {r: {"reduce", "gather"} for r in range(3)}
        )
