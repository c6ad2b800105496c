"""The page and its numbers as files: both whole, or none."""

from __future__ import annotations

import json
from pathlib import Path

from ..pages.files import write_all
from .page import page
from .result import AuditResult

PAGE, NUMBERS = "audit.html", "audit.json"


def write(result: AuditResult, folder: str | Path) -> tuple[Path, Path]:
    """Write ``audit.html``, one self-contained page, and ``audit.json``, all numbers.

    Both are written to temporary files first, so that nothing is left half-written. The same audit gives the same
    bytes, but for the versions that the page names.

    Args:
        result: What ``run`` returned.
        folder: Where to; it is made if it does not exist.

    Returns:
        The paths of the page and of the numbers.

    Raises:
        OSError: A file cannot be written.

    Example:
        >>> import tempfile
        >>> import pin_clusters as pc
        >>> from pin_clusters import audit
        >>> result = audit.run(pc.load("mit_humanoid_leg"), duration=0.7)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page, numbers = audit.write(result, folder)
        >>> page.name, numbers.name
        ('audit.html', 'audit.json')
    """
    texts = {PAGE: page(result), NUMBERS: json.dumps(result.as_dict(), indent=2, allow_nan=False) + "\n"}
    first, second = write_all(folder, texts)
    return first, second
