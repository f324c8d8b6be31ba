"""Options that commands share: a class of options, once, in the place of parameters in each.

A field of a dataclass that is annotated with a typer.Option is an option. A command takes such
classes as parameters, beside options of its own; typer sees the options one by one:

    @takes_options
    def bench(collective: Annotated[str, typer.Argument()], wishes: Wishes) -> int: ...
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
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

    @functools.wraps(function)
    def command(**given: Any) -> int:
        _check_numbers(given)
        for name, (kind, options) in groups.items():
            given[name] = kind(**{option: given.pop(option) for option in options})
        return function(**given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
