"""MPICH's selection of algorithms: a file for MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE.

The file replaces the library's own selection as a whole, and a collective without an entry ends the
program. So it begins with the selection that is built into the library, a text that the library
carries in its file, and changes the entries of the collectives that something was learned about.
An entry is a tree of conditions, tried in their order, down to the algorithm.

Only reduce is chosen by size: MPICH takes the size of gather and scatter from arguments that need
not be the same on all ranks, and knows none for gatherv, scatterv and exscan.
"""

import copy
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sibyl.errors import CommandError
from sibyl.guidelines.selection.choices import RankRules

# What goes to all ranks has algorithms with conditions of their own, which nobody has listed yet.
COLLECTIVES = ("gather", "gatherv", "scatter", "scatterv", "exscan", "reduce")
BY_SIZE = ("reduce",)
# reduce: smp wants ranks on several nodes; nb is the non-blocking reduce, the same once more.
UNUSABLE = {"reduce": ("smp", "nb")}
FILE = "mpich-selection.json"
HOW = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={path} mpiexec ..."

_TREE = re.compile(rb'\{"collective=[\x20-\x7e]+\}')
_INTRA, _INTER = "comm_type=intra", "comm_type=inter"
Tree = dict[str, Any]


def built_in(library: Path) -> Tree:
    """The selection that a library carries.

    Raises:
        CommandError: it carries none in this form.
    """
    for match in _TREE.finditer(library.read_bytes()):
        if b"algorithm=MPIR_Gather_" in match.group():
            return json.loads(match.group())
    raise CommandError(
        f"{library} carries no selection of algorithms in JSON; this MPI cannot be given tables"
    )


def algorithm_name(collective: str, variant: str, library: bytes) -> str | None:
    """What the file calls a variant of MPIR_CVAR_..._INTRA_ALGORITHM; None where it knows none."""
    for kind in ("intra", "allcomm"):
        name = f"MPIR_{collective.capitalize()}_{kind}_{variant}"
        if b"algorithm=" + name.encode() + b"\0" in library:
            return name
    return None


def usable(collective: str, variant: str, library: bytes) -> bool:
    """May the file name this algorithm?"""
    if collective not in COLLECTIVES or variant in UNUSABLE.get(collective, ()):
        return False
    return algorithm_name(collective, variant, library) is not None


def _leaf(collective: str, variant: str | None, usual: Tree, library: bytes) -> Tree:
    """The entry of a variant where it can be used, else the usual one."""
    name = algorithm_name(collective, variant, library) if variant else None
    if name is None:
        return copy.deepcopy(usual)
    leaf: Tree = {f"algorithm={name}": {}}
    if variant != "reduce_scatter_gather":
        return leaf
    # It wants a built-in operator and an element for each of the nearest power of two of ranks.
    counted = {"count<pow2": copy.deepcopy(usual), "count=any": leaf}
    return {"is_op_built_in=yes": counted, "is_op_built_in=no": copy.deepcopy(usual)}


def to_tree(learned: Sequence[RankRules], built_in_tree: Tree, library: bytes) -> Tree:
    """The library's own selection with what was learned in it.

    Args:
        learned: the rules, of any number of collectives.
        built_in_tree: see built_in().
        library: the library's file, which knows the names of its algorithms.
    """
    tree = copy.deepcopy(built_in_tree)
    for collective in dict.fromkeys(each.collective for each in learned):
        before = tree[f"collective={collective}"]
        usual = before.get(_INTRA, before)
        own: Tree = {}
        rules = sorted(
            (each for each in learned if each.collective == collective), key=lambda r: r.least
        )
        for each in rules:
            if f"comm_size<={each.least - 1}" not in own:
                own[f"comm_size<={each.least - 1}"] = copy.deepcopy(usual)
            own[f"comm_size<={each.most}"] = _sizes(each, usual, library)
        own["comm_size=any"] = copy.deepcopy(usual)
        tree[f"collective={collective}"] = {_INTRA: own, _INTER: before.get(_INTER, before)}
    return tree


def _sizes(each: RankRules, usual: Tree, library: bytes) -> Tree:
    if len(each.rules) == 1:
        return _leaf(each.collective, each.rules[0].algorithm, usual, library)
    found: Tree = {}
    for rule, following in zip(each.rules, each.rules[1:], strict=False):
        leaf = _leaf(each.collective, rule.algorithm, usual, library)
        found[f"avg_msg_size<={following.bytes - 1}"] = leaf
    found["avg_msg_size=any"] = _leaf(each.collective, each.rules[-1].algorithm, usual, library)
    return found


def to_text(tree: Tree) -> str:
    """The file."""
    return json.dumps(tree, indent=1) + "\n"
