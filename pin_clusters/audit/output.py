"""The page and its numbers as files: both whole, or none."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

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
    folder = Path(folder)
    texts = {
        folder / PAGE: page(result),
        folder / NUMBERS: json.dumps(result.as_dict(), indent=2, allow_nan=False) + "\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, str] = {}
    try:
        for path, text in texts.items():
            handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
            written[path] = name
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            mask = os.umask(0o077)  # temporary files are readable by their owner only
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
        for path in texts:
            os.replace(written[path], path)
            del written[path]
    finally:
        for name in written.values():
            Path(name).unlink(missing_ok=True)
    first, second = texts
    return first, second
