"""A meshcat window that records the scene, which can then be written into a page without a server."""

from typing import Any

import umsgpack


class Recorder:
    """Replacement of meshcat's ``ViewerWindow`` that records all commands and passes them on.

    Args:
        live: Window of a running meshcat server; None without a server.

    Example:
        >>> import pin_clusters as pc
        >>> viewer = pc.visualize.offline()
        >>> viewer["arm"].set_property("visible", False)
        >>> viewer.window.paths
        ['/meshcat/arm']
    """

    def __init__(self, live: Any = None) -> None:
        self.live = live
        self._nodes: dict[str, dict[str, dict[str, Any]]] = {}
        self._animation: dict[str, Any] | None = None

    def send(self, command: Any) -> None:
        """Record a command of meshcat; it replaces the previous command of the same kind on the same path."""
        data = command.lower()
        kind, path = data["type"], data.get("path", "")
        if kind == "set_animation":
            self._animation = data
        elif kind == "delete":
            below = path.rstrip("/") + "/"
            for removed in [p for p in self._nodes if p == path or p.startswith(below)]:
                del self._nodes[removed]
        else:
            node = self._nodes.setdefault(path, {})
            if kind == "set_object":
                node.clear()
            node[f"{kind}:{data.get('property', '')}"] = data
        if self.live is not None:
            self.live.send(command)

    @property
    def commands(self) -> list[dict[str, Any]]:
        """Commands that restore the scene, in order; the animation is last."""
        commands = [c for node in self._nodes.values() for c in node.values()]
        return [*commands, self._animation] if self._animation is not None else commands

    def packed(self) -> list[bytes]:
        """Return the commands as bytes for the browser."""
        return [umsgpack.packb(c) for c in self.commands]

    def transform(self, path: str) -> Any:
        """Return the last transform of a path.

        Args:
            path: Such as ``"/meshcat/pinocchio/links/knee"``.

        Returns:
            16 numbers in column order, or None.
        """
        return self._nodes.get(path, {}).get("set_transform:", {}).get("matrix")

    @property
    def paths(self) -> list[str]:
        """Paths of all nodes that have received a command."""
        return list(self._nodes)

    def __getattr__(self, name: str) -> Any:
        """Pass other attributes (``web_url``, ``open``, ``wait``, ``get_image``) to the running server."""
        live = self.__dict__.get("live")
        if live is None:
            raise AttributeError(
                f"{name!r} needs a running meshcat server, and this viewer only records. Call initViewer() without "
                "viewer= for a server, or write a page: static_html()."
            )
        return getattr(live, name)
