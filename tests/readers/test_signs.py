"""Signs: a reader that is not asked would not have claimed the file, and those that are asked are few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.readers import Source, formats, readers
from nereval_core.readers.recognition import NO_FORMATS
from nereval_core.readers.recognition.signs import SIGNS, may_be
from tests.readers.test_recognition import HARD_HEADS, UNKNOWN
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.samples import SAMPLES, raw

SUFFIXES = ("", ".txt", ".json", ".jsonl", ".tsv", ".csv", ".ann", ".xml", ".conllu", ".eval", ".parquet")
CONTENTS = {
    **{f"{name}/{path}": raw(content) for name, (_, files, _) in SAMPLES.items() for path, content in files.items()},
    **{name: text.encode() for name, text in HARD_HEADS.items()},
    **{f"{text[:20]!r}": text.encode() for _, text, _ in UNKNOWN},
    "demo": (ROOT / "demo_data" / "pharmacology" / "gold.jsonl").read_bytes(),
}


def unasked_claims(name: str, content: bytes) -> dict[str, float]:
    """Return the claims of readers that are not asked, but for those that claim nothing."""
    source = Source.of_uploads([(name, content)])
    claims = {format: reader.recognise(source) for format, reader in readers().items() if not may_be(format, source)}
    return {format: claim for format, claim in claims.items() if claim}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_reader_that_is_not_asked_claims_nothing(name: str) -> None:
    content = CONTENTS[name]
    for suffix in SUFFIXES:
        if content:
            assert unasked_claims(f"x{suffix}", content) == {}
            assert unasked_claims(f"x{suffix}", b"\xef\xbb\xbf\n " + content) == {}


@draws(100)
@given(st.sampled_from(sorted(CONTENTS)), st.data())
def test_nor_does_it_of_a_damaged_file(name: str, data: st.DataObject) -> None:
    content = CONTENTS[name][:2_000]
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    other = data.draw(st.sampled_from([b"", b"\n", b"{", b"\t", b"|", b"#", b"<", b'"'])) if high else b"x"
    damaged = content[:low] + other + content[high:]
    if damaged:
        assert unasked_claims("x" + data.draw(st.sampled_from(SUFFIXES)), damaged) == {}


def test_a_file_of_the_native_format_is_asked_of_few_readers() -> None:
    source = Source.of_path(ROOT / "demo_data" / "pharmacology" / "gold.jsonl")
    assert [format for format in formats() if may_be(format, source)] == ["jsonl"]


def test_every_reader_has_signs_and_nothing_else_has() -> None:
    assert set(SIGNS) == set(formats()) == set(readers())
    assert not set(formats()) & NO_FORMATS
    assert all(format == reader.name for format, reader in readers().items())
