"""CLEF-HIPE files read block by block are what they are row by row: same documents, spans, links, noise and notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source
from nereval_core.readers.hipe import read_by_blocks, read_by_rows
from nereval_core.readers.shared.token_columns import NotJudged
from tests.readers.test_hipe import HEADER, IDS_2020, IDS_2022, REAL, ROWS
from tests.support.draws import draws
from tests.support.readings import reading_content
from tests.support.shared_corpora import needs

SIZES = st.sampled_from([1, 9, 60, 1 << 19])
TOKENS = st.sampled_from(
    ["a", "Stadt", "x" * 17, "¬", "é", "語", "😀", "New York", "-", "a\u2028b", "\u00a0", "a\rb", "O"],
)
TAGS = st.sampled_from(
    [*["O"] * 5, "_", "", "B-loc", "I-loc", "B-pers", "I-pers", "S-loc", "E-loc", f"B-{'long' * 9}"],
)
LINKS = st.sampled_from(["_", "_", "-", "", "NIL", "Q1", "Q1|Q22", "Q1|", "|"])
FLAGS = st.sampled_from(
    [
        *("_", "_", "", "NoSpaceAfter", "EndOfLine", "EndOfSentence", "EndOfLine|NoSpaceAfter", "LED0.12", "LED1"),
        *("LED0.5|x", "EndOfSentence|LED0.00", f"LED{'9' * 400}", "LEDx"),
    ]
)
COMMENTS = st.sampled_from(
    [
        *("# document_id = d1", "# document_id = d2", "# hipe2022:document_id = d3", "# date = 1798-01-20"),
        *("# language = de", "# document_id", "# segment_iiif_link = x", "#", "# x", "#tag\tO"),
        *("# document_id = d4\t\t\t", "# hipe2022:date = 1"),
    ]
)


@st.composite
def hipe_files(draw: st.DrawFn) -> bytes:
    """Draw a file; in some of them lines and tags are wrong."""
    broken = draw(st.integers(0, 2)) == 0
    lines = draw(st.lists(COMMENTS, max_size=2))
    lines.append("TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC" if draw(st.integers(0, 4)) else "TOKEN NE-COARSE-LIT")
    width = len(lines[-1].split())
    if draw(st.integers(0, 3)):
        lines.append("# document_id = d0")
    for _ in range(draw(st.integers(1, 12))):
        what = draw(st.integers(0, 11))
        if what < 8:
            cells = [draw(TOKENS), draw(TAGS), draw(LINKS), draw(FLAGS)][:width]
            if broken and what == 7:
                wrong = [cells[:-1], [*cells, ""], [*cells, "x"], ["", *cells[1:]], [" ", *cells[1:]]]
                cells = draw(st.sampled_from(wrong))
            lines.append("\t".join(cells))
        elif what < 10:
            lines.append(draw(COMMENTS))
        else:
            lines.append(draw(st.sampled_from(["", "\t", "\t" * (width - 1), " ", "\u00a0" if broken else ""])))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r\r\n"]))
    return (end.join(lines) + draw(st.sampled_from([end, end, ""]))).encode()


OPTIONS = st.builds(
    ReadOptions,
    column=st.sampled_from([None, None, None, 2, "NE-FINE-LIT"]),
    repair=st.sampled_from([None, "conlleval", "conlleval", "discard"]),
)


def both(raws: list[bytes], options: ReadOptions, size: int) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return what is read row by row, and block by block (None where that is left to the other)."""
    source = Source.of_uploads([(f"x{number}.tsv", raw) for number, raw in enumerate(raws, start=1)])
    return outcomes(source, options, size)


def outcomes(source: Source, options: ReadOptions, size: int) -> tuple[dict[str, Any], dict[str, Any] | None]:
    files = source.pick(".tsv")
    try:
        plain = reading_content(read_by_rows(source, files, options))
    except FormatError as error:
        plain = {"problems": error.problems}
    try:
        return plain, reading_content(read_by_blocks(source, files, options, size))
    except FormatError as error:
        return plain, {"problems": error.problems}
    except NotJudged:
        return plain, None


@draws(83)
@given(raws=st.lists(hipe_files(), min_size=1, max_size=2), options=OPTIONS, size=SIZES)
@example(
    raws=[b"# document_id = d\n# date = 1\n# date = 2\nTOKEN\tNE-COARSE-LIT\tMISC\na\tO\tEndOfLine\nb\tO\t_\n"],
    options=ReadOptions(),
    size=9,
)
def test_drawn_files(raws: list[bytes], options: ReadOptions, size: int) -> None:
    plain, packed = both(raws, options, size)
    assert packed in (None, plain)


@pytest.mark.parametrize("size", [1, 30, 1 << 19])
@pytest.mark.parametrize(
    "text",
    [
        HEADER + IDS_2020 + ROWS,
        HEADER + IDS_2022 + ROWS + IDS_2022.replace("d1", "d2") + ROWS,
        IDS_2020 + HEADER + ROWS,
        (HEADER + IDS_2020 + ROWS).replace("\n", "\r\n"),
        HEADER + ROWS.replace("\nGenf", "\n\n\t\t\t\t\nGenf"),
        HEADER + IDS_2020 + ROWS.replace("\nGenf", "\n#Atolacs\tO\t_\nGenf"),
        HEADER + "# document_id = d1\n# document_id = d2\n" + ROWS + "# document_id = d3",
    ],
)
def test_what_is_sound_is_read_block_by_block(text: str, size: int) -> None:
    plain, packed = both([text.encode()], ReadOptions(), size)
    assert packed == plain
    assert len(plain["doc"]) >= 2


def test_faults_of_tags_are_found_block_by_block() -> None:
    rows = ROWS.replace("B-", "Q-", 1).replace("\nGenf\tB", "\n# segment\n\nGenf\tI")
    plain, packed = both([f"{HEADER}# document_id = {name}\n{rows}".encode() for name in "ab"], ReadOptions(), 30)
    assert packed == plain
    assert [problem.line for problem in plain["problems"]] == [5, 5, 10, 10]


@needs("hipe2020")
@needs("hipe2022")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    plain, packed = outcomes(Source.of_path(path), ReadOptions(repair="conlleval"), 50_000)
    assert packed in (None, plain)
    # Gold has no short rows.
    assert packed or path.parent.name != "gold"


def test_of_two_files_one_may_have_no_links() -> None:
    one = HEADER + IDS_2020 + ROWS
    two = "TOKEN\tNE-COARSE-LIT\n# document_id = d2\nRom\tB-loc\n"
    plain, packed = both([one.encode(), two.encode()], ReadOptions(), 1 << 19)
    assert packed == plain
    assert list(plain["spans' links"]) == [0, 1]
