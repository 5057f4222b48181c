"""The configurations of proxies in `docs/server` are sound, as the proxies say where they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.browser import free_port

NGINX, CADDY = (ROOT / "docs" / "server" / name for name in ("nginx.conf", "Caddyfile"))
UPLOAD_MB = 200
"""The largest upload, `server.maxUploadSize`."""


def program(name: str) -> str:
    path = shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def check(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_nginx_takes_its_configuration(tmp_path: Path) -> None:
    nginx, openssl = program("nginx"), program("openssl")
    subject = ("-subj", "/CN=ner.example.org", "-days", "1", "-keyout", f"{tmp_path}/key", "-out", f"{tmp_path}/pem")
    check(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject)
    text = re.sub(r"/etc/ssl/ner\.example\.org\.(\w+)", rf"{tmp_path}/\1", NGINX.read_text())
    # It tries the ports, which are another's here.
    text = re.sub(r"listen \d+", lambda _: f"listen 127.0.0.1:{free_port()}", text)
    (tmp_path / "conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{text}}}\n")
    check(nginx, "-t", "-c", f"{tmp_path}/conf", "-e", f"{tmp_path}/log")
    (tmp_path / "conf").write_text(
        f"events {{}}\nhttp {{\n{text.replace('limit_conn nereval', 'limit_con nereval')}}}\n"
    )
    with pytest.raises(AssertionError, match="unknown directive"):
        check(nginx, "-t", "-c", f"{tmp_path}/conf", "-e", f"{tmp_path}/log")


def test_caddy_takes_its_configuration(tmp_path: Path) -> None:
    caddy = program("caddy")
    check(caddy, "validate", "--adapter", "caddyfile", "--config", str(CADDY))
    (tmp_path / "Caddyfile").write_text(CADDY.read_text().replace("reverse_proxy", "reverse_prox"))
    with pytest.raises(AssertionError, match="unrecognized directive"):
        check(caddy, "validate", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile"))


@pytest.mark.parametrize("file", [NGINX, CADDY])
def test_they_let_uploads_through_and_close_the_figures(file: Path) -> None:
    text = file.read_text()
    assert "/_stcore/metrics" in text and "Strict-Transport-Security" in text and "127.0.0.1:8501" in text
    (limit,) = re.findall(r"(?:client_max_body_size|max_size) (\d+)", text)
    assert f"maxUploadSize = {UPLOAD_MB}\n" in (ROOT / ".streamlit" / "config.toml").read_text()
    assert UPLOAD_MB * 1.048576 <= int(limit) <= 2 * UPLOAD_MB
