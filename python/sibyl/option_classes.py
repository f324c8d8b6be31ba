"""Options that commands share: a class of options, once, in the place of parameters in each.

A field of a dataclass that is annotated with a typer.Option is an option. A command takes such
classes as parameters, beside options of its own; typer sees the options one by one:

    @takes_options
    def bench(collective: Annotated[str, typer.Argument()], wishes: Wishes) -> int: ...

A class with a field `given`, a frozenset of names that is no option, is told which of its options
stand on the command line: what is said there may be what would hold anyway.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, get_type_hints

import typer

from sibyl.errors import CommandError

# In larger ones the library does not count. Which of these are too large says whoever uses them.
_MOST = 2**63 - 1


def _options(kind: type) -> list[inspect.Parameter]:
    """The fields of a class that are options, as parameters of a command."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in dataclasses.fields(kind):
        metadata = getattr(hints[field.name], "__metadata__", ())
        if not any(isinstance(each, typer.models.OptionInfo) for each in metadata):
            continue
        default = inspect.Parameter.empty
        if field.default is not dataclasses.MISSING:
            default = field.default
        found.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=hints[field.name],
            )
        )
    return found


def option_named(field: str) -> str:
    """The option of a field, as it stands on the command line."""
    return f"--{field.replace('_', '-')}"


def _check_numbers(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if isinstance(value, int) and abs(value) > _MOST:
            raise CommandError(
                f"{option_named(name)} {value}: out of range; numbers end at {_MOST}"
            )


# The parameter by which typer hands in what it knows of the command line.
_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)


def _wants_to_know(kind: type) -> bool:
    return any(field.name == "given" for field in dataclasses.fields(kind))


def _said(names: Iterable[str], context: typer.Context | None) -> frozenset[str]:
    """Those that stand on the command line."""
    if context is None:
        return frozenset()
    sources = {name: context.get_parameter_source(name) for name in names}
    return frozenset(name for name, source in sources.items() if source and _is_said(source))


def _is_said(source: Any) -> bool:
    return bool(source.name == "COMMANDLINE")  # of click, or of a copy that typer brings


def takes_options(function: Callable[..., int]) -> Callable[..., int]:
    """Have typer see the fields of the classes of options that a command takes.

    The command raises CommandError for whole numbers that are too large for every option.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        # As written: before Python 3.11 get_type_hints() makes what has None for a default an
        # Optional[Annotated[...]], in which typer does not see the typer.Argument.
        kind = parameter.annotation
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            options = _options(kind)
            groups[parameter.name] = kind, [option.name for option in options]
            parameters += options
        else:
            only = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=only, annotation=kind))

    if any(_wants_to_know(kind) for kind, _ in groups.values()):
        parameters.append(_CONTEXT)

    @functools.wraps(function)
    def command(**given: Any) -> int:
        context = given.pop(_CONTEXT.name, None)
        _check_numbers(given)
        for name, (kind, options) in groups.items():
            values = {option: given.pop(option) for option in options}
            if _wants_to_know(kind):
                values["given"] = _said(options, context)
            given[name] = kind(**values)
        return function(**given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
