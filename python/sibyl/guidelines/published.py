"""What Traeff 2017 measured: tables 1 to 5, to be shown beside what is measured here."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Published:
    """One cell of the paper's tables.

    Attributes:
        library: as the paper names it.
        factor: of guideline (2): the least time of MPI_Gatherv over that of the right side, by
            which the paper marks violations.
        prototype: the same for the paper's own TUW_Gatherv.
    """

    library: str
    ranks: int
    factor: float
    prototype: float


# The tables that stand for an MPI of today: MVAPICH is a MPICH.
TABLE_OF = {"openmpi": "3", "mpich": "2"}
BLOCKS = (1, 10, 100, 1000, 10000)


@cache
def published(flavour: str) -> dict[tuple[str, int], Published]:
    """The cells of the table that comes nearest to an MPI, by problem and average block."""
    text = resources.files("sibyl").joinpath("data/gatherv_tables_1_to_5.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found: dict[tuple[str, int], Published] = {}
    places: dict[str, int] = {}
    for row in csv.DictReader(lines):
        if row["table"] != TABLE_OF.get(flavour):
            continue
        place = places[row["problem"]] = places.get(row["problem"], -1) + 1
        bound = float(row["guideline2_min_us"])
        found[row["problem"], BLOCKS[place]] = Published(
            row["library"],
            int(row["processes"]),
            float(row["gatherv_min_us"]) / bound,
            float(row["tuw_gatherv_min_us"]) / bound,
        )
    return found
