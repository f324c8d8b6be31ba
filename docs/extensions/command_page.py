"""`{sibyl-command} VERB`: usage, description, arguments and options of a verb, from the command.

sphinx-click cannot do it: typer has its own copy of click, whose classes sphinx-click does not
know. Arguments and options become Sphinx's own: they are in the index, can be referred to, and have
the form of a man page in a man page.
"""

import inspect
import os
import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from sibyl.cli import app

COMMAND = get_command(app)


def _first_sentence(text):
    return re.split(r"(?<=\w)\.(?:\s|$)", " ".join(text.split()), maxsplit=1)[0].rstrip(":")


def _plain(text):
    """Return a help text as Markdown: rich's markup left out, names of options as code."""
    text = re.sub(r"(?<!\\)\[/?(?:bold|italic|dim|cyan|green|yellow|red)[^\]]*\]", "", text)
    text = text.replace("\\[", "[").replace("\b", "")
    text = re.sub(r"([\\*_<\[\]|])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)", r"`\1`", text)


VERBS = {
    name: _first_sentence(command.help or "")
    for name, command in sorted(COMMAND.commands.items())
    if not command.hidden
}


def _is_option(parameter):
    return parameter.param_type_name == "option"


def _metavar(parameter):
    """Return what stands for the value: `FILE` of `--json FILE`."""
    if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
        return ""
    return parameter.metavar or parameter.name.upper()


def _usage(command, context):
    # typer puts braces around a metavar, which has its own notation here.
    pieces = " ".join(command.collect_usage_pieces(context))
    return re.sub(r"\{([^}]*)\}(\.\.\.)?", r"\1", pieces)


def _defaults(parameter, context):
    """Return what a user reads of the default, as --help says it, or an empty text."""
    record = parameter.get_help_record(context)
    found = re.search(r"\[default: (.*?)\]$", record[1]) if record else None
    return found[1].rstrip("]") if found else ""


def _described(names, said):
    return [f"::::{{option}} {names}", *_plain(inspect.cleandoc(said)).splitlines(), "::::", ""]


def _option(parameter, context):
    metavar = _metavar(parameter)
    names = [*parameter.opts, *parameter.secondary_opts]
    said = parameter.help or ""
    if default := _defaults(parameter, context):
        said += f" Default: {default}."
    return _described(", ".join(f"{name} {metavar}".rstrip() for name in names), said)


def _argument(parameter, _):
    said = getattr(parameter, "help", None) or ""
    if not said or not parameter.required:
        said += "Required." if parameter.required else " May be left out."
    return _described(_metavar(parameter), said)


def _section(title, program, command, context):
    """Return usage, description, arguments and options of a command, and of its own verbs."""
    yield from (f"## {title}", "", "```", f"{program} {_usage(command, context)}", "```", "")
    yield from (_plain(inspect.cleandoc(command.help or "")), "")
    shown = [p for p in command.get_params(context) if not getattr(p, "hidden", False)]
    if shown:
        yield from ("## Options" if title == "Synopsis" else "### Options", "")
    yield from (f":::{{program}} {program}", ":::", "")
    for parameter in shown:
        describe = _option if _is_option(parameter) else _argument
        yield from describe(parameter, context)


class CommandDirective(SphinxDirective):
    """The directive; without a verb it describes `sibyl` itself."""

    optional_arguments = 1

    def run(self):
        """Return the nodes of the page's generated part."""
        top = COMMAND.context_class(COMMAND, info_name="sibyl")
        if not self.arguments:
            lines = _section("Synopsis", "sibyl", COMMAND, top)
            return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)
        verb = self.arguments[0]
        command = COMMAND.commands[verb]
        context = command.context_class(command, info_name=verb, parent=top)
        lines = [*_section("Synopsis", f"sibyl {verb}", command, context)]
        for name, own in getattr(command, "commands", {}).items():
            inner = own.context_class(own, info_name=name, parent=context)
            lines += _section(f"sibyl {verb} {name}", f"sibyl {verb} {name}", own, inner)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class VerbsDirective(SphinxDirective):
    """`{sibyl-verbs}`: the verbs as a list, each with a link to its page."""

    def run(self):
        """Return the list."""
        lines = []
        for verb, summary in VERBS.items():
            lines += [f"[sibyl {verb}]({verb}.md)", f": {_plain(summary)}.", ""]
        return self.parse_text_to_nodes("\n".join(lines))


PAGE = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]+\.md)(?:#[^)]*)?\)")


def _name_pages(app, docname, content):
    """Where a man page refers to another document, it says which file that is."""
    if app.builder.name == "man" and docname.startswith("reference/verbs/"):

        def named(match):
            return f"{match[1]}: {os.path.normpath(f'docs/reference/verbs/{match[2]}')}"

        content[0] = PAGE.sub(named, content[0])


def _without_links(app, doctree, docname):
    """Man pages lead nowhere: of a link its text stays, which would be followed by `<>`."""
    if app.builder.name == "man":
        for link in list(doctree.findall(nodes.reference)):
            link.replace_self(link.children)


def setup(app):
    """Register the directives."""
    app.connect("source-read", _name_pages)
    app.connect("doctree-resolved", _without_links)
    app.add_directive("sibyl-command", CommandDirective)
    app.add_directive("sibyl-verbs", VerbsDirective)
    return {"parallel_read_safe": True}
