"""Open MPI's dynamic rules: a file for coll_tuned_dynamic_rules_filename.

The file is a sequence of numbers, `#` begins a comment: how many collectives; for each its number,
how many communicator sizes; for each the size, how many message sizes; for each the size, the
algorithm (0: Open MPI's own decision), fan-out and segment size. A rule holds from its size up to
the next one; the first one also holds below, so that each list begins at 0.

Only reduce is chosen by size. Open MPI takes the size of gather and scatter from the arguments of
the send buffer, which need not be the same on all ranks (MPI_IN_PLACE, ranks that are not the
root), so that ranks could choose differently; and that of exscan and scan from one element.
"""

from collections.abc import Mapping, Sequence

from sibyl.guidelines.selection.choices import RankRules, Rule

# Open MPI's numbers of collectives (ompi/mca/coll/base/coll_base_functions.h).
COLLECTIVES = {"exscan": 8, "gather": 9, "reduce": 11, "scan": 14, "scatter": 15}
BY_SIZE = ("reduce",)
# These change the order of the operands, and no rule can ask whether the operator commutes: forced,
# they give wrong results (seen with Open MPI 4.1.4).
REORDERING = {"reduce": ("chain", "pipeline", "binary", "binomial")}
FILE = "openmpi-rules.conf"
HOW = (
    "mpiexec --mca coll_tuned_use_dynamic_rules 1 "
    "--mca coll_tuned_dynamic_rules_filename {path} ..."
)


def usable(collective: str, variant: str) -> bool:
    """May a rule name this algorithm?"""
    return collective in COLLECTIVES and variant not in REORDERING.get(collective, ())


def _sizes(rules: Sequence[Rule], numbers: Mapping[str, int]) -> list[str]:
    lines = [f"{len(rules)} # message sizes"]
    for rule in rules:
        name = rule.algorithm or "Open MPI's own decision"
        number = numbers[rule.algorithm] if rule.algorithm else 0
        lines.append(f"{rule.bytes} {number} 0 0 # from {rule.bytes} bytes on: {name}")
    return lines


def to_text(
    learned: Sequence[RankRules], numbers: Mapping[str, Mapping[str, int]], comment: Sequence[str]
) -> str:
    """The file.

    Args:
        learned: the rules, of any number of collectives.
        numbers: by collective, the library's number of each algorithm.
        comment: lines that stand at the top.
    """
    usual = (Rule(0, None),)
    collectives = list(dict.fromkeys(each.collective for each in learned))
    lines = [f"# {line}" for line in comment]
    lines.append(f"{len(collectives)} # collectives")
    for name in collectives:
        sizes: list[tuple[int, Sequence[Rule]]] = []
        for each in sorted(
            (each for each in learned if each.collective == name), key=lambda each: each.least
        ):
            if not sizes:
                sizes.append((0, usual))
            if sizes[-1][0] == each.least:  # where the reach of the one before has ended
                sizes.pop()
            sizes += [(each.least, each.rules), (each.most + 1, usual)]
        lines += [f"{COLLECTIVES[name]} # {name}", f"{len(sizes)} # communicator sizes"]
        for ranks, rules in sizes:
            lines.append(f"{ranks} # from {ranks} ranks on")
            lines += _sizes(rules, numbers[name])
    return "\n".join(lines) + "\n"
