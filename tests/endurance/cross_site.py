"""Links on other sites are clicked, and pages of other sites do what they can: over http and https, in Chromium.

A link opens what it leads to, and the browser stays who it is: it is asked for no token again, and its upload is its
own. A foreign page reads nothing, connects to nothing and shows no page of the server in a frame.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, product
from pathlib import Path
from threading import Thread
from typing import Any

from tests.endurance import Wanted
from tests.endurance.person import TOKEN, logged_faults, serve_people
from tests.support.browser import HERE, Visit, start_browser
from tests.support.uploads import upload

SERVERS = tuple(product(("http", "https"), ((), ("--open",))))
FOREIGN = "http://evil.example/"
"""A site that is another one; one on another port of this machine shares its cookies."""
PATHS = ("/", "/Overview", "/_stcore/host-config", "/_stcore/metrics", "/media/none", "/_stcore/upload_file/a/b")
TRIES = """
async ([address, paths]) => {
  const reached = [];
  for (const path of paths) for (const method of ["GET", "PUT", "DELETE"]) {
    try {
      const body = method === "PUT" ? "x" : undefined, signal = AbortSignal.timeout(5000);
      const answer = await fetch(address + path, {method, body, signal, credentials: "include"});
      reached.push(`${method} ${path}: ${answer.status}`);
    } catch {}
  }
  const isConnected = await new Promise((done) => {
    const socket = new WebSocket(address.replace("http", "ws") + "/_stcore/stream", ["streamlit"]);
    socket.onopen = () => done(true);
    socket.onerror = () => done(false);
  });
  if (isConnected) reached.push("connected");
  const frame = document.createElement("iframe");
  frame.src = address + "/";
  await new Promise((done) => { frame.onload = done; setTimeout(done, 5000); document.body.append(frame); });
  return reached;
}
"""


def run(
    folder: Path, wanted: Wanted, *, browser: Any = None, servers: tuple[Any, ...] = SERVERS, hostile: bool = True
) -> Counter[str]:
    """Click as long as is wanted, on one server after the other.

    Return the numbers of `clicks` and `attacks`, and of what must not happen: `errors` where a click did not open its
    page, `lost uploads` where the browser was no longer the owner, and `leaks` to foreign pages. Each is printed.
    """
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        window = stack.enter_context(start_browser() if browser is None else nullcontext(browser))
        other = stack.enter_context(foreign_server(folder))
        for number, (scheme, arguments) in enumerate(servers):
            place = folder / str(number)
            place.mkdir()
            variables = certificate(place) if scheme == "https" else {}
            with serve_people(place, *arguments, scheme=scheme, **variables) as (address, _):
                share = (number + 1) / len(servers)
                click(
                    Clicks(window, address, other, counts), place, partial(wanted_until, wanted, counts, share), hostile
                )
            counts["errors"] += logged_faults(place)
    return counts


def wanted_until(wanted: Wanted, counts: Counter[str], share: float) -> bool:
    return wanted(counts["clicks"], share)


def certificate(folder: Path) -> dict[str, str]:
    """Return the variables of a server with a certificate that it has signed itself."""
    key, signed = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HERE}"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(signed)], check=True, capture_output=True)
    return {"STREAMLIT_SERVER_SSL_CERT_FILE": str(signed), "STREAMLIT_SERVER_SSL_KEY_FILE": str(key)}


@contextmanager
def foreign_server(folder: Path) -> Iterator[str]:
    """Serve empty pages on another port of this machine; yield its address."""

    class Blank(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title><body>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((HERE, 0), Blank) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HERE}:{server.server_port}/"
        server.shutdown()


class Clicks:
    """A browser that comes to a server from pages of other sites, and what became of it."""

    def __init__(self, browser: Any, address: str, other: str, counts: Counter[str]) -> None:
        self.visit = Visit(browser, address, ignore_https_errors=True)
        self.visit.context.route(
            FOREIGN, lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html")
        )
        self.sites = (FOREIGN, other)
        self.counts = counts

    def come(self, site: str, path: str) -> None:
        """Click a link on a page of another site."""
        page = self.visit.page
        page.goto(site)
        page.evaluate(
            "(to) => document.body.append(Object.assign(document.createElement('a'), {href: to, textContent: 'link'}))",
            self.visit.address + path,
        )
        page.get_by_text("link").click()

    def numbers(self) -> dict[str, str]:
        """Return the cookies by which the server knows this browser."""
        cookies = self.visit.context.cookies(self.visit.address)
        return {cookie["name"]: cookie["value"] for cookie in cookies if cookie["name"].startswith("nereval_")}

    def note(self, kind: str, message: str) -> None:
        self.counts[kind] += 1
        print(f"{kind}: {self.visit.address}: {message}", flush=True)


def click(clicks: Clicks, folder: Path, goes_on: Any, hostile: bool) -> None:
    visit = clicks.visit
    entry = f"/?token={TOKEN}"
    # The first visit of all is by a link of another site.
    clicks.come(FOREIGN, entry)
    visit.wait_until_drawn(0)
    clicks.counts["clicks"] += 1
    upload(visit, folder)
    own = visit.page.url.removeprefix(visit.address)
    before = clicks.numbers()
    for number in count():
        if not goes_on():
            break
        site, path = clicks.sites[number % 2], (own, "/Guide", entry)[number % 3]
        clicks.come(site, path)
        clicks.counts["clicks"] += 1
        try:
            visit.wait_until_drawn(0)
            if path == own:
                visit.page.get_by_role("heading", name="Overview", exact=True).wait_for(timeout=20_000)
        except Exception as error:
            clicks.note("errors", f"{site} to {path.partition('?')[0]}: {str(error).splitlines()[0]}")
            continue
        if path == own and visit.page.get_by_text("The link does not open here").count():
            clicks.note("lost uploads", f"{site}: the upload does not open")
        if clicks.numbers() != before:
            clicks.note("lost uploads", f"{site} to {path.partition('?')[0]}: another number")
        if hostile:
            attack(clicks, site)
    visit.context.close()


def attack(clicks: Clicks, site: str) -> None:
    """Do what a page of another site can do."""
    page = clicks.visit.page
    page.goto(site)
    clicks.counts["attacks"] += 1
    for reached in page.evaluate(TRIES, [clicks.visit.address, PATHS]):
        clicks.note("leaks", f"{site}: {reached}")
    for frame in page.frames[1:]:
        if frame.query_selector("#root, form") is not None:
            clicks.note("leaks", f"{site}: shown in a frame")
