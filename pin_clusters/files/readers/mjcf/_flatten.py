"""Documents with elements that MuJoCo's compiler expands, written out by MuJoCo itself if it is installed."""

from __future__ import annotations

from typing import Any

from ....errors import LoadError
from .._arguments import is_xml
from ._bodies import NotPlainError
from ._document import Document

MAX_COPIES = 10_000
"""More of them are refused: MuJoCo would fill the memory, and cannot be interrupted."""


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
    _check_size(document)
    try:
        spec = mujoco.MjSpec.from_string(given) if is_xml(given) else mujoco.MjSpec.from_file(str(given))
        spec.compile()
        return str(spec.to_xml())
    except Exception as error:  # whatever its compiler raises
        raise LoadError(f"{reason} MuJoCo {mujoco.__version__} was asked to, but says: {error}") from None


def _check_size(document: Document) -> None:
    """Raise if the elements are copied too often; what is no number is for MuJoCo to refuse."""
    stack = [(document.root, 1)]
    while stack:
        element, copies = stack.pop()
        if element.tag in ("replicate", "composite", "flexcomp"):
            for count in element.get("count", "").split():
                copies *= max(1, int(count)) if count.isdecimal() else 1
        if copies > MAX_COPIES:
            raise LoadError(
                f"<{element.tag} count={element.get('count')!r}> makes {copies:.3g} copies, more than {MAX_COPIES:,}. "
                "This is no robot."
            )
        stack.extend((child, copies) for child in element)
