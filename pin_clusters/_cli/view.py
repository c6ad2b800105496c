"""``pin-clusters view``: a robot in the browser, or in a page that needs no network."""

from __future__ import annotations

import errno
import http.server
import os
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pinocchio as pin
from rich.console import Console

from .. import approximations
from .._support.whole_files import whole
from ..errors import LoadError, PinClustersError
from ..model import ClusterModel
from . import common, compile, motions, study, tables


def run(
    robot: str,
    out: Console,
    *,
    static: Path | None = None,
    animate: str | None = None,
    ghost: str | None = None,
    duration: float | None = None,
    amplitude: float | None = None,
    forces: bool = False,
    meshes: bool = False,
    port: int | None = None,
    open_browser: bool = True,
    independent: Sequence[str] | None = None,
) -> None:
    """Show a robot or file; the options are those of the command.

    Without ``animate`` in the reference pose, or swinging if there is a ghost, forces, or a duration or amplitude.
    """
    from .. import visualize  # noqa: F401 (says what to install, before any work)

    if animate is None and (ghost is not None or forces or duration is not None or amplitude is not None):
        animate = "swing"
    if animate is not None:
        motions.check(animate)
    if animate == "random" and (ghost is not None or forces):
        raise PinClustersError("random poses have no torques; --ghost and --forces need --animate swing or sweep.")
    if static is not None:
        check_writable(static)
    server = None if static is not None else _Server(port)
    try:
        model = load(robot, animate, independent)
        if ghost is not None:
            motions.check_ghost(model, ghost)
        with compile.prepared(model, *_needed(animate, ghost)):
            visual = meshes_of(model, robot) if meshes else None
            page = _page(model, visual, animate, ghost, duration, amplitude, forces, out)
        if static is not None:
            try:
                with whole(static) as (part,):
                    part.write_text(page, encoding="utf-8")
            except OSError as e:
                raise common.OutputError(f"cannot write {static}: {e.strerror or e}.") from e
            out.print(f"Written: {static} ({len(page) / 1e6:.1f} MB, needs no network)", soft_wrap=True)
        else:
            assert server is not None
            _serve(server, page, out, open_browser)
    finally:
        if server is not None:
            server.server_close()


def _needed(animate: str | None, ghost: str | None) -> tuple[str, ...]:
    """Which kernels the motion needs."""
    if animate is None:
        return ()
    along = () if animate in ("swing", "random") else ("rnea_rows",)
    swing = ("rnea", "aba", "energy", "simulate") if animate == "swing" else ()
    return (*along, *swing, *(("aba", "energy", "moved") if ghost is not None else ()))


def load(robot: str, animate: str | None, independent: Sequence[str] | None = None) -> ClusterModel:
    """Return the robot; its base floats where it was recorded, and is fixed where there is no ground to stand on."""
    if animate is None:
        return common.load(robot, independent=independent)
    if animate in motions.KINDS:
        return common.load(robot, root_joint=None, independent=independent)
    return study.load(robot, None, motions.recording(animate), independent)


def meshes_of(model: ClusterModel, robot: str) -> Any:
    """Return the visual geometry of a file; packages are sought in the folders above it."""
    path = Path(robot)
    if not path.is_file():
        raise LoadError(f"robot {robot!r} has no meshes; --meshes is for files.")
    folders = [str(p) for p in path.resolve().parents if p != p.parent]
    try:
        return pin.buildGeomFromUrdf(model.tree, str(path), pin.GeometryType.VISUAL, package_dirs=folders)
    except (ValueError, RuntimeError) as e:
        raise LoadError(f"{path}: its meshes cannot be read ({e}). Leave --meshes out.") from e


def _page(
    model: ClusterModel, visual: Any, animate: str | None, ghost: str | None, duration: float | None,
    amplitude: float | None, forces: bool, out: Console,
) -> str:  # fmt: skip
    from ..visualize import MeshcatVisualizer, offline

    with MeshcatVisualizer(model, None, visual) as viewer:
        viewer.initViewer(viewer=offline(), loadModel=True)
        if animate is None:
            return viewer.static_html()
        with common.ProgressBar("simulation") as progress:
            shown = motions.make(model, animate, duration, amplitude or motions.AMPLITUDE, progress)
        notes, beside, label = list(shown.notes), None, ""
        if ghost is not None:
            with common.ProgressBar("ghost") as progress:
                time, q, more = motions.ghost(model, shown, ghost, progress)
            beside, label = (time, q), approximations.LABELS[ghost]
            notes += more
        recording = viewer.animate(
            shown.time, shown.q, ghost=beside, ghost_label=label, notes=notes,
            v=shown.v if forces else None, tau=shown.tau if forces else None,
        )  # fmt: skip
        for note in recording.notes:
            tables.say(out, note)
        return viewer.static_html()


def check_writable(path: Path) -> None:
    """Check that a file can be written, without touching it, or raise ``OutputError``."""
    if path.is_dir():
        raise common.OutputError(f"{path} is a folder; give the name of a file, such as {path / 'robot.html'}.")
    folder = path.parent
    if not folder.is_dir():
        raise common.OutputError(f"there is no folder {folder} for {path.name}. Make it, or choose another --static.")
    try:
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as e:
        raise common.OutputError(f"cannot write {path}: {e.strerror or e}. Choose another --static.") from e


class _Server(http.server.ThreadingHTTPServer):
    """Serves one page on this machine, at any free port by default; one that cannot be used is an ``OutputError``."""

    daemon_threads = True
    page = b""

    def __init__(self, port: int | None) -> None:
        try:
            super().__init__(("127.0.0.1", port or 0), _Handler)
        except OSError as e:
            why = "is taken" if e.errno == errno.EADDRINUSE else f"cannot be used ({e.strerror or e})"
            raise common.OutputError(f"port {port} {why}. Choose another --port, or leave it out.") from e

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Send the page, whatever is asked for."""
        found = self.path.split("?")[0] == "/"
        body = self.server.page if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _serve(server: _Server, page: str, out: Console, open_browser: bool) -> None:
    server.page = page.encode("utf-8")
    try:
        out.print(f"The robot is at {server.url} (Ctrl-C ends)", soft_wrap=True)
        if open_browser and not webbrowser.open(server.url, new=2):
            out.print("No browser was found: open that address yourself, or write a file with --static robot.html.")
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("Ended.")
