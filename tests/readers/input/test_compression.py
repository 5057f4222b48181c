"""Packed files and standard input: read like the plain file, and refused where damaged, cut short or a bomb."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pytest

from nereval_core.corpus import Documents, Labels, Layer, layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source, SourceFile, read
from nereval_core.readers.input.compression import HEADER_BYTES, ZSTD, _zstd_size
from nereval_core.writers import write, writers
from tests.support import PYTHON_PATH
from tests.support.commands import Cli
from tests.support.layer_strategies import content

LINE = '{"id": "d%d", "text": "abc é💊", "spans": [{"start": 0, "end": 5, "label": "%s"}]}\n'
DRAWN = random.Random(4)
JSONL = "".join(LINE % (number, DRAWN.randbytes(6).hex()) for number in range(500)).encode()
CONLL = b"Anna B-PER\nsees O\n\nBerlin B-LOC\n"


def zstd(raw: bytes) -> bytes:
    packed: bytes = pyarrow.compress(raw, "zstd", asbytes=True)
    return packed


PACKED = pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd), (".zstd", zstd)])
Pack = Callable[[bytes], bytes]


def stored(folder: Path, name: str, raw: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


@PACKED
def test_a_packed_file_reads_like_the_plain_one(suffix: str, pack: Pack, tmp_path: Path) -> None:
    plain = read(stored(tmp_path, "run.jsonl", JSONL))
    for path in (
        stored(tmp_path, f"a/run.jsonl{suffix}", pack(JSONL)),
        stored(tmp_path, f"b/run.JSONL{suffix.upper()}", pack(JSONL)),
        # Known by its bytes, whatever it is called; and a name that says so wrongly does no harm.
        stored(tmp_path, "c/run.jsonl", pack(JSONL)),
        stored(tmp_path, f"d/run.jsonl{suffix}", JSONL),
        # Several packed files in a row are one.
        stored(tmp_path, f"e/run.jsonl{suffix}", pack(JSONL[:9000]) + pack(JSONL[9000:])),
    ):
        reading = read(path)
        assert content(reading.layer) == content(plain.layer)
        assert (reading.layer.name, reading.source, reading.places[3]) == ("run", str(path), (str(path), 4))
        assert read(path.parent).layer.digest == plain.layer.digest
    assert read(Source.of_uploads([(f"run.jsonl{suffix}", pack(JSONL))])).layer.digest == plain.layer.digest


@PACKED
def test_pieces_are_those_of_the_plain_file(suffix: str, pack: Pack, tmp_path: Path) -> None:
    [file] = Source.of_path(stored(tmp_path, f"x.jsonl{suffix}", pack(JSONL))).files
    assert (file.name, file.suffix, file.stem) == ("x.jsonl", ".jsonl", "x")
    assert (file.load(5), file.load(0), file.read()) == (JSONL[:5], b"", JSONL)
    with file.stream() as stream:
        pieces = list(iter(lambda: stream.read(1000), b""))
    assert b"".join(pieces) == JSONL
    assert {len(piece) for piece in pieces[:-1]} == {1000}


@PACKED
def test_brat_finds_a_packed_text_beside_packed_annotations(suffix: str, pack: Pack, tmp_path: Path) -> None:
    ann = stored(tmp_path, f"d.ann{suffix}", pack(b"T1\tA 0 1\ta\n"))
    with pytest.raises(FormatError, match="no text"):
        read(ann)
    stored(tmp_path, f"d.txt{suffix}", pack(b"abc"))
    for place in (ann, tmp_path):
        assert read(place).documents.ids == ("d",)


def test_a_packed_file_beside_the_plain_one_is_a_second_one(tmp_path: Path) -> None:
    stored(tmp_path, "x.jsonl", JSONL)
    stored(tmp_path, "x.jsonl.gz", gzip.compress(JSONL))
    with pytest.raises(FormatError, match=r"a second file called 'x\.jsonl'; give each file its own name"):
        read(tmp_path)


def broken(raw: bytes) -> list[bytes]:
    middle = len(raw) // 2
    return [raw[:middle], raw[:-1], raw[:6], raw[:4] + b"\xff" + raw[5:12], raw[:11] + bytes(40) + raw[51:]]


@pytest.mark.parametrize("number", range(5))
@PACKED
def test_damage_is_one_problem_at_its_file(suffix: str, pack: Pack, number: int, tmp_path: Path) -> None:
    path = stored(tmp_path, f"x.jsonl{suffix}", broken(pack(JSONL))[number])
    with pytest.raises(FormatError) as caught:
        read(path, format="jsonl")
    [problem] = caught.value.problems
    assert (problem.source, problem.line) == (str(path), None)
    assert problem.found.startswith("cannot be unpacked: ")
    assert problem.remedy == "pack it again"


@PACKED
def test_what_expands_beyond_bounds_is_refused(suffix: str, pack: Pack) -> None:
    for raw in (pack(bytes(65 << 20)), pack(JSONL) + pack(bytes(64 << 20))):
        with pytest.raises(FormatError, match=r"expands from [\d,]+ to more than [\d,]+ bytes; give it unpacked"):
            read(Source.of_uploads([(f"x.jsonl{suffix}", raw)]), format="jsonl")
    # Little bytes may hold much, as long as it is not very much.
    assert len(SourceFile("x", "x", Source.of_uploads([("x", pack(b"a" * 900_000))]).files[0].origin).read()) == 900_000


def test_a_bomb_on_a_disk_is_refused_unless_more_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unpack() -> None:
        with source.files[0].stream() as stream:
            while stream.read(1 << 20):
                pass

    source = Source.of_path(stored(tmp_path, "x.jsonl.zst", zstd(bytes(65 << 20))))
    with pytest.raises(FormatError, match=r"expands from .* or allow more: NEREVAL_UNPACKED_GB=4"):
        unpack()
    monkeypatch.setenv("NEREVAL_UNPACKED_GB", "4")
    unpack()
    monkeypatch.setenv("NEREVAL_UNPACKED_GB", "much")
    with pytest.raises(FormatError, match="NEREVAL_UNPACKED_GB: 'much' is no number of GB"):
        unpack()


def test_a_bomb_that_states_its_size_is_refused_before_anybody_keeps_its_content() -> None:
    bomb, streamed = gzip.compress(bytes(65 << 20)), io.BytesIO()
    # A file of gzip that was cut short may end in any number.
    cut = gzip.compress(100 * JSONL)[:-9] + b"\0\0\0\x7f"
    for raw, finding in ((bomb, "expands from"), (zstd(bytes(65 << 20)), "expands from"), (cut, "cannot be unpacked")):
        with pytest.raises(FormatError, match=finding):
            Source.of_uploads([("x.jsonl", raw)]).files[0].stream()
        # To know it by its first bytes costs nothing.
        assert len(Source.of_uploads([("x.jsonl", raw)]).files[0].load(1)) == 1
    # A bomb may state a small size, or none.
    with pyarrow.CompressedOutputStream(streamed, "zstd") as packed:
        packed.write(bytes(65 << 20))
        packed.flush()
        raw = streamed.getvalue()
    for small in (bomb[:-4] + bytes(4), raw):
        [file] = Source.of_uploads([("x.jsonl", small)]).files
        with file.stream() as stream, pytest.raises(FormatError, match="expands from"):
            stream.read()


@pytest.mark.parametrize("size", [0, 1, 255, 256, 300, 65_791, 65_792, 1 << 20])
def test_a_frame_of_zstandard_states_its_size(size: int) -> None:
    assert _zstd_size(zstd(bytes(size))[:HEADER_BYTES]) == size
    # With a checksum, the number of a dictionary and a window, as other programs write it.
    assert _zstd_size(ZSTD + bytes([0b1000_0111, 0, 1, 2, 3, 4]) + size.to_bytes(4, "little")) == size


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return buffer.getvalue()


def repetitive(spans: int) -> Layer:
    """Return one document of a word that is repeated, with so many spans of the one type that all formats hold."""
    text = "abcdefghi " * 140_000
    documents = Documents(("d",), (text,))
    start = 1_000 * np.arange(spans)
    zeros = np.zeros(spans, np.int64)
    return layer("x", documents, zeros, start, start + 9, Labels(zeros, ("GENE",)))


@pytest.mark.parametrize("format", writers())
def test_what_is_written_and_shrinks_very_much_reads_back_packed(format: str, tmp_path: Path) -> None:
    made = repetitive(30)
    write(made, tmp_path / "x", format=format)
    files = {file.name: file.read() for file in Source.of_path(tmp_path / "x").files}
    shrunk = [len(raw) > 200 * len(zstd(raw)) and len(raw) > 1 << 20 for raw in files.values()]
    # A Parquet file and a DocBin are packed within.
    assert any(shrunk) or format in ("parquet", "docbin", "datasets")
    plain = content(read(tmp_path / "x", format=format).layer)
    for place in (tmp_path / "x", Source.of_uploads([("x.zip", zipped(files))]), *packed_places(files, tmp_path)):
        assert content(read(place, format=format).layer) == plain


def packed_places(files: dict[str, bytes], folder: Path) -> list[Source | Path]:
    if len(files) > 1 or any(name.endswith(".parquet") for name in files):
        return []
    [(name, raw)] = files.items()
    return [
        place
        for suffix, pack in ((".gz", gzip.compress), (".zst", zstd))
        for place in (
            stored(folder / suffix, f"{name}{suffix}", pack(raw)),
            Source.of_uploads([(f"{name}{suffix}", pack(raw))]),
        )
    ]


def test_a_zip_of_many_files_that_shrink_very_much_is_read() -> None:
    line = json.dumps({"id": "d%d", "text": "abc " * 300_000, "spans": []}) + "\n"
    raw = zipped({f"{number}.jsonl": (line % number).encode() for number in range(16)})
    assert 16 * len(line) > max(200 * len(raw), 16 << 20)
    assert len(read(Source.of_uploads([("x.zip", raw)])).documents) == 16


@PACKED
def test_packed_files_inside_a_zip_are_refused(suffix: str, pack: Pack) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"x.jsonl{suffix}", pack(JSONL))
    with pytest.raises(FormatError, match=r"x\.zip/x\.jsonl.*: a packed file inside a zip; put it into the zip as"):
        read(Source.of_uploads([("x.zip", buffer.getvalue())]), format="jsonl")


@PACKED
@pytest.mark.parametrize(("format", "raw"), [("jsonl", JSONL), ("conll", CONLL)])
def test_what_is_written_packed_reads_back(format: str, raw: bytes, suffix: str, pack: Pack, tmp_path: Path) -> None:
    layer = read(stored(tmp_path, "in", raw), format=format).layer
    places = [tmp_path / name for name in ("out", f"one{suffix}", f"two{suffix}")]
    for place in places:
        write(layer, place, format=format)
    plain, one, two = (place.read_bytes() for place in places)
    assert one == two
    assert one[:2] == pack(b"")[:2]
    [file] = Source.of_path(places[1]).files
    assert file.read() == plain
    assert content(read(places[1], format=format).layer) == content(read(places[0], format=format).layer)


Given = Callable[[bytes], None]


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Given:
    """Give a command that runs in this process its standard input."""
    return lambda raw: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
def test_standard_input_is_gold_or_a_prediction_or_what_is_converted(
    pack: Pack, give: Given, command: Cli, tmp_path: Path
) -> None:
    stored(tmp_path, "x.jsonl", JSONL)
    for files, name in ((("-", "x.jsonl"), "x"), (("x.jsonl", "-"), "stdin"), (("x.jsonl", "mine=-"), "mine")):
        give(pack(JSONL))
        status, out, err = command("score", *files, "--json", "-")
        assert status == 0, err
        assert "<stdin>: jsonl; 500 documents, 500 spans" in err
        [system] = json.loads(out)["systems"]
        assert (system["name"], system["criteria"]["strict"]["COR"]) == (name, 500)
    give(pack(JSONL))
    assert command("convert", "-", "out.jsonl", "--to", "jsonl", "--quiet") == (0, "", "")
    assert read(tmp_path / "out.jsonl").layer.digest == read(tmp_path / "x.jsonl").layer.digest


def test_standard_input_may_hold_both_columns(tmp_path: Path) -> None:
    raw = b"Anna B-PER B-PER\nBerlin B-LOC O\n"
    columns = ("--gold-column", "2", "--pred-column", "3", "--json", "-")
    # In a process of its own, as a pipe gives it.
    command = [sys.executable, "-m", "nereval_core", "score", "-", *columns]
    environment = {"PYTHONPATH": PYTHON_PATH}
    done = subprocess.run(command, input=raw, capture_output=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    strict = json.loads(done.stdout)["systems"][0]["criteria"]["strict"]
    assert (strict["COR"], strict["MIS"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (
            ("score", "-", "-"),
            JSONL,
            "nereval score: standard input is named twice",
        ),
        (("score", "-", "mine=-"), JSONL, "nereval score: standard input is named twice"),
        (("sensitivity", "x.jsonl", "-", "b=-"), JSONL, "nereval sensitivity: standard input is named twice"),
        (("index", "-", "x.jsonl", "--relaxed", "-"), JSONL, "nereval index: standard input is named twice"),
        (("score", "-", "x.jsonl"), b"", "<stdin>: the file is empty; give files with annotations in them"),
        (("score", "x.jsonl", "-"), JSONL + b"{\n", "<stdin>:501: not JSON at position 2 of the line"),
        (("score", "x.jsonl", "-"), gzip.compress(JSONL)[:-9], "<stdin>: cannot be unpacked: "),
    ],
)
def test_bad_standard_input_is_one_line_and_status_2(
    arguments: tuple[str, ...], given: bytes, said: str, give: Given, command: Cli, tmp_path: Path
) -> None:
    stored(tmp_path, "x.jsonl", JSONL)
    give(given)
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(said)
    assert len(err.splitlines()) == 1


def test_standard_input_is_not_reached_from_a_served_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match="no such file or folder"):
        Source.of_path("-", within=tmp_path)
