"""Defines a meshcat window that records the scene, so that it can be written to a page without a server."""

from typing import Any

import umsgpack


class Recorder:
    """Replacement for meshcat's ``ViewerWindow``. It records all commands, and sends them to a server if there is one.

    Args:
        live: Window of a running meshcat server; None if there is no server.

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
        """Record a meshcat command; it replaces the previous command with the same type and path."""
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
        """The commands that restore the scene, in the order of execution; the animation is last."""
        commands = [c for node in self._nodes.values() for c in node.values()]
        return [*commands, self._animation] if self._animation is not None else commands

    def packed(self) -> list[bytes]:
        """Return the recorded commands, each packed as bytes for the browser."""
        return [umsgpack.packb(c) for c in self.commands]

    def transform(self, path: str) -> Any:
        """Return the last transform that was set for a path.

        Args:
            path: Path of a node, such as ``"/meshcat/pinocchio/links/knee"``.

        Returns:
            The 16 entries of the 4x4 matrix in column-major order; None if no transform was set.
        """
        return self._nodes.get(path, {}).get("set_transform:", {}).get("matrix")

    @property
    def paths(self) -> list[str]:
        """Paths of all nodes that have received a command."""
        return list(self._nodes)

    def __getattr__(self, name: str) -> Any:
        """Read other attributes (``web_url``, ``open``, ``wait``, ``get_image``) from the window of the server."""
        live = self.__dict__.get("live")
        if live is None:
            raise AttributeError(
                f"{name!r} needs a running meshcat server, and this viewer only records. Call initViewer() without "
                "viewer= for a server, or write a page: static_html()."
            )
        return getattr(live, name)
