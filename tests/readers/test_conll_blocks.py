"""Columns read block by block are what they are line by line: same documents, spans, notes, places and problems."""

from __future__ import annotations

import io
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source
from nereval_core.readers.conll import reading_of_rows
from nereval_core.readers.conll.blocks import read_packed
from nereval_core.readers.conll.layout import SAMPLE_LINES
from nereval_core.readers.conll.rows import read_listed
from nereval_core.readers.input.file_text import split_lines
from nereval_core.readers.shared import byte_fields
from nereval_core.readers.shared.byte_fields import (
    FACTORS,
    WORD_BYTES,
    Vocabulary,
    character_counts,
    join_pieces,
    without_bytes,
)
from nereval_core.readers.shared.token_columns import NotJudged, read_blocks
from tests.readers.test_conll import MARKS, REFUSED, SPLIT
from tests.support.draws import draws
from tests.support.readings import reading_content

WORDS = "a|Bob|#tag|#|-|--|-D|-DOCSTART-x|À|😀|語|a\u2028b|10\u00a0000|\u00a0|\0|\ufeff|a\rb|New York|1|2|O|'|\x0c"
TOKENS = st.sampled_from([*WORDS.split("|"), *("x" * size for size in (15, 16, 17, 31, 32, 33, 70))])
TAGS = st.sampled_from(
    ["O"] * 6 + ["B-PER", "I-PER", "B-LOC", "I-LOC", "B-a-b", f"B-{'long' * 12}", "I-語", "B-cell_line"]
)
ODD_TAGS = st.sampled_from(["E-PER", "S-PER", "X", "", "o", "\u00a0", "B-", "O ", "B-PER\u00a0"])
BLANKS = st.sampled_from(["", "", "", " ", "\t", " \t ", "\u00a0", "\x0c", "\t\t", "\r"])
COMMENTS = st.sampled_from(
    [
        *("# remark", "#", "# a\tO", "# a O", "#x O", "# id = d1", "# id = d2", "# newdoc id = e", "# newdoc", "# O"),
        *("# sent_id = s", "# sent_id = t", "###MEDLINE:7", "###MEDLINE:8 O", "# id 3\tdomain=en", "#\t\tO", " # O"),
        *("-DOCSTART-", "-DOCSTART- O", "-DOCSTART-\tO", "-DOCSTART- -X- O", "-DOCSTART-\t-X-\tO", " -DOCSTART- O"),
        *("# B-PER", "#\tB-PER"),
    ]
)
LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r\r\n"])


@st.composite
def files(draw: st.DrawFn, broken: bool) -> bytes:
    """Draw a file of columns; with `broken`, one in which lines and tags may be wrong."""
    separator = draw(st.sampled_from(["\t", " "]))
    middle = draw(st.integers(0, 2))
    numbered = middle > 0 and draw(st.booleans())
    end = draw(LINE_ENDS)
    lines, count, kind = [], 0, "O"
    for _ in range(draw(st.integers(1, 14))):
        what = draw(st.integers(0, 11 if broken else 9))
        if what < 7:
            count += 1
            tag = draw(TAGS)
            # Mostly legal in IOB2.
            if tag[0] == "I" and kind[2:] != tag[2:] and draw(st.integers(0, 5 if broken else 9)):
                tag = "B" + tag[1:]
            kind = tag
            fields = [
                draw(TOKENS),
                *draw(st.lists(st.sampled_from(["NN", "-", "é"]), min_size=middle, max_size=middle)),
            ]
            if separator == " ":
                fields = [field.replace(" ", "_") for field in fields]
            if numbered:
                fields[:2] = [str(count), fields[0]]
            lines.append(separator.join([*fields, tag]))
        elif what < 9:
            lines.append(draw(BLANKS))
            count, kind = 0, "O"
        elif what == 9:
            lines.append(draw(COMMENTS))
        elif what == 10:
            lines.append(separator.join([draw(TOKENS), *["NN"] * middle, draw(ODD_TAGS)]))
        else:
            changes = (
                lambda line: line + " ",
                lambda line: line + "\t\t",
                lambda line: " " + line,
                lambda line: line.replace(separator, separator * 2),
                lambda line: line.replace(separator, "\t "),
                lambda line: line + separator + "O",
                lambda line: line.partition(separator)[0],
                lambda line: separator + line,
            )
            if lines:
                lines[-1] = draw(st.sampled_from(changes))(lines[-1])
    text = end.join(lines) + (end if draw(st.integers(0, 3)) else "")
    raw = text.encode()
    if draw(st.integers(0, 9)) == 0:
        raw = b"\xef\xbb\xbf" + raw
    if broken and draw(st.integers(0, 19)) == 0:
        cut = draw(st.integers(0, len(raw)))
        raw = raw[:cut] + b"\xe9" + raw[cut:]
    return raw


OPTIONS = st.builds(
    ReadOptions,
    column=st.sampled_from([None, None, None, None, 2, -1, 9]),
    scheme=st.sampled_from([None, None, "IOB2", "IOBES", "IO"]),
    repair=st.sampled_from([None, None, "conlleval", "discard"]),
)
SIZES = st.sampled_from([1, 7, 40, 1 << 19])


def outcome(source: Source, options: ReadOptions, rows: Any) -> dict[str, Any]:
    """Return all that reading says, of a refusal its problems."""
    try:
        found = reading_of_rows(source, options, rows)
    except FormatError as error:
        return {"problems": error.problems}
    return reading_content(found)


def both(raws: list[bytes], options: ReadOptions, size: int) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return what is read line by line, and block by block (None where that is left to the other)."""
    source = Source.of_uploads([(f"x{number}.conll", raw) for number, raw in enumerate(raws, start=1)])
    try:
        packed = outcome(source, options, read_packed(source.files, options, size))
    except NotJudged:
        packed = None
    return outcome(source, options, read_listed(source.files, options)), packed


@draws(33)
@given(raws=st.lists(files(broken=False), min_size=1, max_size=2), options=OPTIONS, size=SIZES)
def test_sound_files(raws: list[bytes], options: ReadOptions, size: int) -> None:
    if any(map(bytes.strip, raws)):
        listed, packed = both(raws, options, size)
        assert packed in (None, listed)


@draws(67)
@given(raws=st.lists(files(broken=True), min_size=1, max_size=2), options=OPTIONS, size=SIZES)
@example(raws=[b" \t\t\na\tNN\tO\na\tNN\tO\n"], options=ReadOptions(), size=7)
@example(raws=[b"a\tB-X\n\xc3\n\xa9\tO\n"], options=ReadOptions(), size=8)
@example(raws=[b"a O\n\xc2\xa0 \xc2\xa0\nb B-X\n"], options=ReadOptions(), size=1 << 19)
def test_broken_files(raws: list[bytes], options: ReadOptions, size: int) -> None:
    if any(map(bytes.strip, raws)):
        listed, packed = both(raws, options, size)
        assert packed in (None, listed)


@draws(50)
@given(
    few=st.lists(COMMENTS, min_size=1, max_size=3),
    order=st.lists(st.integers(0, 5), min_size=1, max_size=40),
    end=LINE_ENDS,
    size=SIZES,
)
def test_lines_that_return(few: list[str], order: list[int], end: str, size: int) -> None:
    """Marks that were met before are not judged anew."""
    lines = [*few, "a O", "b B-X", ""]
    raw = "".join(lines[number % len(lines)] + end for number in order).encode()
    if raw.strip():
        listed, packed = both([raw, raw], ReadOptions(), size)
        assert packed in (None, listed)


@pytest.mark.parametrize("size", [1, 5, 1 << 19])
@pytest.mark.parametrize("text", [row[1] for row in (*SPLIT, *MARKS)], ids=[row[0] for row in (*SPLIT, *MARKS)])
def test_what_is_sound_is_read_block_by_block(text: str, size: int) -> None:
    listed, packed = both([text.encode()], ReadOptions(), size)
    assert packed == listed


@pytest.mark.parametrize("size", [1, 5, 1 << 19])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\n", "\u00a0\n"])
@pytest.mark.parametrize("rows", [[], ["", "a O\nb B-X\n"], ["a O\nb B-X\n", ""], ["{}a O\n{}b B-X\n"]])
def test_blank_lines_are_read_block_by_block(rows: list[str], end: str, size: int) -> None:
    """Line by line, a hundred megabytes of them took minutes."""
    raws = [(row.replace("{}", end * SAMPLE_LINES) or end * 3 * SAMPLE_LINES).encode() for row in rows or [""]]
    listed, packed = both(raws, ReadOptions(), size)
    assert packed == listed


@pytest.mark.parametrize(("options", "text"), [row[:2] for row in REFUSED])
def test_complaints_are_the_same(options: dict[str, Any], text: str) -> None:
    try:
        listed, packed = both([text.encode()], ReadOptions(**options), 4)
    except FormatError as error:
        assert "--scheme" in str(error)
        return
    assert packed in (None, listed)


@pytest.mark.parametrize("change", ["plain", "CRLF", "tabs", "wide", "trailing", "comments", "numbered", "accents"])
def test_long_files_are_read_block_by_block(change: str) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for number in range(6000):
        token = ("語" if change == "accents" else "x") * int(rng.integers(1, 30))
        tag = str(rng.choice(["O", "B-PER", "B-cell_line", f"B-{'t' * 40}"]))
        lines.append(f"{number % 13 + 1} {token} {tag}" if change == "numbered" else f"{token} NN {tag}")
        if number % 13 == 12:
            lines.append("")
        if change == "comments" and not rng.integers(5):
            lines.append(f"# sent_id = {number}" if rng.integers(2) else "-DOCSTART- -X- O")
        if change == "comments" and not rng.integers(9):
            lines.append(f"#{token} NN B-PER")
    text = "\n".join(lines) + "\n"
    changed = {"CRLF": ("\n", "\r\n"), "tabs": (" ", "\t"), "wide": (" ", "  "), "trailing": ("\n", " \n")}
    text = text.replace(*changed.get(change, ("", "")))
    listed, packed = both([text.encode()], ReadOptions(), 10_000)
    assert packed == listed
    assert len(listed["doc"]) > 3000


@pytest.mark.parametrize("size", [1, 20, 21, 1 << 19])
def test_a_mark_before_a_carriage_return_is_another_line(size: int) -> None:
    """Blocks whose lines end in CR and LF may be followed by one with a CR inside a line."""
    for text in ("-DOCSTART- O\r\na O\r\n-DOCSTART- O\rb O\nb O\n", "-DOCSTART- O\r\na O\r\n-DOCSTART- O\rO\nb O\n"):
        listed, packed = both([text.encode()], ReadOptions(), size)
        assert packed in (None, listed)


def test_a_wrong_line_far_down_is_named() -> None:
    lines = ["a O", "b B-X", ""] * 5000
    lines[9001] = "b"
    lines[12_000] = "a I-X"
    for number, found in ((9002, "1 column where the file has 2"), (12_001, "'I-X' at the start of a sentence")):
        listed, packed = both(["\n".join(lines).encode()], ReadOptions(scheme="IOB2"), 1000)
        assert packed == listed
        [problem] = listed["problems"]
        assert (problem.line, problem.found[: len(found)]) == (number, found)
        lines[9001] = "b O"


@given(
    pieces=st.lists(st.binary(max_size=40).map(lambda raw: raw.replace(b"\r", b"").replace(b"\n", b""))),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r\r\n", "\r\r\r\r\n"]), min_size=1, max_size=3),
    size=st.integers(1, 50),
)
def test_blocks_hold_whole_lines(pieces: list[bytes], ends: list[str], size: int) -> None:
    lines = [piece.decode("latin-1") for piece in pieces]
    raw = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines)).encode()
    found = list(read_blocks(io.BytesIO(raw), size))
    assert all(block.raw[: block.size].endswith(b"\n") and not block.raw[block.size :].strip(b"\0") for block in found)
    assert [line for block in found for some in block.lines() for line in some] == lines
    text = raw.decode().rstrip("\r\n")
    assert [
        line for block in read_blocks(io.BytesIO(text.encode()), size) for some in block.lines() for line in some
    ] == split_lines(text)


STRINGS = st.lists(st.binary(max_size=110), min_size=1, max_size=30)


@given(batches=st.lists(STRINGS, min_size=1, max_size=4))
def test_a_vocabulary_tells_strings_of_any_length_apart(batches: list[list[bytes]]) -> None:
    vocabulary = Vocabulary()
    for strings in batches:
        sizes = np.fromiter(map(len, strings), np.int64, len(strings))
        data = np.frombuffer(b"".join(strings) + bytes(WORD_BYTES), np.uint8)
        for _ in range(2):
            codes = vocabulary.codes(data, np.cumsum(sizes) - sizes, sizes)
            assert [vocabulary.names[code] for code in codes] == strings
    assert len(set(vocabulary.names)) == len(vocabulary.names)


@pytest.mark.parametrize("bits", [1, 4])
@given(batches=st.lists(STRINGS, min_size=2, max_size=4))
def test_a_vocabulary_tells_strings_apart_that_share_a_place(bits: int, batches: list[list[bytes]]) -> None:
    with mock.patch.multiple(byte_fields, LEAST_TABLE_BITS=bits, SLOTS_PER_NAME=1):
        vocabulary = Vocabulary()
        for strings in [*batches, *batches]:
            sizes = np.fromiter(map(len, strings), np.int64, len(strings))
            data = np.frombuffer(b"".join(strings) + bytes(WORD_BYTES), np.uint8)
            codes = vocabulary.codes(data, np.cumsum(sizes) - sizes, sizes)
            assert [vocabulary.names[code] for code in codes] == strings


@given(words=st.lists(st.text("aé語😀", min_size=1, max_size=9) | st.just("a" * 20), min_size=1))
def test_characters_are_counted_by_the_piece(words: list[str]) -> None:
    raws = [word.encode() for word in words]
    sizes = np.fromiter(map(len, raws), np.int64, len(raws))
    lengths, reached = character_counts(np.frombuffer(b"".join(raws), np.uint8), sizes, np.cumsum(sizes))
    assert lengths.tolist() == list(map(len, words))
    assert reached.tolist() == np.cumsum(lengths).tolist()


def test_a_vocabulary_tells_strings_apart_that_have_one_key() -> None:
    """Keys are sums of words times odd factors, modulo 2^64: two words can make up for each other."""
    one = bytes(8) + b"\x01" + bytes(15)
    step = pow(int(FACTORS[0]), -1, 2**64) * int(FACTORS[1]) % 2**64
    two = step.to_bytes(8, "little") + bytes(16)
    data = np.frombuffer(one + two + one + bytes(WORD_BYTES), np.uint8)
    vocabulary = Vocabulary()
    assert vocabulary.codes(data, np.array([0, 24, 48]), np.array([24, 24, 24])).tolist() == [0, 1, 0]


@given(strings=STRINGS)
def test_pieces_are_joined_byte_by_byte(strings: list[bytes]) -> None:
    sizes = np.fromiter(map(len, strings), np.int64, len(strings))
    data = np.frombuffer(b"".join(b"?" + raw for raw in strings) + bytes(WORD_BYTES), np.uint8)
    text, ends = join_pieces(data, np.cumsum(sizes + 1) - sizes, sizes)
    assert text.tobytes() == b"".join(strings)
    assert ends.tolist() == np.cumsum(sizes).tolist()


def test_a_piece_of_megabytes_is_moved_at_once() -> None:
    strings = [b"a", b"b" * 1_000_000, b"c" * 1_024, b"d" * 1_025, b"e", b"", b"f" * 3_000, b"g"]
    sizes = np.fromiter(map(len, strings), np.int64, len(strings))
    data = np.frombuffer(b"".join(strings) + bytes(WORD_BYTES), np.uint8)
    with mock.patch.object(byte_fields, "fetch_words", wraps=byte_fields.fetch_words) as fetch:
        text, _ = join_pieces(data, np.cumsum(sizes) - sizes, sizes)
    assert text.tobytes() == b"".join(strings) and fetch.call_count < 50


@given(sizes=st.lists(st.integers(0, 2000), min_size=1, max_size=4), share=st.sampled_from([0, 1, 3, 100]))
def test_bytes_are_left_out_wherever_they_stand(sizes: list[int], share: int) -> None:
    rng = np.random.default_rng(sum(sizes))
    parts = [rng.integers(0, 256, size, np.uint8) for size in sizes]
    places = np.sort(rng.choice(sum(sizes), min(share, sum(sizes)), replace=False))
    assert without_bytes(parts, places).tobytes() == np.delete(np.concatenate(parts), places).tobytes()


def test_documents_marked_alike_by_the_block_and_otherwise_further_on() -> None:
    marked = "-DOCSTART- O\n\na O\nb B-X\n\n"
    for text in ("a O\n\n" + marked * 9, marked * 9 + "# newdoc id = x\nc O\n" + marked * 9, marked * 3 + "# x\na O\n"):
        for size in (1, 30, 1 << 19):
            for raws in ([text], [text, marked * 4], [marked, "a O\n", text]):
                listed, packed = both([raw.encode() for raw in raws], ReadOptions(), size)
                assert packed == listed
