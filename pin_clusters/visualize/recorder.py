"""A meshcat window that remembers the scene, so that it can be written into a page without a server."""

from typing import Any

import umsgpack


class Recorder:
    """Stands where ``meshcat.Visualizer`` has its ``ViewerWindow``: keeps what is sent, and passes it on.

    Args:
        live: Window of a running meshcat server; None if there is none.
    """

    def __init__(self, live: Any = None) -> None:
        self.live = live
        self._nodes: dict[str, dict[str, dict[str, Any]]] = {}
        self._animation: dict[str, Any] | None = None

    def send(self, command: Any) -> None:
        """Keep a command of meshcat; a later one of the same kind on the same path replaces it."""
        data = command.lower()
        kind, path = data["type"], data.get("path", "")
        if kind == "set_animation":
            self._animation = data
        elif kind == "delete":
            below = path.rstrip("/") + "/"
            for known in [p for p in self._nodes if p == path or p.startswith(below)]:
                del self._nodes[known]
        else:
            node = self._nodes.setdefault(path, {})
            if kind == "set_object":
                node.clear()
            node[f"{kind}:{data.get('property', '')}"] = data
        if self.live is not None:
            self.live.send(command)

    @property
    def commands(self) -> list[dict[str, Any]]:
        """What makes the scene anew, in order; the animation comes last."""
        found = [c for node in self._nodes.values() for c in node.values()]
        return [*found, self._animation] if self._animation is not None else found

    def packed(self) -> list[bytes]:
        """Return the commands as the browser reads them."""
        return [umsgpack.packb(c) for c in self.commands]

    def transform(self, path: str) -> Any:
        """Return the last transform that was sent for a path.

        Args:
            path: Such as ``"/meshcat/pinocchio/links/knee"``.

        Returns:
            16 numbers, column by column, or None.
        """
        return self._nodes.get(path, {}).get("set_transform:", {}).get("matrix")

    @property
    def paths(self) -> list[str]:
        """Paths of all nodes that something was sent to."""
        return list(self._nodes)

    def __getattr__(self, name: str) -> Any:
        """Leave the rest (``web_url``, ``open``, ``wait``, ``get_image``) to the running server."""
        live = self.__dict__.get("live")
        if live is None:
            raise AttributeError(
                f"{name!r} needs a running meshcat server, and this viewer only records. Call initViewer() without "
                "viewer= for a server, or write a page: static_html()."
            )
        return getattr(live, name)
