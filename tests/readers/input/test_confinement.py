"""Files are opened inside one folder only, whatever their links, and never wait for a pipe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Source, read
from nereval_core.readers.input.confinement import folder_entries, is_inside, open_file

OPENED = (
    ("own.txt", "own"),
    ("deep/own.txt", "deep"),
    ("link", "own"),
    ("absolute", "own"),
    ("chain", "deep"),
    ("deep/up", "own"),
    ("folder/own.txt", "deep"),
    ("deep/../own.txt", "own"),
)
REFUSED = {
    "out": "outside the folder being served",
    "parent": "outside the folder being served",
    "across/secret.txt": "outside the folder being served",
    "../secret.txt": "outside the folder being served",
    "beside": "outside the folder being served",
    "pipe": "neither a file nor a folder",
}


@pytest.fixture
def served(tmp_path: Path) -> Path:
    root = tmp_path / "served"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    # Its name begins as that of the served folder.
    (tmp_path / "served-not").write_text("secret")
    (root / "own.txt").write_text("own")
    (root / "deep" / "own.txt").write_text("deep")
    links = {
        **{"link": "own.txt", "absolute": root / "own.txt", "chain": "folder/own.txt", "folder": "deep"},
        **{"deep/up": "../own.txt", "out": tmp_path / "secret.txt", "parent": "../secret.txt"},
        **{"across": "..", "beside": "../served-not"},
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize(("name", "content"), OPENED)
def test_links_that_lead_inside_are_followed(name: str, content: str, served: Path) -> None:
    with open_file(served / name, served) as file:
        assert file.read().decode() == content
    assert is_inside(served / name, served)


@pytest.mark.parametrize(("name", "found"), REFUSED.items())
def test_what_leads_outside_is_refused(name: str, found: str, served: Path) -> None:
    with pytest.raises(FormatError, match=found):
        open_file(served / name, served)
    with pytest.raises(FileNotFoundError):
        open_file(served / "none", served)


@pytest.mark.parametrize("name", ["deep/bad.jsonl", "deep", "bad.zip", "none.jsonl", "locked.jsonl", *REFUSED])
def test_problems_name_files_from_the_served_folder(name: str, served: Path) -> None:
    (served / "deep" / "own.txt").unlink()
    (served / "deep" / "bad.jsonl").write_text('{"id": 1,\n')
    (served / "bad.zip").write_bytes(b"PK")
    (served / "locked.jsonl").symlink_to("locked.jsonl")
    with pytest.raises(FormatError) as refused:
        read(Source.of_path(served / name, within=served))
    assert all(one.source.startswith(name) for one in refused.value.problems)
    with pytest.raises(FormatError) as refused:
        open_file(served / "out", served)
    assert refused.value.problems[0].source == "out"


def test_the_served_folder_may_be_a_link(served: Path) -> None:
    (served.parent / "data").symlink_to(served)
    root = served.parent / "data"
    with open_file(root / "deep" / "up", root) as file:
        assert file.read() == b"own"
    entries = dict(folder_entries(root, root))
    assert entries["deep"] == "folder" and entries["own.txt"] == "file" and entries["link"] == entries["pipe"] == ""
    assert entries == dict(folder_entries(served))
