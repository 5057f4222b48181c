"""The server's HTTP policy, asked over HTTP: hosts, headers, and the bytes that a session may upload."""

from __future__ import annotations

import base64
import http.client
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from pages.shared.components.navigation import pages
from pages.shared.server.http_policy import (
    FORMER,
    INDEX,
    content_security_policy,
    host_is_allowed,
    inline_scripts,
)
from pages.shared.server.upload_limits import SERVER_FILES, SESSION_FILES
from tests.support.browser import Visit, serve_app

MB = 1 << 20


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


def ask(address: str, path: str, *, method: str = "GET", body: Any = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, sent, encode_chunked=not isinstance(body, bytes | None))
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read().decode(errors="replace"))
    finally:
        connection.close()


class Session:
    """A session without a browser: it is connected as a page is, and uploads as one does."""

    def __init__(self, address: str, connection: ClientConnection) -> None:
        self._address = address
        cookie = ask(address, "/_stcore/health").headers["set-cookie"]
        found = re.search("_streamlit_xsrf=([^;]+)", cookie)
        assert found, cookie
        self._headers = {"Cookie": found[0], "X_Xsrftoken": found[1]}
        connection.send(BackMsg(rerun_script=ClientState()).SerializeToString())
        said = ForwardMsg()
        while not said.HasField("new_session"):
            said.ParseFromString(bytes(connection.recv(timeout=30)))
        self._name = said.new_session.initialize.session_id

    def _ask(self, file: str, **asked: Any) -> Answer:
        return ask(self._address, f"/_stcore/upload_file/{self._name}/{file}", **asked, **self._headers)

    def put(self, file: str, size: int, *, chunked: bool = False) -> Answer:
        head = b'--edge\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--edge--\r\n"
        parts = (body[place : place + MB // 8] for place in range(0, len(body), MB // 8)) if chunked else body
        return self._ask(file, method="PUT", body=parts, Content_Type="multipart/form-data; boundary=edge")

    def delete(self, file: str) -> Answer:
        return self._ask(file, method="DELETE")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that takes files of 1 MB."""
    monkeypatch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "1")
    with serve_app() as address:
        yield address


def connected(address: str) -> ClientConnection:
    """Connect as a page does; the page's messages are not read, so the server's answer to a close is not awaited."""
    stream = address.replace("http", "ws") + "/_stcore/stream"
    return connect(stream, subprotocols=["streamlit"], max_size=None, close_timeout=0.1)


@pytest.mark.parametrize("path", ["/", "/Inspect", "/nowhere/at/all", "/_stcore/health", "/media/none", "/favicon.png"])
def test_every_answer_has_the_headers(app: str, path: str) -> None:
    headers = ask(app, path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert "'unsafe-inline'" not in policy["script-src"] and "unsafe-eval" not in policy["script-src"]
    assert policy["default-src"] == policy["frame-ancestors"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["referrer-policy"] == "same-origin"


def test_a_script_of_the_page_is_allowed_by_its_hash() -> None:
    # The hash of `alert(1)`, as the specification's own example of other tools has it.
    policy = content_security_policy("<head><script src='a.js'></script><script>alert(1)</script></head>")
    assert "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in policy
    assert policy.count("'sha256-") == 1
    assert len(inline_scripts(INDEX.read_text(encoding="utf-8"))) >= 1


@pytest.mark.parametrize(
    ("host", "allowed", "fits"),
    [
        ("localhost:8501", ["127.0.0.1", "localhost"], True),
        ("LOCALHOST.", ["localhost"], True),
        ("[::1]:8501", ["::1"], True),
        ("evil.example", ["127.0.0.1", "localhost"], False),
        ("localhost.evil.example", ["localhost"], False),
        ("localhost@evil.example", ["localhost"], False),
        ("", ["localhost"], False),
        ("[", ["localhost"], False),
        ("a.team.example", ["*.team.example"], True),
        ("team.example", ["*.team.example"], False),
        ("anteam.example", ["*.team.example"], False),
        ("any.example", ["*"], True),
        ("any.example", [], True),
    ],
)
def test_hosts(host: str, allowed: list[str], fits: bool) -> None:
    assert host_is_allowed(host, allowed) is fits


def test_a_foreign_host_is_answered_nothing(app: str) -> None:
    for path in ("/", "/_stcore/host-config", "/media/none"):
        answer = ask(app, path, Host="evil.example")
        assert (answer.status, "--server.allowedHosts" in answer.body) == (403, True)
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    key = base64.b64encode(bytes(16)).decode()
    for host, status in (("evil.example", 403), (urlsplit(app).netloc, 101)):
        assert ask(app, "/_stcore/stream", Host=host, Sec_WebSocket_Key=key, **upgrade).status == status


def test_a_former_address_leads_to_the_page_of_today(app: str) -> None:
    for former, place in FORMER.items():
        assert former[1:] not in pages() and place[1:] in pages()
        for query in ("", "?corpus=abc&doc=en-01&q=a%20b"):
            answer = ask(app, former + query)
            assert (answer.status, answer.headers["location"]) == (308, place + query)


def test_uploads_of_a_session_are_bounded(small: str) -> None:
    for chunked in (False, True):
        with connected(small) as connection:
            session = Session(small, connection)
            # No widget asked for these files.
            fit = [session.put(f"file-{number}", MB // 2, chunked=chunked).status for number in range(3)]
            assert fit == [204] * 3
            refused = session.put("more", 6 * MB // 10, chunked=chunked)
            assert (refused.status, f"{SESSION_FILES} MB together" in refused.body) == (413, True)
            # A small one still fits, the same again takes its place, and a file that is removed makes room.
            assert session.put("small", MB // 100, chunked=chunked).status == 204
            assert session.put("file-0", MB // 100, chunked=chunked).status == 204
            assert session.delete("file-1").status == 204
            assert session.put("more", 6 * MB // 10, chunked=chunked).status == 204


def test_uploads_of_all_sessions_are_bounded(small: str) -> None:
    with ExitStack() as stack:
        answers = []
        for _ in range(SERVER_FILES // SESSION_FILES + 1):
            session = Session(small, stack.enter_context(connected(small)))
            answers += [session.put(f"file-{number}", 9 * MB // 10) for number in range(SESSION_FILES)]
    assert [answer.status for answer in answers].count(204) == SERVER_FILES
    assert [answer.status for answer in answers[SERVER_FILES:]] == [413] * SESSION_FILES
    assert "all sessions" in answers[-1].body


@pytest.mark.browser
def test_a_violation_of_the_policy_is_noticed(visit: Visit) -> None:
    visit.go("/")
    assert visit.problems == []
    visit.page.evaluate("document.body.appendChild(document.createElement('script')).textContent = 'ran = 1'")
    assert visit.page.evaluate("typeof ran") == "undefined"
    assert "Content Security Policy" in str(visit.problems)
    visit.problems.clear()
