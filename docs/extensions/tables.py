"""How tables and lists look: short cells stay on one line, and numbers stand under each other.

Most tables hold measurements. Without this a browser breaks `1.09 (0.92-1.24)` at its hyphen to
make room for columns of words; wide tables scroll instead. Lists of parameters have a dash between
name and meaning, which Sphinx leaves as `--` where it may not touch quotes and options either.
"""

import re

from docutils import nodes

SHORT = 24  # characters
NUMBER = re.compile(r"[-+<]? ?\d[\d .,]*( ?(%|x|ms|us|ns|s|KiB|MiB|GiB))?( \([^)]*\))?$")


def _mark(app, doctree):
    for entry in doctree.findall(nodes.entry):
        text = entry.astext().strip()
        if len(text) <= SHORT:
            entry["classes"].append("short")
        if NUMBER.match(text):
            entry["classes"].append("number")
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app):
    """Listen to pages that have been read."""
    app.connect("doctree-read", _mark)
    return {"parallel_read_safe": True}
