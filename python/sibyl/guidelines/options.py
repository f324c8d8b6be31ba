"""The options of `sibyl guidelines`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sibyl.experiment.options import MeasuredOutputs, MeasureOptions
from sibyl.files import STDOUT, make_directory


@dataclass(frozen=True, kw_only=True)
class Wishes(MeasureOptions):
    """What is measured, as it stands on the command line."""

    collectives: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Whose guidelines: gather, gatherv, scatter, scatterv, exscan, reduce, allgather, "
            "allgatherv, bcast, allreduce, reduce_scatter, reduce_scatter_block, alltoall, "
            "alltoallv, barrier; all if absent.",
        ),
    ] = None
    problems: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Block sizes: same, random, spikes, decreasing, alternating, two-blocks; all if "
            "absent.",
        ),
    ] = None
    blocks: Annotated[str, typer.Option(metavar="B,...", help="Average blocks, in MPI_INTs.")] = (
        "1,10,100,1000,10000"
    )
    under: Annotated[
        str,
        typer.Option(
            metavar="native|sibyl",
            help="sibyl: judge the left sides that Sibyl serves as well, beside the MPI library's.",
        ),
    ] = "native"
    pattern: Annotated[
        str,
        typer.Option(
            metavar="none|SHAPE,...|FILE",
            help="Arrivals: none (a barrier before each call, as in the paper), flat, uniform, "
            "skewed, root-late, fixed, normal, exponential, or a file of arrival times.",
        ),
    ] = "none"
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--ranks",
            metavar="N,...",
            help="Ranks; on the cluster, hosts. The root is N/2.",
        ),
    ] = None
    platform: Annotated[
        str, typer.Option(metavar="NAME", help="Of the simulated cluster, see platforms/.")
    ] = "infiniband-35x16"
    iterations: Annotated[
        int | None,
        typer.Option(metavar="K", help="Measurements per side and case; 75, simulated 1."),
    ] = None
    warm_up: Annotated[
        int | None,
        typer.Option(metavar="K", help="Unmeasured ones before them; 10, simulated 1."),
    ] = None
    compute: Annotated[
        str, typer.Option(metavar="T", help="Emulated computation before late arrivals.")
    ] = "5ms"


@dataclass(frozen=True, kw_only=True)
class Outputs(MeasuredOutputs):
    """What becomes of the samples."""

    page: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE.html|-",
            help="Write a page with pictures, in one file (index.html).",
        ),
    ] = None
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Measure each library's own algorithms too, and write what was learned as "
            "selection tables: for Sibyl, and for the MPI library.",
        ),
    ] = None

    def page_file(self) -> Path | None:
        """Where the page goes: the file itself, standard output, or index.html in a directory."""
        if self.page is None or self.page == STDOUT or self.page.suffix == ".html":
            return self.page
        return self.page / "index.html"

    def files(self) -> dict[str, Path | None]:
        """Where results go, by option."""
        return {**super().files(), "--page": self.page_file()}

    def check(self, wishes: MeasureOptions) -> None:
        """Notice before a long run what would fail after it."""
        if self.page is not None and self.page != self.page_file():
            make_directory("--page", self.page)
        super().check(wishes)
        if self.page is not None:
            from sibyl.guidelines import pictures

            pictures.check()
        if self.tables is not None:
            make_directory("--tables", self.tables)
