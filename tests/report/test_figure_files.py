"""Figures as pictures: Chromium draws the one that there is; what keeps it from doing so is said."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from nereval_core.cli import main
from tests.support.browser import ROOT, chromium

BIOLOGY = ROOT / "demo_data" / "biology"
FILES = tuple(str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str]:
    return main(list(command)), capsys.readouterr().err


@pytest.mark.browser
def test_a_figure_is_drawn_as_svg_and_png(capsys: pytest.CaptureFixture[str]) -> None:
    chromium()
    assert run(capsys, "compare", *FILES, "--figure", "f.svg", "-q") == (0, "")
    drawing = ElementTree.parse("f.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg" and drawing.get("width") == "1000"
    words = " ".join(filter(None, (text.strip() for text in drawing.itertext())))
    assert "F1 of 2 systems under strict" in words and "perceptron" in words
    assert run(capsys, "errors", *FILES[:2], "--figure", "f.png", "-q") == (0, "")
    picture = Path("f.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and struct.unpack(">I", picture[16:20]) == (2000,)


def test_a_picture_holds_one_figure(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, "slices", *FILES[:2], "--by", "length,tokens", "--figure", "f.svg", "-q")
    assert status == 2 and "f.svg: 2 figures, and a picture holds one; end the name in .html, or ask for one" in said
    assert not Path("f.svg").exists()


def test_without_chromium_it_is_said_how_to_get_a_figure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    status, said = run(capsys, "errors", *FILES[:2], "--figure", "f.svg", "-q")
    assert status == 2 and "f.svg: Chromium did not draw it (" in said and "or end the name in .html" in said
    assert not Path("f.svg").exists()
