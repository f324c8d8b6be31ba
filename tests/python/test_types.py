"""The types that Sibyl gives to programs: annotations of the sources, the stub of the bindings.

What is strict here is the public interface, and what it is made of; the command's insides are not.
"""

import ast
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sibyl
from sibyl import _core

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = (
    "__init__.py",
    "errors.py",
    "schedules.py",
    "persistent/*.py",
    "simulator/model.py",
    "simulator/run.py",
    "mpi/bindings.py",
    "mpi/buffers.py",
    "mpi/request.py",
)
PROGRAM = Path(__file__).parent / "programs" / "typed.py"


def mypy(tmp_path: Path, *words: object) -> subprocess.CompletedProcess[str]:
    options = ["--cache-dir", tmp_path / "cache", *words]
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", *options],
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(ROOT / "python")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(300)
def test_a_program_and_the_public_interface_are_strictly_typed(tmp_path):
    package = ROOT / "python" / "sibyl"
    sources = [path for each in PUBLIC for path in package.glob(each) if path.suffix == ".py"]
    assert len(sources) >= len(PUBLIC)
    # The insides are read, since types come from there, but not judged.
    done = mypy(tmp_path, "--follow-imports=silent", "--explicit-package-bases", *sources, PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.suite
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("rounds: int", "rounds: str", 'expression has type "int"'),
        ('"skewed:0.02", ranks=8', '"skewed:0.02", ranks="8"', 'has incompatible type "str"'),
        ("absorbed: float", "absorbed: str", 'expression has type "float"'),
        ("-> persistent.Request:", "-> sibyl.Plan:", 'expected "Plan"'),
    ],
)
def test_a_program_that_takes_another_type_is_refused(tmp_path, right, wrong, says):
    text = PROGRAM.read_text()
    assert text.count(right) == 1
    program = tmp_path / "program.py"
    program.write_text(text.replace(right, wrong))
    done = mypy(tmp_path, "--follow-imports=silent", "--explicit-package-bases", program)
    assert done.returncode == 1, done.stdout
    assert says in done.stdout


def test_the_program_does_what_it_says_without_an_mpi(tmp_path):
    done = subprocess.run(
        [sys.executable, PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "algorithms listen" in done.stdout


def test_the_program_takes_all_that_the_package_gives():
    text = PROGRAM.read_text()
    named = {name for name in sibyl.__all__ if f"sibyl.{name}" in text}
    # The other models of a network are taken as Nodes is.
    assert set(sibyl.__all__) - named == {"Algorithm", "LogGP", "Queue", "__version__", "prove"}


# What stubtest says of every class and function of nanobind, whose types it does not know.
OF_NANOBIND = re.compile(
    r"is not a function|metaclass differs|is a disjoint base|__init__ is inconsistent, stub does"
)


@pytest.mark.timeout(300)
def test_the_stub_has_the_names_that_the_bindings_have(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "sibyl._core"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert any("is not a function" in line for line in lines), done.stdout + done.stderr
    assert [line for line in lines if not OF_NANOBIND.search(line)] == []


def functions_of_stub() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, by name and Class.name; properties are no functions."""
    stub = ast.parse((ROOT / "python" / "sibyl" / "_core.pyi").read_text())
    for node in stub.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inside:
            if isinstance(each, ast.FunctionDef) and not each.decorator_list:
                prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield prefix + each.name, each


def test_functions_of_the_stub_take_what_those_of_the_bindings_take():
    seen = 0
    for name, stub in functions_of_stub():
        function = operator.attrgetter(name)(_core)
        if not hasattr(function, "__nb_signature__"):
            continue  # a slot of Python's own, as __len__
        [(text, _, _)] = function.__nb_signature__
        # Its defaults stand apart, by number; what it says of arrays is no Python.
        text = re.sub(r"= \\\d+", "= ...", re.sub(r"ndarray\[[^\]]*\]", "ndarray", text))
        bound = ast.parse(f"{text}: ...").body[0]
        assert isinstance(bound, ast.FunctionDef)
        # Those that have no name in the bindings can only be given by their place: `/` in the stub.
        for each in ("args", "kwonlyargs"):
            found, given = getattr(stub.args, each), getattr(bound.args, each)
            assert [a.arg for a in found] == [a.arg for a in given], name
        assert len(stub.args.posonlyargs) == len(bound.args.posonlyargs), name
        assert len(stub.args.defaults) == len(bound.args.defaults), name
        seen += 1
    assert seen > 15
