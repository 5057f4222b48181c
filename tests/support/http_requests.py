"""Requests to a server by HTTP, and its answers as they are."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

MB = 1 << 20
WAIT = 600.0
"""Seconds after which a server will not answer any more."""
HTML = {"Accept": "text/html"}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    raw: bytes
    cookies: tuple[str, ...] = ()

    @property
    def body(self) -> str:
        return self.raw.decode(errors="replace")


def ask(address: str, path: str, *, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    """Send a request; an underscore in the name of a header stands for a hyphen."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=WAIT)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, sent, encode_chunked=not isinstance(body, bytes | None))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        cookies = tuple(response.headers.get_all("set-cookie", ()))
        return Answer(response.status, found, response.read(), cookies)
    finally:
        connection.close()
