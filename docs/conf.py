"""Sphinx configuration: ``sphinx-build -W -b html docs docs/_build``."""

from __future__ import annotations

import os
from importlib.metadata import version as _version

# the Python functions tell more than the machine code that stands for them: types of arguments
os.environ["NUMBA_DISABLE_JIT"] = "1"

project = "pin_clusters"
author = "The pin_clusters authors"
copyright = author
release = _version("pin-clusters")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]  # formulas need no network
exclude_patterns = ["_build", "moved"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["crocoddyl", "pink"]  # pages are made without them
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # a dataclass field in "Attributes:" is described once
napoleon_use_rtype = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["moved"]  # pages that others may still link to
html_title = f"pin_clusters {release}"
