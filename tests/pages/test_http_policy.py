"""The server's HTTP policy, asked over HTTP: hosts, headers, and the bytes that a session may upload."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from pages.shared.components.navigation import pages
from pages.shared.server import http_policy
from pages.shared.server.http_policy import (
    FORMER,
    INDEX,
    SERVER_FILES,
    SESSION_FILES,
    FormerAddresses,
    StandstillLimit,
    content_security_policy,
    host_is_allowed,
    inline_scripts,
)
from tests.support.browser import Visit, serve_app
from tests.support.http_requests import MB, Answer, ask
from tests.support.visitors import Visitor

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": base64.b64encode(bytes(16)).decode(),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that takes files of 1 MB."""
    monkeypatch.setenv("STREAMLIT_SERVER_MAX_UPLOAD_SIZE", "1")
    with serve_app() as address:
        yield address


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
    for host, status in (("evil.example", 403), (urlsplit(app).netloc, 101)):
        assert ask(app, "/_stcore/stream", Host=host, **UPGRADE).status == status


@pytest.mark.parametrize(
    "origin", ["http://localhost:9000", "http://127.0.0.1:9000", "http://evil.example", "null", "http://["]
)
def test_pages_of_other_origins_are_not_connected(app: str, origin: str) -> None:
    assert ask(app, "/_stcore/stream", Origin=origin, **UPGRADE).status == 403
    assert ask(app, "/_stcore/stream", Origin=app, **UPGRADE).status == 101


def test_a_former_address_leads_to_the_page_of_today(app: str) -> None:
    for former, place in FORMER.items():
        assert former[1:] not in pages() and place[1:] in pages()
        for query in ("", "?corpus=abc&doc=en-01&q=a%20b"):
            answer = ask(app, former + query)
            assert (answer.status, answer.headers["location"]) == (308, place + query)


def run_apart(made: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in another thread: the browser of other tests has a loop of its own running in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, made).result()


@pytest.mark.parametrize("base", ["ner", "/ner/"])
def test_a_former_address_below_the_path_of_a_server_leads_on_too(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError

    async def receive() -> Message:
        raise AssertionError

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": base}.get)
    scope = {"type": "http", "method": "GET", "path": "/ner/Errors", "query_string": b"corpus=abc"}
    run_apart(FormerAddresses(app)(scope, receive, send))
    assert (sent[0]["status"], dict(sent[0]["headers"])[b"location"]) == (308, b"/ner/Inspect?corpus=abc")


def test_uploads_of_a_session_are_bounded(small: str) -> None:
    for chunked in (False, True):
        with Visitor(small) as visitor:
            visitor.open()

            def put(file: str, size: int, *, visitor: Visitor = visitor, chunked: bool = chunked) -> Answer:
                return visitor.put_file(file, bytes(size), chunked=chunked)

            # No widget asked for these files.
            assert [put(f"file-{number}", MB // 2).status for number in range(3)] == [204] * 3
            refused = put("more", 6 * MB // 10)
            assert (refused.status, f"{SESSION_FILES} MB together" in refused.body) == (413, True)
            # A small one still fits, the same again takes its place, and a file that is removed makes room.
            assert put("small", MB // 100).status == put("file-0", MB // 100).status == 204
            assert visitor.delete_file("file-1").status == 204
            assert put("more", 6 * MB // 10).status == 204


def test_uploads_of_all_sessions_are_bounded(small: str) -> None:
    with ExitStack() as stack:
        answers = []
        for _ in range(SERVER_FILES // SESSION_FILES + 1):
            visitor = stack.enter_context(Visitor(small))
            visitor.open()
            answers += [visitor.put_file(f"file-{number}", bytes(9 * MB // 10)) for number in range(SESSION_FILES)]
    assert [answer.status for answer in answers].count(204) == SERVER_FILES
    assert [answer.status for answer in answers[SERVER_FILES:]] == [413] * SESSION_FILES
    assert "all sessions" in answers[-1].body


def test_an_upload_that_does_not_arrive_is_no_obstacle_for_others(small: str) -> None:
    with ExitStack() as stack:
        for _ in range(SERVER_FILES):
            visitor = stack.enter_context(Visitor(small))
            visitor.open()
            still = stack.enter_context(visitor.begin_file("still", MB))
            # The server takes up one request of a connection after the other.
            assert still.recv(100).startswith(b"HTTP/1.1 100 Continue")
        other = stack.enter_context(Visitor(small))
        other.open()
        assert other.put_file("file", bytes(9 * MB // 10)).status == 204


def test_an_upload_that_stands_still_or_whose_sender_leaves_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        async for _ in Request(scope, receive).stream():
            pass

    async def receive_nothing() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def receive_farewell() -> Message:
        return {"type": "http.disconnect"}

    async def send(_: Message) -> None:
        raise AssertionError

    monkeypatch.setattr(http_policy, "STANDSTILL", 0)
    scope = {"type": "http", "method": "PUT", "path": "/ner/_stcore/upload_file/session/file"}
    ended = StandstillLimit(app)
    with pytest.raises(HTTPException) as stopped:
        run_apart(ended(scope, receive_nothing, send))
    assert stopped.value.status_code == 408
    run_apart(ended(scope, receive_farewell, send))


@pytest.mark.browser
def test_a_violation_of_the_policy_is_noticed(visit: Visit) -> None:
    visit.go("/")
    assert visit.problems == []
    visit.page.evaluate("document.body.appendChild(document.createElement('script')).textContent = 'ran = 1'")
    assert visit.page.evaluate("typeof ran") == "undefined"
    assert "Content Security Policy" in str(visit.problems)
    visit.problems.clear()
