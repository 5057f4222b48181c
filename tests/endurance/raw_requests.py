"""Raw requests without a pass: nothing but health is answered, no word of an upload leaves, and the server stays well.

Requests are put together of methods, paths, hosts, cookies and bodies, most of them such as no browser sends.
"""

from __future__ import annotations

import random
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.endurance import Wanted
from tests.endurance.person import Person, logged_faults, serve_people
from tests.support.http_requests import ask

SECONDS = 10.0
"""Time after which a request without an answer counts as held up; its sender has shut its side by then."""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "PROPFIND", "X" * 99)
STARTS = ("", "/", "//", "/./", "/static/../", "/%2e%2e/", "/_stcore/../", "/_stcore/health/../", "/_stcore/health/")
PATHS = (
    *("", "Overview", "Inspect?token=wrong", "_stcore/host-config", "_stcore/metrics", "_stcore/stream", "media/none"),
    *("_stcore/upload_file/a/b", "_stcore/allowed-message-origins", "static/index.html", "component/x/index.html"),
    *("auth/login", "oauth2callback?state=x&code=y", "auth/logout", "_stcore/health%00", "_stcore/health;/../media/a"),
    *("_stcore/script-health-check", "app/static/../../app.py", "..%2f..%2fapp.py", "\\..\\app.py", "a" * 70_000),
)
HOSTS = (
    "",
    "localhost",
    "127.0.0.1",
    "evil.example",
    "localhost:1",
    "[::1]",
    "localhost\r\nHost: evil.example",
    "\xff",
)
COOKIES = ("", "nereval_pass_{port}=", "nereval_pass_{port}={guess}", "nereval_browser_{port}={guess}", "a" * 9_000)
EXTRAS = (
    *("", "Accept: text/html", "X-Forwarded-For: 127.0.0.1", "X-Original-URL: /_stcore/health", "Connection: Upgrade"),
    *(
        "Transfer-Encoding: chunked",
        "Content-Length: -1",
        "Content-Length: 5\r\nContent-Length: 9",
        "Expect: 100-continue",
    ),
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + "A" * 22 + "==",
    "Transfer-Encoding: chunked\r\nContent-Length: 4",
)
BODIES = ("", "token=wrong", "0\r\n\r\nGET /media/none HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x00\xff" * 50)


def run(folder: Path, wanted: Wanted) -> Counter[str]:
    """Send requests as long as is wanted, after somebody has brought an upload.

    Return their number by what came back, and what must not happen: `leaks` of answers that are for those with a pass,
    `errors` in the log, and `endless` waits for an answer. Each is printed.
    """
    counts: Counter[str] = Counter()
    drawn = random.Random(0)
    with serve_people(folder) as (address, _):
        person = Person(address, 0)
        person.bring()
        place = urlsplit(address)
        while wanted(counts["requests sent"]):
            request = b"".join(_request(drawn, place.port or 80))
            counts["requests sent"] += 1
            answer = _answer(place.hostname or "", place.port or 80, request)
            if answer is None:
                counts["endless"] += 1
                print("no answer to", request[:300], file=sys.stderr)
                continue
            for status, leaked in _outcomes(answer, person.word):
                counts[f"status {status}"] += 1
                if leaked:
                    counts["leaks"] += 1
                    print("answered", request[:300], "with", answer[:300], file=sys.stderr)
        counts["errors"] += ask(address, "/_stcore/health").status != 200
        person.look("Overview")
        person.leave()
        counts["errors"] += person.counts["errors"]
    counts["errors"] += logged_faults(folder)
    return counts


def _request(drawn: random.Random, port: int) -> Iterator[bytes]:
    path = drawn.choice(STARTS) + drawn.choice(PATHS)
    yield f"{drawn.choice(METHODS)} {path} HTTP/1.{drawn.choice('011')}\r\n".encode("latin-1")
    cookie = drawn.choice(COOKIES).format(port=port, guess=f"{drawn.getrandbits(256):064x}")
    for line in (
        f"Host: {drawn.choice(HOSTS)}",
        f"Cookie: {cookie}" if cookie else "",
        drawn.choice(EXTRAS),
    ):
        if line:
            yield f"{line}\r\n".encode("latin-1")
    yield b"\r\n" + drawn.choice(BODIES).encode("latin-1")


def _answer(host: str, port: int, request: bytes) -> bytes | None:
    """Return all that comes back, None where the server holds the connection open without a word."""
    answer = b""
    with socket.create_connection((host, port), SECONDS) as connection:
        try:
            connection.sendall(request)
            # Nothing more is coming: what is announced will never be whole.
            connection.shutdown(socket.SHUT_WR)
            while block := connection.recv(1 << 16):
                answer += block
        except TimeoutError:
            return answer or None
        except OSError:
            # It has closed the connection before all was sent.
            with suppress(OSError):
                answer += connection.recv(1 << 16)
    return answer


def _outcomes(answer: bytes, word: str) -> Iterator[tuple[str, bool]]:
    """Yield the status of each answer on a connection, and whether it says what is for those with a pass."""
    if not answer:
        yield "none", False
    for part in answer.split(b"HTTP/1.1 ")[1:]:
        status, _, rest = part.partition(b" ")
        _, _, body = rest.partition(b"\r\n\r\n")
        is_open = status.startswith((b"2", b"101", b"3")) and body not in (b"ok", b"")
        yield (
            status.decode("latin-1"),
            is_open or status == b"101" or word.encode() in part or b"streamlit" in body.lower(),
        )
