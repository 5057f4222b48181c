"""The HTTP policy of the server: the hosts it answers to, the headers it sends, and how many bytes it takes by upload.

Streamlit checks `server.allowedHosts` for the connection of a page only; here it holds for every request. Its limit
`server.maxUploadSize` holds for one file; here the files of one session and of all sessions are bounded too.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import Runtime

INDEX = Path(st.__file__).parent / "static" / "index.html"
"""The page that Streamlit sends for every address; it holds a script."""
SESSION_FILES, SERVER_FILES = 2, 10
"""Limits of the uploads of one session, and of all sessions, in files of `server.maxUploadSize`."""
FILE = 1 << 16
"""Bytes that a file counts beside its content, so that the number of small ones is bounded too."""
_UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")


def middleware() -> list[Middleware]:
    """Return the middleware that every request passes before Streamlit sees it, outermost first."""
    return [Middleware(SecurityHeaders), Middleware(AllowedHosts), Middleware(UploadLimits)]


def inline_scripts(html: str) -> list[str]:
    """Return the text of each script that stands in a page itself."""

    class Scripts(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.inside = False
            self.found: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.inside = tag == "script" and "src" not in dict(attrs)
            if self.inside:
                self.found.append("")

        def handle_endtag(self, tag: str) -> None:
            self.inside = False

        def handle_data(self, data: str) -> None:
            if self.inside:
                self.found[-1] += data

    parser = Scripts()
    parser.feed(html)
    return parser.found


def content_security_policy(html: str) -> str:
    """Return the policy that lets only a page's own inline scripts run, which it names by their hashes."""
    digests = (hashlib.sha256(script.encode()).digest() for script in inline_scripts(html))
    hashes = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    return "; ".join(
        (
            "default-src 'self'",
            # Streamlit loads components from blobs that its own scripts make.
            " ".join(("script-src 'self' blob:", *hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self' ws: wss:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
        )
    )


class SecurityHeaders:
    """Send a Content-Security-Policy and its companions with every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            # A file with Windows line ends is hashed as the browser reads it.
            "Content-Security-Policy": content_security_policy(INDEX.read_text(encoding="utf-8")),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
            "Referrer-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def host_is_allowed(host: str, allowed: list[str]) -> bool:
    """Return whether a `Host` header names one of the hosts: `*.name` allows those below a name, `*` or none any."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    patterns = [pattern.strip().lower().rstrip(".") for pattern in allowed]
    below = [pattern[1:] for pattern in patterns if pattern.startswith("*.")]
    return not patterns or "*" in patterns or name in patterns or any(name.endswith(end) for end in below)


class AllowedHosts:
    """Refuse requests for a host that is not in `server.allowedHosts`: a foreign page's name that leads here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            host = Headers(scope=scope).get("host", "")
            if not host_is_allowed(host, st.get_option("server.allowedHosts")):
                said = f"This server does not answer to {host!r}: start it with --server.allowedHosts NAME.\n"
                await PlainTextResponse(said, 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class UploadLimits:
    """Refuse an upload, while it arrives, that would take a session or the server past what they may hold.

    Bytes are counted under the session of the address. Those that stay are asked of Streamlit, which alone knows when a
    file is replaced or removed, or goes with its session.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._files: dict[str, set[str]] = {}
        """The files by session that were uploaded and may still be held."""
        self._held: dict[str, int] = {}
        self._arriving: dict[object, tuple[str, int]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        session, request = found["session"], object()
        length = Headers(scope=scope).get("content-length", "")
        announced = int(length) if length.isdecimal() else 0
        arrived = 0

        async def receive_counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            self._arriving[request] = session, max(arrived, announced) + FILE
            if excess := self._excess(session):
                await _drain(message, receive)
                raise HTTPException(413, excess)
            return message

        self._count_held()
        try:
            await self._app(scope, receive_counted, send)
        finally:
            self._arriving.pop(request, None)
            self._files.setdefault(session, set()).add(found["file"])
            self._count_held()

    def _count_held(self) -> None:
        """Ask Streamlit which of the uploaded files are still there, and how large they are."""
        manager = Runtime.instance().uploaded_file_mgr
        self._held = {}
        for session, names in list(self._files.items()):
            files = manager.get_files(session, list(names))
            names.intersection_update(file.file_id for file in files)
            if names:
                self._held[session] = sum(len(file.data) + FILE for file in files)
            else:
                del self._files[session]

    def _excess(self, session: str) -> str:
        """Return the message where the uploads of a session, or of all, exceed their limit; "" where they do not."""
        arriving = [size for one, size in self._arriving.values() if one == session]
        whole = sum(self._held.values()) + sum(size for _, size in self._arriving.values())
        size = int(st.get_option("server.maxUploadSize"))
        for whose, held, files in (
            ("one session", self._held.get(session, 0) + sum(arriving), SESSION_FILES),
            ("all sessions", whole, SERVER_FILES),
        ):
            if held > files * size << 20:
                return (
                    f"The uploads of {whose} may hold {files * size:,} MB together: remove some that were uploaded, or "
                    "start the server with --data DIR or a larger --server.maxUploadSize.\n"
                )
        return ""


async def _drain(message: Message, receive: Receive) -> None:
    """Let the rest of a body pass, up to the size of one file, so that its sender comes to read the answer."""
    left = int(st.get_option("server.maxUploadSize")) << 20
    while message.get("more_body") and left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
