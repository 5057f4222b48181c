"""Refuse connections that leave this machine, and log them: Python imports this file when it starts and finds it.

Nothing is refused that sends nothing: Streamlit and Dask ask by a UDP socket which address this machine has.
"""

import os
import sys
from typing import Any

NAMES = ("socket.getaddrinfo", "socket.gethostbyname")
"""Events that look up a name, which comes first; with others it is in the address, after the socket."""
CONNECTIONS = ("socket.connect", "socket.sendto", "socket.sendmsg")
HERE = ("", "localhost", "::1", "0.0.0.0", "::", os.uname().nodename)
UDP = 2


def refuse(event: str, given: tuple[Any, ...]) -> None:
    if event in NAMES:
        host = given[0]
    elif event in CONNECTIONS and isinstance(given[1], tuple):
        # Of another form are the addresses of Unix sockets.
        host = "" if event == "socket.connect" and given[0].type == UDP else given[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host or ""
    if host not in HERE and not host.startswith("127."):
        if log := os.environ.get("NEREVAL_CONNECTIONS"):
            with open(log, "a") as file:  # noqa: PTH123 (pathlib is not loaded yet)
                print(f"{event} {host} in {sys.argv}", file=file)
        raise OSError(f"a test opens a connection: {event} {host}")


sys.addaudithook(refuse)
