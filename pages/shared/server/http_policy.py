"""The HTTP policy of the server: hosts, headers, and limits of time and of uploads.

Streamlit checks `server.allowedHosts` for the connection of a page only; here it holds for every request. Its limit
`server.maxUploadSize` holds for one file; here the files of one session and of all sessions are bounded too.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
import signal
from collections import Counter
from contextlib import suppress
from threading import Timer
from time import monotonic
from types import FrameType
from typing import Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared.server.access import Access, Layer, changing_headers
from pages.shared.streamlit_internals import INDEX, is_host_allowed, uploaded_bytes

SCRIPT = re.compile("<script>(.*?)</script>", re.DOTALL)
# Streamlit loads components from blobs that its own scripts make.
POLICY = (
    "default-src 'self'; script-src 'self' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)


def middleware() -> list[Middleware]:
    """Return the layers that every request passes before Streamlit sees it, outermost first."""
    return [Middleware(layer) for layer in (SecurityHeaders, TimeLimits, OwnPages, Access, UploadLimits)]


def content_security_policy(html: str) -> str:
    """Return the policy that lets only a page's own inline scripts run, which it names by their hashes."""
    digests = (hashlib.sha256(script.encode()).digest() for script in SCRIPT.findall(html))
    return POLICY.format(hashes=" ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests))


class SecurityHeaders(Layer):
    """Send a Content-Security-Policy and its companions with every response."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._headers = {
            # A file with Windows line ends is hashed as the browser reads it.
            "Content-Security-Policy": content_security_policy(INDEX.read_text(encoding="utf-8")),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "SAMEORIGIN",
            "Referrer-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def add(headers: MutableHeaders) -> None:
            for name, value in self._headers.items():
                headers.setdefault(name, value)

        await self.app(scope, receive, changing_headers(send, add))


class OwnPages(Layer):
    """Refuse requests for a host that is not in `server.allowedHosts`, and connections from pages of other servers.

    A foreign page's name may lead here. Streamlit looks at the host of connections only, and would connect pages of any
    port of this machine, which cookies do not tell apart.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and (refusal := _refusal(scope)):
            await PlainTextResponse(refusal, 403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _refusal(scope: Scope) -> str:
    headers = Headers(scope=scope)
    host, origin = headers.get("host", ""), headers.get("origin", "")
    if not is_host_allowed(host):
        return f"This server does not answer to {host!r}: start it with --server.allowedHosts NAME.\n"
    # A browser always names the origin of a connection.
    is_foreign = scope["type"] == "websocket" and origin != "" and origin.partition("://")[2] != host
    if is_foreign and origin not in st.get_option("server.corsAllowedOrigins") and st.get_option("server.enableCORS"):
        return "This server connects its own pages only.\n"
    return ""


SESSION_FILES, SERVER_FILES = 2, 10
"""Limits of the uploads of one session, and of all sessions, in files of `server.maxUploadSize`."""
FILE = 1 << 16
"""Bytes that a file counts beside its content, so that the number of small ones is bounded too."""
STANDSTILL = 30.0
"""Seconds that a request may take to arrive, and an upload without a byte more of it."""
SHUTDOWN = 9.0
"""Seconds that requests and runs of pages may take once the server was told to end."""
_UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/[^/]+$")


def _uploading_session(scope: Scope) -> str | None:
    """Return the session of an upload, None of other requests."""
    match = _UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
    return None if match is None else match["session"]


class TimeLimits(Layer):
    """End a request that takes long to arrive, and the server soon after it was told to end.

    uvicorn waits for all requests that have begun, however long they take to arrive.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # uvicorn has set its own handlers by now.
            _bound_shutdown()
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_whole, ends = False, monotonic() + STANDSTILL

        async def receive_in_time() -> Message:
            nonlocal is_whole, ends
            if _uploading_session(scope) is not None:
                ends = monotonic() + STANDSTILL
            try:
                # What comes after the body is the end of the connection, for which an answer may wait.
                async with asyncio.timeout(None if is_whole else ends - monotonic()):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The request did not arrive in time.\n", {"Connection": "close"}) from None
            is_whole = not message.get("more_body", False)
            return message

        try:
            # Nobody is left who could be answered, and it is not a fault of the server.
            with suppress(ClientDisconnect):
                await self.app(scope, receive_in_time, send)
        except HTTPException as error:
            # Raised outside of Streamlit's application: by who asks for the token.
            await PlainTextResponse(error.detail, error.status_code, error.headers)(scope, receive, send)


def _bound_shutdown() -> None:
    """Have SIGTERM and SIGINT end this process after SHUTDOWN seconds, whatever still runs."""
    for number in (signal.SIGTERM, signal.SIGINT):
        usual = signal.getsignal(number)

        def end(number: int, frame: FrameType | None, usual: Any = usual) -> None:
            timer = Timer(SHUTDOWN, os._exit, (128 + number,))
            timer.daemon = True
            timer.start()
            usual(number, frame)

        if callable(usual):
            signal.signal(number, end)


class UploadLimits(Layer):
    """Refuse an upload, while it arrives, that would take a session or the server past what they may hold.

    What counts are the bytes that have arrived, under the session of the address. Those that stay are asked of
    Streamlit, which alone knows when a file is replaced or removed, or goes with its session.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._held: dict[str, int] = {}
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = _uploading_session(scope)
        if session is None:
            await self.app(scope, receive, send)
            return
        arrived = 0

        def arrive(n_bytes: int) -> None:
            nonlocal arrived
            arrived += n_bytes
            self._arriving[session] += n_bytes

        async def receive_counted() -> Message:
            message = await receive()
            arrive(len(message.get("body", b"")))
            if excess := self._excess(session):
                # Its sender reads the answer once all is sent.
                while message.get("more_body"):
                    message = await receive()
                raise HTTPException(413, excess)
            return message

        self._held = uploaded_bytes(FILE)
        arrive(FILE)
        try:
            await self.app(scope, receive_counted, send)
        finally:
            arrive(-arrived)
            # Sessions of which nothing arrives are not counted.
            self._arriving = +self._arriving
            self._held = uploaded_bytes(FILE)

    def _excess(self, session: str) -> str:
        """Return the message where the uploads of a session, or of all, exceed their limit; "" where they do not."""
        size = int(st.get_option("server.maxUploadSize"))
        for whose, n_bytes, files in (
            ("one session", self._held.get(session, 0) + self._arriving[session], SESSION_FILES),
            ("all sessions", sum(self._held.values()) + self._arriving.total(), SERVER_FILES),
        ):
            if n_bytes > files * size << 20:
                return (
                    f"The uploads of {whose} may hold {files * size:,} MB together: remove some that were uploaded, or "
                    "ask whoever runs the server for a folder of its own, or for larger uploads.\n"
                )
        return ""
