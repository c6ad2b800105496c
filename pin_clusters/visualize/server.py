"""Starting, finding and closing meshcat's server."""

import contextlib
import io
from typing import Any

import meshcat
import zmq

from ..errors import PinClustersError

_PATIENCE = 3000
"""How long a server has to answer, [ms]."""


class ViewerError(PinClustersError, RuntimeError):
    """A viewer, its server or its page cannot do what was asked."""


def window(zmq_url: str | None) -> Any:
    """Return the window of a new meshcat server, or of one that runs at an address."""
    if zmq_url is not None:
        _find(zmq_url)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # meshcat prints the address; so do we
            found = meshcat.Visualizer(zmq_url).window
    except (RuntimeError, OSError) as error:
        raise ViewerError(f"the meshcat server does not start: {' '.join(str(error).split())}") from error
    print(f"The robot is at {found.web_url}")  # noqa: T201 (Pinocchio's viewer says it too)
    return found


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
    process = live.server_proc
    if process is not None and process.poll() is None:
        with process:  # which closes its pipes, and waits
            process.kill()
