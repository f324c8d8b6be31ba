"""Classes of options: typer sees their fields, and commands get values of the classes."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sibyl.errors import CommandError
from sibyl.option_classes import takes_options


@dataclass(frozen=True, kw_only=True)
class Place:
    """Shared by several commands."""

    host: Annotated[str, typer.Option(metavar="NAME", help="Where.")] = "here"
    rounds: Annotated[int, typer.Option("-k", "--rounds")] = 3
    quiet: bool = True  # no option

    def __str__(self) -> str:
        return f"{self.rounds} at {self.host}{'' if self.quiet else ' loudly'}"


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Place):
    """With another default, an option more, and one that is no option above."""

    host: Annotated[str, typer.Option(metavar="NAME", help="Where.")] = "there"
    seed: Annotated[int | None, typer.Option()] = None
    quiet: Annotated[bool, typer.Option("--quiet/--loud")] = True


@dataclass(frozen=True, kw_only=True)
class Told(Place):
    """That wants to know what stands on the command line."""

    given: frozenset[str] = frozenset()


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @takes_options
    def first(name: Annotated[str, typer.Argument()], place: Place) -> None:
        """Say it."""
        print(name, place)

    @app.command()
    @takes_options
    def second(place: Elsewhere, twice: Annotated[bool, typer.Option("--twice")] = False) -> None:
        """Say it."""
        print(place, place.seed, twice)

    @app.command()
    @takes_options
    def third(place: Told) -> None:
        """Say what was said."""
        print(sorted(place.given))

    return app


def run(app: typer.Typer, *words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.output


def test_fields_are_options_with_their_defaults(app: typer.Typer) -> None:
    assert run(app, "first", "me") == "me 3 at here\n"
    assert run(app, "first", "me", "--host", "x", "-k", "7") == "me 7 at x\n"
    assert run(app, "second") == "3 at there None False\n"
    assert run(app, "second", "--loud", "--seed", "4", "--twice") == "3 at there loudly 4 True\n"


def test_a_number_that_the_library_has_no_type_for_is_refused(app: typer.Typer) -> None:
    assert run(app, "first", "me", "-k", str(2**63 - 1)) == f"me {2**63 - 1} at here\n"
    for number in (2**63, -(2**63)):
        refused = CliRunner().invoke(app, ["first", "me", "-k", str(number)])
        assert isinstance(refused.exception, CommandError)
        assert str(refused.exception).startswith(f"--rounds {number}: out of range")


def test_what_is_said_is_told_from_what_holds_anyway(app: typer.Typer) -> None:
    assert run(app, "third") == "[]\n"
    assert run(app, "third", "-k", "3", "--host", "here") == "['host', 'rounds']\n"
    assert Told().given == frozenset()


def test_what_is_no_option_is_none(app: typer.Typer) -> None:
    assert CliRunner().invoke(app, ["first", "me", "--quiet"]).exit_code == 2
    assert "Where." in run(app, "first", "--help")


def test_what_may_be_left_out_is_what_it_is_said_to_be() -> None:
    """Before Python 3.11 the type of a parameter with the default None was another one."""
    typed = Annotated[list[str] | None, typer.Argument(metavar="PROGRAM")]

    @takes_options
    def command(place: Place, program: typed = None) -> None:
        """Say it."""

    assert inspect.signature(command).parameters["program"].annotation == typed
