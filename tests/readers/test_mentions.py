"""Answers of language models: what is taken for one, where its mentions are placed, and how the numbers move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core as nereval
from nereval_core.conventions import conventions
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, read
from nereval_core.readers.mentions.answer_text import MalformedError
from nereval_core.readers.mentions.answers import read_answer
from nereval_core.readers.mentions.placing import Distance, Mention, Placing, SearchedText, place_mentions
from nereval_core.readers.recognition import format_of
from nereval_core.records.tables import records
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.support import ROOT
from tests.support.draws import draws

CHAT = {"choices": [{"message": {"role": "assistant", "content": '{"Drug": ["Aspirin"]}'}}]}
DRUG = [("Aspirin", "Drug")]
ANSWERS: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"id": "d", "entities": [{"text": "Aspirin", "type": "Drug"}]}, DRUG),
    ({"id": "d", "mentions": [{"name": "Aspirin", "label": "Drug", "score": 0.5}]}, DRUG),
    ({"id": "d", "entities": [["Aspirin", "Drug"]]}, DRUG),
    ({"text": "Aspirin helps", "entity": [{"entity": "Aspirin", "entity_type": "Drug"}], "relation": []}, DRUG),
    ({"id": "d", "Drug": ["Aspirin", "Ibuprofen"], "Dose": []}, [*DRUG, ("Ibuprofen", "Drug")]),
    ({"id": "d", "entities": {"Drug": "Aspirin", "Dose": None}}, DRUG),
    ({"id": "d", "entities": {"Drug": [{"text": "Aspirin"}]}}, DRUG),
    ({"answer": '{"entities": [{"text": "Aspirin", "type": "Drug"}]}'}, DRUG),
    ({"answer": 'Here they are [1]:\n```json\n{"Drug": ["Aspirin"]}\n```\nAnything else?'}, DRUG),
    ({"answer": 'I found {"Drug": ["Aspirin"]}, no more.'}, DRUG),
    ({"response": "<Drug>Aspirin</Drug> helps if x < 3"}, DRUG),
    ({"response": "<A>one <B>two</B></A> </C>"}, [("one two", "A"), ("two", "B")]),
    ({"type": "Drug", "completion": "@@Aspirin## helps"}, DRUG),
    ({"answer": "[]"}, []),
    ({"answer": "{}"}, []),
    ({"entities": []}, []),
    (CHAT, DRUG),
    ({"custom_id": "d", "response": {"body": CHAT}}, DRUG),
    ({"custom_id": "d", "result": {"message": {"content": [{"type": "text", "text": '{"Drug": ["Aspirin"]}'}]}}}, DRUG),
    ('{"Drug": ["Aspirin"]}', DRUG),
    ([{"text": "Aspirin", "type": "Drug"}], DRUG),
]


@pytest.mark.parametrize(("row", "expected"), ANSWERS, ids=[str(number) for number in range(len(ANSWERS))])
def test_answers(row: Any, expected: list[tuple[str, str]]) -> None:
    assert [(mention.text, mention.type) for mention in read_answer(row).mentions] == expected


def test_the_data_of_iepile_are_recognised() -> None:
    row = {"text": "Aspirin helps", "entity": [{"entity": "Aspirin", "entity_type": "Drug"}], "relation": []}
    for rows in ([row], [{"text": "Nothing.", "entity": []}, row]):
        content = "\n".join(map(json.dumps, rows))
        assert format_of(Source.of_uploads([("x.jsonl", content.encode())])) == "mentions"


def test_the_text_of_iepile_stands_in_its_instruction() -> None:
    instruction = {"instruction": "Find.", "schema": ["Drug"], "input": "No aspirin, Aspirin"}
    row = {"task": "NER", "instruction": json.dumps(instruction), "output": '{"Drug": ["Aspirin"]}'}
    reading = read(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]))
    assert (reading.documents.texts[0], reading.layer.start.tolist()) == ("No aspirin, Aspirin", [12])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": '{"entities": [{"text": "Asp'}, "the answer is cut off"),
        ({"answer": '{"entities": [{"text": "Aspirin", "type": "Drug"}'}, "the answer is cut off"),
        ({"answer": "<Drug>Aspirin helps"}, "the answer is cut off: <Drug> is not closed"),
        ({"answer": "I'm sorry, I cannot help with that."}, "neither JSON nor tags in"),
        ({"answer": ""}, "neither JSON nor tags in ''"),
        ({"entities": [{"text": "Aspirin"}]}, "an entity without a type, with the keys 'text'"),
        ({"entities": [{"type": "Drug"}]}, "the text of an entity is null"),
        ({"entities": [{"text": " ", "type": "Drug"}]}, "the text of an entity is empty"),
        ({"entities": [3]}, "an integer where an entity should be"),
        ({"Drug": [3]}, "an item of 'Drug' is an integer"),
        ({"id": "d"}, "no answer in it"),
        (3, "an integer where a list of entities should be"),
        ({"answer": "[" * 100_000}, "JSON nested too deeply"),
    ],
)
def test_malformed_answers(row: Any, said: str) -> None:
    with pytest.raises(MalformedError, match=said[:40].replace("(", r"\(")):
        read_answer(row)


TEXT = "Aspirin and  ASPIRIN or aspirins. Berlin in Rome\nNew York"
PLACES: list[tuple[list[tuple[str, str]], dict[str, Any], list[list[str]]]] = [
    # mentions, rules, the places as start and way
    ([("Aspirin", "D")] * 2, {}, [["0 exact"], ["13 folded"]]),
    ([("ASPIRIN", "D"), ("Aspirin", "D")], {}, [["13 exact"], ["0 exact"]]),
    ([("in", "X")], {}, [["41 exact"]]),  # at the edges of a word rather than inside
    ([("in", "X")] * 2, {}, [["41 exact"], ["5 exact"]]),
    ([("rome new york", "L")], {}, [["44 folded"]]),
    ([("Aspirin", "D"), ("Aspirin", "E"), ("Aspirin", "F")], {}, [["0 exact"], ["13 folded"], ["24 folded"]]),
    ([("Rome", "A"), ("Rome", "B"), ("Rome", "B")], {}, [["44 exact"], ["44 exact"], []]),
    ([("New-York", "L")], {}, [["49 edited"]]),
    ([("New-York", "L")], {"edits": 0.0}, [[]]),
    ([("Aspirin" + "x" * 8, "D"), ("ASPIRIN" + "x" * 9, "D")], {"edits": 1.0}, [["0 edited"], []]),
    ([("x" * 20_000, "D")], {}, [[]]),
    ([("paracetamol", "D")], {}, [[]]),
    ([("Romes", "A"), ("Romess", "A")], {"edits": 0.4}, [["44 edited"], []]),
    ([("aspirin", "D")], {"repeats": "all"}, [["0 folded", "13 folded"]]),
    ([("aspirin", "D")] * 2, {"repeats": "first"}, [["0 folded"], ["0 folded"]]),
    ([("", "D")], {}, [[]]),
]


@pytest.mark.parametrize(("mentions", "rules", "expected"), PLACES)
def test_places(mentions: list[tuple[str, str]], rules: dict[str, Any], expected: list[list[str]]) -> None:
    found = place_mentions(SearchedText(TEXT), [Mention(*mention) for mention in mentions], Placing(**rules))
    assert [[f"{place.start} {place.way}" for place in places] for places in found] == expected


def test_as_many_as_can_be_are_placed_by_edits() -> None:
    # The first could take either word, the second only the first of them.
    searched = SearchedText("abcdefgh abcdefxx")
    found = place_mentions(searched, [Mention("abcdefgx", "A"), Mention("abcdefyh", "A")], Placing("next", 0.2))
    assert [places[0].start for places in found] == [9, 0]


@given(st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_edit_distance(one: str, other: str) -> None:
    def plain(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        return min(plain(a[1:], b) + 1, plain(a, b[1:]) + 1, plain(a[1:], b[1:]) + (a[0] != b[0]))

    expected = plain(one, other)
    assert Distance(one).to(other, 12) == expected
    assert (Distance(one).to(other, 2) > 2) == (expected > 2)


WORDS = st.lists(st.text("abcdefgh", min_size=2, max_size=6), min_size=1, max_size=12, unique_by=lambda word: word)


@given(WORDS.filter(lambda words: not any(a in b for a in words for b in words if a != b)), st.data())
@draws(27)
def test_mentions_of_a_layer_come_back_as_that_layer(words: list[str], data: st.DataObject) -> None:
    """In texts that repeat nothing: nested and crossing spans too, in any order of the answer."""
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:number]) for number in range(len(words))]
    pairs = st.tuples(st.integers(0, len(words) - 1), st.integers(0, len(words) - 1), st.sampled_from("AB"))
    spans = {
        (starts[min(a, b)], starts[max(a, b)] + len(words[max(a, b)]), kind)
        for a, b, kind in data.draw(st.lists(pairs, max_size=8))
    }
    answer = data.draw(st.permutations(sorted(spans)))
    row = {"text": text, "entities": [{"text": text[start:end], "type": kind} for start, end, kind in answer]}
    for repeats in ("next", "all", "first"):
        found = read(
            Source.of_uploads([("x.jsonl", json.dumps(row).encode())]),
            format="mentions",
            options=ReadOptions(repeated=repeats),  # type: ignore[arg-type]
        ).layer
        assert {(*place, found.label(span)) for span, place in enumerate(zip(found.start, found.end))} == spans  # noqa: B905


def drawn_layer(documents: Documents, draw: st.DataObject, name: str) -> list[tuple[int, int, int, str]]:
    lengths = [len(text) for text in documents.texts]
    spans = st.tuples(st.integers(0, len(lengths) - 1), st.integers(0, 20), st.integers(1, 9), st.sampled_from("AB"))
    drawn = draw.draw(st.lists(spans, max_size=10), label=name)
    return [
        (doc, min(start, lengths[doc] - 1), min(min(start, lengths[doc] - 1) + size, lengths[doc]), kind)
        for doc, start, size, kind in drawn
    ]


def made(documents: Documents, spans: list[tuple[int, int, int, str]], nowhere: list[tuple[int, str]]) -> Layer:
    ends = [len(documents.texts[doc]) for doc, _ in nowhere]
    rows = [*spans, *((doc, end, end, kind) for (doc, kind), end in zip(nowhere, ends, strict=True))]
    columns = [[row[key] for row in rows] for key in range(4)]
    extra = range(len(spans), len(rows))
    meta = {span: {"mention": "made up", "placed": "nowhere", "closest": ""} for span in extra}
    return layer("x", documents, *columns, extras={"meta": meta}, unplaced=extra)  # type: ignore[arg-type]


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
@given(data=st.data())
def test_what_has_no_place_is_spurious_and_changes_nothing_else(counting: Any, data: st.DataObject) -> None:
    documents = Documents(("a", "b", "c"), ("x" * 12, "y" * 7, "z" * 15))
    gold = made(documents, drawn_layer(documents, data, "gold"), [])
    spans = drawn_layer(documents, data, "pred")
    nowhere = data.draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("AB")), max_size=4))
    criteria = tuple(one for one in CRITERIA.values() if one.lacks(gold) is None and one.unit != "token")
    rules = Settings(criteria, counting=counting)
    before = score_layers(gold, made(documents, spans, []), rules)
    after = score_layers(gold, made(documents, spans, nowhere), rules)
    for criterion in criteria:
        one, other = before.counts(criterion.name), after.counts(criterion.name)
        assert (one.cor, one.inc, one.par, one.mis) == (other.cor, other.inc, other.par, other.mis)
        assert other.spu == one.spu + len(nowhere) and other.act == one.act + len(nowhere)


def gold_file(folder: Path) -> str:
    rows = [
        {"id": "d1", "text": "Aspirin helps. Aspirin again.", "spans": [{"start": 15, "end": 22, "label": "Drug"}]},
        {"id": "d2", "text": "nothing here", "spans": []},
    ]
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def answers_file(folder: Path, *rows: Any) -> str:
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def counted(gold: str, answers: str, **options: Any) -> tuple[int, ...]:
    one = nereval.read(gold)
    found = nereval.score(
        one, nereval.read(answers, format="mentions", texts=one.documents, **options), missing="empty"
    )
    counts = found.counts("strict")
    return counts.cor, counts.mis, counts.spu


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0, 1, 3)),
        ({"unplaced": "drop"}, (0, 1, 2)),
        ({"repeated": "all"}, (1, 0, 3)),
        ({"edits": 0.0}, (0, 1, 3)),
    ],
)
def test_the_number_moves_with_each_choice(options: dict[str, Any], expected: tuple[int, ...], tmp_path: Path) -> None:
    answers = answers_file(tmp_path, {"id": "d1", "Drug": ["Aspirin", "Paracetamol", "helbs"]})
    assert counted(gold_file(tmp_path), answers, **options) == expected


def test_lines_of_one_id_are_one_document_and_lines_without_ids_stand_in_order(tmp_path: Path) -> None:
    gold = gold_file(tmp_path)
    by_type = [{"id": "d1", "type": "Drug", "answer": f"@@{word}## x"} for word in ("Aspirin", "again")]
    assert counted(gold, answers_file(tmp_path, *by_type)) == (0, 1, 2)
    assert counted(gold, answers_file(tmp_path, {"Drug": ["Aspirin", "Aspirin"]}, {"entities": []})) == (1, 0, 1)
    with pytest.raises(FormatError, match="1 answer without ids where gold has 2 documents"):
        counted(gold, answers_file(tmp_path, {"Drug": []}))


def test_problems_are_told_at_once(tmp_path: Path) -> None:
    answers = answers_file(tmp_path, {"id": "d1", "answer": "Sorry"}, {"id": "x", "Drug": []}, {"Drug": []})
    with pytest.raises(FormatError) as error:
        counted(gold_file(tmp_path), answers)
    assert [str(problem).removeprefix(f"{answers}:") for problem in error.value.problems] == [
        "2: the document 'x' is not among gold's; give an id that gold has, or leave the line out",
        "3: no id, where others have one; give the id of its document",
        '1: neither JSON nor tags in \'Sorry\'; ask the model for JSON such as {"PER": ["Anna"]}, or count it as '
        "empty: --malformed empty",
    ]
    with pytest.raises(FormatError, match="no text to place them in"):
        nereval.read(answers_file(tmp_path, {"id": "d1", "Drug": ["Aspirin"]}), format="mentions")


def test_records_signature_and_errors_say_how_mentions_were_placed(tmp_path: Path) -> None:
    gold = nereval.read(gold_file(tmp_path))
    answers = answers_file(
        tmp_path, {"id": "d1", "Drug": ["Aspirin", "helbs", "Paracetamol"]}, {"id": "d2", "answer": "No"}
    )
    system = nereval.read(answers, format="mentions", texts=gold.documents, malformed="empty")
    scores = nereval.score(gold, system)
    table = records(scores, "strict").set_index("pred_text")
    assert table.loc["Paracetamol", "reason"].startswith("stands nowhere in the text")
    assert (table.loc["Paracetamol", "decision"], table.loc["helps", "decision"]) == ("SPU", "SPU")
    (mark,) = scores.marks
    assert mark == (
        "mentions placed (repeated ones at the next occurrence, up to 0.2 edits a character): exactly 1; by edits 1; "
        "nowhere 1, counted as spurious; malformed answers 1"
    )
    said = nereval.errors_of(gold, system).words[-1]
    assert said == (
        "Of 3 predictions without offsets, 1 is made up, with words that stand nowhere in the text; 1 is written "
        "otherwise than in the text, and placed by edits; 1 is placed elsewhere than a missed span of the same words "
        "and type."
    )


@pytest.mark.parametrize("name", [name for name, one in conventions().items() if one.takes_layers])
def test_published_scorers_are_not_given_what_has_no_place(name: str, tmp_path: Path) -> None:
    gold = nereval.read(gold_file(tmp_path))
    answers = answers_file(tmp_path, {"id": "d1", "Drug": ["Paracetamol"]}, {"id": "d2", "Drug": []})
    with pytest.raises(FormatError, match=r"1 prediction without a place in the text.*--unplaced drop"):
        nereval.reproduce(gold, nereval.read(answers, format="mentions", texts=gold.documents), convention=name)


@pytest.mark.parametrize(
    ("row", "format"),
    [
        ({"id": "d", "text": "x", "entities": [{"text": "x", "type": "A"}]}, "mentions"),
        ({"id": "d", "entities": [{"text": "x", "type": "A"}]}, "mentions"),
        (CHAT, "mentions"),
        ({"text": "x", "entities": [{"start": 0, "end": 1, "text": "x", "label": "A"}]}, "pipeline"),
        ({"id": "d", "text": "x", "entities": {"x": "A"}}, "mentions"),
        ({"id": "r", "object": "response", "output": [{"type": "message", "content": [{"text": "[]"}]}]}, "mentions"),
        ({"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "[]"}]}, "mentions"),
    ],
)
def test_recognition(row: Any, format: str) -> None:
    assert format_of(Source.of_uploads([("x.jsonl", json.dumps(row).encode())]), "auto", {}) == format


def test_the_demo_as_mentions() -> None:
    """Real texts repeat words: what is placed elsewhere has the same words."""
    gold = nereval.read(ROOT / "demo_data" / "newspapers" / "gold.jsonl")
    spans: list[list[int]] = [[] for _ in gold.documents.ids]
    for span, doc in enumerate(gold.layer.doc.tolist()):
        if span not in gold.layer.fragments:
            spans[doc].append(span)
    rows = [
        {"id": name, "entities": [{"text": gold.layer.text(s), "type": gold.layer.label(s)} for s in spans[doc]]}
        for doc, name in enumerate(gold.documents.ids)
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    found = read(Source.of_uploads([("x.jsonl", raw)]), options=ReadOptions(texts=gold.documents)).layer
    assert len(found) == sum(map(len, spans)) and not found.unplaced.any()
    words = sorted((gold.layer.text(s), gold.layer.label(s)) for doc in spans for s in doc)
    assert sorted((found.text(s), found.label(s)) for s in range(len(found))) == words
