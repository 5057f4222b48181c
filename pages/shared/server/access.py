"""Access to the server: a token off this machine, and a number for each browser, in cookies that no script reads.

Whoever starts the server says who may use it: those with its token (printed at the start, or `NEREVAL_TOKEN`), those
who log in (an `[auth]` section in Streamlit's secrets), or with `--open` all who reach it. On a server that answers
this machine alone nobody is asked.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from hmac import compare_digest
from html import escape
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote, unquote, urlencode

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.errors import StreamlitSecretNotFoundError

from nereval_core.cli.server_options import addresses
from nereval_core.problems import FormatError
from pages.shared import streamlit_internals
from pages.shared.server import server_options
from pages.shared.server.core_process import Bounds, server_bounds

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
"""Days for which a browser keeps its cookies, the most that browsers allow."""


def only_this_machine() -> bool:
    """Return whether the server listens on this machine alone and answers to no other name, as that of a proxy."""
    names = [str(name).strip().lower() for name in st.get_option("server.allowedHosts")]
    return st.get_option("server.address") in LOOPBACK and bool(names) and set(names) <= set(LOOPBACK)


@cache
def login_settings() -> Mapping[str, Any] | None:
    """Return the section `auth` of Streamlit's secrets, by which visitors log in with OpenID Connect; None without.

    Raises:
        FormatError: a file of secrets cannot be read. Streamlit would take it for none, and nobody had to log in. Or it
            says who may log in, which only the option does now: all would be let in.
    """
    try:
        sections = dict(st.secrets)
    except (StreamlitSecretNotFoundError, OSError, UnicodeError) as error:
        if any(Path(file).exists() for file in st.get_option("secrets.files")):
            raise FormatError.single("secrets.toml", None, f"not readable: {error}", "mend or remove it") from None
        return None
    if "nereval" in sections:
        finding, remedy = "a section [nereval], which is not read", "remove it and give --allow ADDRESSES"
        raise FormatError.single("secrets.toml", None, finding, remedy)
    return sections.get("auth")


def has_login() -> bool:
    return login_settings() is not None


def allowed_accounts() -> frozenset[str] | None:
    """Return the addresses and domains that may log in, by `--allow`; None where all may."""
    names = server_options().allow
    return None if names is None else addresses(names)


def address_of(account: Mapping[str, Any]) -> str:
    """Return the address of mail of an account, "" where its provider does not say that it has verified it.

    With `--trust-unverified` it need not say so: nobody chooses an address there.
    """
    is_verified = account.get("email_verified", server_options().trust_unverified) in (True, "true")
    return str(account.get("email") or "").casefold() if is_verified else ""


def is_allowed(account: Mapping[str, Any]) -> bool:
    """Return whether the server lets an account in: all that log in, or those whose address or domain it was told."""
    allowed = allowed_accounts()
    name, at, domain = address_of(account).rpartition("@")
    return allowed is None or (bool(name) and not allowed.isdisjoint({name + at + domain, at + domain}))


def check_login() -> None:
    """Check that visitors can log in where they have to, and nobody else.

    Raises:
        FormatError: accounts are named though nobody logs in; secrets are not readable, or sign with a key that could
            be guessed; or the package that logs in is missing.
    """
    settings = login_settings()
    source, finding, remedy = "secrets.toml", "", ""
    if settings is None:
        if allowed_accounts() is not None:
            source, finding, remedy = "--allow", "nobody logs in", "write a section [auth] into secrets.toml"
    elif not isinstance(settings, Mapping) or len(str(settings.get("cookie_secret", ""))) < SHORTEST:
        finding = f"cookie_secret in [auth] is no text of {SHORTEST} characters"
        remedy = "take what openssl rand -hex 32 prints"
    elif find_spec("authlib") is None:
        finding = "[auth] needs the package authlib, which is not installed"
        remedy = "pip install authlib, or install nereval with the extra [login]"
    if finding:
        raise FormatError.single(source, None, finding, remedy)


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
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        place = f"{(*names, 'localhost')[0]}:{st.get_option('server.port')}{streamlit_internals.url_path('/')}"
        message = f"Visitors need this address: {scheme}://{place}?{urlencode({PARAMETER: token()})}"
    elif token():
        message = f"Visitors need the token in {VARIABLE}."
    elif has_login():
        message = f"Visitors log in: {', '.join(sorted(allowed_accounts() or ['all accounts of the provider']))}."
    elif only_this_machine():
        message = "Only this machine reaches this server, with all its accounts."
    else:
        message = "Everybody who reaches this server may use it."
    print(message, flush=True)


def session_bounds() -> Bounds:
    """Return the bounds of what this session computes: it ends some time after the session."""
    session, last = streamlit_internals.session_id(), monotonic()

    def is_waited_for() -> bool:
        nonlocal last
        if session is None or streamlit_internals.is_active(session):
            last = monotonic()
        return monotonic() - last < LEFT

    return replace(server_bounds(alone=only_this_machine()), is_waited_for=is_waited_for)


def browser() -> str:
    """Return the number of the browser of this session, "" where it takes no cookies, or shows what we never give."""
    return _number(st.context.cookies)


def _number(cookies: Mapping[str, str]) -> str:
    number = str(cookies.get(_cookie("browser"), ""))
    return number if NUMBER.fullmatch(number) else ""


def _cookie(name: str) -> str:
    # Cookies do not tell ports apart.
    return f"nereval_{name}_{st.get_option('server.port')}"


def _pass() -> str:
    """Return what a browser shows in place of the token."""
    return sha256(f"nereval pass {token()}".encode()).hexdigest()


def _set_cookie(request: HTTPConnection, name: str, value: str) -> str:
    """Return the header of a cookie for links from anywhere, and for no connection, form or upload of another site."""
    https = "https" in (request.scope["scheme"], request.headers.get("x-forwarded-proto", ""))
    secure = "; Secure" if https else ""
    return f"{_cookie(name)}={value}; Path=/; Max-Age={DAYS * 86_400}; HttpOnly; SameSite=Lax{secure}"


def local_address(path: str, query: str = "") -> str:
    """Return an address on this server: one slash in front, or it would be that of another."""
    place = "/" + path.lstrip("/\\")
    return f"{place}?{query}" if query else place


class Layer:
    """A layer of the server: it answers a request itself, or hands it on to `app`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app


def changing_headers(send: Send, change: Callable[[MutableHeaders], object]) -> Send:
    """Return what sends an answer after its headers were changed."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed


class Access(Layer):
    """Answer nobody without the token or the login, but the question whether the server is well.

    A login leads to the page that was asked for. Accounts that the server was not told to let in are treated as if they
    had not logged in, with a word about it. Each browser that is let in gets a number that nobody guesses, to which its
    uploads belong.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif _is_let_in(request := HTTPConnection(scope)):
            await self.app(scope, receive, send if only_this_machine() else _numbering(request, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif has_login():
            await self._log_in(Request(scope), receive, send)
        else:
            await (await _answer_to_token(Request(scope, receive)))(scope, receive, send)

    async def _log_in(self, request: Request, receive: Receive, send: Send) -> None:
        login, come_back = map(streamlit_internals.url_path, ("auth/login", "oauth2callback"))
        path, query = request.scope["path"], request.scope["query_string"].decode("latin-1")
        answer: ASGIApp = self.app
        if path == come_back:
            send = changing_headers(send, partial(_lead_to, request.cookies.get(_cookie("wanted"), "")))
        elif path != login:
            account = streamlit_internals.logged_in_account(request.cookies)
            name = "" if account is None else address_of(account) or "An account without a verified address"
            refusal = f"{name} is not among those whom this server lets in." if name else ""
            page = LOGIN_PAGE.read_text(encoding="utf-8").replace("{address}", login).replace("{said}", escape(refusal))
            cookie = _set_cookie(request, "wanted", quote(local_address(path, query), safe=""))
            answer = _ask(request, page, refusal or "This server asks its visitors to log in.", cookie)
        elif not query:
            answer = RedirectResponse(streamlit_internals.login_address(), 303)
        await answer(request.scope, receive, send)


def _is_let_in(connection: HTTPConnection) -> bool:
    if connection.scope["path"] == streamlit_internals.url_path("_stcore/health"):
        return True
    if has_login():
        account = streamlit_internals.logged_in_account(connection.cookies)
        return account is not None and is_allowed(account)
    return not token() or compare_digest(connection.cookies.get(_cookie("pass"), "").encode(), _pass().encode())


def _wants_page(request: HTTPConnection) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _numbering(request: HTTPConnection, send: Send) -> Send:
    """Return what sends an answer, with a number for a browser that has none."""
    if _number(request.cookies) or not _wants_page(request):
        return send
    cookie = _set_cookie(request, "browser", secrets.token_hex(16))
    return changing_headers(send, lambda headers: headers.append("Set-Cookie", cookie))


def _ask(request: Request, page: str, message: str, cookie: str = "") -> Response:
    """Return a page that asks for what is missing, with a cookie; who wants no page gets a line."""
    if not _wants_page(request):
        return PlainTextResponse(f"{message}\n", 401)
    return HTMLResponse(page, 401, {"Content-Security-Policy": POLICY} | ({"Set-Cookie": cookie} if cookie else {}))


def _lead_to(target: str, headers: MutableHeaders) -> None:
    """Have a redirection, if it is one, lead to the page of a cookie and not to the front page."""
    if target and "location" in headers:
        headers["location"] = RedirectResponse(local_address(unquote(target))).headers["location"]


async def _answer_to_token(request: Request) -> Response:
    """Return the answer to a request without a pass: a pass for the right token, else the page that asks for it."""
    form = await request.form(max_files=0, max_fields=1, max_part_size=FORM_BYTES)
    sent = str(form.get(PARAMETER, request.query_params.get(PARAMETER, "")))
    if compare_digest(sent.encode(errors="replace"), token().encode()):
        address = local_address(request.scope["path"], request.url.remove_query_params(PARAMETER).query)
        return RedirectResponse(address, 303, {"Set-Cookie": _set_cookie(request, "pass", _pass())})
    page = TOKEN_PAGE.read_text(encoding="utf-8").replace("{said}", "That is not this server's token." if sent else "")
    return _ask(request, page, "This server asks for a token: open the address with it first.")
