"""Limits of uploads: how many bytes a session and the server hold.

Streamlit's limit `server.maxUploadSize` holds for one file; here the files of one session and of all sessions are
bounded too.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared.streamlit_internals import uploaded_sizes

SESSION_FILES, SERVER_FILES = 2, 10
"""Limits of the uploads of one session, and of all sessions, in files of `server.maxUploadSize`."""
FILE = 1 << 16
"""Bytes that a file counts beside its content, so that the number of small ones is bounded too."""
STANDSTILL = 30.0
"""Seconds without a byte after which an upload is ended."""
_UPLOAD = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")


def _upload(scope: Scope) -> re.Match[str] | None:
    """Return the session and the file of an upload, None of other requests."""
    return _UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None


class StandstillLimit:
    """End an upload of which nothing arrives for a while, or whose sender has left."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _upload(scope) is None:
            await self._app(scope, receive, send)
            return

        async def receive_in_time() -> Message:
            try:
                async with asyncio.timeout(STANDSTILL):
                    return await receive()
            except TimeoutError:
                raise HTTPException(408, "The upload stood still.\n", {"Connection": "close"}) from None

        # Nobody is left who could be answered, and it is not a fault of the server.
        with suppress(ClientDisconnect):
            await self._app(scope, receive_in_time, send)


class UploadLimits:
    """Refuse an upload, while it arrives, that would take a session or the server past what they may hold.

    What counts for others are the bytes that have arrived, not those that are announced. They are counted under the
    session of the address. Those that stay are asked of Streamlit, which alone knows when a file is replaced or
    removed, or goes with its session.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._files: dict[str, set[str]] = {}
        """The files by session that were uploaded and may still be held."""
        self._held: dict[str, int] = {}
        self._arriving: dict[object, tuple[str, int]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _upload(scope)
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
            self._arriving[request] = session, arrived + FILE
            if excess := self._excess(session, max(announced - arrived, 0)):
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
        self._held = {}
        for session, names in list(self._files.items()):
            sizes = uploaded_sizes(session, names)
            names.intersection_update(sizes)
            if names:
                self._held[session] = sum(size + FILE for size in sizes.values())
            else:
                del self._files[session]

    def _excess(self, session: str, rest: int) -> str:
        """Return the message where the uploads of a session, or of all, exceed their limit; "" where they do not.

        The rest is what an upload of this session has announced, beside what arrived of it.
        """
        arriving = [size for one, size in self._arriving.values() if one == session]
        whole = sum(self._held.values()) + sum(size for _, size in self._arriving.values())
        size = int(st.get_option("server.maxUploadSize"))
        for whose, held, files in (
            ("one session", self._held.get(session, 0) + sum(arriving) + rest, SESSION_FILES),
            ("all sessions", whole + rest, SERVER_FILES),
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
