"""Pages and pictures from the templates in data/pages, by Jinja2.

What a template shows is text and is escaped, whoever it comes from: names of programs, hosts and
files, arguments of commands. Modules say what there is to see, templates how it looks.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # for the commands that need it

    environment = Environment(
        loader=PackageLoader("sibyl", "data/pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["fixed"] = lambda number, digits=1: f"{number:.{digits}f}"
    # Data of scripts: without blanks, and in the order in which it was given.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def render(template: str, **values: object) -> str:
    """A page or a picture.

    Args:
        template: a file in data/pages.
        values: what it shows, by the names that the template has for them.
    """
    return _environment().get_template(template).render(values)
