"""The command ``pin-clusters``, outside the package, whose import alone takes long enough to be interrupted."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command; Ctrl-C ends it with one line and exit code 130, also while it is being imported."""
    try:
        from pin_clusters._cli.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted.\n")
        sys.exit(INTERRUPTED)
