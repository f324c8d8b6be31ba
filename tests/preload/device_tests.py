"""Buffers in device memory under the preload: a stub of a device runtime whose memory faults when
the host touches it (tests/device), and a tool that makes the MPI library know it."""

import re
import subprocess
import tempfile
from pathlib import Path

from everyone_tests import SERVED
from launching import PROGRAMS, PreloadTest, c_program, read_reports, run, served, setting, shim

STUBS = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6", "level_zero": "libze_loader.so.1"}
TESTS = PROGRAMS.parent.parent
FORCED = {"SIBYL_SERVE_FROM": "1", **SERVED}
# Of rank 0 and the other even ones.
CALLS = 16


def library(output, *sources):
    if not output.exists():
        output.parent.mkdir(exist_ok=True)
        flags = ["-shared", "-fPIC", "-O1", f"-I{TESTS}"]
        subprocess.run([setting.mpicc, *flags, *sources, "-o", output, "-ldl"], check=True)
    return output


def stub(kind):
    return library(setting.work / "stubs" / STUBS[kind], TESTS / "device" / f"{kind}.c")


class DeviceMemory(PreloadTest):
    ranks = 4

    def setUp(self):
        if setting.mpicc is None:
            self.skipTest("no --mpicc")
        self.program = c_program(PROGRAMS / "device.c")
        self.aware = library(setting.work / "device_aware.so", PROGRAMS / "device_aware.c")

    def native_calls(self, kind, when, **settings):
        """How many calls of each rank with such buffers the library has got."""
        reports = Path(tempfile.mkdtemp(dir=setting.work))
        done = run(
            [self.program, stub(kind), when],
            ranks=self.ranks,
            LD_PRELOAD=f"{shim()} {self.aware}",
            STUB=str(stub(kind)),
            SIBYL_REPORT=str(reports),
            **settings,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = 4 * self.ranks * (3 + self.ranks)
        self.assertIn(f"{expected} right, 0 wrong", done.stdout)
        found = re.findall(r"native with device memory: (\d+)", done.stderr)
        self.assertEqual(len(found), self.ranks)
        self.served = served(read_reports(reports))
        return sum(map(int, found))

    def test_goes_by_way_of_host_memory_where_sibyl_serves(self):
        for kind in STUBS:
            for when in ("before", "after"):
                with self.subTest(kind=kind, when=when):
                    self.assertEqual(self.native_calls(kind, when, **FORCED), 0)
                    self.assertTrue(self.served.get(0))

    def test_goes_to_the_library_as_it_is_where_that_is_chosen(self):
        native = CALLS * self.ranks // 2
        for settings in ({"SIBYL_DEVICE": "native", **FORCED}, {"SIBYL_SERVE_FROM": "0"}):
            with self.subTest(**settings):
                self.assertEqual(self.native_calls("cuda", "before", **settings), native)

    def test_is_the_hosts_where_nobody_is_to_ask(self):
        """The host's access ends the program, as this device's memory has it."""
        done = run(
            [self.program, stub("cuda"), "before"],
            ranks=self.ranks,
            LD_PRELOAD=str(shim()),
            SIBYL_DEVICE="off",
            **FORCED,
        )
        self.assertNotEqual(done.returncode, 0)
        # Of the launcher: by a signal, not for want of the library that stands for CUDA.
        self.assertRegex(
            done.stdout + done.stderr, r"[Ss]ignal:? 11|EXIT CODE: (139|11)|[Ss]egment"
        )
