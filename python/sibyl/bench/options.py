"""The options of `sibyl bench`."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from sibyl.errors import CommandError
from sibyl.experiment.options import MeasuredOutputs, MeasureOptions
from sibyl.experiment.plots import check_plot
from sibyl.option_classes import option_named


@dataclass(frozen=True, kw_only=True)
class Wishes(MeasureOptions):
    """What is measured, as it stands on the command line."""

    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Contenders: native, native-again (the same on another communicator: what a "
            "comparison finds where nothing differs), native:VARIANT (native:* for all that the "
            "library has), "
            "auto, governed (auto as in a program: told nothing, with the governor), names from "
            "`sibyl algorithms` (sibyl:* for all of them); in the persistent form "
            "persistent, the papers' LIN, LS, SLS, BSLS, BNOM, ... and edges:NAME; of reduce, "
            "allreduce and bcast PREDICTION:NAME, told what --prediction of that name says; of "
            "reduce history:NAME, told what earlier turns suggest; of allreduce piggyback:NAME, "
            "which learns from its own messages as in a program. native, auto and all of Sibyl's "
            "if absent.",
        ),
    ] = None
    reference: Annotated[
        str, typer.Option(metavar="NAME", help="The contender that all others are compared with.")
    ] = "native"
    size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES,...",
            help="In all (gather, scatter, allgather, irregular or not); of each rank's vector "
            "(bcast, scans and reductions, of reduce_scatter before it is cut); of all that a rank "
            "sends (alltoall; alltoallv on average). A barrier has none. 1MiB, or what was "
            "recorded, if absent.",
        ),
    ] = None
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="B,...",
            help="Instead of --size (irregular collectives): average blocks of the problems of "
            "Traeff 2017, in elements, as in `sibyl guidelines`.",
        ),
    ] = None
    counts: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...",
            help="Block sizes of gatherv, scatterv, reduce_scatter, allgatherv and alltoallv (of "
            "pairs of ranks): same, random, spikes, decreasing, alternating, two-blocks.",
        ),
    ] = "same"
    iterations: Annotated[
        int | None,
        typer.Option(metavar="K", help="Measurements per cell and contender; 32, simulated 5."),
    ] = None
    warm_up: Annotated[
        int | None, typer.Option(metavar="K", help="Unmeasured ones before them; 3, simulated 1.")
    ] = None
    prediction: Annotated[
        str,
        typer.Option(
            metavar="right|none|flat|shuffled|one-late|false-late",
            help="What Sibyl's reduce, allreduce and bcast are told about the arrivals.",
        ),
    ] = "right"
    operator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="sum (floats), int-sum, bxor (longs), matrix, modular; sum, and bxor for scans, "
            "if absent.",
        ),
    ] = None
    root: Annotated[
        int | None,
        typer.Option(
            metavar="R", help="Of rooted collectives; 0, or what was recorded, if absent."
        ),
    ] = None
    waiting: Annotated[
        str,
        typer.Option(
            metavar="sleep|spin",
            help="What ranks on the cluster do that wait: leave the processors to others, or look "
            "all the time.",
        ),
    ] = "sleep"
    pieces: Annotated[
        str | None,
        typer.Option(metavar="K,...", help="Of bench grid: these pieces only; all if absent."),
    ] = None
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="T", help="Of bench grid: stop then, for --resume, and tell what there is."
        ),
    ] = None


def distributions_beside(plot: Path) -> Path:
    """Where the plot of the distributions goes."""
    return plot.with_name(f"{plot.stem}-distribution{plot.suffix}")


@dataclass(frozen=True, kw_only=True)
class Outputs(MeasuredOutputs):
    """What becomes of the samples."""

    metric: Annotated[
        str | None,
        typer.Option(
            metavar="run|elapsed|absorbed",
            help="The time that is judged; if absent absorbed of bench all and bench grid, else "
            "run, or elapsed of a recording.",
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw (.png, .svg, .pdf); the distributions go to FILE's name with -distribution.",
        ),
    ] = None
    format: Annotated[str, typer.Option(metavar="table|osu", help="What is printed.")] = "table"
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Of bench all and bench grid: an HTML page."),
    ] = None

    def files(self) -> dict[str, Path | None]:
        """Where results go, by option."""
        return {**super().files(), "--plot": self.plot, "--page": self.page}

    def written(self) -> dict[str, Path | None]:
        """These, and the plot of the distributions."""
        if self.plot is None:
            return self.files()
        return {**self.files(), "--plot's distributions": distributions_beside(self.plot)}

    def check(self, wishes: MeasureOptions) -> None:
        """Notice before a long run what would fail after it."""
        if self.metric not in (None, "run", "elapsed", "absorbed"):
            raise CommandError(f"--metric wants run, elapsed or absorbed, not '{self.metric}'")
        if self.format not in ("table", "osu"):
            raise CommandError(f"--format wants table or osu, not '{self.format}'")
        if self.plot is not None:
            check_plot(self.plot)
        super().check(wishes)


def check_used(what: str, used: Collection[str], *given: Wishes | Outputs) -> None:
    """Refuse options that would be ignored.

    Args:
        what: is benched.
        used: the options that it takes, by the names of their fields.
        given: all of them.

    Raises:
        CommandError: one of the others was given.
    """
    for options in given:
        for field in fields(options):
            if field.name == "given" or field.name in used:
                continue
            if getattr(options, field.name) != field.default:
                option = option_named(field.name)
                raise CommandError(f"{option}: bench {what} takes {options_of(used)} only")


def options_of(used: Collection[str]) -> str:
    """The options of these fields, for people."""
    return ", ".join(map(option_named, used))
