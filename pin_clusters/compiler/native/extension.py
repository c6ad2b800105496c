"""The C extension ``pin_clusters._native``, if it is installed and not switched off.

Environment:
    PIN_CLUSTERS_CALLS: ``python`` does not import the extension.
"""

import importlib
import os
from types import ModuleType
from typing import Final

INTERFACE: Final = 2
"""Equal to INTERFACE of ``_native.c``; increased in both when one of them no longer works with an older other one."""


def _load() -> tuple[ModuleType | None, str]:
    """Return the extension, or None and the reason.

    Raises:
        ImportError: The extension was built for another version of the Python code.
    """
    if os.environ.get("PIN_CLUSTERS_CALLS", "").strip() == "python":
        return None, "PIN_CLUSTERS_CALLS=python"
    try:
        found = importlib.import_module("pin_clusters._native")
    except ModuleNotFoundError:
        return None, "the C extension is not built"
    except ImportError as error:
        return None, f"the C extension cannot be loaded: {error}"
    if found.INTERFACE != INTERFACE:
        raise ImportError(
            f"The C extension {found.__file__} has interface {found.INTERFACE}, but this version of pin_clusters needs "
            f"interface {INTERFACE}. Install the package again: `pip install --force-reinstall --no-deps pin-clusters`"
            ", or `pip install -e .` in a checkout. PIN_CLUSTERS_CALLS=python runs without the extension."
        )
    return found, ""


native, missing = _load()
"""The extension or None, and why it is None."""
