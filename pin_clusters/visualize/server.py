"""Starting, finding and closing meshcat's server."""

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
"""How long a server has to answer, [ms]."""


class ViewerError(PinClustersError, RuntimeError):
    """A viewer, its server or its page cannot do what was asked."""


def window(zmq_url: str | None, host: str | None) -> Any:
    """Return the window of a new meshcat server that listens at a host, or of one that runs at an address."""
    if zmq_url is None:
        found = _start("127.0.0.1" if host is None else host)
    else:
        _find(zmq_url)
        with contextlib.redirect_stdout(io.StringIO()):  # meshcat prints the address; so do we
            found = meshcat.Visualizer(zmq_url).window
    print(f"The robot is at {found.web_url}")  # noqa: T201 (Pinocchio's viewer says it too)
    return found


def _start(host: str) -> Any:
    """Return the window of a new server, whose process ends with this one."""
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
    said = process.stdout.readline().strip()
    if not said.startswith("tcp:"):
        _end(process)
        said = said or "its process ended"
        raise ViewerError(f"the meshcat server does not start at host {host!r}: {said}.") from OSError(said)
    atexit.register(_end, process)
    found = ViewerWindow.__new__(ViewerWindow)  # otherwise it starts meshcat's own program
    found.server_proc, (found.zmq_url, found.web_url) = process, said.split()
    found.connect_zmq()
    return found


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        with process:  # which closes its pipes, and waits
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
            raise ViewerError(f"{zmq_url!r} is no address of a meshcat server ({error}).") from None
        socket.send(b"url")
        if not socket.poll(_PATIENCE):
            raise ViewerError(
                f"no meshcat server answers at {zmq_url}. Start one with 'meshcat-server', or leave zmq_url out."
            )
        socket.recv()


def close(live: Any) -> None:
    """Close a window, and end the server if the window started it."""
    live.zmq_socket.close(linger=0)
    if live.server_proc is not None:
        _end(live.server_proc)
