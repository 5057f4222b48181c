"""The start of the server: refusals before anything is served, and the lines about what is in force."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config as st_config
from streamlit.runtime.secrets import Secrets

from nereval_core.cli import verb_parser
from nereval_core.cli.options import Parser
from nereval_core.cli.server_options import OPTIONS, add_server, server_arguments
from pages.shared.data import masks, server_start
from pages.shared.server import access
from tests.support import ROOT
from tests.support.browser import free_port

BAD = {
    "--masked": "unrecognized arguments: --masked",
    "--read_only": "unrecognized arguments: --read_only",
    "--mask=1": "argument --mask: ignored explicit argument '1'",
    "gold.jsonl": "unrecognized arguments: gold.jsonl",
    "--allow=example.org": "--allow 'example.org': write user@example.org or @example.org, with commas between",
    "--allow=a@b,": "--allow '': write user@example.org or @example.org, with commas between",
    "--keep=0": "--keep 0, write 1 to 1,000,000 days",
    "--keep=2w": "argument --keep: invalid int value: '2w'",
    "--memory=-1": "--memory -1.0, write 0.5 to 1,000,000 gigabytes",
    "--memory=nan": "--memory nan, write 0.5 to 1,000,000 gigabytes",
    "--memory=0.05": "--memory 0.05, write 0.5 to 1,000,000 gigabytes",
    "--seconds=inf": "--seconds inf, write 1 to 1,000,000 seconds",
    "--data=nowhere": "--data nowhere: no such folder",
}


def start(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Check the options as the server does at its start."""
    monkeypatch.setattr(sys, "argv", ["app.py", *arguments])
    return server_start.check()


@pytest.mark.parametrize("argument", BAD)
def test_unknown_options_and_bad_values_are_refused_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argument: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch, argument)
    said = capsys.readouterr()
    prog = "streamlit run app.py --"
    assert (ended.value.code, said.out) == (2, "")
    assert said.err == f"{prog}: {BAD[argument]}; see {prog} --help\n"


def test_a_store_that_all_accounts_may_write_to_ends_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch)
    assert ended.value.code == 2
    message = f"{tmp_path}: corpora are not stored in this folder: every account may write to it; make it"
    assert capsys.readouterr().err.startswith(message)


def test_a_login_without_its_package_ends_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(access, "login_settings", lambda: {"cookie_secret": "k" * 32})
    monkeypatch.setattr(access, "find_spec", {"authlib": None}.__getitem__)
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch)
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "secrets.toml: [auth] needs the package authlib, which is not installed; "
        "pip install authlib, or install nereval with the extra [login]\n"
    )


def test_a_short_token_ends_the_server(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(access, "only_this_machine", lambda: False)
    monkeypatch.setenv("NEREVAL_TOKEN", "short")
    access.token.cache_clear()
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "NEREVAL_TOKEN: 5 characters; write 16 or more that nobody guesses\n"
    access.token.cache_clear()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("file/new.sqlite", "its folder cannot be written"),
        ("file", "this is not a database of SQLite"),
        (".", "a folder stands there"),
        ("ftp://a/b", "a database of the kind ftp"),
    ],
)
def test_a_store_of_verdicts_that_cannot_be_opened_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, found: str
) -> None:
    (tmp_path / "file").write_text("no database, but a text that is as long as the head of one\n" * 9)
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch, "--review", name if "://" in name else str(tmp_path / name))
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and found in line


def test_the_command_and_the_server_have_one_list_of_options(tmp_path: Path) -> None:
    line = [
        f"--data={tmp_path}",
        "--review=-a b",
        "--mask",
        "--open",
        "--allow=a@b,@c",
        "--trust-unverified",
        "--read-only",
        "--keep=7",
        "--memory=1.5",
    ]
    line += ["--seconds=60.0"]
    parser = Parser()
    add_server(parser.add_argument)
    for one in (parser, verb_parser("app")):
        assert server_arguments(one.parse_args(line)) == line and len(line) == len(OPTIONS)
        assert server_arguments(one.parse_args([])) == []


def test_the_server_ends_before_it_serves() -> None:
    """Options of ours are refused above and in tests/test_installation.py; these stand behind the files."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(free_port()), "--"]
    arguments = ["--files", "demo_data/pharmacology/gold.jsonl", "--mask"]
    done = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "unrecognized arguments: --mask" in done.stderr


def test_messages_do_not_say_where_the_served_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(ROOT)
    start(monkeypatch, "--data", str(tmp_path / "data"))
    assert masks.mask_message(f"{ROOT}/scored/manifest.json: it is damaged") == "scored/manifest.json: it is damaged"
    start(monkeypatch)
    assert masks.mask_message("None/a: it is damaged") == "None/a: it is damaged"


@pytest.mark.parametrize(
    ("others", "token", "arguments", "line"),
    [
        (False, "", [], "Only this machine reaches this server, with all its accounts."),
        (True, "correct horse battery", [], "Visitors need the token in NEREVAL_TOKEN."),
        (True, "", [], "Visitors need this address: http://localhost:8501/?token="),
        (True, "", ["--open"], "Everybody who reaches this server may use it."),
    ],
)
def test_it_says_who_may_use_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    others: bool,
    token: str,
    arguments: list[str],
    line: str,
) -> None:
    monkeypatch.setattr(access, "only_this_machine", lambda: not others)
    monkeypatch.setenv("NEREVAL_TOKEN", token)
    access.token.cache_clear()
    server_start.announce(start(monkeypatch, *arguments))
    access.token.cache_clear()
    assert capsys.readouterr().out.startswith(line)


def test_it_says_who_logs_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(access, "login_settings", lambda: {"cookie_secret": "k" * 32})
    for arguments, accounts in (
        ((), "all accounts of the provider"),
        (("--allow", "eve@a.example,@B.example"), "@b.example, eve@a.example"),
    ):
        start(monkeypatch, *arguments)
        access.token.cache_clear()
        access.announce_access()
        assert capsys.readouterr().out.endswith(f"Visitors log in: {accounts}.\n")


def test_names_of_accounts_without_a_login_end_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch, "--allow", "@example.org")
    assert ended.value.code == 2
    assert capsys.readouterr().err == "--allow: nobody logs in; write a section [auth] into secrets.toml\n"


KEY = f'cookie_secret = "{"k" * 32}"'
BAD_SECRETS = {
    "": "secrets.toml: not readable: ",
    "[auth": "secrets.toml: not readable: ",
    "[auth]": "secrets.toml: cookie_secret in [auth] is no text of 16 characters; take what openssl rand -hex 32 ",
    "[auth]\ncookie_secret = 'changeme'": "secrets.toml: cookie_secret in [auth] is no text of 16 characters",
    f"[auth]\n{KEY}\n[nereval]\nallow = ['@example.org']": "secrets.toml: a section [nereval], which is not read; "
    "remove it and give --allow ADDRESSES",
    "auth = 1": "secrets.toml: cookie_secret in [auth] is no text of 16 characters",
}


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The file of Streamlit's secrets, which is not there yet."""
    file = tmp_path / "secrets.toml"
    monkeypatch.setattr(st, "secrets", Secrets())
    option = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: [str(file)] if name == "secrets.files" else option(name))
    monkeypatch.setattr(st_config, "get_option", st.get_option)
    access.login_settings.cache_clear()
    yield file
    access.login_settings.cache_clear()
    access.token.cache_clear()


@pytest.mark.parametrize("text", BAD_SECRETS)
def test_secrets_that_say_nothing_sure_end_the_server(
    secrets: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    # A folder is no file that can be read.
    secrets.write_text(text) if text else secrets.mkdir()
    with pytest.raises(SystemExit) as ended:
        start(monkeypatch)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(BAD_SECRETS[text])


@pytest.mark.parametrize(("option", "is_trusted"), [((), False), (("--trust-unverified",), True)])
def test_an_address_that_nobody_verified_counts_where_the_option_says_so(
    monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], is_trusted: bool
) -> None:
    monkeypatch.setattr(access, "login_settings", lambda: {"cookie_secret": "k" * 32})
    start(monkeypatch, "--allow", "Ada@lab.example , @Example.org", *option)
    assert access.is_allowed({"email": "ADA@lab.example", "email_verified": True})
    assert access.is_allowed({"email": "ann@example.org"}) == is_trusted
    assert not access.is_allowed({"email": "ann@example.org", "email_verified": False})
    assert not access.is_allowed({"email": "eve@lab.example", "email_verified": True})


def test_it_says_what_is_in_force_and_where_things_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path))
    file = tmp_path / "verdicts.sqlite"
    server_start.announce(start(monkeypatch, "--mask", "--data", str(tmp_path), "--review", str(file)))
    kept = f"Corpora are stored in {tmp_path}, verdicts in {file}."
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"In force: --mask, no --read-only, --data {tmp_path}. {kept}"
    monkeypatch.setenv("NEREVAL_CACHE", "")
    server_start.announce(start(monkeypatch, "--read-only"))
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("In force: no --mask, --read-only, no --data. Corpora are stored nowhere, verdicts in ")
