"""The HTTP policy of the server: who may use it, the hosts it answers to, its headers, former addresses of pages.

Streamlit checks `server.allowedHosts` for the connection of a page only; here it holds for every request.
"""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared.server.access import LOOPBACK, BrowserNumbers, Login, StrictCookies, Token, local_address
from pages.shared.server.upload_limits import StandstillLimit, UploadLimits
from pages.shared.streamlit_internals import INDEX, is_foreign_origin, url_path

"""The page that Streamlit sends for every address; it holds a script."""
PROXY = {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"}
"""Headers that proxies add to a request."""


def middleware() -> list[Middleware]:
    """Return the middleware that every request passes before Streamlit sees it, outermost first."""
    return [
        Middleware(SecurityHeaders),
        Middleware(StrictCookies),
        Middleware(AllowedHosts),
        Middleware(SameOrigin),
        Middleware(LocalMetrics),
        Middleware(Token),
        Middleware(Login),
        Middleware(BrowserNumbers),
        Middleware(FormerAddresses),
        Middleware(StandstillLimit),
        Middleware(UploadLimits),
    ]


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
                found = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    found.setdefault(name, value)
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


class SameOrigin:
    """Connect pages of this server only: Streamlit would connect those of any port of this machine too.

    Cookies do not tell ports apart. `server.corsAllowedOrigins` names further origins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            # A browser always names the origin.
            origin = headers.get("origin", "")
            if origin and origin.partition("://")[2] != headers.get("host") and is_foreign_origin(origin):
                await PlainTextResponse("This server connects its own pages only.\n", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class LocalMetrics:
    """Answer questions about the server's own figures from this machine alone, and not through a proxy."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/").endswith("/_stcore/metrics"):
            client = (scope.get("client") or ("",))[0]
            headers = Headers(scope=scope)
            through_proxy = not PROXY.isdisjoint(headers) or not host_is_allowed(headers.get("host", ""), [*LOOPBACK])
            if client not in LOOPBACK or through_proxy:
                await PlainTextResponse("Only this machine may ask for these figures.\n", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


FORMER = {
    "/Errors": "/Inspect",
    "/Documents": "/Inspect",
    "/Compare": "/Systems",
    "/Agreement": "/Annotators",
    "/Consistency": "/Annotators",
    "/Slices": "/Overview",
}
"""Addresses that pages had before, which links may still name, and where their content is now."""


class FormerAddresses:
    """Lead links to the former address of a page to its present one; their parameters stay."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._places = {url_path(former): url_path(place) for former, place in FORMER.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (place := self._places.get(scope["path"])) is not None:
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(local_address(place, query), 308)(scope, receive, send)
            return
        await self._app(scope, receive, send)
