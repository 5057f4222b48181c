"""Words with tags behind a slash: types, schemes and lines of problems."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.samples import SLASHTAGS


def tagged(text: str, **options: str) -> Reading:
    source = Source.of_uploads([("x.txt", text.encode())])
    return read(source, format="slashtags", options=ReadOptions(**options))  # type: ignore[arg-type]


def spans(found: Reading) -> list[tuple[str, str]]:
    return [(found.layer.text(span), found.layer.label(span)) for span in range(len(found.layer))]


def test_lines_are_documents_and_runs_of_a_type_spans() -> None:
    found = tagged(SLASHTAGS)
    assert list(found.documents.texts) == ["Ann Lee left Rome .", "He met 1\\/2"]
    assert spans(found) == [("Ann Lee", "PERSON"), ("Rome", "LOCATION")]
    assert (found.scheme, found.places) == ("IO", (("x.txt", 1), ("x.txt", 2)))
    assert "say otherwise by --scheme" in found.notes[0]


def test_tags_of_a_scheme_and_slashes_in_words() -> None:
    found = tagged("I/O/O Ann/B-PER Bob/B-PER TCP/IP/B-X\n")
    assert (spans(found), found.scheme) == ([("Ann", "PER"), ("Bob", "PER"), ("TCP/IP", "X")], "IOB2")
    assert spans(tagged("a/PER b/PER\n", scheme="IO")) == [("a b", "PER")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a/O\nb c/PER /O\n", ["x.txt:2: 'b' has no tag; write word/TAG, or word/O", "x.txt:2: '/O' has no tag"]),
        ("a/PER\n", ["x.txt:1: 'PER' is not a tag"]),
        ("a/B-PER/B-LOC b/O/O\n", ["x.txt:1: two tags behind each word"]),
        ("a/PER Ann/PER,/O\nb/O./O\n", ["x.txt:1: 'Ann/PER,' has a tag in it; write a blank", "x.txt:2: 'b/O.' has a"]),
        ("a/O b/I-PER\nc/B-PER d/I-LOC\n", ["x.txt:2: 'I-LOC'"]),
    ],
)
def test_problems_have_lines(text: str, said: list[str]) -> None:
    with pytest.raises(FormatError) as error:
        tagged(text, **({"scheme": "IOB2"} if "I-LOC" in text else {}))
    found = [str(problem) for problem in error.value.problems]
    assert all(any(one.startswith(begin) for one in found) for begin in said), found


def test_bars_and_parts_of_speech_as_in_wikiner() -> None:
    text = "Ann|NNP|I-PER Lee|NNP|I-PER left|VBD|O Rome|NNP|I-LOC .|.|O\n\n1/2|CD|O of|IN|O it|PRP|O\n"
    found = read(Source.of_uploads([("aij-wikiner-en-wp3", text.encode())]))
    assert (found.format, list(found.documents.texts)) == ("slashtags", ["Ann Lee left Rome .", "1/2 of it"])
    assert spans(found) == [("Ann Lee", "PER"), ("Rome", "LOC")]
    with pytest.raises(FormatError, match=r"x.txt:3: 'of' has no tag; write word\|POS\|TAG"):
        tagged(text.replace("of|IN|O", "of"))


@pytest.mark.parametrize("text", ["The/DT dog/NN\n", "a/b c/d\n", "and/or\n", "10/12 1/2\n"])
def test_other_slashes_are_not_claimed(text: str) -> None:
    with pytest.raises(FormatError, match="the format cannot be recognised"):
        read(Source.of_uploads([("x.txt", text.encode())]))
