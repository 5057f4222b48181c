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
from urllib.parse import parse_qs, quote, unquote, urlencode

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send
from streamlit.errors import StreamlitSecretNotFoundError

from nereval_core.cli.server_options import ADDRESS, addresses
from nereval_core.problems import FormatError
from pages.shared import streamlit_internals
from pages.shared.server import server_options
from pages.shared.server.asgi import Layer, changing_headers
from pages.shared.server.core_process import Bounds, server_bounds, while_active

VARIABLE = "NEREVAL_TOKEN"
PARAMETER = "token"
SHORTEST = 16
"""Characters of a token that nobody guesses."""
FORM_BYTES = 4096
LOOPBACK = ("127.0.0.1", "localhost", "::1")
TOKEN_PAGE, LOGIN_PAGE = (Path(__file__).parent / f"{name}_page.html" for name in ("token", "login"))
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
SECTION = "nereval"
"""The section of Streamlit's secrets that names who may log in, as `--allow` does."""
UNVERIFIED = "trust_unverified"
"""Its switch for providers that do not say whether they have verified an address."""
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
def secrets_sections() -> Mapping[str, Any]:
    """Return Streamlit's secrets, {} where no file has any.

    Raises:
        FormatError: a file of secrets cannot be read. Streamlit would take it for none, and nobody had to log in.
    """
    try:
        return dict(st.secrets)
    except (StreamlitSecretNotFoundError, OSError, UnicodeError) as error:
        if any(Path(file).exists() for file in st.get_option("secrets.files")):
            raise FormatError.single("secrets.toml", None, f"not readable: {error}", "mend or remove it") from None
        return {}


def has_login() -> bool:
    """Return whether visitors log in by OpenID Connect: Streamlit's secrets have a section `auth`."""
    return "auth" in secrets_sections()


def allowed_accounts() -> frozenset[str] | None:
    """Return the addresses and domains that may log in, by `--allow` or by Streamlit's secrets; None where all may.

    Raises:
        FormatError: accounts are named in both places, or not as they should be.
    """
    option, section = server_options().allow, secrets_sections().get(SECTION)
    if section is None:
        return None if option is None else addresses(option.split(","))
    section = section if isinstance(section, Mapping) and section.keys() <= {"allow", UNVERIFIED} else {}
    names = section.get("allow")
    allowed = addresses(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else ()
    is_right = option is None and isinstance(section.get(UNVERIFIED, False), bool)
    if not is_right or not allowed or not all(map(ADDRESS.fullmatch, allowed)):
        remedy = f'write allow = ["user@example.org", "@example.org"], without --allow, and at most {UNVERIFIED} = true'
        raise FormatError.single("secrets.toml", None, f"the section [{SECTION}] does not say who may log in", remedy)
    return frozenset(allowed)


def address_of(account: Mapping[str, Any]) -> str:
    """Return the address of mail of an account, "" where its provider does not say that it has verified it.

    Where it says nothing of it, the secrets may trust that nobody chooses an address there.
    """
    is_trusted = secrets_sections().get(SECTION, {}).get(UNVERIFIED, False)
    is_verified = account.get("email_verified", is_trusted) in (True, "true")
    return str(account.get("email") or "").casefold() if is_verified else ""


def is_allowed(account: Mapping[str, Any]) -> bool:
    """Return whether the server lets an account in: all that log in, or those whose address or domain it was told."""
    allowed = allowed_accounts()
    name, at, domain = address_of(account).rpartition("@")
    return allowed is None or (bool(name) and not allowed.isdisjoint({name + at + domain, at + domain}))


def check_login() -> None:
    """Check that visitors can log in where they have to, and nobody else.

    Raises:
        FormatError: secrets are not readable, name accounts though nobody logs in, or sign with a key that could be
            guessed; or the package that logs in is missing.
    """
    if not has_login():
        if allowed_accounts() is not None:
            source = "secrets.toml" if server_options().allow is None else "--allow"
            raise FormatError.single(source, None, "nobody logs in", "write a section [auth] into secrets.toml")
        return
    allowed_accounts()
    auth = secrets_sections()["auth"]
    key = auth.get("cookie_secret") if isinstance(auth, Mapping) else None
    if not isinstance(key, str) or len(key) < SHORTEST:
        finding, remedy = (
            f"cookie_secret in [auth] is no text of {SHORTEST} characters",
            "take what openssl rand -hex 32 prints",
        )
        raise FormatError.single("secrets.toml", None, finding, remedy)
    if find_spec("authlib") is None:
        finding = "[auth] needs the package authlib, which is not installed"
        remedy = "pip install authlib, or install nereval with the extra [login]"
        raise FormatError.single("secrets.toml", None, finding, remedy)


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
        allowed = allowed_accounts()
        accounts = "all accounts of the provider" if allowed is None else ", ".join(sorted(allowed))
        message = f"Visitors log in: {accounts}."
    elif only_this_machine():
        message = "Only this machine reaches this server, with all its accounts."
    else:
        message = "Everybody who reaches this server may use it."
    print(message, flush=True)


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


def _set_cookie(scope: Scope, name: str, value: str, seconds: int = DAYS * 86_400) -> str:
    """Return the header of a cookie for links from anywhere, and for no connection, form or upload of another site."""
    https = "https" in (scope["scheme"], Headers(scope=scope).get("x-forwarded-proto", ""))
    secure = "; Secure" if https else ""
    return f"{_cookie(name)}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def local_address(path: str, query: str = "") -> str:
    """Return an address on this server: one slash in front, or it would be that of another."""
    place = "/" + path.lstrip("/\\")
    return f"{place}?{query}" if query else place


def _ask(request: Request, page: str, message: str) -> Response:
    """Return a page that asks for what is missing; who wants no page gets a line."""
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(f"{message}\n", 401)
    return HTMLResponse(page, 401, {"Content-Security-Policy": POLICY})


class Access(Layer):
    """Answer nobody without the token or the login, but the question whether the server is well.

    A login leads to the page that was asked for. Accounts that the server was not told to let in are treated as if they
    had not logged in, with a word about it.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _is_let_in(HTTPConnection(scope)):
            await self.app(scope, receive, send)
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
        if path == come_back:
            target = request.cookies.get(_cookie("wanted"), "")
            await self.app(request.scope, receive, changing_headers(send, partial(_lead_to, target)))
        elif path == login and query:
            await self.app(request.scope, receive, send)
        elif path == login:
            await RedirectResponse(streamlit_internals.login_address(), 303)(request.scope, receive, send)
        else:
            account = streamlit_internals.logged_in_account(request.cookies)
            name = "" if account is None else address_of(account) or "An account without a verified address"
            refusal = f"{name} is not among those whom this server lets in." if name else ""
            page = LOGIN_PAGE.read_text(encoding="utf-8").replace("{address}", login).replace("{said}", escape(refusal))
            answer = _ask(request, page, refusal or "This server asks its visitors to log in.")
            if isinstance(answer, HTMLResponse):
                place = quote(local_address(path, query), safe="")
                answer.headers.append("Set-Cookie", _set_cookie(request.scope, "wanted", place, LOGIN_SECONDS))
            await answer(request.scope, receive, send)


def _is_let_in(connection: HTTPConnection) -> bool:
    if connection.scope["path"] == streamlit_internals.url_path("_stcore/health"):
        return True
    if has_login():
        account = streamlit_internals.logged_in_account(connection.cookies)
        return account is not None and is_allowed(account)
    return not token() or compare_digest(connection.cookies.get(_cookie("pass"), "").encode(), _pass().encode())


def _lead_to(target: str, headers: MutableHeaders) -> None:
    """Have a redirection, if it is one, lead to the page of a cookie and not to the front page."""
    if target and "location" in headers:
        headers["location"] = RedirectResponse(local_address(unquote(target))).headers["location"]


async def _answer_to_token(request: Request) -> Response:
    """Return the answer to a request without a pass: a pass for the right token, else the page that asks for it."""
    sent = await _token_of_form(request) if request.method == "POST" else request.query_params.get(PARAMETER, "")
    if compare_digest(sent.encode(errors="replace"), token().encode()):
        rest = request.url.remove_query_params(PARAMETER).query
        answer = RedirectResponse(local_address(request.scope["path"], rest), 303)
        answer.headers.append("Set-Cookie", _set_cookie(request.scope, "pass", _pass()))
        return answer
    page = TOKEN_PAGE.read_text(encoding="utf-8").replace("{said}", "That is not this server's token." if sent else "")
    return _ask(request, page, "This server asks for a token: open the address with it first.")


async def _token_of_form(request: Request) -> str:
    """Return the token of a form, "" of one that is longer than any."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > FORM_BYTES:
            return ""
    return parse_qs(body.decode("latin-1")).get(PARAMETER, [""])[0]


class BrowserNumbers(Layer):
    """Give each browser a number that nobody guesses, to which its uploads belong."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not only_this_machine():
            request = Request(scope)
            is_numbered = NUMBER.fullmatch(request.cookies.get(_cookie("browser"), ""))
            if "text/html" in request.headers.get("accept", "") and not is_numbered:
                cookie = _set_cookie(scope, "browser", secrets.token_hex(16))
                send = changing_headers(send, lambda headers: headers.append("Set-Cookie", cookie))
        await self.app(scope, receive, send)
