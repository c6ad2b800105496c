"""One line to the user, on stderr."""

import sys


def say(text: str, end: str = "\n") -> None:
    """Tell the user."""
    print(f"pin_clusters: {text}", file=sys.stderr, end=end, flush=True)  # noqa: T201
