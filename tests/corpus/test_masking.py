"""Masked texts: nothing of the original can be read, and everything that is counted stays."""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.errors import error_report
from nereval_core.analysis.errors.boundary_patterns import pattern_table
from nereval_core.analysis.slices.decades_and_noise import document_decades
from nereval_core.analysis.slices.scores_by_slice import slice_table, tally_slices
from nereval_core.analysis.slices.slicings import applicable_slicings, find_values
from nereval_core.analysis.slices.span_values import SlicedScores, shapes_of
from nereval_core.corpus import Corpus, Documents, Layer
from nereval_core.corpus.masking import (
    is_masked,
    masked,
    masked_documents,
    masked_error,
    masked_quotes,
    masked_text,
    original,
    unmasked,
)
from nereval_core.corpus.texts import Texts
from nereval_core.corpus.tokens import WORD, tokens_of
from nereval_core.problems import FormatError, quoted
from nereval_core.records.tables import records
from nereval_core.records.text_search import words_of
from nereval_core.review.verdicts_on_records import text_digests
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data.loading import load_demo

MASKS = set("Xx0ʔא々\u0307Ⓧⓧ○\U000e0020")
DEMOS = {name: load_demo(name).corpus for name in ("pharmacology", "biology", "newspapers")}

CASES = [
    ("Dr. Anna O'Neill, 42", "Xx. Xxxx X'Xxxxx, 00"),
    ("α-Tubulin ǅ ſ ß", "x-Xxxxxxx X x x"),
    ("e\u0301tat", "x\u0307xxx"),
    ("क्षि १२", "ʔ\u0307ʔ\u0307 00"),
    ("東京 2020 ﾃ", "々々 0000 ʔ"),
    ("שלום 5", "אאאא 0"),
    ("مرحبا ٣", "אאאאא 0"),
    ("𝐀𐐨𠀀😀", "Xx々○"),
    ("Ⅷ ½ ² Ⓐ ⓑ № ℃", "X 0 0 Ⓧ ⓧ ○ ○"),
    ("\u202eabc\u202c\t<b>&\r\n", "\u202exxx\u202c\t<x>&\r\n"),
    ("\U000e0041 \ue000", "\U000e0020 ○"),
    ("\U000e007f\U000e0080", "\U000e0020○"),
    ("3 °C © –", "0 °X © –"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[repr(text) for text, _ in CASES])
def test_what_a_character_becomes(text: str, expected: str) -> None:
    assert masked_text(text) == expected


def test_every_character_there_is() -> None:
    """In one text of all of them: words, blanks and cases stand where they stood, and no letter or digit stays."""
    text = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    mask = masked_text(text)
    assert len(mask) == len(text)
    for char, shown in zip(text, mask, strict=True):
        assert shown in MASKS or shown == char
        assert shown in MASKS or not (char.isalnum() or unicodedata.category(char)[0] in "LNM"), char
        if unicodedata.category(char)[0] != "M":
            same = (str.isspace, str.isalnum, str.isalpha, str.isupper, str.islower)
            cased = char.isnumeric() and (char.isupper() or char.islower()) and not char.isalpha()
            titled = char.istitle() and not char.isupper()
            assert titled or cased or all(holds(char) == holds(shown) for holds in same), char
    assert masked_text(mask) == mask
    assert [found.span() for found in WORD.finditer(mask)] == [found.span() for found in WORD.finditer(text)]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.data())
def test_no_letter_or_digit_stays_at_its_place(text: str, data: st.DataObject) -> None:
    mask = masked_text(text)
    assert len(mask) == len(text)
    for char, shown in zip(text, mask, strict=True):
        if unicodedata.category(char)[0] in "LNM":
            assert shown != char or char in MASKS
    # A piece is masked as it is in the whole: spans, quotes and alternatives follow.
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, len(text)))
    assert masked_text(text[low:high]) == mask[low:high]
    assert mask.split() == [masked_text(word) for word in text.split()]


@pytest.mark.parametrize("name", DEMOS)
def test_every_criterion_decides_as_before(name: str) -> None:
    corpus = DEMOS[name]
    hidden = masked(corpus)
    criteria = tuple(one for one in CRITERIA.values() if one.lacks(corpus.gold) is None)
    assert any(one.unit == "token" for one in criteria)
    settings = Settings(criteria)
    for system in corpus.systems:
        before = score_layers(corpus.gold, system, settings)
        after = score_layers(hidden.gold, hidden.system(system.name), settings)
        for one in criteria:
            assert after.counts(one.name) == before.counts(one.name)
            assert after.by_document(one.name) == before.by_document(one.name)
            old, new = records(before, one.name), records(after, one.name)
            texts = ["gold_text", "pred_text"]
            assert new.drop(columns=texts).equals(old.drop(columns=texts))
            for column in texts:
                assert [None if t != t or t is None else masked_text(t) for t in old[column]] == [
                    None if t != t or t is None else t for t in new[column]
                ]


@pytest.mark.parametrize("name", DEMOS)
def test_what_looks_at_words_counts_them_as_they_are(name: str) -> None:
    corpus, hidden = DEMOS[name], masked(DEMOS[name])
    criterion = "strict"
    for system in corpus.systems:
        before, after = (
            SlicedScores(
                score_layers(one.gold, one.system(system.name)), criterion, (one.gold, one.system(system.name))
            )
            for one in (corpus, hidden)
        )
        assert applicable_slicings(before, None, None) == applicable_slicings(after, None, None)
        for slicing in applicable_slicings(before, None, None):
            old, new = (find_values(one, slicing) for one in (before, after))
            if old is not None and new is not None:
                tables = [slice_table(tally_slices(one, values)) for one, values in ((before, old), (after, new))]
                counts = [table[["POS", "ACT", "MIS", "SPU", "documents"]].to_numpy().tolist() for table in tables]
                # Masks of names have another order.
                assert sorted(counts[0]) == sorted(counts[1]) if slicing.startswith("meta") else counts[0] == counts[1]
        words, hidden_words = (pattern_table(one.scores) for one in (before, after))
        assert hidden_words["records"].sum() == words["records"].sum()
        named, shown = (one[~one["pattern"].str.contains("“")].reset_index(drop=True) for one in (words, hidden_words))
        assert shown.equals(named)
        one, two = (error_report(each.scores, [criterion]).classes[criterion] for each in (before, after))
        assert one.equals(two)
    assert (shapes_of(corpus.gold) == shapes_of(hidden.gold)).all()
    assert (words_of(corpus.gold) == words_of(hidden.gold)).all()
    assert document_decades(corpus.documents) == document_decades(hidden.documents)
    assert tokens_of(corpus.documents).same(tokens_of(hidden.documents))


def test_verdicts_are_found_by_the_text_as_it_was() -> None:
    corpus = DEMOS["biology"]
    hidden = masked(corpus)
    assert text_digests(hidden.documents) == text_digests(corpus.documents)


def test_the_original_is_known_and_the_mask_tells_nothing_of_it() -> None:
    corpus = DEMOS["biology"]
    hidden = masked(corpus)
    assert is_masked(hidden.documents) and not is_masked(corpus.documents)
    assert original(hidden.documents) is corpus.documents and original(corpus.documents) is corpus.documents
    assert unmasked(hidden.gold).documents is corpus.documents and unmasked(corpus.gold) is corpus.gold
    assert original(masked_documents(hidden.documents)) is corpus.documents
    assert hidden.digest != corpus.digest and hidden.gold.digest != corpus.gold.digest
    assert hidden.documents.ids == corpus.documents.ids and hidden.gold.types == corpus.gold.types
    words = {word for text in corpus.documents.texts for word in re.findall(r"\w{5,}", text)}
    seen = " ".join((*hidden.documents.texts, repr(hidden.documents.meta)))
    assert not [word for word in words if word in seen and set(word) - MASKS]


def test_texts_held_as_bytes_stay_so() -> None:
    texts = ("Öl für Anna 7", "")
    found = masked_documents(Documents(("a", "b"), Texts.of(texts)))
    assert isinstance(found.texts, Texts) and tuple(found.texts) == tuple(map(masked_text, texts))


META = [
    ({"date": "1791-03-12", "source": "The Times"}, {"date": "1791-03-12", "source": "Xxx Xxxxx"}),
    ({"date": "1791 in May"}, {"date": "1791 xx Xxx"}),
    ({"date": "May 1791"}, {"date": "Xxx 0000"}),
    (
        {"printed": "2001-02-03T04:05:06Z", "phone": "0171 123"},
        {"printed": "2001-02-03T04:05:06Z", "phone": "0000 000"},
    ),
    ({"language": "de", "lang": "de-CH", "other": "de"}, {"language": "de", "lang": "de-CH", "other": "xx"}),
    ({"language": "German"}, {"language": "Xxxxxx"}),
    ({"LED": 0.25, "page": 3, "ok": True, "no": None}, {"LED": 0.25, "page": 3, "ok": True, "no": None}),
    ({"by": ["Ann", "Bob", {"name": "Eve"}]}, {"by": ["Xxx", "Xxx (2)", {"name": "Xxx"}]}),
]


@pytest.mark.parametrize(("meta", "expected"), META, ids=[repr(meta) for meta, _ in META])
def test_metadata(meta: dict[str, object], expected: dict[str, object]) -> None:
    found = masked_documents(Documents(("d",), ("x",), meta=(meta,)))
    assert found.meta == (expected,)


def test_values_of_metadata_that_differ_stay_apart() -> None:
    meta = tuple({"source": name} for name in ("Times", "Globe", "Times", "Morning Post"))
    found = masked_documents(Documents(tuple("abcd"), ("",) * 4, meta=meta)).meta
    assert found is not None
    assert [one["source"] for one in found] == ["Xxxxx", "Xxxxx (2)", "Xxxxx", "Xxxxxxx Xxxx"]


def test_metadata_of_spans() -> None:
    layer: Layer = replace(DEMOS["biology"].gold, meta={0: {"note": "see Smith", "LED": 0.5}})
    hidden = masked(Corpus("c", layer.documents, layer, ()))
    assert hidden.gold.meta == {0: {"note": "xxx Xxxxx", "LED": 0.5}}


MESSAGES = [
    (f"span [0, 3) {quoted('p53 gene')} (DNA)", "span [0, 3) 'x00 xxxx' (DNA)"),
    (f"it is {quoted(chr(10) + 'it' + chr(39) + 's')} here", "it is '_xx_x' here"),
    ("takes in “of the cat”", "takes in “xx xxx xxx”"),
    ("nothing in quotes", "nothing in quotes"),
]


@pytest.mark.parametrize(("message", "expected"), MESSAGES, ids=[message for message, _ in MESSAGES])
def test_what_messages_quote(message: str, expected: str) -> None:
    assert masked_quotes(message) == expected
    assert masked_error(FormatError.single("a", 3, message, "mend it")).lines() == [f"a:3: {expected}; mend it"]
