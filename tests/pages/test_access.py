"""Who may use the server, asked over HTTP: token, passes, cookies, and the server's own figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from time import time
from typing import ClassVar
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.browser import serve_app
from tests.support.http_requests import HTML, ask
from tests.support.visitors import Visitor

TOKEN = "correct horse battery"
KEY = OctKey.import_key("k" * 32, {"kid": "key", "alg": "HS256"})
SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "of the cookies of this server"
client_id = "nereval"
client_secret = "of nereval at the provider"
server_metadata_url = "{provider}/metadata"
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """The address of a server that does not listen on this machine alone."""
    with ExitStack() as stack:
        # Other servers that are started later are not to be like it.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
            patch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", "127.0.0.1 localhost ner.example.org")
            patch.setenv("NEREVAL_TOKEN", TOKEN)
            address = stack.enter_context(serve_app("--read-only"))
        yield address


class Provider(BaseHTTPRequestHandler):
    """A provider of logins by OpenID Connect that lets everybody in as `account`; a code is the nonce it answers."""

    account: ClassVar[dict[str, object]] = {}

    def do_GET(self) -> None:
        here = f"http://127.0.0.1:{self.server.server_port}"
        places = {
            "authorization_endpoint": f"{here}/enter",
            "token_endpoint": f"{here}/token",
            "jwks_uri": f"{here}/keys",
        }
        metadata = {"issuer": here, "id_token_signing_alg_values_supported": ["HS256"], **places}
        self._say(metadata if self.path == "/metadata" else {"keys": [KEY.as_dict(private=True)]})

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        said = {"iss": f"http://127.0.0.1:{self.server.server_port}", "aud": "nereval", "sub": "1", "name": "Ada"}
        claims = said | self.account | {"nonce": sent["code"][0], "iat": int(time()), "exp": int(time()) + 60}
        token = jwt.encode({"alg": "HS256", "kid": "key"}, claims, KEY)
        self._say({"access_token": "a", "token_type": "Bearer", "id_token": token})

    def _say(self, content: object) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def with_login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose visitors log in."""
    home = tmp_path_factory.mktemp("home")
    with HTTPServer(("127.0.0.1", 0), Provider) as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        secrets = home / ".streamlit" / "secrets.toml"
        secrets.parent.mkdir()
        secrets.write_text(SECRETS.format(provider=f"http://127.0.0.1:{provider.server_port}"))
        with ExitStack() as stack:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("HOME", str(home))
                address = stack.enter_context(serve_app("--allow", "ada@lab.example, @Example.org"))
            yield address
        provider.shutdown()


def pass_of(address: str) -> str:
    """Return the pass that the right token gets."""
    answer = ask(address, "/Inspect?" + urlencode({"corpus": "0" * 12, "token": TOKEN}), **HTML)
    assert (answer.status, answer.headers["location"]) == (303, f"/Inspect?corpus={'0' * 12}")
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    "path", ["/", "/Inspect", "/_stcore/host-config", "/media/none", "/_stcore/metrics", "/media/_stcore/health"]
)
@pytest.mark.parametrize("shown", ["", "nereval_pass=", "nereval_pass=é; token=" + TOKEN])
def test_nothing_is_answered_without_the_token(shared: str, path: str, shown: str) -> None:
    port = shared.rpartition(":")[2]
    answer = ask(shared, path, **HTML, Cookie=shown.replace("pass=", f"pass_{port}=").encode().decode("latin-1"))
    assert answer.status in (401, 403) and "Streamlit" not in answer.body
    assert ask(shared, path + "?token=wrong").status in (401, 403)


def test_a_page_is_connected_with_a_pass_alone(shared: str) -> None:
    stream = shared.replace("http", "ws") + "/_stcore/stream"
    with pytest.raises(InvalidStatus) as refused:
        connect(stream, subprotocols=["streamlit"])
    assert refused.value.response.status_code == 403
    with connect(stream, subprotocols=["streamlit"], additional_headers={"Cookie": pass_of(shared)}, close_timeout=0.1):
        pass


def test_a_form_takes_the_token(shared: str) -> None:
    form = HTML | {"Content_Type": "application/x-www-form-urlencoded"}
    wrong = ask(shared, "/", method="POST", body=b"token=no", **form)
    assert (wrong.status, "That is not this server's token" in wrong.body) == (401, True)
    right = ask(shared, "//evil.example/?a=b", method="POST", body=urlencode({"token": TOKEN}).encode(), **form)
    assert (right.status, right.headers["location"]) == (303, "/evil.example/?a=b")
    # Nothing is kept of what is longer or more than a token.
    for body in (b"token=" + b"x" * 10_000, b"a=b&" * 10 + b"token=no"):
        assert ask(shared, "/", method="POST", body=body, **form).status == 400
    files = HTML | {"Content_Type": "multipart/form-data; boundary=b"}
    part = b'--b\r\nContent-Disposition: form-data; name="token"; filename="f"\r\n\r\nx\r\n--b--\r\n'
    refused = ask(shared, "/", method="POST", body=part, **files)
    assert refused.status == 400 and "content-security-policy" in refused.headers


def test_cookies_go_along_with_links_and_are_kept_from_scripts(shared: str) -> None:
    page = ask(shared, "/", **HTML, Cookie=pass_of(shared), X_Forwarded_Proto="https")
    found = SimpleCookie(page.headers["set-cookie"])
    assert page.status == 200 and len(found) == 1
    (number,) = found.values()
    assert len(number.value) == 32 and number["httponly"] and number["secure"] and number["samesite"] == "Lax"
    # A browser with a number keeps it, wherever the link stands; no other text is a number.
    known = f"{pass_of(shared)}; nereval_browser_{shared.rpartition(':')[2]}="
    for site in ("cross-site", "same-origin"):
        assert not ask(shared, "/", **HTML, Cookie=known + number.value, Sec_Fetch_Site=site).cookies
    assert ask(shared, "/", **HTML, Cookie=known + "1").cookies


def test_nothing_is_answered_before_the_login(with_login: str) -> None:
    page = ask(with_login, "/Inspect", **HTML)
    assert (page.status, 'href="/auth/login"' in page.body) == (401, True)
    for method, path in (("GET", "/media/none"), ("GET", "/_stcore/metrics"), ("PUT", "/_stcore/upload_file/a/b")):
        assert ask(with_login, path, method=method).status == 401
    stream = with_login.replace("http", "ws") + "/_stcore/stream"
    for cookie in ("", "_streamlit_user=e30.forged.cookie"):
        with pytest.raises(InvalidStatus) as refused:
            connect(stream, subprotocols=["streamlit"], additional_headers={"Cookie": cookie})
        assert refused.value.response.status_code == 403


def cookie_of(with_login: str, account: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> str:
    """Log in by an account, and return its cookies."""
    monkeypatch.setattr(Provider, "account", account)
    login = ask(with_login, ask(with_login, "/auth/login", **HTML).headers["location"], **HTML)
    sent = dict(parse_qsl(urlsplit(login.headers["location"]).query))
    back = "/oauth2callback?" + urlencode({"state": sent["state"], "code": sent["nonce"]})
    begun = {one.partition(";")[0] for one in login.cookies}
    entered = ask(with_login, back, **HTML, Cookie="; ".join(begun))
    return "; ".join(one.partition(";")[0] for one in entered.cookies)


@pytest.mark.parametrize(
    "account",
    [{"email": "Ada@lab.example", "email_verified": "true"}, {"email": "eve@example.org", "email_verified": True}],
)
def test_whoever_logs_in_and_is_let_in_is_answered(
    with_login: str, account: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = cookie_of(with_login, account, monkeypatch)
    assert ask(with_login, "/Inspect", **HTML, Cookie=cookie).status == 200
    stream = with_login.replace("http", "ws") + "/_stcore/stream"
    with connect(stream, subprotocols=["streamlit"], additional_headers={"Cookie": cookie}, close_timeout=0.1):
        pass
    assert ask(with_login, "/Inspect", **HTML, Cookie=cookie.replace("_user=", "_user=x")).status == 401


def test_a_login_under_another_address_shows_nothing(with_login: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Streamlit takes nobody for logged in whose page is not of the origin of `redirect_uri`, as here.
    cookie = cookie_of(with_login, {"email": "ada@lab.example", "email_verified": True}, monkeypatch)
    cookies = dict(part.split("=", 1) for part in cookie.split("; "))
    with Visitor(with_login, cookies=cookies) as visitor:
        visitor.open("Overview")
        texts = list(visitor.shown.texts())
    assert any("asks its visitors to log in" in text for text in texts)
    assert not any("Overview" in text for text in texts)


NOT_LET_IN: tuple[dict[str, object], ...] = (
    {},
    {"email": "eve@lab.example", "email_verified": True},
    {"email": "eve@sub.example.org", "email_verified": True},
    {"email": "eve@example.org"},
    {"email": "eve@example.org", "email_verified": False},
    {"email": "eve@example.org", "email_verified": "false"},
    {"email": "@example.org", "email_verified": True},
    {"email": "eve@example.org <b>@evil.example", "email_verified": True},
)


@pytest.mark.parametrize("account", NOT_LET_IN)
def test_no_other_account_is_let_in(
    with_login: str, account: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = cookie_of(with_login, account, monkeypatch)
    page = ask(with_login, "/Inspect", **HTML, Cookie=cookie)
    assert page.status == 401 and "is not among those whom this server lets in." in page.body and "<b>" not in page.body
    for method, path in (("GET", "/media/none"), ("PUT", "/_stcore/upload_file/a/b")):
        assert ask(with_login, path, method=method, Cookie=cookie).status == 401
    stream = with_login.replace("http", "ws") + "/_stcore/stream"
    with pytest.raises(InvalidStatus):
        connect(stream, subprotocols=["streamlit"], additional_headers={"Cookie": cookie})


@pytest.mark.parametrize("odd", ['theme={"dark":true}', "no value", 'open="', "a[b]=1"])
def test_cookies_of_other_apps_on_the_host_are_no_obstacle(shared: str, odd: str) -> None:
    assert ask(shared, "/", **HTML, Cookie=f"{odd}; {pass_of(shared)}").status == 200


def test_this_machine_alone_is_asked_for_nothing(app: str) -> None:
    answer = ask(app, "/", **HTML)
    assert answer.status == 200 and "nereval_browser" not in answer.headers.get("set-cookie", "")


def test_whoever_starts_it_open_is_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    with serve_app("--open") as address:
        assert "nereval_browser" in ask(address, "/", **HTML).headers["set-cookie"]


@pytest.mark.parametrize(
    ("hosts", "base", "certificate", "address"),
    [
        (["*"], "", "", "http://localhost:8501/?token="),
        (["localhost", "*.team.example", "ner.example.org"], "ner", "", "http://ner.example.org:8501/ner/?token="),
        (["ner.example.org"], "", "ner.pem", "https://ner.example.org:8501/?token="),
    ],
)
def test_the_address_that_visitors_need(
    hosts: list[str],
    base: str,
    certificate: str,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from pages.shared.server import access

    options = {
        "server.allowedHosts": hosts,
        "server.baseUrlPath": base,
        "server.sslCertFile": certificate,
        "server.port": 8501,
    }
    monkeypatch.setattr(access.st, "get_option", lambda name: options.get(name, ""))
    monkeypatch.delenv("NEREVAL_TOKEN", raising=False)
    access.token.cache_clear()
    access.announce_access()
    assert address in capsys.readouterr().out
    access.token.cache_clear()
