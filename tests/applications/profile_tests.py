"""`sibyl profile` held against programs/stopwatch.c, which shares nothing with it.

Both watch one run, the recorder before the stopwatch: for each collective they have to have seen
the same calls, and as much time in them to 5 %.
"""

import json
import subprocess
import unittest
from collections import Counter

from applications import new_folder, run_in_its_folder
from launching import compile_program, setting
from programs import HERE, PROGRAMS

# Between the two clocks of a call lies the recorder, which takes 0.1 us, more with Python's frames.
SHARE, SECONDS_A_CALL = 0.05, 1e-6
# A rank that loses its core between the two is no mistake; one that does in each of the runs is.
RUNS = 3


def stopwatch():
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    flags = ("-shared", "-fPIC", "-Wl,-z,lazy")
    return compile_program(setting.mpicc, HERE / "programs" / "stopwatch.c", *flags)


def watched(program):
    """Calls and seconds of all ranks by collective, as `sibyl profile` and the stopwatch say."""
    library, traces, times = stopwatch(), new_folder(), new_folder()
    recorder = setting.library_dir / "libsibyl-profile.so"
    _, done = run_in_its_folder(
        program,
        LD_PRELOAD=f"{recorder} {library}",
        SIBYL_PROFILE=str(traces),
        STOPWATCH=str(times),
    )
    if done.returncode != 0:
        raise AssertionError(f"{done.args}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    profile = profiled(traces)
    calls, seconds = Counter(), Counter()
    for site in profile["sites"]:
        calls[site["collective"]] += site["calls"] * site["communicator_size"]
        seconds[site["collective"]] += site["seconds"]
    watched_calls, watched_seconds = Counter(), Counter()
    for path in times.iterdir():
        for line in path.read_text().splitlines():
            name, count, took = line.split()
            watched_calls[name.lower()] += int(count)
            watched_seconds[name.lower()] += float(took)
    return (calls, seconds), (+watched_calls, +watched_seconds)


def profiled(traces):
    """What the command makes of the traces of a run."""
    folder = new_folder()
    costs, output = folder / "costs.json", folder / "profile.json"
    # What messages cost does not matter here, and is not measured.
    costs.write_text(json.dumps({"alpha": 1e-6, "beta": 1e-9}))
    command = [setting.sibyl, "profile", "--traces", traces, "--calibration", costs]
    done = subprocess.run([*command, "--json", output], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{done.args}\n{done.stdout}{done.stderr}")
    return json.loads(output.read_text())


class ProfileAgainstAStopwatch(unittest.TestCase):
    def hold(self, program):
        if setting.sibyl is None:
            self.skipTest("no --sibyl")
        for _ in range(RUNS):
            (calls, seconds), (true_calls, true_seconds) = watched(program)
            self.assertGreater(true_calls.total(), 0)
            self.assertEqual(calls, true_calls)
            apart = {
                name: (seconds[name], true)
                for name, true in true_seconds.items()
                if abs(seconds[name] - true) > SHARE * true + SECONDS_A_CALL * calls[name]
            }
            for name, true in true_seconds.items():
                print(f"\n    {name}: {seconds[name]:.6f} s, stopwatch {true:.6f} s", end="")
            print(flush=True)
            if not apart:
                return
        self.fail(f"in each of {RUNS} runs, at last {apart}")


def add_test(program):
    def test(self):
        if setting.short and not program.short:
            self.skipTest("takes longer; `make test-applications` runs it")
        self.hold(program)

    setattr(ProfileAgainstAStopwatch, f"test_{program.name}", test)


# Those that call MPI by its C functions; Open MPI's Fortran does not pass by the stopwatch.
for each in PROGRAMS:
    if each.name not in ("mumps", "nwchem"):
        add_test(each)
