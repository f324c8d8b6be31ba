#!/usr/bin/env python3
"""Lets atheris fuzz a reader in Python: python_fuzz.py READER [LIBFUZZER_ARGUMENT...].

Without arguments prints the names of the readers. The readers themselves are in
tests/python/fuzz_readers.py, where the ordinary tests go over the corpus as well.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))


def main() -> None:
    """Print the readers, or fuzz one until libFuzzer ends the process."""
    if len(sys.argv) < 2:
        from fuzz_readers import READERS

        print("\n".join(READERS))
        return
    import atheris

    name = sys.argv.pop(1)
    # Only what is instrumented leads the fuzzer.
    with atheris.instrument_imports(include=["sibyl", "json"]):
        from fuzz_readers import feed
    atheris.Setup(sys.argv, lambda data: feed(name, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
