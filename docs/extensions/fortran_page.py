"""`{sibyl-fortran} PREFIX...`: the Fortran interfaces of the functions whose names match.

Written from src/fortran/functions.txt by what the module's generator says of each argument, so that
the page cannot say anything but the module. Arguments: regular expressions of names.
"""

import importlib.util
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOM = Path(__file__).resolve().parents[2] / "src" / "fortran"
OPTIONAL = "integer, intent(out), optional :: ierror"


def _generator():
    spec = importlib.util.spec_from_file_location("fortran_generator", ROOM / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def interface(function, generate):
    """Return the lines of one function's interface as `use mpi_f08` sees it."""
    names = ", ".join([*(name for name, _ in function.arguments), "ierror"])
    lines = generate.wrapped(f"subroutine {function.name}({names})", 0)
    by_type = {}
    for name, kind in function.arguments:
        by_type.setdefault(generate.declared(kind, True), []).append(name)
    lines += [f"  {declared} :: {', '.join(each)}" for declared, each in by_type.items()]
    return [*lines, f"  {OPTIONAL}"]


class FortranDirective(SphinxDirective):
    """The directive."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Return one block of code for all that match."""
        generate = _generator()
        wanted = [re.compile(each) for each in self.arguments[0].split()]
        functions = generate.read_functions(ROOM / "functions.txt")
        found = [f for f in functions if any(each.fullmatch(f.name) for each in wanted)]
        if not found:
            raise self.error(f"no function of {ROOM / 'functions.txt'} matches")
        text = "\n\n".join("\n".join(interface(f, generate)) for f in found)
        return [nodes.literal_block(text, text, language="fortran")]


def setup(app):
    """Register the directive."""
    app.add_directive("sibyl-fortran", FortranDirective)
    return {"parallel_read_safe": True}
