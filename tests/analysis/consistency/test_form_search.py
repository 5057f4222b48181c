"""Words of texts in several scripts, the surface forms of spans, and where forms stand in the texts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis import running_words
from nereval_core.analysis.consistency.form_search import (
    LONGEST_FORM_WORDS,
    FormTree,
    SpanWords,
    build_form_tree,
    find_forms,
    locate_spans,
)
from nereval_core.analysis.running_words import RunningWords, form_of, words_of
from nereval_core.analysis.surface_forms import folded_forms
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.ledger import ledger
from nereval_core.records.queries import Query
from nereval_core.scoring import score_layers
from pages.shared.data.loading import load_demo
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from tests.support.layer_strategies import HOSTILE, layers, texts
from tests.support.spans import settings

WORDS = [
    ("T cells, 2 of IL-2.", "T|cells|,|2|of|IL|-|2|."),
    ("snake_case x+y", "snake_case|x|+|y"),
    ("caf\u00e9 cafe\u0301s", "caf\u00e9|cafe\u0301s"),
    ("co\u00adoperate", "co\u00adoperate"),
    ("\u0301 a", "\u0301|a"),
    (",\u0301b", ",\u0301|b"),
    ("हिन्दी भाषा", "हिन्दी|भाषा"),
    ("שָׁלוֹם עולם", "שָׁלוֹם|עולם"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("東京タワー", "東|京|タ|ワ|ー"),
    ("ภาษาไทย", "ภ|า|ษ|า|ไ|ท|ย"),
    ("ปี๒๕๖๙ ๑๒", "ปี|๒๕๖๙|๑๒"),
    ("第１２回 第12", "第|１２|回|第|12"),
    ("서울에서 왔다", "서울에서|왔다"),
    ("a\u200fb\ufeffc", "a|b|c"),
    ("x\0y", "x|\0|y"),
    ("👩\u200d⚕️ ok", "👩\u200d|⚕️|ok"),
    ("", ""),
    (" \n", ""),
]
FORMS = [
    ("T Cell", "t  cell", True),
    ("T Cell", "T\ncell", True),
    ("STRASSE", "Straße", True),
    ("cafe\u0301", "CAF\u00c9", True),
    ("K", "\u212a", True),
    ("IL-2", "IL - 2", False),
    ("IL-2", "il-2", True),
    ("a\u200fb", "a b", True),
    ("cell", "cells", False),
]
STRINGS = st.lists(st.sampled_from([*HOSTILE, "T", "cell", "-", "é", "東", "ſ", "İ", "\u1100\u1161", "a"]), max_size=9)


def spelt(words: RunningWords, texts: list[str]) -> list[list[str]]:
    """Return the words of each text as they stand there."""
    joined = "".join(texts)
    return [
        [joined[words.start[word] : words.end[word]] for word in range(low, high)]
        for low, high in pairwise(words.first.tolist())
    ]


def over(*texts: str) -> Documents:
    return Documents(tuple(f"d{number}" for number in range(len(texts))), texts)


def layer_of(*marked: str) -> Layer:
    """Return a layer of texts in which spans stand as `[words]`; all have the type X."""
    plain, spans = [], []
    for number, text in enumerate(marked):
        out = ""
        opened = []
        for char in text:
            if char == "[":
                opened.append(len(out))
            elif char == "]":
                spans.append((number, opened.pop(), len(out)))
            else:
                out += char
        plain.append(out)
    doc, start, end = np.array(sorted(spans), np.int32).reshape(-1, 3).T
    return Layer("gold", over(*plain), doc, start, end, np.zeros(len(doc), np.int16), ("X",))


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words_by_hand(text: str, expected: str) -> None:
    assert "|".join(spelt(words_of(over(text)), [text])[0]) == expected


@pytest.mark.parametrize(("one", "two", "same"), FORMS)
def test_forms_by_hand(one: str, two: str, same: bool) -> None:
    assert (form_of(one) == form_of(two)) == same
    layer = layer_of(f"[{one}]", f"x [{two}] y")
    places = locate_spans(layer)
    code = build_form_tree(places.words, *places.own).code
    assert (code[0] == code[1]) == same


@given(st.lists(STRINGS.map("".join), max_size=5))
def test_texts_as_bytes_and_in_pieces_have_the_same_words(some: list[str]) -> None:
    strings = words_of(over(*some))
    assert strings.names == words_of(over(*some), lambda start, end: []).names
    packed = words_of(Documents(over(*some).ids, Texts.of(some)))
    whole = running_words._PIECE
    try:
        running_words._PIECE = 3
        running_words._powers_of_base.cache_clear()
        cut = words_of(over(*some))
    finally:
        running_words._PIECE = whole
        running_words._powers_of_base.cache_clear()
    for other in (packed, cut):
        assert spelt(other, some) == spelt(strings, some)
        assert [other.names[code] for code in other.code] == [strings.names[code] for code in strings.code]
        assert other.steps.tolist() == strings.steps.tolist()


@given(st.lists(STRINGS.map("".join), min_size=1, max_size=6))
def test_words_tell_what_forms_tell(some: list[str]) -> None:
    """Texts have one form exactly if their words, and where these are glued together, are the same."""
    words = words_of(over(*some))

    def path(number: int) -> list[int]:
        found = words.steps[words.first[number] : words.first[number + 1]].tolist()
        return [found[0] & ~1, *found[1:]] if found else []

    for one in range(len(some)):
        for two in range(len(some)):
            assert (path(one) == path(two)) == (form_of(some[one]) == form_of(some[two]))


@given(layers(plain=True))
def test_forms_of_spans_are_those_of_their_texts(layer: Layer) -> None:
    places = locate_spans(layer)
    code = build_form_tree(places.words, *places.own).code.tolist()
    expected = [form_of(layer.text(span)) for span in range(len(layer))]
    codes, number = folded_forms(layer)
    assert [list(number)[one] for one in codes] == expected
    assert [one < 0 for one in code] == [not one for one in expected]
    assert len(set(zip(code, expected, strict=True))) == len(set(expected)) == len(set(code))


HITS = [
    ("[T cell] T cells, T Cell t-cell T\ncell", "t cell", [(0, 6), (16, 22), (30, 36)]),
    ("[cell] cells cell, (cell) Zelle", "cell", [(0, 4), (11, 15), (18, 22)]),
    ("[IL-2] anti-IL-2 IL-2R", "il-2", [(0, 4), (10, 14)]),
    ("[東京] 東京都 北東京", "東京", [(0, 2), (3, 5), (8, 10)]),
    ("[Ére] ére ÈRE misère ERE\u0301 e\u0301re", "ére", [(0, 3), (4, 7), (24, 28)]),
    ("[a] b [a b] a\0b", "a", [(0, 1), (4, 5), (8, 9)]),
    ("c[ell]s ell", "ell", [(6, 9)]),
]


@pytest.mark.parametrize(("text", "form", "expected"), HITS)
def test_hits_by_hand(text: str, form: str, expected: list[tuple[int, int]]) -> None:
    layer = layer_of(text)
    assert found(layer, *at(layer))[form] == expected


def at(layer: Layer) -> tuple[SpanWords, FormTree]:
    places = locate_spans(layer)
    return places, build_form_tree(places.words, *places.own)


def found(layer: Layer, places: SpanWords, forms: FormTree) -> dict[str, list[tuple[int, int]]]:
    """Return where each form stands, texts in a row."""
    words = places.words
    names = {int(code): form_of(layer.text(span)) for span, code in enumerate(forms.code.tolist())}
    rows: dict[str, list[tuple[int, int]]] = {}
    for word, size, form in zip(*(c.tolist() for c in find_forms(words, forms, len(layer.documents))), strict=True):
        rows.setdefault(names[form], []).append((int(words.start[word]), int(words.end[word + size - 1])))
    return {form: sorted(places) for form, places in rows.items()}


@given(layers(plain=True))
def test_hits_are_all_places_where_the_words_of_a_form_stand(layer: Layer) -> None:
    places, forms = at(layer)
    words, many = places.words, len(layer.documents)
    asked = {form for form in (form_of(layer.text(span)) for span in range(len(layer))) if form}
    expected: dict[str, list[tuple[int, int]]] = {}
    joined = "".join(layer.documents.texts)
    for low, high in pairwise(words.first[: many + 1].tolist()):
        for one in range(low, high):
            for two in range(one, high):
                start, end = int(words.start[one]), int(words.end[two])
                if (form := form_of(joined[start:end])) in asked:
                    expected.setdefault(form, []).append((start, end))
    assert found(layer, places, forms) == {form: sorted(rows) for form, rows in expected.items()}


def test_forms_beyond_the_longest_are_told_apart_but_not_looked_for() -> None:
    long = " ".join("abcde" * LONGEST_FORM_WORDS)
    layer = layer_of(f"[{long}]", f"{long.upper()} [{long} x]", f"[{long.upper()}]", f"([{long}])", f"a [{long}]")
    places, forms = at(layer)
    # What stands before a form does not matter.
    assert forms.code[0] == forms.code[2] == forms.code[3] == forms.code[4] != forms.code[1]
    assert found(layer, places, forms) == {}


def test_forms_are_found_by_their_words() -> None:
    layer = layer_of("[T cell] and [B cell line] B cell T cell")
    places, forms = at(layer)
    low = np.array([0, 3, 3, 6, 8, 2])
    high = np.array([2, 6, 5, 8, 10, 2])
    assert forms.find(places.words, low, high).tolist() == [forms.code[0], forms.code[1], -1, -1, forms.code[0], -1]


def test_one_long_text_without_a_blank() -> None:
    text = "x" * 700_000 + " y " + "ab" * 300_000
    words = words_of(over(text, "y"))
    assert np.diff(np.stack((words.start, words.end)), axis=0)[0].tolist() == [700_000, 1, 600_000, 1]
    assert words.code.tolist() == [0, 1, 2, 1]


@given(st.lists(texts(), max_size=3))
def test_hostile_texts_have_forms(some: list[str]) -> None:
    for text in some:
        assert form_of(form_of(text)) == form_of(text)


def test_records_are_asked_for_by_form() -> None:
    """Every record has the form of its gold span, else of its prediction; both links and searches carry it."""
    loaded = load_demo("biology")
    gold, pred = loaded.corpus.gold, loaded.corpus.systems[0]
    records = ledger(score_layers(gold, pred, settings("strict")), "strict", (gold, pred))
    whole = Counter(
        form_of(layer.text(span))
        for _, one, two in zip(records.about.rows.doc, records.about.rows.gold, records.about.rows.pred, strict=True)
        for layer, span in (((gold, int(one)) if one >= 0 else (pred, int(two))),)
    )
    assert len(whole) > 20
    for form, number in whole.items():
        view = view_of(View(), Query(having=(("form", form),)))
        assert records.total(query_of(read_link(write_link(view))[0])).records == number
    assert not records.total(Query(having=(("form", "nowhere"),))).records
    assert not records.total(Query(having=(("form x", "nowhere"),))).records
