"""The C extension ``pin_clusters._native``, if it is installed and enabled.

Environment:
    PIN_CLUSTERS_CALLS: Set it to ``python`` to disable the extension.
"""

import importlib
import os
from types import ModuleType
from typing import Final

INTERFACE: Final = 2
"""Version that must equal INTERFACE in ``_native.c``; increase both if one side becomes incompatible."""


def _load() -> tuple[ModuleType | None, str]:
    if os.environ.get("PIN_CLUSTERS_CALLS", "").strip() == "python":
        return None, "PIN_CLUSTERS_CALLS=python"
    try:
        module = importlib.import_module("pin_clusters._native")
    except ModuleNotFoundError:
        return None, "the C extension is not built"
    except ImportError as error:
        return None, f"the C extension cannot be loaded: {error}"
    if module.INTERFACE != INTERFACE:
        raise ImportError(
            f"The C extension {module.__file__} has interface {module.INTERFACE}, but this version of pin_clusters "
            f"needs interface {INTERFACE}. Reinstall it: `pip install --force-reinstall --no-deps pin-clusters`"
            ", or `pip install -e .` in a checkout. Or set PIN_CLUSTERS_CALLS=python to run without it."
        )
    return module, ""


native, missing = _load()
"""The extension and "", or None and the reason why it is not used."""
