"""A profile as an OTF2 archive, which Vampir, Score-P's tools and others read.

A rank is a location, a call site a region with its file and line; the part of a call that was
waiting is a region inside. An archive is a directory; the library that writes it comes as the
package otf2.
"""

import shutil
from pathlib import Path
from typing import Any

import numpy

from sibyl.errors import CommandError
from sibyl.files import check_writable
from sibyl.paths import is_there
from sibyl.profile import words
from sibyl.profile.chrome import CALLS_MOST
from sibyl.profile.profile import Profile

SUFFIX = ".otf2"
TICKS = 1_000_000_000  # a second
WAITING = "waiting for late ranks"


def check(option: str, path: Path) -> None:
    """Notice before a long run that there is no library, or no place."""
    _library()
    if is_there(path):
        raise CommandError(f"{option} {path}: is there already; an OTF2 archive is a new directory")
    check_writable(option, path)


def _library() -> Any:
    try:
        import otf2
    except ImportError as error:
        raise CommandError("--trace *.otf2 needs otf2; install it: pip install otf2") from error
    return otf2


def write_otf2(profile: Profile, path: Path) -> None:
    """Write the archive.

    Raises:
        CommandError: it cannot be written.
    """
    otf2 = _library()
    try:
        path.mkdir()
        try:
            with otf2.writer.open(str(path), timer_resolution=TICKS) as archive:
                _write(profile, archive, otf2)
        except BaseException:  # half of it would be of no use, and in the way of the next one
            shutil.rmtree(path, ignore_errors=True)
            raise
    except Exception as error:  # errors of the library's C part have no class that one may name
        raise CommandError(f"--trace {path}: cannot be written: {error}") from error


def _write(profile: Profile, archive: Any, otf2: Any) -> None:
    definitions = archive.definitions
    machine = definitions.system_tree_node("machine")
    nodes = {
        host: definitions.system_tree_node(host, parent=machine)
        for host in dict.fromkeys(profile.world.hosts.values())
    }
    waiting = definitions.region(WAITING)
    regions = [
        definitions.region(
            f"{site.collective} at {words.where(profile, site.place)}",
            canonical_name=f"MPI_{site.collective.capitalize()}",
            paradigm=otf2.Paradigm.MPI,
            source_file=site.place.path,
            begin_line_number=site.place.line,
            end_line_number=site.place.line,
        )
        for site in profile.sites
    ]
    for rank, host in sorted(profile.world.hosts.items()):
        group = definitions.location_group(f"rank {rank}", system_tree_parent=nodes[host])
        writer = archive.event_writer("collectives", group=group)
        for site, enter, until, leave in _calls_of(profile, rank):
            writer.enter(enter, regions[site])
            if until > enter:
                writer.enter(enter, waiting)
                writer.leave(until, waiting)
            writer.leave(leave, regions[site])


def _calls_of(profile: Profile, rank: int) -> list[list[int]]:
    """A rank's calls in order: site, and in ticks when it entered, waited until, and left."""
    recorded = sum(site.enter.size for site in profile.sites)
    every = max(1, -(-recorded // CALLS_MOST))
    parts = []
    for number, site in enumerate(profile.sites):
        if rank not in site.members or not len(site.enter):
            continue
        column = site.members.index(rank)
        enter, leave = site.enter[::every, column], site.leave[::every, column]
        until = enter + site.attribution.waiting[::every, column]
        ticks = [numpy.rint(times * TICKS).astype("i8") for times in (enter, until, leave)]
        parts.append(numpy.column_stack([numpy.full(len(enter), number), *ticks]))
    if not parts:
        return []
    calls = numpy.concatenate(parts)
    calls = calls[numpy.argsort(calls[:, 1], kind="stable")]
    # Calls of several threads may lie over each other, and on a location they must not.
    begins = numpy.maximum.accumulate(numpy.append(0, calls[:-1, 3]))
    return numpy.maximum(calls, begins[:, None] * (numpy.arange(4) > 0)).tolist()
