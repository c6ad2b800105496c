"""Starts, finds and stops meshcat's server."""

import atexit
import contextlib
import io
import os
import subprocess
import sys
from typing import Any

import meshcat
import zmq
from meshcat.visualizer import ViewerWindow

from .._support import listening
from ..errors import PinClustersError

_PATIENCE = 3000
"""Time after which a server without an answer counts as not running, [ms]."""


class ViewerError(PinClustersError, RuntimeError):
    """Raised if a viewer or its server fails, or if a page cannot be written."""


def window(zmq_url: str | None, host: str | None) -> Any:
    """Return the window of a new meshcat server that listens at ``host``, or of the server at ``zmq_url``."""
    if zmq_url is None:
        viewer_window = _start("127.0.0.1" if host is None else host)
    else:
        _find(zmq_url)
        with contextlib.redirect_stdout(io.StringIO()):  # meshcat would print the address a second time.
            viewer_window = meshcat.Visualizer(zmq_url).window
    print(f"The robot is at {viewer_window.web_url}")  # noqa: T201 (as Pinocchio's viewer)
    return viewer_window


def _start(host: str) -> Any:
    """Start a server, whose process ends together with this process; return its window."""
    if not isinstance(host, str) or not host:
        raise ViewerError(f"host must be an address or a name of this machine such as '127.0.0.1', got {host!r}.")
    process = subprocess.Popen(
        [sys.executable, "-Pu", listening.__file__, host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    answer = process.stdout.readline().strip()
    if not answer.startswith("tcp:"):
        _end(process)
        answer = answer or "its process ended"
        raise ViewerError(f"the meshcat server does not start at host {host!r}: {answer}.") from OSError(answer)
    atexit.register(_end, process)
    viewer_window = ViewerWindow.__new__(ViewerWindow)  # The constructor would start meshcat's own program.
    viewer_window.server_proc, (viewer_window.zmq_url, viewer_window.web_url) = process, answer.split()
    viewer_window.connect_zmq()
    return viewer_window


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        with process:  # The context manager closes the pipes and waits.
            process.kill()


def _find(zmq_url: str) -> None:
    if not isinstance(zmq_url, str):
        raise ViewerError(f"zmq_url must be text such as 'tcp://127.0.0.1:6000', got {zmq_url!r}.")
    context: Any = zmq.Context.instance()
    with context.socket(zmq.REQ) as socket:
        socket.linger = 0
        try:
            socket.connect(zmq_url)
        except zmq.ZMQError as error:
            raise ViewerError(f"{zmq_url!r} is not an address of a meshcat server ({error}).") from None
        socket.send(b"url")
        if not socket.poll(_PATIENCE):
            raise ViewerError(
                f"no meshcat server answers at {zmq_url}. Start one with 'meshcat-server', or omit zmq_url."
            )
        socket.recv()


def close(live: Any) -> None:
    live.zmq_socket.close(linger=0)
    if live.server_proc is not None:
        _end(live.server_proc)
