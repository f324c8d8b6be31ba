"""The options of `sibyl simulate`, and the network and settings that they describe."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sibyl.errors import CommandError
from sibyl.experiment.plots import check_plot
from sibyl.experiment.units import read_size, read_time
from sibyl.files import Read, check_all_writable
from sibyl.placement import Placement
from sibyl.simulator.calibration import Calibration, measure, read
from sibyl.simulator.model import LogGP, Network, Nodes, Queue
from sibyl.simulator.run import simulate
from sibyl.simulator.session import Settings

# What messages cost where nothing says it.
USUAL = Calibration(25e-6, 8e-9, None, "")


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What is simulated."""

    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Names of `sibyl algorithms`, with :sorted or :background, or of the papers: "
            "SLIN, BSBN, ...; with none:, flat: or shuffled: in front told nothing, or the times "
            "of other ranks. All of the table if absent.",
        ),
    ] = None
    ranks: Annotated[
        str | None,
        typer.Option(
            "-n", "--ranks", metavar="N,...", help="Ranks.", show_default="48, or as --nodes say"
        ),
    ] = None
    size: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES,...",
            help="In all at the root (gather, scatter), of each rank's vector (reduce, scans); "
            "1MiB, or what was recorded, if absent.",
        ),
    ] = None
    pattern: Annotated[
        str,
        typer.Option(
            metavar="SHAPE,...|FILE",
            help="Arrivals: flat, uniform, skewed, root-late, fixed, normal, exponential, or a "
            "file of arrival times (of a recording the call site of the collective and --size; "
            "FILE#N: call site N).",
        ),
    ] = "uniform"
    max_delay: Annotated[
        str, typer.Option(metavar="T,...", help="Largest delays, as in 0,1ms,5ms.")
    ] = "0"
    root: Annotated[
        int | None,
        typer.Option(
            metavar="R", help="Of rooted collectives; 0, or what was recorded, if absent."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SettingsOptions:
    """What all cells share, but for the network."""

    iterations: Annotated[
        int, typer.Option(metavar="K", help="Patterns per cell: drawn, or calls of a file.")
    ] = 16
    seed: Annotated[int, typer.Option(metavar="S", help="Of the patterns.")] = 1
    compute: Annotated[
        str,
        typer.Option(
            metavar="T", help="What all compute before their delay; background steps run in it."
        ),
    ] = "0"
    segments: Annotated[
        int, typer.Option(metavar="N", help="Parts of a vector that is cut; 0: from the model.")
    ] = 0
    outstanding: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Linear algorithms: transfers that the root has under way at a time; 0: all.",
        ),
    ] = 1
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="Clairvoyant: send strictly in the order of the schedule, as over links that "
            "carry messages in turn.",
        ),
    ] = False

    def check(self, collective: str) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is measured."""
        if self.iterations < 1:
            raise CommandError(f"--iterations {self.iterations}: at least 1")
        if self.segments < 0:
            raise CommandError(
                f"--segments {self.segments}: at least 1, or 0 to take them from the model"
            )
        if self.in_order and collective != "reduce":
            raise CommandError(
                "--in-order: only reduce has an algorithm with a schedule of segments"
            )
        if self.outstanding < 0:
            raise CommandError(f"--outstanding {self.outstanding}: at least 1, or 0 for all")

    def settings(self, collective: str, network: Network, lanes: int) -> Settings:
        """What they describe."""
        return Settings(
            collective,
            network,
            iterations=self.iterations,
            seed=self.seed,
            compute=read_time(self.compute),
            segments=self.segments,
            in_order=self.in_order,
            lanes=lanes,
            outstanding=self.outstanding,
        )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """The model of the network."""

    model: Annotated[str, typer.Option(metavar="hockney|loggp", help="Of the network.")] = "hockney"
    alpha: Annotated[
        str | None, typer.Option(metavar="T", help="Hockney: startup latency; 25us if absent.")
    ] = None
    beta: Annotated[
        str | None, typer.Option(metavar="T/B", help="Hockney: time per byte; 8ns/B if absent.")
    ] = None
    loggp: Annotated[
        str, typer.Option(metavar="L,o,g,G", help="LogGP: three times and a time per byte.")
    ] = "20us,2.5us,5us,8ns/B"
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Measure alpha, beta and the operator's cost between two ranks of an MPI here.",
        ),
    ] = False
    mpi: Annotated[
        str | None,
        typer.Option(metavar="openmpi|mpich|DIR", help="Which MPI --calibrate measures."),
    ] = None
    calibration: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="alpha and beta (seconds) from a file, such as `sibyl cluster check` writes.",
        ),
    ] = None
    inside: Annotated[str, typer.Option(metavar="T,T/B", help="alpha and beta inside a node.")] = (
        "0.5us,0.2ns/B"
    )
    operator_cost: Annotated[
        str | None,
        typer.Option(metavar="T/B", help="Of the reduction operator; nothing if absent."),
    ] = None
    planning: Annotated[
        str, typer.Option(metavar="T", help="Time to make the schedule, after arrival.")
    ] = "0"
    eager: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="Messages up to this size do not wait for a receive."),
    ] = None
    sharing: Annotated[
        bool,
        typer.Option(
            "--sharing", help="Messages under way together share links, instead of taking turns."
        ),
    ] = False
    handshake: Annotated[
        bool,
        typer.Option(
            "--handshake",
            help="With --sharing: messages that are not eager are announced and answered, a "
            "latency each.",
        ),
    ] = False
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES[,WINDOW[,T]]",
            help="Of the switch before each rank's link; what does not fit is lost, as of TCP with "
            "that window and retransmission timeout (14480, 200ms). Messages share links.",
        ),
    ] = None
    half_duplex: Annotated[
        bool, typer.Option("--half-duplex", help="One port for both directions.")
    ] = False
    blocking: Annotated[
        bool, typer.Option("--blocking", help="One send and one receive at a time, in order.")
    ] = False
    given: frozenset[str] = frozenset()  # what stands on the command line

    def check(self, placement: Placement) -> None:
        """Raise CommandError for what can be seen to be wrong before anything is measured.

        Args:
            placement: where the ranks lie.
        """
        if self.model not in ("hockney", "loggp"):
            raise CommandError(f"--model {self.model}: there are hockney and loggp")
        if (self.calibrate or self.calibration is not None) and self.model == "loggp":
            raise CommandError("--calibrate and --calibration are for --model hockney")
        if self.calibrate and self.calibration is not None:
            raise CommandError("--calibrate measures what --calibration reads: say one of them")
        if self.mpi is not None and not self.calibrate:
            raise CommandError("--mpi says what --calibrate measures, which is absent")
        if (self.sharing or self.queue is not None) and self.model == "loggp":
            raise CommandError("--sharing and --queue are for --model hockney")
        if "loggp" in self.given and self.model != "loggp":
            raise CommandError("--loggp is for --model loggp")
        if (self.alpha is not None or self.beta is not None) and self.model == "loggp":
            raise CommandError("--alpha and --beta are for --model hockney; --loggp has its own")
        if self.handshake and not self.sharing and self.queue is None:
            raise CommandError("--handshake is for messages that share links: --sharing or --queue")
        self._check_network()
        if "inside" in self.given and placement == Placement():
            raise CommandError("--inside is for several ranks a node: --ranks-per-node, --nodes")

    def _check_network(self) -> None:
        # The simulator knows what it cannot play. It looks at all of a network before it begins,
        # and the call of a single rank is over at once.
        network = self.network(USUAL, Placement(ranks_per_node=2))
        try:
            simulate("bcast", "binomial", ranks=1, size=0, network=network)
        except ValueError as error:
            raise CommandError(f"there is no such network: {error}") from error

    def calibrated(self) -> Calibration:
        """What alpha, beta and the operator cost where no option says it: measured, read, usual."""
        if self.calibration is not None:
            return read(self.calibration)
        if self.calibrate:
            return measure(self.mpi)
        return USUAL

    def network(self, known: Calibration, placement: Placement) -> Network:
        """What they describe.

        Args:
            known: what holds where no option says it.
            placement: where the ranks lie.
        """
        alpha, beta = _time(self.alpha), _per_byte(self.beta, "--beta")
        combine = _per_byte(self.operator_cost, "--operator-cost")
        return Network(
            alpha=known.alpha if alpha is None else alpha,
            beta=known.beta if beta is None else beta,
            loggp=self._loggp(),
            nodes=self._nodes(placement),
            full_duplex=not self.half_duplex,
            eager=None if self.eager is None else read_size(self.eager),
            sharing=self.sharing or self.queue is not None,
            handshake=self.handshake,
            queue=self._queue(),
            combine=(known.gamma or 0.0) if combine is None else combine,
            planning=read_time(self.planning),
            blocking=self.blocking,
        )

    def _nodes(self, placement: Placement) -> Nodes | None:
        if placement == Placement():
            return None
        return Nodes(placement.ranks_per_node, *self._inside(), of=placement.nodes)

    def _queue(self) -> Queue | None:
        if self.queue is None:
            return None
        words = self.queue.split(",")
        if len(words) > 3:
            raise CommandError(
                f"--queue '{self.queue}': write a size, and a window and a timeout if they are "
                "others than TCP's, as in 128KiB,14480,200ms"
            )
        size, *more = words
        usual = Queue(read_size(size))
        return Queue(
            usual.size,
            read_size(more[0]) if more else usual.window,
            read_time(more[1]) if len(more) > 1 else usual.timeout,
        )

    def _inside(self) -> tuple[float, float]:
        words = _words(self.inside, 2, "--inside", "0.5us,0.2ns/B")
        return read_time(words[0]), read_time_per_byte(words[1], "--inside")

    def _loggp(self) -> LogGP | None:
        if self.model != "loggp":
            return None
        words = _words(self.loggp, 4, "--loggp", "20us,2.5us,5us,8ns/B")
        times = (read_time(word) for word in words[:3])
        return LogGP(*times, read_time_per_byte(words[3], "--loggp"))


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where results go, besides the terminal."""

    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a table.")] = None
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything.")] = None
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw run times (.png, .svg, .pdf).")
    ] = None
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw ranks and messages in time; waits in red. Of several algorithms or cells "
            "each in a file of its own, FILE's name with what it is.",
        ),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same as a page that can be zoomed."),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command was interrupted.")
    ] = False

    @property
    def files(self) -> dict[str, Path | None]:
        """Those of the options that name one."""
        return {option: path for option, path in vars(self).items() if option != "resume"}

    def check(self, read: Iterable[Read] = ()) -> None:
        """Notice before a long run what cannot be written.

        Args:
            read: by which options files are read.
        """
        if self.plot is not None:
            check_plot(self.plot)
        check_all_writable({f"--{option}": path for option, path in self.files.items()}, read)


def _time(text: str | None) -> float | None:
    return None if text is None else read_time(text)


def _per_byte(text: str | None, option: str) -> float | None:
    return None if text is None else read_time_per_byte(text, option)


def _words(text: str, count: int, option: str, like: str) -> list[str]:
    words = text.split(",")
    if len(words) != count:
        raise CommandError(f"{option} '{text}': write {count} values, as in {like}")
    return words


_PER_BYTE = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)\s*(s|ms|us|ns|ps)(?:/B)?$")
_PARTS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12}


def read_time_per_byte(text: str, option: str) -> float:
    """Seconds per byte: a number with s, ms, us, ns or ps, and /B."""
    if text.strip() == "0":
        return 0.0
    match = _PER_BYTE.match(text.strip())
    if match is None:
        raise CommandError(f"{option} '{text}': write a time per byte with its unit, as in 8ns/B")
    return float(match.group(1)) / _PARTS[match.group(2)]
