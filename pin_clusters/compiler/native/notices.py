"""Notices to the user, which are printed as one line to stderr."""

import sys


def print_notice(text: str, end: str = "\n") -> None:
    print(f"pin_clusters: {text}", file=sys.stderr, end=end, flush=True)  # noqa: T201
