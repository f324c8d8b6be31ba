#!/usr/bin/env python3
"""Says what the failed tests of a JUnit file printed.

    failed_tests.py FILE            each of them, of long ones the end
    failed_tests.py --brief FILE    a few telling lines of each, for the end of a long output

Of a test that ran on several numbers of ranks (scripts/mpi-launch) only the runs that failed are
told: the last one may well have passed.
"""

import re
import sys
import xml.etree.ElementTree as tree

PASSED = ("[       OK", "[ RUN  ", "[-----", "[==========]", "[  PASSED", "[  CASES", "Note: ")
TELLING = re.compile(
    r"FAILED|Failure|HANG|Sanitizer|ERROR|runtime error|\[rank |SEED=|CASE=|exit status|signal"
    r"|Segmentation|Expected|Actual|Which is|core dumped|^E  |^\S+\.py:\d+: "
)


def runs(said: list[str]) -> list[list[str]]:
    """What was said, run by run: each begins with mpi-launch's "== PROGRAM, N rank(s)"."""
    parts: list[list[str]] = [[]]
    for line in said:
        if re.match(r"== \S+, \d+ rank\(s\)$", line):
            parts.append([])
        parts[-1].append(line)
    return parts


def failed_runs(said: list[str]) -> list[str]:
    """The lines of those runs that mpi-launch found failed; all where it found none."""
    failed = [
        line
        for part in runs(said)
        if any(line.startswith(("mpi-launch: FAILED", "mpi-launch: HANG")) for line in part)
        for line in part
    ]
    return failed or said


def main() -> int:
    """Prints them; exit status 1 where the file cannot be read."""
    *options, file = sys.argv[1:]
    for case in tree.parse(file).getroot().iter("testcase"):
        bad = any(case.find(name) is not None for name in ("failure", "error"))
        if not bad and case.get("status") != "fail":
            continue
        # ctest's are told by what they printed, pytest's by their traceback.
        told_by = [case.findtext(name) for name in ("system-out", "failure", "error")]
        said = failed_runs(next((text for text in told_by if text), "").splitlines())
        told = [line for line in said if not line.startswith(PASSED)]
        if options == ["--brief"]:
            print(f"--- {case.get('name')} ---")
            telling = [line[:300] for line in told if TELLING.search(line)]
            print(*(telling[:8] + telling[8:][-6:]), sep="\n")
        else:
            print(f"--- {case.get('name')} failed ---", *told[-150:], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
