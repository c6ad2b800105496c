"""The commands with their options and help; what they do is in the modules of ``_cli``, imported when they run."""

from __future__ import annotations

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
POSITIVE = click.FloatRange(min=0.0, min_open=True)
