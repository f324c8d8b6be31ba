"""What the papers claim, each claim once, whichever tables, figures and instruments judge it.

An item words a claim by what it can judge: with the cells that it has, with a margin, of some of
the algorithms. On the short page all that is said of one claim stands together, under the words
here, each item's own words with it.
"""

from collections.abc import Sequence

# The claim, and how the items' words for it begin; with an item where words alone do not tell.
HEADLINES: Sequence[tuple[str, Sequence[str | tuple[str, str]]]] = (
    # Traeff 2025.
    ("123-doubling is the fastest of the three from 1000 elements on",
     ["123-doubling is the fastest of the three"]),
    ("two-op-doubling is the fastest for up to 100 elements, where 123-doubling comes next",
     ["two-op-doubling is the fastest"]),
    ("1-doubling is slower than 123-doubling wherever it takes a round more",
     ["1-doubling is slower than 123-doubling"]),
    ("the library's own is slowest for large vectors, 1.92 times 123-doubling at 36 ranks",
     ["the library's own is slow", "for 100000 elements it takes 1.92"]),
    # Traeff 2017, of whose table 3 the library is another one.
    ("the tree does not violate guideline 2, but for two blocks",
     ["the tree does not violate guideline 2",
      "under Open MPI 2.0 too the tree does not violate guideline 2"]),
    # Proficz 2020, scatter.
    ("BSLIN is the fastest scatter under imbalance", ["BSLIN is the fastest scatter"]),
    ("SLIN and BSLIN are faster than LIN", ["LIN takes longer than SLIN", "BSLIN is ahead of LIN"]),
    ("BSLIN is not slower than LIN", ["BSLIN is not slower than LIN"]),
    ("SLIN and BSLIN are faster than the defaults of Open MPI and MPICH",
     ["under imbalance SLIN and BSLIN are faster", "BSLIN is faster than the default",
      "under imbalance BSLIN is faster"]),
    ("BSLIN is up to 1.27 times as fast as LIN (1 M floats, 50 ms), 1.21 for 2 M at 100 ms",
     ["BSLIN is up to 1.2"]),
    ("the factors of table 3",
     ["the factors of table 3", ("the factors of the table", "scatter-table-3-cluster")]),
    ("run times in ms of LIN, SLIN, BSLIN without delay, and with 50 ms",
     ["run times in ms of LIN"]),
    ("for small data (128 to 512 K floats) the gain vanishes", ["for small data"]),
    ("the longer the messages, the more BSLIN gains on LIN", ["the longer the messages"]),
    ("run times grow moderately with the number of nodes", ["run times grow moderately"]),
    # Gather.
    ("BSLS is the fastest gather under imbalance", ["BSLS is the fastest gather"]),
    ("BSLS is not slower than LS", ["BSLS is not slower than LS"]),
    ("SLS and BSLS are faster than the defaults of Open MPI and MPICH",
     ["under imbalance SLS and BSLS are faster", "BSLS is faster than the default",
      "under imbalance BSLS is faster"]),
    ("BSLS is up to 2.52 times as fast as LS (2 M floats, 50 ms)", ["BSLS is up to 2.52"]),
    ("the factors of table 4",
     ["the factors of table 4", ("the factors of the table", "gather-table-4-cluster"),
      ("the factors of the table", "gather-table-4-collisions-cluster")]),
    ("the run time of SLS and BSLS sinks while the delay grows from 0 to 50 ms",
     ["the run time of SLS and BSLS sinks"]),
    # Both.
    ("average elapsed times behave like the run times", ["average elapsed times behave"]),
    ("under imbalance the algorithms that know who is late have no longer elapsed times",
     ["under imbalance the algorithms that know who is late have no longer"]),
    # Clairvoyant.
    ("Clairvoyant is the fastest",
     ["Clairvoyant is the fastest", "Clairvoyant has shorter run times than the others"]),
)  # fmt: skip

# What the papers are about: on the short page whatever becomes of it, as is what is not held.
MAIN = {
    "123-doubling is the fastest of the three from 1000 elements on",
    "the tree does not violate guideline 2, but for two blocks",
    "BSLIN is the fastest scatter under imbalance",
    "SLIN and BSLIN are faster than LIN",
    "SLIN and BSLIN are faster than the defaults of Open MPI and MPICH",
    "BSLIN is up to 1.27 times as fast as LIN (1 M floats, 50 ms), 1.21 for 2 M at 100 ms",
    "BSLS is the fastest gather under imbalance",
    "SLS and BSLS are faster than the defaults of Open MPI and MPICH",
    "BSLS is up to 2.52 times as fast as LS (2 M floats, 50 ms)",
    "the run time of SLS and BSLS sinks while the delay grows from 0 to 50 ms",
    "Clairvoyant is the fastest",
}


def headline(text: str, item: str) -> str:
    """The paper's claim that an item judges; in its own words where no other item does.

    Args:
        text: the item's words.
        item: its name.
    """
    for claim, beginnings in HEADLINES:
        for beginning in beginnings:
            words, of = (beginning, item) if isinstance(beginning, str) else beginning
            if text.startswith(words) and of == item:
                return claim
    return text
