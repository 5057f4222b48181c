"""Archives that come from anywhere: what of a zip is read, what is refused and why, and what it may cost."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Source, read, readers
from nereval_core.readers.conll import OTHER_SUFFIXES
from nereval_core.readers.input.compression import ANNOTATION_SUFFIXES, INNER_FILES, ZIP_FILES, files_of_inner_zip
from nereval_core.readers.input.origins import EXPANSION_RATIO, FREE_BYTES, InMemory
from tests.readers.test_readers import ANN, JSONL, names, refused, zipped

BAD = b"\0" * (65 << 20)


def entry(name: str = "d.jsonl", raw: bytes = JSONL, *, mode: int = 0, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        info.compress_type = method
        archive.writestr(info, raw, compresslevel=1)
    return buffer.getvalue()


def said(raw: bytes, at: int, value: int, *, size: str = "<I", local: int | None = None) -> bytes:
    """Write a number into the directory's first entry, and perhaps into the header before the entry itself."""
    made = bytearray(raw)
    struct.pack_into(size, made, made.index(b"PK\1\2") + at, value)
    if local is not None:
        struct.pack_into(size, made, made.index(b"PK\3\4") + local, value)
    return bytes(made)


def claiming(raw: bytes, size: int) -> bytes:
    """Let the first entry say that it has so many bytes when unpacked."""
    return said(raw, 24, size, local=22)


def sharing() -> bytes:
    """Two entries, the second of which lies where the first does."""
    raw = zipped(("a.jsonl", JSONL), ("b.jsonl", JSONL))
    second = raw.rindex(b"PK\1\2")
    return raw[: second + 42] + struct.pack("<I", 0) + raw[second + 46 :]


def twice(name: str, other: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), JSONL)
        with warnings.catch_warnings(action="ignore"):
            archive.writestr(zipfile.ZipInfo(other), JSONL)
    return buffer.getvalue()


def tarred(packing: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{packing}") as archive:
        info = tarfile.TarInfo("d.jsonl")
        info.size = len(JSONL)
        archive.addfile(info, io.BytesIO(JSONL))
    return buffer.getvalue()


REFUSED_ZIPS = [
    # (what, zip, said of it)
    ("backslashes", entry("..\\d.jsonl"), "the entry '../d.jsonl' leads outside; pack plain files only"),
    ("a share of Windows", entry("\\\\host\\d.jsonl"), "the entry '//host/d.jsonl' leads outside"),
    ("a dot alone", entry("."), "the entry '.' leads outside"),
    ("a link by its mode", entry(mode=stat.S_IFLNK | 0o777), "the entry 'd.jsonl' leads outside"),
    ("a pipe by its mode", entry(mode=stat.S_IFIFO | 0o644), "the entry 'd.jsonl' is not a file; pack plain files"),
    ("a device by its mode", entry(mode=stat.S_IFBLK), "the entry 'd.jsonl' is not a file"),
    ("one name twice", twice("d.jsonl", "d.jsonl"), "/d.jsonl: a second file called 'd.jsonl'; give each file its own"),
    ("one name, written in two ways", twice("./g//d.jsonl", "g/d.jsonl"), "/g/d.jsonl: a second file called 'd.jsonl'"),
    ("bzip2 within", entry(method=zipfile.ZIP_BZIP2), "the entry 'd.jsonl' is packed by bzip2; pack it by deflate"),
    ("LZMA within", entry(method=zipfile.ZIP_LZMA), "the entry 'd.jsonl' is packed by lzma; pack it by deflate"),
    ("a method nobody has", said(entry(), 10, 77, size="<H"), "the entry 'd.jsonl' is packed by method 77"),
    ("a zip", entry("in.zip", zipped(("d.jsonl", JSONL))), "/in.zip: a packed file inside a zip; put it into the zip"),
    ("gzip", entry("d.jsonl.gz", gzip.compress(JSONL)), "/d.jsonl.gz: a packed file inside a zip; put it into the"),
    ("gzip in disguise", entry("d.jsonl", gzip.compress(JSONL)), "/d.jsonl: a packed file inside a zip; put it into"),
    ("an archive of tar", entry("g/d.tar"), "/g/d.tar: a packed file inside a zip"),
    ("a bomb", entry(raw=BAD), f" to {len(BAD):,} bytes; give it unpacked"),
    ("many bombs", zipped(*((f"{n}.txt", b"\0" * (1 << 20)) for n in range(65))), f" to {65 << 20:,} bytes; give"),
    ("entries that share their bytes", sharing(), "the entry 'a.jsonl' reaches into the next or beyond the end"),
    ("less in it than said", claiming(entry(), 999), "the entry 'd.jsonl' cannot be unpacked: "),
    ("more in it than said", claiming(entry(), 9), "the entry 'd.jsonl' cannot be unpacked: Bad CRC-32"),
    ("more stored than said", claiming(entry(method=zipfile.ZIP_STORED), 9), "the entry 'd.jsonl' cannot be unpacked:"),
    ("sizes beyond the file", said(entry(), 20, 10_000, local=18), "the entry 'd.jsonl' reaches into the next or"),
    ("another name at its place", entry().replace(b"d.jsonl", b"e.jsonl", 1), "cannot be unpacked: File name in"),
    ("only pictures", entry("a/b.PNG"), "no file in it ends as annotations do, but '.PNG'; let them end in one of"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "expected"), [row[1:] for row in REFUSED_ZIPS], ids=[row[0] for row in REFUSED_ZIPS])
def test_a_zip_is_refused_with_the_reason(raw: bytes, expected: str, tmp_path: Path) -> None:
    message = refused(("x.zip", raw))
    assert message.startswith("x.zip") and expected in message and len(message.splitlines()) == 1
    (tmp_path / "x.zip").write_bytes(raw)
    with pytest.raises(FormatError) as caught:
        read(tmp_path / "x.zip")
    assert expected in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]


def test_all_that_is_wrong_with_uploads_is_said_at_once() -> None:
    raw = zipped(("../a.txt", b"x"), ("b.txt", b"x"), ("/c.txt", b"x"))
    message = refused(("x.zip", raw), ("y.rar", b"Rar!\x1a\x07\1\0"), ("z.jsonl", JSONL))
    assert [line.split(";")[0] for line in message.splitlines()] == [
        "x.zip: the entry '../a.txt' leads outside",
        "x.zip: the entry '/c.txt' leads outside",
        "y.rar: a RAR archive, which is not read",
    ]


def test_files_of_other_kinds_in_a_zip_are_passed_over_and_named() -> None:
    raw = zipped(("g/d.ann", ANN), ("g/d.txt", b"abc"), ("g/run.exe", b"MZ"), ("g/p.PNG", b"x"), ("g/.DS_Store", b"x"))
    source = Source.of_uploads([("g.zip", raw)])
    assert (names(source), source.passed) == (["d.ann", "d.txt"], ("run.exe", "p.PNG"))
    assert read(source).notes == ("files of other kinds in the zip, not read: 2 (run.exe, p.PNG)",)


def test_every_ending_that_a_reader_asks_for_may_stand_in_a_zip() -> None:
    suffixes = {suffix for reader in readers().values() for suffix in reader.suffixes}
    assert suffixes | {*OTHER_SUFFIXES} <= ANNOTATION_SUFFIXES


def test_a_list_of_entries_that_never_ends_is_not_read() -> None:
    message = refused(("x.zip", entry()[:50] + b"PK\1\2" * (2 * ZIP_FILES + 1)))
    assert message == f"x.zip: {2 * ZIP_FILES + 1} files; pack at most {ZIP_FILES} files"


def test_a_zip_within_a_zip_is_opened_for_few_files() -> None:
    many = zipped(*((f"{number}.xmi", b"x") for number in range(INNER_FILES + 1)))
    with pytest.raises(FormatError) as caught:
        files_of_inner_zip("a.zip", InMemory(many, "a.zip"))
    assert str(caught.value) == f"a.zip: {INNER_FILES + 1} files; pack at most {INNER_FILES} files"


def zstd(raw: bytes) -> bytes:
    packed: bytes = pyarrow.compress(raw, "zstd", asbytes=True)
    return packed


def zstd_window(log: int) -> bytes:
    """A frame of one byte that asks for a window of 2 to this power bytes (RFC 8878, 3.1.1.1.2)."""
    return b"\x28\xb5\x2f\xfd\x00" + bytes([(log - 10) << 3]) + b"\x09\x00\x00x"


OTHERS = [
    # (name, bytes, said of it)
    ("x.7z", b"7z\xbc\xaf\x27\x1c\0\4", "an archive of 7-Zip, which is not read; pack it as zip"),
    ("x.rar", b"Rar!\x1a\x07\1\0", "a RAR archive, which is not read; pack it as zip"),
    ("x.tar", tarred(""), "a tar archive, which is not read; pack it as zip"),
    ("x.tar.gz", tarred("gz"), "a tar archive, which is not read; pack it as zip"),
    ("x.tgz", tarred("gz"), "a tar archive, which is not read; pack it as zip"),
    ("x.jsonl", tarred("gz"), "a tar archive, which is not read; pack it as zip"),
    ("x.tar.zst", zstd(tarred("")), "a tar archive, which is not read; pack it as zip"),
    ("x.tar", b"d.jsonl".ljust(512, b"\0"), "a tar archive, which is not read; pack it as zip"),
    ("x.jsonl.bz2", bz2.compress(JSONL), "packed by bzip2, which is not read; pack it by gzip or Zstandard, or as zip"),
    ("x.jsonl.xz", lzma.compress(JSONL), "packed by xz, which is not read; pack it by gzip or Zstandard, or as zip"),
    ("x.xlsb", entry("xl/workbook.bin"), "a zip by its content, which is not read; let its name end in .zip; of a"),
    (
        "x.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old file of Office, or one with a password, which is not read; ",
    ),
    ("x.zip.gz", gzip.compress(entry()), "a zip by its content, which is not read; let its name end in .zip; of a"),
    ("x.pdf", b"%PDF-1.7\n", "a PDF, which is not read; give a file of annotations"),
    ("x.png", b"\x89PNG\r\n\x1a\n", "a PNG picture, which is not read; give a file of annotations"),
    ("x.jpg", b"\xff\xd8\xff\xe0", "a JPEG picture, which is not read; give a file of annotations"),
    ("x.gif", b"GIF89a", "a GIF picture, which is not read; give a file of annotations"),
    ("x.gz", gzip.compress(gzip.compress(JSONL)), "a packed file inside a packed file; pack it once"),
    ("x.zst", zstd(gzip.compress(JSONL)), "a packed file inside a packed file; pack it once"),
    ("x.zst", zstd_window(31), "cannot be unpacked: "),
    ("x.zst", zstd(JSONL * 50)[:-3], "cannot be unpacked: "),
]


@pytest.mark.parametrize(("name", "raw", "expected"), OTHERS, ids=[f"{row[0]}, {row[2][:22]}" for row in OTHERS])
def test_other_archives_are_named_and_not_read(name: str, raw: bytes, expected: str, tmp_path: Path) -> None:
    message = refused((name, raw))
    assert message.startswith(f"{name}: {expected}") and len(message.splitlines()) == 1
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(FormatError) as caught:
        read(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: {expected}")


def test_a_window_that_fits_is_unpacked() -> None:
    assert Source.of_uploads([("x.zst", zstd_window(20))]).files[0].read() == b"x"


def gzip_bomb() -> bytes:
    return gzip.compress(b"[" * (300 << 20), 1)


def lying_zip() -> bytes:
    return claiming(entry(raw=b"[" * (300 << 20)), 1000)


@pytest.mark.parametrize(("name", "make"), [("x.json.gz", gzip_bomb), ("x.zip", lying_zip)])
def test_a_bomb_costs_little_before_it_is_refused(name: str, make: Callable[[], bytes]) -> None:
    raw = make()
    assert len(raw) * EXPANSION_RATIO < 300 << 20
    tracemalloc.start()
    try:
        refused((name, raw))
        for format in ("jsonl", "labelstudio", "csv", "conll"):
            with pytest.raises(FormatError):
                read(Source.of_uploads([(name, raw)]), format=format)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * max(len(raw) * EXPANSION_RATIO, FREE_BYTES)
