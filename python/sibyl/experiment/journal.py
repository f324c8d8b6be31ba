"""The finished cells of a run, kept until its results are written, so that --resume can go on.

One file per cell under the user's cache directory, written beside and renamed: a cell is there as a
whole or not at all. The directory is named by a fingerprint of the grid, the MPI program and the
launcher, so that nothing is mixed with measurements of something else.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from sibyl.experiment.samples import CellResult
from sibyl.files import write_whole


class Journal:
    """The finished cells of one grid."""

    def __init__(self, fingerprint: str) -> None:
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self.directory = Path(cache) / "sibyl" / "bench" / fingerprint

    def read(self) -> list[CellResult]:
        """What is there, in the order in which it was measured."""
        results = []
        for path in sorted(self.directory.glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                results.append(CellResult.from_json(json.loads(path.read_text(encoding="utf-8"))))
        return results

    def add(self, result: CellResult) -> None:
        """Keep a finished cell."""
        self.directory.mkdir(parents=True, exist_ok=True)
        number = len(list(self.directory.glob("*.json")))
        write_whole(self.directory / f"{number:06}.json", json.dumps(result.as_json()))

    def forget(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.directory, ignore_errors=True)
