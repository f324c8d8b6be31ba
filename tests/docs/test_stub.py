"""The Python reference shows what the stub of the bindings says, and all that is exported."""

import re
import sys

from pages import DOCS

import sibyl

sys.path.insert(0, str(DOCS / "extensions"))
import stub_docstrings


def test_a_function_of_the_bindings_is_described_by_its_stub():
    signature, docstring = stub_docstrings.FROM_STUB["make_plan"]
    assert signature.startswith("(collective: str, algorithm: str, ranks: int, root: int=0, ")
    assert "Raises:" in docstring
    assert stub_docstrings.FROM_STUB["Plan.to_goal"][0] == "(count: int=1, element_bytes: int=8)"


def test_every_public_name_is_on_the_page():
    page = (DOCS / "reference" / "python.md").read_text()
    shown = set(re.findall(r"auto\w+:: sibyl\.(\w+)", page))
    assert set(sibyl.__all__) - {"__version__"} <= shown
