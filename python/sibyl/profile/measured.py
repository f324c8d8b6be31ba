"""What Sibyl has given back at a site where it was served in turns, as measured.

The governor and prediction have the MPI library serve some calls of a site that Sibyl serves
otherwise, so a profile of a served run holds both. A call costs the seconds of all its ranks in it,
waiting included: so what is compared is what `gain.predicted_seconds` foretells. Set-up, planning
and the machine's own pauses fall into single calls; the mean of each kind is therefore that of the
middle half of its calls.
"""

import numpy

from sibyl.profile.sites import Site

CALLS_NEEDED = 4  # of each kind


def measured_gain(site: Site) -> float | None:
    """Seconds of all ranks that all calls take less served by Sibyl than by the MPI library.

    Returns:
        Negative where Sibyl's calls cost more; None where one kind has fewer than CALLS_NEEDED.
    """
    seconds = (site.leave - site.enter).sum(axis=1)
    by_sibyl = seconds[site.by_sibyl.all(axis=1)]
    native = seconds[~site.by_sibyl.any(axis=1)]
    if min(len(by_sibyl), len(native)) < CALLS_NEEDED:
        return None
    # A call stands for as many as its weight says.
    return float(site.weight.mean(axis=1).sum()) * (_middle_mean(native) - _middle_mean(by_sibyl))


def _middle_mean(values: numpy.ndarray) -> float:
    ordered = numpy.sort(values)
    quarter = len(ordered) // 4
    return float(ordered[quarter : len(ordered) - quarter].mean())
