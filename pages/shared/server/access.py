"""Access to the server: a token off this machine, and a number for each browser, in cookies that no script reads.

Whoever starts the server says who may use it: those with its token (printed at the start, or `NEREVAL_TOKEN`), those
who log in (an `[auth]` section in Streamlit's secrets), or with `--open` all who reach it. On a server that answers
this machine alone nobody is asked.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from functools import cache, partial
from hashlib import sha256
from hmac import compare_digest
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.errors import StreamlitSecretNotFoundError

from nereval_core.cli.server_options import allowed_addresses
from nereval_core.problems import FormatError
from pages.shared import streamlit_internals
from pages.shared.server import Bounds, server_bounds, server_options, while_active

VARIABLE = "NEREVAL_TOKEN"
PARAMETER = "token"
SHORTEST = 16
"""Characters of a token that nobody guesses."""
FORM_BYTES = 4096
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_PAGE, LOGIN_PAGE = (Path(__file__).parent / f"{name}_page.html" for name in ("token", "login"))
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
LEFT = 30.0
"""Seconds after which somebody whose connection is gone has left: it may come back before."""
NUMBER = re.compile("[0-9a-f]{32}")
DAYS = 400
"""Days for which a browser keeps its number, the most that browsers allow."""
LOGIN_SECONDS = 600
"""Time that a login may take if it is to lead to the page that was asked for."""


def only_this_machine() -> bool:
    """Return whether the server listens on this machine alone and answers to no other name, as that of a proxy."""
    names = [str(name).strip().lower() for name in st.get_option("server.allowedHosts")]
    return st.get_option("server.address") in LOOPBACK and bool(names) and set(names) <= set(LOOPBACK)


@cache
def has_login() -> bool:
    """Return whether visitors log in by OpenID Connect: Streamlit's secrets have a section `auth`."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False


def address_of(account: Mapping[str, Any]) -> str:
    """Return the address of mail of an account, "" where its provider knows none or has not verified it."""
    is_verified = account.get("email_verified", True) in (True, "true")
    return str(account.get("email") or "").casefold() if is_verified else ""


def is_allowed(account: Mapping[str, Any]) -> bool:
    """Return whether the server lets an account in: all that log in, or those whose address or domain it was told."""
    allowed = allowed_addresses(server_options())
    name, at, domain = address_of(account).rpartition("@")
    return allowed is None or (bool(name) and not allowed.isdisjoint({name + at + domain, at + domain}))


def check_login() -> None:
    """Check that visitors can log in where they have to.

    Raises:
        FormatError: the package that does it is missing, or accounts are named though nobody logs in.
    """
    if server_options().allow is not None and not has_login():
        raise FormatError.single("--allow", None, "nobody logs in", "write a section [auth] into secrets.toml")
    if has_login() and find_spec("authlib") is None:
        raise FormatError.single(
            "secrets.toml",
            None,
            "[auth] needs the package authlib, which is not installed",
            "pip install authlib, or install nereval with the extra [login]",
        )


@cache
def token() -> str:
    """Return the token that visitors need, "" where they need none.

    Raises:
        FormatError: NEREVAL_TOKEN is so short that it could be guessed.
    """
    if only_this_machine() or has_login() or server_options().open:
        return ""
    configured = os.environ.get(VARIABLE, "")
    if configured and len(configured) < SHORTEST:
        remedy = f"write {SHORTEST} or more that nobody guesses"
        raise FormatError.single(VARIABLE, None, f"{len(configured)} characters", remedy)
    return configured or secrets.token_urlsafe(24)


def announce_access() -> None:
    """Print who may use the server, and the address with the token where it was drawn."""
    streamlit_internals.ask_nobody_for_our_address()
    if token() and not os.environ.get(VARIABLE):
        names = [name for name in st.get_option("server.allowedHosts") if name not in LOOPBACK and "*" not in name]
        host, place = names[0] if names else "localhost", streamlit_internals.url_path("/")
        query = urlencode({PARAMETER: token()})
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        message = f"Visitors need this address: {scheme}://{host}:{st.get_option('server.port')}{place}?{query}"
    elif token():
        message = f"Visitors need the token in {VARIABLE}."
    elif has_login():
        allowed = allowed_addresses(server_options())
        accounts = "all its accounts" if allowed is None else ", ".join(sorted(allowed))
        message = f"Visitors log in by {' or '.join(_issuers())}: {accounts}."
    elif only_this_machine():
        message = "Only this machine reaches this server, with all its accounts."
    else:
        message = "Everybody who reaches this server may use it."
    print(message, flush=True)


def _issuers() -> list[str]:
    """Return who logs visitors in: the providers in Streamlit's secrets, which are one or several."""
    auth = st.secrets["auth"]
    urls = [
        provider.get("server_metadata_url", "") for provider in (auth, *auth.values()) if isinstance(provider, Mapping)
    ]
    return [str(url).partition("/.well-known/")[0] for url in urls if url] or ["OpenID Connect"]


def session_bounds() -> Bounds:
    """Return the bounds of what this session computes: it ends some time after the session."""
    session = streamlit_internals.session_id()
    bounds = server_bounds(alone=only_this_machine())
    return bounds if session is None else while_active(bounds, partial(streamlit_internals.is_active, session), LEFT)


def browser() -> str:
    """Return the number of the browser of this session, "" where it takes no cookies, or shows what we never give."""
    number = str(st.context.cookies.get(_cookie("browser"), ""))
    return number if NUMBER.fullmatch(number) else ""


def _cookie(name: str) -> str:
    # Cookies do not tell ports apart.
    return f"nereval_{name}_{st.get_option('server.port')}"


def _pass() -> str:
    """Return what a browser shows in place of the token."""
    return sha256(f"nereval pass {token()}".encode()).hexdigest()


def _cookies(scope: Scope) -> dict[str, str]:
    # The standard library reads none where another app on this host has one that it finds wrong.
    return cookie_parser(Headers(scope=scope).get("cookie", ""))


def _set_cookie(scope: Scope, name: str, value: str, seconds: int = DAYS * 86_400) -> str:
    """Return the header of a cookie for links from anywhere, and for no connection, form or upload of another site."""
    https = "https" in (scope["scheme"], Headers(scope=scope).get("x-forwarded-proto", ""))
    secure = "; Secure" if https else ""
    return f"{_cookie(name)}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def local_address(path: str, query: str = "") -> str:
    """Return an address on this server: one slash in front, or it would be that of another."""
    place = "/" + path.lstrip("/\\")
    return f"{place}?{query}" if query else place


def _is_health(scope: Scope) -> bool:
    return bool(scope["path"] == streamlit_internals.url_path("_stcore/health"))


async def _refuse_connection(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1008})


def _ask(scope: Scope, page: str, message: str) -> Response:
    """Return a page that asks for what is missing; who wants no page gets a line."""
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return PlainTextResponse(f"{message}\n", 401)
    return HTMLResponse(page, 401, {"Content-Security-Policy": POLICY})


class Login:
    """Answer nothing but the login before it, where visitors log in, and the question whether the server is well.

    Accounts that the server was not told to let in are treated alike, with a word about it.

    A login leads to the page that was asked for.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._login, self._return = map(streamlit_internals.url_path, ("auth/login", "oauth2callback"))
        self._page = LOGIN_PAGE.read_text(encoding="utf-8").replace("{address}", self._login)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_to_log_in = scope["type"] in ("http", "websocket") and has_login()
        account = streamlit_internals.logged_in_account(_cookies(scope)) if has_to_log_in else None
        if not has_to_log_in or _is_health(scope) or (account is not None and is_allowed(account)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await _refuse_connection(receive, send)
        elif scope["path"] == self._login and not scope["query_string"]:
            await RedirectResponse(streamlit_internals.login_address(), 303)(scope, receive, send)
        elif scope["path"] == self._return:
            await self._app(scope, receive, _leading_to(_cookies(scope).get(_cookie("wanted"), ""), send))
        elif scope["path"] == self._login:
            await self._app(scope, receive, send)
        else:
            name = "" if account is None else address_of(account) or "This account"
            refusal = f"{name} is not among those whom this server lets in." if name else ""
            page = self._page.replace("{said}", escape(refusal))
            answer = _ask(scope, page, refusal or "This server asks its visitors to log in.")
            if isinstance(answer, HTMLResponse):
                place = quote(local_address(scope["path"], scope["query_string"].decode("latin-1")), safe="")
                answer.headers.append("Set-Cookie", _set_cookie(scope, "wanted", place, LOGIN_SECONDS))
            await answer(scope, receive, send)


def _leading_to(target: str, send: Send) -> Send:
    """Return what sends a redirection, if it is one, to the page of a cookie and not to the front page."""

    async def send_on(message: Message) -> None:
        if target and message["type"] == "http.response.start" and "location" in Headers(scope=message):
            address = RedirectResponse(local_address(unquote(target)))
            MutableHeaders(scope=message)["location"] = address.headers["location"]
        await send(message)

    return send_on


class Token:
    """Ask for the token before anything is answered, but for the question whether the server is well."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._page = TOKEN_PAGE.read_text(encoding="utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        needed = token() if scope["type"] in ("http", "websocket") else ""
        browser_pass = _cookies(scope).get(_cookie("pass"), "") if needed else ""
        if not needed or _is_health(scope) or compare_digest(browser_pass.encode(), _pass().encode()):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await _refuse_connection(receive, send)
        else:
            await (await self._answer(scope, receive))(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        """Return the answer to a request without a pass: a pass for the right token, else the page that asks for it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "POST":
            sent = await _sent_token(receive)
        else:
            sent = next((value for name, value in query if name == PARAMETER), "")
        if compare_digest(sent.encode(errors="replace"), token().encode()):
            rest = urlencode([pair for pair in query if pair[0] != PARAMETER])
            answer = RedirectResponse(local_address(scope["path"], rest), 303)
            answer.headers.append("Set-Cookie", _set_cookie(scope, "pass", _pass()))
            return answer
        page = self._page.replace("{said}", "That is not this server's token." if sent else "")
        return _ask(scope, page, "This server asks for a token: open the address with it first.")


async def _sent_token(receive: Receive) -> str:
    """Return the token of a form, "" of one that is longer than any."""
    body = b""
    while len(body) <= FORM_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            values: list[str] = parse_qs(body.decode("latin-1")).get(PARAMETER, [""])
            return values[0]
    return ""


class BrowserNumbers:
    """Give each browser a number that nobody guesses, to which its uploads belong."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if not page or only_this_machine() or NUMBER.fullmatch(_cookies(scope).get(_cookie("browser"), "")):
            await self._app(scope, receive, send)
            return
        cookie = _set_cookie(scope, "browser", secrets.token_hex(16))

        async def send_with_number(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_number)
