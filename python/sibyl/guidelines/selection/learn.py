"""Measure what tables can name, learn from it, and write the tables of an MPI.

The MPI library's own algorithms take their turns beside its usual choice (the benchmark's
native:NAME), Sibyl's beside Sibyl's usual choice.
"""

from collections.abc import Sequence
from pathlib import Path

import sibyl
from sibyl.errors import CommandError
from sibyl.experiment.runner import native_variants
from sibyl.files import write_result
from sibyl.guidelines.catalogue import LEFT_SIDES
from sibyl.guidelines.report import Report
from sibyl.guidelines.selection import mpich, openmpi, own
from sibyl.guidelines.selection.choices import Comparison, RankRules, compare, learn
from sibyl.mpi.installation import Launcher, library_of_program

PREFIX = "native:"


class Learner:
    """Knows which algorithms to measure, and writes the tables."""

    def __init__(self, launcher: Launcher, program: Path, with_sibyl: bool) -> None:
        self.launcher = launcher
        self.with_sibyl = with_sibyl
        self._library = b""
        self._built_in: mpich.Tree = {}
        if launcher.flavour == "mpich":
            found = library_of_program(program)
            if found is None:
                raise CommandError(f"{program} is not linked with an MPI library that can be found")
            self._built_in = mpich.built_in(found[1])
            self._library = found[1].read_bytes()
        self._native: dict[str, list[str]] = {}

    def native(self, collective: str) -> list[str]:
        """The MPI library's own algorithms that its table may name."""
        if collective not in self._native:
            variants = native_variants(self.launcher, collective)
            names = [each.removeprefix(PREFIX) for each in variants]
            self._native[collective] = [name for name in names if self._usable(collective, name)]
        return self._native[collective]

    def _usable(self, collective: str, name: str) -> bool:
        if self.launcher.flavour == "mpich":
            return mpich.usable(collective, name, self._library)
        return openmpi.usable(collective, name)

    def _own(self, collective: str) -> list[str]:
        if not self.with_sibyl or collective not in sibyl.collectives():
            return []
        return [row.name for row in sibyl.algorithms(collective)]

    def candidates(self, collective: str) -> list[str]:
        """What is measured beside the usual choices."""
        return [f"{PREFIX}{name}" for name in self.native(collective)] + self._own(collective)

    def write(self, report: Report, directory: Path) -> list[tuple[Path, str]]:
        """Write the tables; return each file with a line that says what it holds."""
        comment = [
            f"Learned by `sibyl guidelines` from {report.iterations} measurements a case",
            f"{report.cells[0][0].job['mpi']}, Sibyl {report.origin['sibyl']}, "
            f"{report.origin['date']}",
            f"{report.cells[0][0].job['cpu']}",
        ]
        by_size = mpich.BY_SIZE if self.launcher.flavour == "mpich" else openmpi.BY_SIZE
        learned = self._learn(report, by_size)
        if self.launcher.flavour == "mpich":
            path = directory / mpich.FILE
            tree = mpich.to_tree(learned, self._built_in, self._library)
            write_result(path, mpich.to_text(tree))
            how = mpich.HOW
        else:
            path = directory / openmpi.FILE
            numbers: dict[str, dict[str, int]] = {}
            for result, _ in report.cells:
                numbers |= result.job.get("variants", {})
            write_result(path, openmpi.to_text(learned, numbers, comment))
            how = openmpi.HOW
        written = [(path, f"{_summary(learned)}; use: {how.format(path=path)}")]
        if self.with_sibyl:
            ours = self._learn_own(report)
            path = directory / own.FILE
            write_result(path, own.to_text(ours, comment))
            written.append((path, f"{_summary(ours)}; use: {own.HOW.format(path=path)}"))
        return written

    def _learn(self, report: Report, by_size: Sequence[str]) -> list[RankRules]:
        names = {
            collective: [f"{PREFIX}{name}" for name in self._native.get(collective, [])]
            for collective in LEFT_SIDES
        }
        found = compare([result for result, _ in report.cells], "native", names)
        return [
            _renamed(rules)
            for collective in LEFT_SIDES
            for rules in learn(_of(collective, found), collective in by_size)
        ]

    def _learn_own(self, report: Report) -> list[RankRules]:
        names = {collective: ["native", *self._own(collective)] for collective in LEFT_SIDES}
        found = compare([result for result, _ in report.cells], "auto", names)
        return [
            rules
            for collective in LEFT_SIDES
            for rules in learn(_of(collective, found), collective not in own.SIZELESS)
        ]


def _of(collective: str, comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [each for each in comparisons if each.collective == collective]


def _renamed(rules: RankRules) -> RankRules:
    """Without the benchmark's prefix."""
    bare = [
        type(rule)(rule.bytes, rule.algorithm.removeprefix(PREFIX) if rule.algorithm else None)
        for rule in rules.rules
    ]
    return RankRules(rules.collective, rules.least, rules.most, tuple(bare))


def _summary(learned: Sequence[RankRules]) -> str:
    if not learned:
        return "nothing was found that is shown to be faster than the usual choice"
    words = []
    for each in learned:
        names = dict.fromkeys(rule.algorithm for rule in each.rules if rule.algorithm)
        words.append(f"{each.collective} on {each.least}-{each.most} ranks: {', '.join(names)}")
    return "; ".join(words)
