"""brat's documents read together say the same as documents read one by one, about good input and about bad."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, brat
from nereval_core.readers.brat import blocks as brat_blocks
from nereval_core.readers.shared.byte_fields import MOST_DIGITS, WORD_BYTES, equal_pieces, numbers
from tests.readers.test_brat import REFUSED, TAKEN, TEXT
from tests.support.layer_strategies import content, texts

Files = dict[str, bytes]


def outcome(files: Files, options: ReadOptions, *, plainly: bool) -> object:
    """Return all that a reading gives, or its problems."""
    try:
        reading = brat._read(Source.of_uploads(list(files.items())), options, plainly=plainly)
        return content(reading.layer), reading.places, reading.notes
    except FormatError as error:
        return error.problems


def agreed(files: Files, options: ReadOptions | None = None) -> Any:
    options = options or ReadOptions()
    found = outcome(files, options, plainly=True)
    assert found == outcome(files, options, plainly=False)
    return found


WORDS = st.text('ab:é💊 \n"\\/\u2028\x7f\r\t', max_size=6) | texts()
NOTES = ["", "A1\tNegated T1\n", "R1\tX Arg1:T1 Arg2:T2\n", "#1\tAnnotatorNotes T1\twhy?\n", "*\tSame T1 T2\n"]
RARE = [*NOTES, "N1\tReference T1 DB:7\tx\n", "#2\tAnnotatorNotes T1\t722\n", "\n", "  \n"]


@st.composite
def folders(draw: st.DrawFn) -> Files:
    """Draw documents most of which are plain."""
    files: Files = {}
    for number in range(draw(st.integers(1, 5))):
        text = "abc" + draw(WORDS)
        lines = []
        for place in range(draw(st.integers(0, 4))):
            low = draw(st.integers(0, len(text) - 3))
            high = draw(st.integers(low + 3, len(text)))
            quote = text[low:high].replace("\n", " ").replace("\r", " ").replace("\t", draw(st.sampled_from("\t ")))
            key = f"T{place + 1}" if draw(st.integers(0, 9)) else draw(st.sampled_from(["Tx", "T01", "T", "T9"]))
            if not any(line.startswith(key + "\t") for line in lines):
                lines.append(f"{key}\t{draw(st.sampled_from(['Drug', 'Körper', 'A:b']))} {low} {high}\t{quote}\n")
            lines.append(draw(st.sampled_from([*NOTES, *NOTES, *RARE] if lines else [""])))
        files[f"d{number}.txt"] = text.encode()
        if draw(st.integers(0, 9)):
            ann = "".join(lines)
            files[f"d{number}.ann"] = (ann if draw(st.booleans()) else ann.removesuffix("\n")).encode()
    return files if any(name.endswith(".ann") for name in files) else files | {"e.txt": b"", "e.ann": b""}


@settings(max_examples=80)
@given(files=folders())
@example(files={"a.txt": b"abc\xc3", "a.ann": b"T1\tX 0 3\tabc", "b.txt": b"\xa9abc", "b.ann": b""})
@example(files={"a.txt": b"", "a.ann": b"", "b.txt": "é".encode(), "b.ann": "T1\tX 0 1\té".encode(), "c.txt": b""})
@example(files={"a.txt": b"abc", "a.ann": b"T1\tX 0 3\tabc\nT1\tX 0 2\tab"})
@example(files={"a.txt": b"abc", "a.ann": "T1\tX\u2028Y 0 3\tabc".encode()})
@example(files={"a.txt": b"abc", "a.ann": "T\xa01\tX 0 3\tabc\n".encode()})
def test_folders(files: Files) -> None:
    agreed(files)


@settings(max_examples=20)
@given(files=folders())
def test_texts_of_gold_and_cores(files: Files) -> None:
    try:
        gold = brat.READER.read(Source.of_uploads(list(files.items())), ReadOptions()).documents
    except FormatError:
        return
    bare = {name: raw for name, raw in files.items() if name != "d0.txt" or "d0.ann" not in files}
    agreed(bare, ReadOptions(texts=gold))
    agreed(bare)
    agreed(files, ReadOptions(core_type="Drug"))


BREAKS = [
    # What stands in a file, and what may be put for it.
    (rb"\d+", [b"01", b"-1", b"1.0", b"9" * 10, b"9" * 30, b"", b"0", b" 1", b"1;2 3", "\uff11".encode(), b"1\x0b"]),
    (rb"\t", [b" ", b"", b"\t\t", b"\n", b"\x0c"]),
    (rb" ", [b"", b"  ", b"\t", "\xa0".encode(), b"\x1f"]),
    (rb"\n", [b"\r\n", b"\r\r\n", b"", b"\n\n", b"\0", b"\nX1\t\n", b"\nN1\tReference T1 a:b\t\n", b"\r"]),
    (rb"T", [b"", b"t", b"TT", b"\xef\xbb\xbfT", b"E", b"\xff", "T\u3000".encode()]),
    (rb"[a-z]", [b"", b"\xff", "é".encode(), b" ", b"\0", b"\x85", b"zz"]),
]


@st.composite
def broken(draw: st.DrawFn) -> Files:
    files = draw(folders())
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(files)))
        pattern, instead = draw(st.sampled_from(BREAKS))
        places = list(re.finditer(pattern, files[name]))
        if places:
            place = draw(st.sampled_from(places))
            files[name] = files[name][: place.start()] + draw(st.sampled_from(instead)) + files[name][place.end() :]
    return files


@settings(max_examples=250)
@given(files=broken())
def test_broken_folders(files: Files) -> None:
    agreed(files)


CASES = [ann for _, ann, _, _ in TAKEN] + [ann for ann, _, _ in REFUSED]


@pytest.mark.parametrize("ann", CASES)
def test_cases_among_plain_documents(ann: str) -> None:
    plain = {"text": TEXT.encode(), "ann": b"T1\tDrug 0 7\tAspirin\nR1\tx T1\n"}
    files = {f"{name}.{'txt' if what == 'text' else what}": raw for name in "ace" for what, raw in plain.items()}
    for name in "bd":
        files |= {f"{name}.txt": TEXT.encode(), f"{name}.ann": ann.encode()}
    agreed(files)


def test_plain_documents_take_the_fast_way() -> None:
    plain = b"T1\tDrug 0 7\tAspirin\nR1\tx T1 T2\nT2\tDrug 8 14\tund CD\n#1\tAnnotatorNotes T1\twhy?\n"
    accented = "Ä💊 und", "T3\tDrug 0 2\tÄ💊\nT2\tDrug 3 6\tund".encode()
    documents = [(TEXT, plain), accented, (TEXT, b""), (TEXT, None), accented]
    [ann] = Source.of_uploads([("x.ann", b"")]).files
    given = [
        brat_blocks.DocumentFiles(f"d{number}", "x.txt", text.encode(), None if raw is None else ann, raw)
        for number, (text, raw) in enumerate(documents)
    ]
    builder, counts, others = Builder("x"), Counter[str](), []
    brat_blocks.DocumentBlocks(builder, counts, others.append).take(given)
    layer = builder.finish("x")
    assert others == []
    assert (layer.doc.tolist(), layer.start.tolist()) == ([0, 0, 1, 1, 4, 4], [0, 8, 0, 3, 0, 3])
    assert list(builder.span_lines.values()) == [1, 3, 1, 2, 1, 2]
    assert {key: value for key, value in counts.items() if value} == {"R": 1, "#": 1, "bare": 1}


@settings(max_examples=60)
@given(pieces=st.lists(st.text("0123456789", max_size=12) | st.text("01x \u0661", max_size=3), min_size=1))
def test_numbers(pieces: list[str]) -> None:
    parts = [piece.encode() for piece in pieces]
    high = np.cumsum([len(part) for part in parts])
    data = np.frombuffer(b"".join([*parts, bytes(WORD_BYTES)]), np.uint8)
    values, wrong = numbers(data, high - [len(part) for part in parts], high)
    for piece, value, bad in zip(pieces, values.tolist(), wrong.tolist(), strict=True):
        assert bad == (re.fullmatch(rf"0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}}", piece) is None)
        assert bad or value == int(piece)


@settings(max_examples=60)
@given(pairs=st.lists(st.tuples(st.binary(max_size=70), st.binary(max_size=70), st.booleans()), min_size=1))
def test_pieces_that_are_the_same(pairs: list[tuple[bytes, bytes, bool]]) -> None:
    ones = [one for one, _, _ in pairs]
    twos = [one if equal else two.ljust(len(one), b"\0")[: len(one)] for one, two, equal in pairs]
    sizes = np.array([len(one) for one in ones])
    at = np.cumsum(sizes) - sizes
    one, two = (np.frombuffer(b"".join([*parts, bytes(WORD_BYTES)]), np.uint8) for parts in (ones, twos))
    assert equal_pieces(one, at, two, at, sizes).tolist() == [a == b for a, b in zip(ones, twos, strict=True)]
