"""Documents with elements that MuJoCo's compiler expands, written out by MuJoCo itself if it is installed."""

from __future__ import annotations

from typing import Any

from ...errors import LoadError
from ._bodies import NotPlainError
from ._document import Document


def flattened(given: Any, document: Document, reason: NotPlainError) -> str:
    """Return the text of the document as MuJoCo's compiler writes it.

    Raises:
        NotPlainError: MuJoCo is not installed; it says what to do with it.
        LoadError: MuJoCo cannot compile the document.
    """
    try:
        import mujoco
    except ImportError:
        raise reason from None
    try:
        text = isinstance(given, str) and given.lstrip("\ufeff \t\r\n").startswith("<")
        spec = mujoco.MjSpec.from_string(given) if text else mujoco.MjSpec.from_file(str(given))
        spec.compile()
        return str(spec.to_xml())
    except Exception as error:  # whatever its compiler raises
        raise LoadError(f"{reason} MuJoCo {mujoco.__version__} was asked to, but says: {error}") from None
