"""The documentation site and the man pages: `make docs` builds both from this folder.

Every page is Markdown (MyST). What other rooms own is not copied here: the command's options come
from the command, C and C++ from the headers (Doxygen, Breathe), Python from the package, Fortran
from src/fortran/functions.txt, and documents of the repository's top are included.
"""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "extensions"))

from command_page import VERBS  # noqa: E402 - it lies in the folder just named

project = "Sibyl"
author = "the authors of Sibyl"
copyright = author
release = re.search(r"project\(sibyl VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
version = release

extensions = [
    "breathe",
    "command_page",
    "fortran_page",
    "myst_parser",
    "repository",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "stub_docstrings",
    "tables",
]
exclude_patterns = ["README.md", "results/reproduction/*.md"]
highlight_language = "none"
default_role = "code"
smartquotes = False  # they would turn the quotes of commands in option texts
nitpicky = True
# C and C++ name types of MPI and of the standard libraries, Python those of its own and of numpy:
# they are documented elsewhere, and nothing is fetched to link to them.
nitpick_ignore_regex = [
    (r"c:.*", r"MPI_.*|SIBYL_Request_object|u?int\d+_t|size_t"),
    (r"cpp:.*", r"(std|sibyl::detail)(::.*)?|u?int\d+_t|size_t"),
    (r"py:.*", r"sibyl\.errors\..*|(collections|mpi4py|numpy|pathlib|os|typing)\..*"),
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

breathe_projects = {"sibyl": os.environ.get("SIBYL_DOXYGEN_XML", str(ROOT / "build/docs/xml"))}
breathe_default_project = "sibyl"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_show_include = False
breathe_default_members = ("members", "undoc-members")

python_maximum_signature_line_length = 88
autodoc_mock_imports = ["mpi4py"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_custom_sections = [("Source", "notes_style")]
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = f"Sibyl {release}"
html_static_path = ["static"]
html_css_files = ["sibyl.css"]
html_logo = "static/sibyl.svg"
html_favicon = "static/sibyl.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {"color-brand-primary": "#7a3e9d", "color-brand-content": "#7a3e9d"},
    "dark_css_variables": {"color-brand-primary": "#c79be3", "color-brand-content": "#c79be3"},
}

man_pages = [
    ("reference/verbs/index", "sibyl", "MPI collectives that know who is late", [author], 1),
    *(
        (f"reference/verbs/{verb}", f"sibyl-{verb}", summary, [author], 1)
        for verb, summary in VERBS.items()
    ),
]
man_show_urls = False
man_make_section_directory = True
