"""How the preload's tests build programs, start them and read what Sibyl reports about them."""

import argparse
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
# The command line of run_preload_tests.py, and `work`, a temporary directory.
setting = argparse.Namespace()


def environment(**extra):
    """The caller's environment, made fit for a small machine and any user, plus `extra`."""
    result = {k: v for k, v in os.environ.items() if not k.startswith(("SIBYL_", "LD_PRELOAD"))}
    if setting.mpi == "openmpi":
        for prefix in ("OMPI", "PRTE"):
            result[f"{prefix}_ALLOW_RUN_AS_ROOT"] = "1"
            result[f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        result["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        result["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
        result["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        result["OMPI_MCA_mpi_yield_when_idle"] = "1"
        result["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
        result["OMPI_MCA_btl_base_warn_component_unused"] = "0"
    result.update(extra)
    return result


def shim():
    return setting.library_dir / "libsibyl-preload.so"


def run(command, *, ranks=None, options=(), **extra):
    """Runs `command`, under mpiexec with these options if `ranks` are given. The preload, if any,
    is in the environment from the start, so that the launcher and all else in the path carries it
    too."""
    if ranks is not None:
        command = [setting.mpiexec, *options, "-n", str(ranks), *command]
    command = [str(word) for word in command]
    with subprocess.Popen(
        command,
        env=environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=setting.timeout)
        except subprocess.TimeoutExpired:
            process.terminate()  # the launcher ends its ranks; killed, it would leave them behind
            try:
                stdout, stderr = process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
            stderr += f"\nstill running after {setting.timeout:.0f} s"
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run_apart(command, *, ranks, **extra):
    """Like run, but a shell puts each rank's output into a file of its own, since launchers merge
    the ranks' outputs in pieces; the result's stdout holds the ranks one after the other."""
    prefix = Path(tempfile.mkdtemp(dir=setting.work)) / "rank"
    script = 'exec "$@" > "$0.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}"'
    done = run(["sh", "-c", script, prefix, *command], ranks=ranks, **extra)
    outputs = (prefix.with_suffix(f".{rank}") for rank in range(ranks))
    done.stdout += "".join(path.read_text() for path in outputs if path.exists())
    return done


def compile_program(compiler, source, *flags):
    output = setting.work / "-".join([source.stem, source.suffix[1:], *flags])
    if not output.exists():
        command = [compiler, *flags, "-O1", str(source), "-o", str(output)]
        done = subprocess.run(command, cwd=setting.work, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return output


def c_program(name):
    if setting.mpicc is None:
        raise unittest.SkipTest("no --mpicc")
    return compile_program(setting.mpicc, name)


def read_reports(directory):
    return [json.loads(path.read_text()) for path in sorted(directory.glob("rank-*.json"))]


def served(reports):
    """The collectives that Sibyl itself performed, by rank."""
    return {
        report["rank"]: {
            entry["collective"]
            for entry in report["entries"]
            if entry["algorithm"] != "native" and entry["calls"] > 0
        }
        for report in reports
    }
