"""What autodoc says of `sibyl._core` comes from its stub.

The bindings carry one line each, the stub (python/sibyl/_core.pyi) whole docstrings and signatures.
"""

import ast
from pathlib import Path

STUB = Path(__file__).resolve().parents[2] / "python" / "sibyl" / "_core.pyi"


def read_stub(text):
    """Return (signature, docstring) of every class, function and method by its dotted name."""
    found = {}

    def visit(body, prefix):
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = (None, ast.get_docstring(node))
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                arguments = ast.unparse(node.args).removeprefix("self").lstrip(", ")
                found[prefix + node.name] = (f"({arguments})", ast.get_docstring(node))

    visit(ast.parse(text).body, "")
    return found


FROM_STUB = read_stub(STUB.read_text("utf-8"))


def _of(name):
    return FROM_STUB.get(name.removeprefix("sibyl."), (None, None))


def _docstring(app, what, name, obj, options, lines):
    if docstring := _of(name)[1]:
        lines[:] = [*docstring.splitlines(), ""]


def _signature(app, what, name, obj, options, signature, returns):
    own = _of(name)[0]
    return (own, None) if own else None


def setup(app):
    """Speak before napoleon does, which takes the sections of a docstring apart."""
    app.connect("autodoc-process-docstring", _docstring, priority=100)
    app.connect("autodoc-process-signature", _signature, priority=100)
    return {"parallel_read_safe": True}
