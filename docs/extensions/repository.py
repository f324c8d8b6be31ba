"""Links between the site and the rest of the repository, and pages that the repository has already.

The same Markdown is read on the site and as it lies in the repository, so its links are relative
paths. A page whose front matter says `include: PATH` shows that document of the repository. Here
links of both are mended: those to a document that is a page become links to the page, and those to
other files become downloads of a copy. A link to nothing is a warning, and so ends the build. Pages
that texts only name, as those of settings and headers do, become links as well.
"""

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# A link or picture of Markdown, not one in a line of code.
LINK = re.compile(r"(?<!`)(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
# A page named in plain text, as comments of sources name it.
PAGE = re.compile(r"(?:\.\./)?\bdocs/([\w-]+/[\w-]+)\.md")
INCLUDE = re.compile(r"\A---\n(?:.*\n)*?include: (\S+)\n(?:.*\n)*?---\n")


def documents_shown(source):
    """Return by document of the repository the page that shows it."""
    found = {}
    for page in source.rglob("*.md"):
        if match := INCLUDE.match(page.read_text("utf-8")):
            found[(page.parent / match[1]).resolve()] = page
    return found


def rebase(text, folder, page, source, included):
    """Return `text`, whose links are relative to `folder`, with links for the page `page`."""

    def mended(match):
        target = Path(os.path.normpath(folder / match[2]))
        if not target.exists():
            LOGGER.warning("link to %s, which is not there", match[2], location=str(page))
            return match[0]
        target = included.get(target, target)
        if target.is_dir():
            LOGGER.warning("link to %s, which is a folder", match[2], location=str(page))
        if not target.is_relative_to(source) and target.suffix == ".md":
            LOGGER.warning("no page shows %s", target, location=str(page))
        return match[1] + os.path.relpath(target, page.parent) + match[3]

    parts = CODE.split(text)
    parts[::2] = (LINK.sub(mended, part) for part in parts[::2])
    return "".join(parts)


def shown(text, page, source):
    """Return what the page `page` of the site in `source` shows, whose own text this is.

    Its links are those of that place.
    """
    folder = page.parent
    if match := INCLUDE.match(text):
        document = (page.parent / match[1]).resolve()
        text += document.read_text("utf-8")
        folder = document.parent
    return rebase(text, folder, page, source, documents_shown(source))


def _read(app, docname, content):
    source = Path(app.srcdir)
    page = source / f"{docname}.md"
    if page.exists():
        content[0] = shown(content[0], page, source)


def _link_names(app, doctree, docname):
    """Texts of headers, settings and options name pages as files: make links of the names."""
    if app.builder.format != "html":
        return
    for text in list(doctree.findall(nodes.Text)):
        parts = PAGE.split(text)
        if len(parts) == 1 or isinstance(text.parent, (nodes.reference, nodes.FixedTextElement)):
            continue
        made = []
        for number, part in enumerate(parts):
            if number % 2 == 0:
                made.append(nodes.Text(part))
            elif part in app.env.found_docs:
                uri = app.builder.get_relative_uri(docname, part)
                made.append(nodes.reference("", part.rsplit("/", 1)[1], internal=True, refuri=uri))
            else:
                LOGGER.warning("text names docs/%s.md, which is no page", part, location=docname)
        text.parent.replace(text, made)


def setup(app):
    """Listen to pages as they are read and written."""
    app.connect("source-read", _read)
    app.connect("doctree-resolved", _link_names)
    return {"parallel_read_safe": True}
