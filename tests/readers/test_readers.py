"""Sources and the registry: files, folders, zips and uploads; formats found by listing and recognised by content."""

from __future__ import annotations

import io
import os
import pkgutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import nereval_core.readers
from nereval_core.api.read import formats
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, read, readers
from nereval_core.readers.input import compression
from nereval_core.writers import write, writers

JSONL = b'{"id": "d", "text": "abc", "spans": [{"start": 0, "end": 1, "label": "A"}]}\n'
HIPE = b"TOKEN\tNE-COARSE-LIT\n# document_id = d\nabc\tB-loc\n"
ANN = b"T1\tA 0 1\ta\n"


def zipped(*entries: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, raw in entries:
            archive.writestr(name, raw)
    return buffer.getvalue()


def names(source: Source) -> list[str]:
    return [file.name for file in source.files]


def refused(*uploads: tuple[str, bytes]) -> str:
    with pytest.raises(FormatError) as caught:
        read(Source.of_uploads(uploads))
    return str(caught.value)


def test_every_module_with_a_name_is_a_format_of_that_name() -> None:
    assert all(name == reader.name and reader.description for name, reader in readers().items())
    assert all(name == writer.name and writer.description for name, writer in writers().items())
    package = nereval_core.readers
    modules = {info.name.rpartition(".")[2] for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")}
    assert set(readers()) <= modules
    table = {row.name: row for row in formats()}
    assert list(table) == sorted({*readers(), *writers()})
    assert {"jsonl", "brat", "hipe"} <= set(table)
    assert [(table[name].reads, table[name].writes) for name in ("jsonl", "brat", "hipe")] == [
        (True, True),
        (True, True),
        (True, False),
    ]


@pytest.mark.parametrize(
    ("uploads", "format"),
    [
        pytest.param([("x.txt", JSONL)], "jsonl", id="JSON lines by content, whatever the suffix"),
        pytest.param([("x", b"\xef\xbb\xbf\n \r\n" + JSONL)], "jsonl", id="mark and blank lines first"),
        pytest.param([("notes.md", b"# x"), ("x.jsonl", JSONL)], "jsonl", id="a folder with one file of that suffix"),
        pytest.param([("d.txt", b"abc"), ("d.ann", ANN)], "brat", id="brat"),
        pytest.param([("a.ann", b""), ("a.txt", b"{}"), ("b.ann", b"#1\tNote\tx\n"), ("b.txt", b"x")], "brat", id="#"),
        pytest.param([("x.txt", HIPE)], "hipe", id="HIPE by its header"),
        pytest.param([("x.tsv", b"# comment\n" + HIPE.replace(b"\n", b"\r\r\n"))], "hipe", id="HIPE, comments first"),
    ],
)
def test_auto_recognises_by_content_and_says_what_it_took(uploads: list[tuple[str, bytes]], format: str) -> None:
    reading = read(Source.of_uploads(uploads))
    assert reading.format == format
    assert len(reading.documents) >= 1


@pytest.mark.parametrize(
    ("uploads", "said"),
    [
        pytest.param(
            [("x.bin", b"\0\0\0\1")],
            "x.bin: the format cannot be recognised: it is not text; write it in a format that is read",
            id="?",
        ),
        pytest.param(
            [("d.txt", b"abc"), ("d.ann", ANN), ("x.jsonl", JSONL)],
            "3 uploaded files: this may be brat or jsonl; name the format: --format brat, or --format jsonl",
            id="two claim it",
        ),
        pytest.param(
            [("x.jsonl", "{}".encode("utf-16"))],
            "x.jsonl: the file is UTF-16; save it as UTF-8: iconv -f UTF-16 -t UTF-8 x.jsonl > x.utf8.jsonl",
            id="UTF-16",
        ),
        pytest.param(
            [("x.jsonl", "{}".encode("utf-32"))], "x.jsonl: the file is UTF-32; save it as UTF-8", id="UTF-32"
        ),
        pytest.param(
            [("x y.tsv", "a\tO\nb\tB-X\n".encode("utf-16-le"))],
            "x y.tsv: the format cannot be recognised: it looks like UTF-16LE without a byte-order mark; save it as "
            "UTF-8: iconv -f UTF-16LE -t UTF-8 'x y.tsv' > 'x y.utf8.tsv'",
            id="UTF-16 unmarked",
        ),
        pytest.param(
            [("x.tsv", "a\tO\né\tB-X\n".encode("latin-1"))],
            "x.tsv:2: byte 0xE9 at position 1 of the line is not UTF-8; save the file as UTF-8: "
            "iconv -f ISO-8859-1 -t UTF-8 x.tsv > x.utf8.tsv",
            id="Latin-1",
        ),
        pytest.param(
            [("x.tsv", "a\tO\n“é”\tB-X\n".encode("cp1252"))],
            "x.tsv:2: byte 0x93 at position 1 of the line is not UTF-8; save the file as UTF-8: "
            "iconv -f WINDOWS-1252 -t UTF-8 x.tsv > x.utf8.tsv",
            id="Windows-1252",
        ),
        pytest.param(
            [("x.tsv", "“é”\tO\n".encode() + b"\xe9\tB-X\n")],
            "x.tsv:2: byte 0xE9 at position 1 of the line is not UTF-8; mend it: most of the file is UTF-8",
            id="one byte of another encoding",
        ),
        pytest.param([("x.jsonl", b"")], "x.jsonl: the file is empty; give files with annotations in them", id="empty"),
        pytest.param([("a", b""), ("b", b"")], "2 uploaded files: all 2 files are empty", id="all empty"),
        pytest.param([], "0 uploaded files: no files in it", id="nothing"),
        pytest.param([("a.jsonl", JSONL), ("a.jsonl", JSONL)], "a.jsonl: a second file called 'a.jsonl'", id="twice"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(uploads: list[tuple[str, bytes]], said: str) -> None:
    message = refused(*uploads)
    assert message.startswith(said)
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("uploads", "places"),
    [
        ([("x.jsonl", b"\n" + JSONL)], (("x.jsonl", 2),)),
        ([("b.jsonl", JSONL.replace(b'"d"', b'"e"')), ("a.jsonl", JSONL)], (("a.jsonl", 1), ("b.jsonl", 1))),
        ([("d.txt", b"abc"), ("d.ann", ANN)], (("d.txt", None),)),
        ([("x.tsv", HIPE)], (("x.tsv", 2),)),
    ],
    ids=["jsonl", "two files", "brat", "hipe"],
)
def test_a_reading_knows_where_its_documents_stand(
    uploads: list[tuple[str, bytes]], places: tuple[tuple[str, int | None], ...]
) -> None:
    assert read(Source.of_uploads(uploads)).places == places


def test_formats_and_files_without_documents_are_refused(tmp_path: Path) -> None:
    source = Source.of_uploads([("x.jsonl", b"\n \n")])
    with pytest.raises(FormatError, match=r"^x\.jsonl: no document in it; give a file in the format 'jsonl'$"):
        read(source, format="jsonl")
    with pytest.raises(FormatError, match=r"no reader for the format 'xml'; choose one of .*brat, .*hipe, .*jsonl"):
        read(source, format="xml")
    with pytest.raises(FormatError, match=r"no writer for the format 'hipe'; choose among .*brat, .*jsonl"):
        write(read(Source.of_uploads([("x", JSONL)])).layer, tmp_path / "x", format="hipe")


def test_layers_are_named_after_their_file_or_folder_unless_told(tmp_path: Path) -> None:
    (tmp_path / "system.a").mkdir()
    (tmp_path / "system.a/x.one.jsonl").write_bytes(JSONL)
    assert read(tmp_path / "system.a").layer.name == "system.a"
    assert read(tmp_path / "system.a/x.one.jsonl").layer.name == "x.one"
    assert read(tmp_path / "system.a", options=ReadOptions(name="mine")).layer.name == "mine"


@pytest.mark.parametrize(
    ("given", "found", "label"),
    [
        ("d.ann", ["d.ann", "d.txt"], "d"),
        ("d.txt", ["d.txt"], "d"),
        ("d.spans.parquet", ["d.spans.parquet", "d.texts.parquet"], "d"),
        ("d.texts.parquet", ["d.spans.parquet", "d.texts.parquet"], "d"),
        ("e.f.spans.parquet", ["e.f.spans.parquet"], "e.f"),
        ("g.parquet", ["g.parquet"], "g"),
    ],
)
def test_a_file_brings_the_one_that_belongs_to_it(given: str, found: list[str], label: str, tmp_path: Path) -> None:
    for name in ("d.ann", "d.txt", "d.spans.parquet", "d.texts.parquet", "e.f.spans.parquet", "g.parquet"):
        (tmp_path / name).write_text("x")
    source = Source.of_path(tmp_path / given)
    assert (names(source), source.label) == (found, label)
    assert [file.shown for file in source.files] == [str(tmp_path / name) for name in found]
    assert all(file.on_disk for file in source.files)


def test_folders_are_read_in_the_order_of_names_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", ".hidden", ".git/x.txt", "a.txt", "Z.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    source = Source.of_path(tmp_path)
    assert names(source) == ["Z.txt", "a/b/c.txt", "a/z.txt", "a.txt", "b.txt"]
    assert source.files[1].shown == str(tmp_path / "a/b/c.txt")
    assert source.files[1].stem == "a/b/c"


@pytest.mark.parametrize(
    ("path", "said"),
    [("missing", "no such file or folder; check the path"), ("empty", "no files in it")],
)
def test_paths_that_lead_nowhere_are_named_as_they_were_given(
    path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty/.hidden").mkdir(parents=True)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_named_pipe_is_no_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="neither a file nor a folder"):
        read(tmp_path / "pipe")


def test_nothing_outside_the_given_folder_is_reached(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.jsonl").write_bytes(JSONL)
    (inside / "own.jsonl").write_bytes(JSONL)
    (inside / "link.jsonl").symlink_to(outside / "secret.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "alias.jsonl").symlink_to(inside / "own.jsonl")
    (inside / "d.ann").write_bytes(ANN)
    (inside / "d.txt").symlink_to(outside / "secret.jsonl")
    assert names(Source.of_path(inside, within=inside)) == ["alias.jsonl", "d.ann", "own.jsonl"]
    assert names(Source.of_path(inside / "d.ann", within=inside)) == ["d.ann"]
    for path in (outside, inside / "link.jsonl", inside / "folder", inside / "../outside/secret.jsonl"):
        with pytest.raises(FormatError, match="outside the folder being served"):
            Source.of_path(path, within=inside)


def test_a_zip_is_read_like_the_folder_it_holds(tmp_path: Path) -> None:
    entries = [("gold/d.ann", ANN), ("gold/d.txt", b"abc"), ("__MACOSX/gold/._d.ann", b"\0"), ("gold/.DS_Store", b"\0")]
    raw = zipped(*entries)
    source = Source.of_uploads([("gold.zip", raw)])
    assert names(source) == ["d.ann", "d.txt"]
    assert source.files[0].shown == "gold.zip/gold/d.ann"
    assert source.label == "gold"
    assert read(source).documents.ids == ("d",)
    (tmp_path / "gold.zip").write_bytes(raw)
    assert read(tmp_path / "gold.zip").documents.ids == ("d",)
    assert names(Source.of_uploads([("two.zip", zipped(("a/d.txt", b"x"), ("b/d.txt", b"x")))])) == [
        "a/d.txt",
        "b/d.txt",
    ]
    assert names(Source.of_uploads([("x.zip", raw), ("e.txt", b"x")])) == ["d.ann", "d.txt", "e.txt"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(zipped(("../d.txt", b"x")), "the entry '../d.txt' leads outside", id="parent"),
        pytest.param(zipped(("a/../../d.txt", b"x")), "the entry 'a/../../d.txt' leads outside", id="parent inside"),
        pytest.param(zipped(("/etc/d.txt", b"x")), "the entry '/etc/d.txt' leads outside", id="absolute"),
        pytest.param(zipped(("C:\\d.txt", b"x")), "leads outside", id="drive"),
        pytest.param(zipped(("d.txt", b"\0" * (65 << 20))), "bytes; give it unpacked", id="bomb"),
        pytest.param(
            zipped(("d.txt", b"x"))[:-9], "not a readable zip: File is not a zip file; pack it again", id="cut short"
        ),
        pytest.param(zipped((".hidden", b"x")), "x.zip: no files in it", id="hidden only"),
    ],
)
def test_an_unsafe_or_broken_zip_is_refused(raw: bytes, said: str) -> None:
    message = refused(("x.zip", raw))
    assert said in message
    assert message.startswith("x.zip: ")


def test_symbolic_links_and_passwords_in_a_zip_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert "the entry 'link.txt' leads outside; pack plain files only" in refused(("x.zip", buffer.getvalue()))
    locked = bytearray(zipped(("d.txt", b"x")))
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = locked.index(signature) + offset
        locked[at : at + 2] = struct.pack("<H", 1)
    assert "the entry 'd.txt' is encrypted; pack without a password" in refused(("x.zip", bytes(locked)))


def test_damage_anywhere_in_a_zip_ends_in_a_reading_or_a_problem() -> None:
    whole = zipped(("g/d.txt", b"abc"), ("g/d.ann", ANN))
    read_well = 0
    for at in range(len(whole)):
        for value in (0, 0x2E, 0xFF):
            raw = bytearray(whole)
            raw[at] = value
            try:
                read(Source.of_uploads([("x.zip", bytes(raw))]), format="brat")
                read_well += 1
            except FormatError as error:
                assert all("x.zip" in problem.source for problem in error.problems)
    assert 0 < read_well < 3 * len(whole)


def test_a_damaged_entry_of_a_zip_is_named() -> None:
    raw = bytearray(zipped(("d.jsonl", JSONL), compression=zipfile.ZIP_STORED))
    raw[raw.index(JSONL) + 3] ^= 1
    assert "x.zip: the entry 'd.jsonl' cannot be unpacked: Bad CRC-32" in refused(("x.zip", bytes(raw)))


def test_a_zip_of_too_many_files_or_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    three = zipped(("a", b"x"), ("b", b"x"), ("c", b"x"))
    with monkeypatch.context() as patch:
        patch.setattr(compression, "ZIP_FILES", 2)
        assert "3 files; pack at most 2" in refused(("x.zip", three))
    monkeypatch.setenv("NEREVAL_UNPACKED_GB", "2e-9")
    assert "to 3 bytes; give it unpacked or in parts" in refused(("x.zip", three))


def test_a_file_that_takes_its_place_only_when_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), nereval_core.writers.whole_file(target) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert target.read_bytes() == b"before"
    with nereval_core.writers.whole_file(target) as file:
        file.write(b"after")
    assert target.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("open_place", [nereval_core.writers.whole_file, nereval_core.writers.whole_folder])
def test_a_place_that_is_a_loop_of_links_is_refused(open_place: Any, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FormatError, match="loop: cannot be written: "), open_place(loop):
        pass
    assert list(tmp_path.iterdir()) == [loop]


def test_a_folder_that_takes_its_place_only_when_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), nereval_core.writers.whole_folder(target) as folder:
        (folder / "half").write_text("x")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with nereval_core.writers.whole_folder(target) as folder:
        (folder / "whole").write_text("x")
    assert [path.name for path in target.iterdir()] == ["whole"]


@pytest.mark.parametrize("format", ["jsonl", "brat"])
def test_a_place_that_cannot_be_written_is_named(format: str, tmp_path: Path) -> None:
    layer = read(Source.of_uploads([("x", JSONL)])).layer
    (tmp_path / "file").write_text("x")
    with pytest.raises(FormatError, match="cannot be written: "):
        write(layer, tmp_path / "none/out", format=format)
    with pytest.raises(FormatError, match=r"cannot be written: |a file stands there"):
        write(layer, tmp_path / "file" if format == "brat" else tmp_path / "file/x", format=format)
    assert (tmp_path / "file").read_text() == "x"


SHARED_TASKS_AND_TOOLS = {
    "bracketed": ("marked_text/bracketed",),
    "bionlp": ("standoff/bionlp",),
    "nif": ("standoff/nif", "shared/turtle"),
    "offsetxml": ("standoff/offsetxml",),
    "ragged": ("marked_text/ragged",),
    "spanlines": ("standoff/spanlines",),
    "tei": ("standoff/tei",),
    "workbooks": ("input/workbook",),
}
"""The modules of formats that few people have."""
SHAPES_THAT_PEOPLE_BRING = (
    *(module for modules in SHARED_TASKS_AND_TOOLS.values() for module in modules),
    *(f"records/{path.stem}" for path in sorted(Path(nereval_core.readers.__file__).parent.glob("records/*.py"))),
    *("mentions/answer_lines", "mentions/marked_places", "mentions/token_places"),
    *("shared/list_cells", "shared/python_literals"),
)
"""The modules of all that tools, services and models write, beside the formats of the field."""


@pytest.mark.parametrize("name", SHARED_TASKS_AND_TOOLS)
def test_a_format_that_few_have_takes_few_lines(name: str) -> None:
    folder = Path(nereval_core.readers.__file__).parent
    lines = [(folder / f"{module}.py").read_text().count("\n") for module in SHARED_TASKS_AND_TOOLS[name]]
    assert sum(lines) <= 250


def test_the_shapes_that_people_bring_take_at_most_4_500_lines() -> None:
    folder = Path(nereval_core.readers.__file__).parent
    assert sum((folder / f"{module}.py").read_text().count("\n") for module in SHAPES_THAT_PEOPLE_BRING) <= 4_500
