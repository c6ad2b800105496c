"""Sphinx configuration: ``sphinx-build -W -b html docs docs/_build``."""

from __future__ import annotations

import sys
from importlib.metadata import version as _version
from pathlib import Path

import numba

# Signatures of Python functions have types, and compiled functions have none. An environment variable would also switch
# off the compiler in the processes that run the notebooks.
numba.config.DISABLE_JIT = 1
sys.path.insert(0, str(Path(__file__).parent))

project = "pin_clusters"
author = "The pin_clusters authors"
copyright = author
release = _version("pin-clusters")
version = release

extensions = [
    "myst_nb",  # Markdown and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas need no network
    "api_pages",
    "command_pages",
]
default_role = "any"  # a name in single backticks is a link; one that does not exist is a warning
exclude_patterns = ["_build", "moved", "**.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # the stored outputs are for readers of the repository
nb_execution_in_temp = True
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # notices of the compiler

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 200
toc_object_entries_show_parents = "hide"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["crocoddyl", "gymnasium", "pink", "unisim"]  # pages are made without them
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # a dataclass field in "Attributes:" is described once
napoleon_use_rtype = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["moved"]  # pages that others may still link to
html_title = f"pin_clusters {release}"
