"""The server's HTTP policy, asked over HTTP: hosts, headers, and the bytes that a session may upload."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import socket
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from pages.shared.server import http_policy
from pages.shared.server.http_policy import (
    INDEX,
    SCRIPT,
    SERVER_FILES,
    SESSION_FILES,
    SHUTDOWN,
    TimeLimits,
    content_security_policy,
)
from tests.support.browser import Visit, serve_app, serve_app_process
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
    # A connection to any host would carry off what a script reads.
    assert policy["default-src"] == policy["frame-ancestors"] == policy["connect-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["referrer-policy"] == "same-origin"


def test_a_script_of_the_page_is_allowed_by_its_hash() -> None:
    # The hash of `alert(1)`, as the specification's own example of other tools has it.
    policy = content_security_policy("<head><script src='a.js'></script><script>alert(1)</script></head>")
    assert "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in policy
    assert policy.count("'sha256-") == 1
    assert len(SCRIPT.findall(INDEX.read_text(encoding="utf-8"))) >= 1


def test_a_foreign_host_is_answered_nothing(app: str) -> None:
    for path in ("/", "/_stcore/host-config", "/media/none"):
        for host in ("evil.example", "localhost.evil.example", "localhost@evil.example", "["):
            answer = ask(app, path, Host=host)
            assert (answer.status, "--server.allowedHosts" in answer.body) == (403, True)
    for host, status in (("evil.example", 403), (urlsplit(app).netloc, 101)):
        assert ask(app, "/_stcore/stream", Host=host, **UPGRADE).status == status


@pytest.mark.parametrize(
    "origin", ["http://localhost:9000", "http://127.0.0.1:9000", "http://evil.example", "null", "http://["]
)
def test_pages_of_other_origins_are_not_connected(app: str, origin: str) -> None:
    assert ask(app, "/_stcore/stream", Origin=origin, **UPGRADE).status == 403
    assert ask(app, "/_stcore/stream", Origin=app, **UPGRADE).status == 101


def test_no_page_around_the_app_gives_it_orders(app: str) -> None:
    assert json.loads(ask(app, "/_stcore/host-config").body)["allowedOrigins"] == []


def run_apart(made: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in another thread: the browser of other tests has a loop of its own running in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, made).result()


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


def test_a_request_that_stands_still_or_whose_sender_leaves_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        async for _ in Request(scope, receive).stream():
            pass

    async def receive_nothing() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def receive_farewell() -> Message:
        return {"type": "http.disconnect"}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    monkeypatch.setattr(http_policy, "STANDSTILL", 0)
    ended = TimeLimits(app)
    for method, path in (("PUT", "/ner/_stcore/upload_file/session/file"), ("POST", "/")):
        scope = {"type": "http", "method": method, "path": path}
        run_apart(ended(scope, receive_nothing, send))
        assert [message.get("status") for message in sent] == [408, None]
        sent.clear()
        run_apart(ended(scope, receive_farewell, send))
        assert not sent


@pytest.mark.parametrize(
    ("method", "path", "status"), [("POST", "/", 408), ("PUT", "/_stcore/upload_file/session/file", None)]
)
def test_a_request_ends_that_arrives_byte_by_byte_and_an_upload_goes_on(
    monkeypatch: pytest.MonkeyPatch, method: str, path: str, status: int | None
) -> None:
    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        async for _ in Request(scope, receive).stream():
            pass

    n_sent = 0

    async def receive_a_byte() -> Message:
        nonlocal n_sent
        n_sent += 1
        await asyncio.sleep(0.1)
        return {"type": "http.request", "body": b"x", "more_body": n_sent < 12}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    monkeypatch.setattr(http_policy, "STANDSTILL", 0.5)
    run_apart(TimeLimits(app)({"type": "http", "method": method, "path": path}, receive_a_byte, send))
    assert (sent[0]["status"] if sent else None, n_sent < 12) == (status, status is not None)


@pytest.mark.parametrize("n_requests", [20, pytest.param(200, marks=pytest.mark.nightly)])
def test_requests_that_never_end_do_not_keep_the_server(monkeypatch: pytest.MonkeyPatch, n_requests: int) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    with serve_app_process() as (address, process), ExitStack() as stack:
        place = urlsplit(address)
        for _ in range(n_requests):
            half = stack.enter_context(socket.create_connection((place.hostname, place.port or 80)))
            head = f"POST / HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 100\r\n"
            half.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken".encode())
        # All of them are to have begun, however many.
        sleep(1 + n_requests / 100)
        begun = monotonic()
        os.kill(process, signal.SIGTERM)
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            assert monotonic() < begun + 2 * SHUTDOWN
            sleep(0.1)
        # Not at once either: what had begun may end.
        assert SHUTDOWN - 1 < monotonic() - begun < SHUTDOWN + 3


@pytest.mark.browser
def test_a_violation_of_the_policy_is_noticed(visit: Visit) -> None:
    visit.go("/")
    assert visit.problems == []
    visit.page.evaluate("document.body.appendChild(document.createElement('script')).textContent = 'ran = 1'")
    assert visit.page.evaluate("typeof ran") == "undefined"
    assert "Content Security Policy" in str(visit.problems)
    visit.problems.clear()
