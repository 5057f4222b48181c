"""Several people on one server, in browsers: the token, uploads of one's own, sharing, removing, logging in."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import HERE, Visit, free_port, serve_app
from tests.support.pages import VIEW
from tests.support.uploads import upload
from tests.support.visitors import Visitor

TOKEN = "correct horse battery"
REFUSED = "The link does not open here"


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server for others, with a store of its own."""
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    monkeypatch.setenv("NEREVAL_TOKEN", TOKEN)
    with serve_app() as address:
        yield address


def entered(browser: Any, address: str) -> Visit:
    """Open a page for the first time in a browser, and give the token that is asked for."""
    visit = Visit(browser, address)
    visit.page.goto(address)
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.get_by_role("button", name="Open nereval").click()
    visit.wait_until_drawn(0)
    # The page that asked was answered with 401, which browsers note.
    visit.problems.clear()
    return visit


def refused(visitor: Visitor) -> bool:
    return any(REFUSED in text for text in visitor.shown.texts())


def again(visitor: Visitor) -> Visitor:
    """Return a visitor with the same cookies and a session of its own."""
    visitor.leave()
    return Visitor(visitor.address, cookies=visitor.cookies)


def test_an_upload_is_ones_own_until_it_is_shared(browser: Any, team: str, tmp_path: Path) -> None:
    ada, eve = entered(browser, team), Visitor(team, token=TOKEN)
    upload(ada, tmp_path)
    own = ada.page.url.removeprefix(team)
    assert "corpus=" in own
    # Whoever knows the address, and the digest in it, opens nothing.
    eve.open("", own.partition("?")[2])
    assert refused(eve) and "Your uploads" not in eve.shown.texts()
    menu = ada.open_menu("Share")
    menu.get_by_role("button", name="Make a link").click()
    menu.get_by_role("button", name="Withdraw the link").wait_for()
    link = menu.locator("code").first.inner_text()
    found = re.search(r"corpus=(s-[0-9a-f]{32})", link)
    assert found is not None, link
    eve = again(eve)
    eve.open("Overview", f"corpus={found[1]}")
    # Her address goes on naming the key, so that it opens again.
    assert f"corpus={found[1]}" in eve.query and not refused(eve)
    menu.get_by_role("button", name="Withdraw the link").click()
    menu.get_by_role("button", name="Make a link").wait_for()
    eve = again(eve)
    eve.open("Overview", f"corpus={found[1]}")
    assert refused(eve)
    ada.go("/")
    ada.page.get_by_role("heading", name="Your uploads").wait_for()
    with ada.rerun():
        ada.page.get_by_role("button", name="Rename or remove").click()
    with ada.rerun():
        ada.page.get_by_role("button", name="Remove it").click()
    ada.page.get_by_role("heading", name="Your uploads").wait_for(state="detached")
    ada.go(own)
    ada.page.get_by_text(REFUSED).wait_for()
    ada.close()
    eve.leave()


@pytest.fixture
def provider() -> Iterator[str]:
    """The address of a provider of OpenID Connect, which lets in whoever gives a name."""
    pytest.importorskip("oidc_provider_mock")
    port = free_port()
    program = subprocess.Popen([sys.executable, "-m", "oidc_provider_mock", "--port", str(port)])
    yield f"http://{HERE}:{port}"
    program.terminate()
    program.wait(30)


def test_who_logs_in_is_the_reviewer_and_sees_the_page_asked_for(
    browser: Any, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets, port = tmp_path / "secrets.toml", free_port()
    secrets.write_text(
        f'[auth]\nredirect_uri = "http://{HERE}:{port}/oauth2callback"\ncookie_secret = "{"s" * 32}"\n'
        f'client_id = "nereval"\nclient_secret = "x"\n'
        f'server_metadata_url = "{provider}/.well-known/openid-configuration"\n'
    )
    monkeypatch.setenv("STREAMLIT_SECRETS_FILES", str(secrets))
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    with serve_app(port=port) as address:
        visit = Visit(browser, address)
        visit.page.goto(f"{address}/Guide?q=a%26b")
        visit.page.get_by_role("link", name="Log in").click()
        visit.page.locator("input[name=sub]").fill("ada@example.org")
        visit.page.get_by_role("button", name="Authorize").click()
        visit.page.wait_for_url(f"{address}/Guide?q=a%26b")
        visit.go("/")
        visit.page.get_by_text("Logged in as ada").wait_for()
        # The page of the provider asks another server for its style.
        visit.problems.clear()
        cookies = {one["name"]: one for one in visit.context.cookies()}
        assert cookies["_streamlit_user"]["httpOnly"] and cookies["_streamlit_user"]["sameSite"] == "Lax"
        visit.open("Inspect", VIEW)
        # Whoever is logged in has no field for another name.
        visit.page.get_by_text("as ada", exact=False).last.wait_for()
        assert not visit.page.get_by_placeholder("Your name, kept with each verdict").count()
        visit.close()
