"""``pin-clusters view``: create a page of the robot and its motion, and serve the page or write it to a file."""

import errno
import http.server
import socket
import webbrowser
from pathlib import Path
from typing import Any

import pinocchio as pin
from rich.console import Console

from .. import approximations
from .._support.listening import answers, in_url
from ..errors import LoadError
from ..model import ClusterModel
from ..studies import motions
from ..studies.drops import Drop
from . import common, drop, study, tables


def load(robot: str, animate: str | None) -> ClusterModel:
    """Load the robot with a fixed base for swing, sweep and random; a recorded motion may move the base."""
    if animate is None or animate in motions.KINDS:
        return common.load(robot, "default" if animate is None else None)
    return study.load(robot, None, motions.recording(animate))


def meshes_of(model: ClusterModel, robot: str) -> Any:
    path = Path(robot)
    if not path.is_file():
        raise LoadError(f"robot {robot!r} is not a file, so it has no meshes. Use --meshes with a file.")
    folders = [str(p) for p in path.resolve().parents if p != p.parent]
    try:
        return pin.buildGeomFromUrdf(model.tree, str(path), pin.GeometryType.VISUAL, package_dirs=folders)
    except (ValueError, RuntimeError) as e:
        raise LoadError(f"{path}: the meshes cannot be read ({e}). Run the command without --meshes.") from e


def page_of(
    model: ClusterModel,
    visual: Any,
    animate: str | None,
    ghost: str | None,
    duration: float | None,
    amplitude: float | None,
    forces: bool,
    out: Console,
    simulated: Drop | None = None,
) -> str:
    from ..visualize import MeshcatVisualizer, offline

    with simulated.viewer() if simulated and visual is None else MeshcatVisualizer(model, None, visual) as viewer:
        viewer.initViewer(viewer=offline(), loadModel=True)
        if simulated is not None:
            for note in drop.show(simulated, viewer, *drop.run(simulated)):
                tables.say(out, note)
        if animate is None:
            return viewer.static_html()
        with common.ProgressBar("simulation") as progress:
            shown = motions.make(model, animate, duration, amplitude or motions.AMPLITUDE, progress)
        notes, ghost_motion, label = list(shown.notes), None, ""
        if ghost is not None:
            with common.ProgressBar("ghost") as progress:
                approximate = motions.ghost(model, shown, ghost, progress)
            ghost_motion, label = (approximate.time, approximate.q), approximations.LABELS[ghost]
            notes += approximate.notes
        recording = viewer.animate(
            shown.time,
            shown.q,
            ghost=ghost_motion,
            ghost_label=label,
            notes=notes,
            v=shown.v if forces else None,
            tau=shown.tau if forces else None,
        )
        for note in recording.notes:
            tables.say(out, note)
        return viewer.static_html()


class Server(http.server.ThreadingHTTPServer):
    """An HTTP server for one page, by default on any free port; raises ``OutputError`` if host or port is unusable."""

    daemon_threads = True
    page = b""

    def __init__(self, port: int | None, host: str = "127.0.0.1") -> None:
        self.host, self.address_family = host, socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            socket.getaddrinfo(host or "''", None)  # An empty host would listen on all interfaces.
            super().__init__((host, port or 0), _Handler)
        except OSError as e:
            if isinstance(e, socket.gaierror) or e.errno == errno.EADDRNOTAVAIL:
                raise common.OutputError(f"host {host!r} is not a local address. Choose another --host.") from e
            why = "is in use" if e.errno == errno.EADDRINUSE else f"cannot be used ({e.strerror or e})"
            raise common.OutputError(f"port {port} {why}. Choose another --port, or omit it.") from e

    @property
    def url(self) -> str:
        return f"http://{in_url(self.host)}:{self.server_address[1]}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Send the page, or status 403 if the Host header names another host (DNS rebinding)."""
        status = 200 if self.path.split("?")[0] == "/" else 404
        if not answers(self.server.host, self.headers.get_all("Host", [])):
            status = 403
        body = self.server.page if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass  # Requests are not logged.


def serve(server: Server, page: str, out: Console, open_browser: bool) -> None:
    server.page = page.encode("utf-8")
    try:
        out.print(f"The robot is at {server.url} (Ctrl-C ends)", soft_wrap=True)
        if open_browser and not webbrowser.open(server.url, new=2):
            out.print("No browser was found. Open the address manually, or write a file with --static robot.html.")
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("Stopped.")
