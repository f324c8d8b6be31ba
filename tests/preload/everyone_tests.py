"""Collectives in which every rank gets a result: served like the others, from every language."""

import re
import shutil
import subprocess

from launching import (
    PROGRAMS,
    PreloadTest,
    c_program,
    fortran_program,
    run_apart,
    setting,
    symbols_of,
)

# Each with an algorithm that serves its calls, also where operators do not commute. By default most
# go to the MPI library.
ALGORITHMS = {
    "allreduce": "doubling",
    "bcast": "binomial",
    "reduce_scatter": "pairwise",
    "reduce_scatter_block": "pairwise",
    "allgather": "ring",
    "allgatherv": "circulant",
    "alltoall": "bruck",
    "alltoallv": "shifted",
    "barrier": "dissemination",
}
SERVED = {f"SIBYL_{name.upper()}": value for name, value in ALGORITHMS.items()}
# The same where ranks lie on two nodes in turn, which share memory.
BY_NODES = (
    *("allreduce", "bcast", "allgather", "allgatherv", "barrier", "alltoall"),
    *("reduce_scatter", "reduce_scatter_block"),
)
TWO_LEVELS = {
    **SERVED,
    **{f"SIBYL_{name.upper()}": "two-level" for name in (*BY_NODES, "reduce", "gather", "scatter")},
    "SIBYL_TEST_PLACEMENT": "0,1",
    "SIBYL_NODE_WINDOW": "1048576",
    "SIBYL_SERVE_FROM": "1",
}


class EveryonesResults(PreloadTest):
    def compare_served(self, program, ranks=None):
        self.compare(program, expected=set(ALGORITHMS), ranks=ranks, **SERVED)

    def test_c(self):
        alone = () if setting.component else (1,)  # which the component leaves to the library
        for ranks in (*alone, setting.ranks, 5):
            with self.subTest(ranks=ranks):
                self.compare_served([c_program(PROGRAMS / "to_everyone.c")], ranks)

    def test_mpifh(self):
        self.compare_served([fortran_program("to_everyone.f")])

    def test_mpifh_of_compilers_that_mangle_names_otherwise(self):
        for flag, symbol in (
            ("-fsecond-underscore", "mpi_reduce_scatter_block__"),
            ("-fno-underscoring", "mpi_reduce_scatter_block"),
        ):
            with self.subTest(symbol=symbol):
                program = fortran_program("to_everyone.f", flag)
                self.assertIn(symbol, symbols_of(program))
                self.compare_served([program], ranks=3)

    def test_mpifh_in_capitals(self):
        """No usual compiler makes such names, so they are put into a compiled program."""
        if shutil.which("objcopy") is None or setting.mpifort is None:
            self.skipTest("no objcopy, or no --mpifort")
        compiled, capitals, program = (setting.work / f"capitals{end}" for end in ("1.o", ".o", ""))
        flags = ["-w", "-fallow-argument-mismatch", "-fno-underscoring"]
        self.do([setting.mpifort, *flags, "-c", PROGRAMS / "to_everyone.f", "-o", compiled])
        names = self.do(["nm", "-u", compiled]).stdout.split()
        changes = [f"--redefine-sym={name}={name.upper()}" for name in names if name[:4] == "mpi_"]
        self.do(["objcopy", *changes, compiled, capitals])
        self.do([setting.mpifort, capitals, "-o", program])
        self.assertIn("MPI_REDUCE_SCATTER_BLOCK", symbols_of(program))
        self.compare_served([program], ranks=3)

    def do(self, command):
        return self.succeed(subprocess.run(command, capture_output=True, text=True))

    def test_use_mpi(self):
        program = [fortran_program("to_everyone_mpi.f90")]
        native = self.succeed(run_apart(program, ranks=2)).stdout
        line = re.compile(r"world allgather from bottom +(\d+) rank +\d+ +(-?\d+)")
        found = [match.groups() for match in map(line.match, native.splitlines()) if match]
        rounds = {number for number, _ in found}
        self.assertEqual(len(found), 2 * len(rounds))
        if len(set(found)) != len(rounds):  # Intel MPI over libfabric
            self.skipTest("without Sibyl two ranks have unlike results of one allgather")
        self.compare_served(program)

    def test_use_mpi_f08(self):
        self.compare_served([fortran_program("to_everyone_f08.f90")])

    def test_mpi4py(self):
        if setting.python is None:
            self.skipTest("no --python with mpi4py")
        self.compare_served([setting.python, PROGRAMS / "to_everyone_mpi4py.py"])
