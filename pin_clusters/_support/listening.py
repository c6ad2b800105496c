"""Filter for requests to a local web server. As a program, this module starts meshcat's server with the filter.

The filter is needed because meshcat's own program listens on all interfaces and answers requests for any host.
"""

import functools
import ipaddress
import os
import re
import socket
import sys
import threading
from typing import Any


def in_url(host: str) -> str:
    """Return the host part of the URL at which a local browser reaches a server that listens at ``host``."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


def answers(host: str, headers: list[str]) -> bool:
    """Return whether a server that listens at the address ``host`` should answer requests with these ``Host`` headers.

    A foreign web page can reach a local server through a domain name that resolves to this machine (DNS rebinding), but
    then the ``Host`` header contains this domain name. Ports are not compared, because tunnels change ports.
    """
    name = re.sub(r":\d*$", "", headers[0].strip().lower()) if len(headers) == 1 else ""
    if name in {"127.0.0.1", "localhost", "[::1]", in_url(host).lower()}:
        return True
    if host in ("localhost", "::1") or host.startswith("127."):
        return False
    try:
        return bool(ipaddress.ip_address(name.strip("[]")))  # an IP address is safe: DNS rebinding needs a name
    except ValueError:
        return name == socket.gethostname().lower()


def main(host: str) -> None:
    """Run meshcat's server until standard input closes; print its addresses for commands and browsers, or an error."""
    import tornado.netutil
    import tornado.web
    from meshcat.servers import zmqserver

    class Bridge(zmqserver.ZMQWebSocketBridge):
        def make_app(self) -> Any:
            app = super().make_app()
            find = app.find_handler

            def find_if_answered(request: Any, **options: Any) -> Any:
                if answers(host, request.headers.get_list("Host")):
                    return find(request, **options)
                return app.get_handler_delegate(request, tornado.web.ErrorHandler, {"status_code": 403})

            app.find_handler = find_if_answered
            app.listen = functools.partial(app.listen, address=host)
            return app

    try:
        for server_socket in tornado.netutil.bind_sockets(0, host):  # fails at once; meshcat would try 1,000 ports
            server_socket.close()
        bridge = Bridge()  # the bridge accepts commands only on 127.0.0.1
    except Exception as error:
        print(*str(error).split())  # noqa: T201
        return
    bridge.web_url = f"http://{in_url(host)}:{bridge.fileserver_port}/static/"
    print(bridge.zmq_url, bridge.web_url)  # noqa: T201
    # No process reads standard output any more, and a full pipe would block the server.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    threading.Thread(target=lambda: os._exit(len(sys.stdin.read())), daemon=True).start()
    bridge.run()


if __name__ == "__main__":
    main(sys.argv[1])
