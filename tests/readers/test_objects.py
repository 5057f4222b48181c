"""Python objects as input: the same figures as by files, by seqeval and by nervaluate; what is refused, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nervaluate.evaluator import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score

import nereval_core
from nereval_core.conventions import conventions
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.python_objects import columns as found_module
from nereval_core.readers.python_objects import read_objects
from nereval_core.readers.shared.tag_schemes import SCHEMES
from nereval_core.records.tables import records
from nereval_core.scoring.criteria import APPLICABLE, SCHEMAS
from tests.support.draws import draws
from tests.support.layer_strategies import content

TEXT = "Ann saw Bob in Rome "
LENGTH = len(TEXT)
Span = tuple[int, int, str]
Docs = list[list[Span]]


def spans() -> st.SearchStrategy[Span]:
    """Draw a span inside TEXT: nested, crossing and repeated ones come together."""
    edges = st.lists(st.integers(0, LENGTH), min_size=2, max_size=2, unique=True).map(sorted)
    return st.tuples(edges, st.sampled_from(["PER", "LOC", "é"])).map(lambda drawn: (*drawn[0], drawn[1]))


def sides() -> st.SearchStrategy[tuple[Docs, Docs]]:
    return st.integers(0, 4).flatmap(
        lambda count: st.tuples(*[st.lists(st.lists(spans(), max_size=5), min_size=count, max_size=count)] * 2)
    )


def dicts(documents: Docs) -> list[list[dict[str, Any]]]:
    return [[{"start": start, "end": end, "label": label} for start, end, label in spans] for spans in documents]


def jsonl(documents: Docs) -> Source:
    rows = [
        json.dumps({"id": str(number), "text": TEXT, "spans": spans}) for number, spans in enumerate(dicts(documents))
    ]
    return Source.of_uploads([("x.jsonl", "\n".join(rows).encode())])


def refused(call: Any, *given: Any, **more: Any) -> list[str]:
    with pytest.raises(FormatError) as caught:
        call(*given, **more)
    return [str(problem) for problem in caught.value.problems]


@draws(8)
@given(both=sides())
def test_figures_are_those_of_the_same_spans_in_files(both: tuple[Docs, Docs]) -> None:
    gold, pred = both
    if not gold:
        assert nereval_core.score([], []).counts("strict").pos == 0
        return
    places = [name for name in APPLICABLE if name != "fragment"]
    files = nereval_core.score(jsonl(gold), jsonl(pred), criteria=APPLICABLE)
    texts = [TEXT] * len(gold)
    for one, two in ((gold, pred), (dicts(gold), dicts(pred)), (dicts(gold), pred), (tuple(map(tuple, gold)), pred)):
        bare = nereval_core.score(one, two, criteria=places)
        held = nereval_core.score(one, two, criteria=APPLICABLE, texts=texts)
        for name in APPLICABLE:
            assert held.counts(name) == files.counts(name)
            assert held.by_type(name) == files.by_type(name)
            assert name == "fragment" or bare.counts(name) == files.counts(name)
        assert (held.read_gold, held.read_pred) == (files.read_gold, files.read_pred)


ODD: list[Any] = [
    None,
    1.0,
    True,
    np.int64(2),
    2**80,
    -1,
    "",
    "PER",
    np.str_("LOC"),
    "\ud800",
    [0, 3, "PER"],
    {"start": 0, "end": 3, "label": "PER"},
    {"start": 0, "end": 3, "type": "PER"},
    {"start": 0, "end": 3, "label": "PER", "text": "Ann"},
]


@given(
    documents=st.lists(
        st.lists(
            spans()
            | st.tuples(*[st.integers(-2, 9) | st.sampled_from(ODD)] * 2, st.sampled_from(["PER", *ODD]))
            | st.sampled_from(ODD),
            max_size=3,
        )
        | st.sampled_from(["PER", None, {}, ()]),
        max_size=3,
    ),
    as_dicts=st.booleans(),
    block=st.integers(1, 3),
)
def test_a_column_at_a_time_says_what_one_by_one_says(documents: list[Any], as_dicts: bool, block: int) -> None:
    if as_dicts:
        documents = [
            [dict(zip(found_module.KEYS, item, strict=False)) if isinstance(item, tuple) else item for item in items]
            if isinstance(items, list)
            else items
            for items in documents
        ]
    compared(documents, block)


@given(
    documents=st.lists(
        st.lists(
            st.sampled_from(["O", "O", "B-PER", "I-PER", "E-PER", "S-LOC", "I-é", "", "O ", "B-", "X-PER", "B\nO"])
        )
        | st.lists(st.sampled_from(["O", "B-PER", None, 3, np.str_("I-PER"), "\ud800-A", "B-\ud800"]), max_size=3),
        max_size=4,
    ),
    block=st.integers(1, 3),
    repair=st.sampled_from([None, "conlleval", "discard"]),
    scheme=st.sampled_from([None, "IOB2", "IOBES"]),
)
@example(documents=[[None, "O"]], block=1, repair=None, scheme=None)
def test_tags_are_read_at_once_as_they_are_one_by_one(documents: list[Any], block: int, **more: Any) -> None:
    compared(documents, block, **more)


def compared(documents: list[Any], block: int, **more: Any) -> None:
    """Read objects by columns and one by one, and hold what comes of it against one another."""
    found: list[Any] = []
    for fast in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(found_module, "BLOCK_DOCUMENTS", block)
            if not fast:
                patch.setattr(nereval_core.readers.python_objects, "columns_of_objects", lambda *_: None)
            try:
                reading = read_objects(documents, **more)
                found.append(
                    (content(reading.layer), reading.notes, reading.mended, reading.documents.lengths.tolist())
                )
            except FormatError as error:
                found.append(error.problems)
    assert found[0] == found[1]


GOOD = {"start": 0, "end": 3, "label": "PER"}
REFUSED: list[tuple[Any, list[str]]] = [
    # (documents, the beginnings of what is said)
    ([[GOOD, GOOD | {"start": 3}]], ["gold[0][1]: span [3, 3); use code points with 0 <= start < end"]),
    ([[], [(-1, 3, "A"), (0, 2**31, "A")]], ["gold[1][0]: span [-1, 3); use", "gold[1][1]: span [0, 2147483648); use"]),
    ([[(0, 2**90, "A")]], ["gold[0][0]: span [0, 1099511627776); use"]),
    (
        [[{"start": 0, "end": 3, "type": "PER"}]],
        ["gold[0][0]: the unknown key 'type'; known are start", "gold[0][0]: no l"],
    ),
    (
        [[GOOD | {"text": "Ann", "id": 1}]],
        ["gold[0][0]: the unknown keys 'text', 'id'; known are start, end, label; JSONL has more"],
    ),
    ([[{"label": "A"}]], ["gold[0][0]: no start and no end; give start, end, label"]),
    ([[GOOD | {"end": 3.0}]], ["gold[0][0]: end is a fraction; write an integer"]),
    ([[GOOD | {"start": False}]], ["gold[0][0]: start is true or false; write an integer"]),
    ([[(0, "3", "A")]], ["gold[0][0]: end is a string; write an integer"]),
    ([[GOOD | {"label": None}]], ["gold[0][0]: label is None; write a string"]),
    ([[(0, 3, 7)]], ["gold[0][0]: type is an integer; write a string"]),
    ([[(0, 3, "")]], ["gold[0][0]: a span without a usable type; give it a type name"]),
    ([[(0, 3)]], ["gold[0][0]: 2 values; write a tuple of start, end and type"]),
    ([[GOOD, (0, 3, "A")]], ["gold[0][1]: a tuple among dicts; give all spans of a side in one form"]),
    ([["O", GOOD]], ["gold[0][1]: a dict among tags; give all spans of a side in one form"]),
    ([[3]], ["gold[0][0]: an integer; write a dict with start, end and label, a tuple (start, end, type), or a tag"]),
    (["B-PER", "O"], ["gold[0]: a string where the list of a document should be; give", "gold[1]: a string where"]),
    ([GOOD], ["gold[0]: a dict where the list of a document should be; give a list of spans or of tags for each"]),
    (
        [["O", "B-"], ["PER"]],
        ["gold[0][1]: 'B-' is not a tag; write O, or a letter", "gold[1][0]: 'PER' is not a tag; write O"],
    ),
    ([["O", None]], ["gold[0][1]: None among tags; write a dict with start, end and label"]),
    (
        [["B-A", "I-A"], ["O", "I-A", "O", "B-A"]],
        ["gold[1][1]: 'I-A' after 'O' is not legal in IOB2; mend it, or read"],
    ),
    ([["B-A", "I-B"]], ["gold[0][1]: 'I-B' after 'B-A' is not legal in IOB2; mend it, or read it with read_objects("]),
]


@pytest.mark.parametrize(("documents", "said"), REFUSED, ids=[said[0][:60] for _, said in REFUSED])
def test_what_is_wrong_is_named_with_document_and_span(documents: Any, said: list[str]) -> None:
    problems = refused(read_objects, documents)
    assert len(problems) == len(said)
    for problem, start in zip(problems, said, strict=True):
        assert problem.startswith(start)
        assert "; " in problem


def test_all_problems_are_told_at_once_those_of_the_types_too() -> None:
    documents = [[(0, 3, "A"), (5, 4, "A"), (0, 3, "")], [(0, 3.5, "A")]]
    assert [problem.split(":")[0] for problem in refused(read_objects, documents)] == [
        "gold[1][0]",
        "gold[0][1]",
        "gold[0][2]",
    ]


def test_numbers_and_strings_of_numpy_are_taken() -> None:
    columns = zip(np.array([0, 4]), np.array([3, 7], np.int32), np.array(["A", "B"]), strict=True)
    assert content(read_objects([list(columns)]).layer)["label"] == ["A", "B"]


def test_texts_are_checked() -> None:
    assert refused(read_objects, [[(0, 3, "A")], [(0, 4, "A")]], texts=["Ann", "Bob"]) == [
        "gold[1][0]: span [0, 4) of document '1' is not inside its text of 3 characters; "
        "use code points with 0 <= start < end <= 3"
    ]
    assert refused(read_objects, [[]], texts=["a", "b"])[0].startswith("gold: 1 document where there are texts for 2")
    assert refused(read_objects, [[(0, 1, "A")]], texts=[["a"]])[0].startswith("texts[0]: a list where the text of a")
    assert refused(read_objects, [["O"]], texts=["a"])[0].startswith("texts[0]: a string where words should be; give")
    assert refused(read_objects, [["O"]], texts=[["a", "b"]])[0].startswith(
        "gold[0]: 1 tag where there are 2; give one"
    )
    assert refused(read_objects, [["O"]], texts=[[""]])[0].startswith("texts[0]: token [0, 0) of document '0'")
    gold = nereval_core.read(jsonl([[(0, 3, "A")]]))
    assert refused(nereval_core.score, gold, [[(0, 99, "A")]])[0].startswith("pred[0][0]: span [0, 99) of document '0'")
    assert refused(nereval_core.score, gold, [["O"]])[0].startswith("pred: tags, and the texts have no tokens; give")
    assert nereval_core.score(gold, [[(0, 3, "A")]]).counts("strict").cor == 1
    assert refused(nereval_core.score, gold, [[]], texts=["a"])[0].startswith(
        "texts: gold is not a list of Python objects"
    )


def test_both_sides_must_be_of_one_kind() -> None:
    score = nereval_core.score
    assert refused(score, [[], []], [[]])[0].startswith("pred: 1 document where gold has 2; give one list for each")
    assert refused(score, [["O", "O"], ["O"]], [["O"], ["O"]]) == [
        "pred[0]: 1 tag where gold has 2; give one tag for each token"
    ]
    assert refused(score, [["B-A"]], [[(0, 1, "A")]])[0].startswith(
        "pred: offsets count characters where gold counts t"
    )
    assert refused(score, [[(0, 1, "A")]], [["B-A"]])[0].startswith(
        "pred: offsets count tokens where gold counts chara"
    )
    file = jsonl([[(0, 3, "A")]])
    assert refused(score, [[(0, 3, "A")]], file) == [
        "gold: no texts, and x.jsonl has some; give the same texts: read_objects(…, texts=…)"
    ]
    assert score([[(0, 3, "A")]], file, texts=[TEXT]).counts("strict").cor == 1
    # Where a side says nothing, it is of any kind.
    assert score([["B-A", "O"]], [[]]).counts("strict").mis == 1
    assert score([[]], [["B-A", "O"]]).counts("strict").spu == 1


def test_what_looks_at_words_is_refused_without_texts(tmp_path: Path) -> None:
    gold = [[(0, 3, "A")]]
    assert refused(nereval_core.score, gold, gold, criteria="fragment")[0].startswith(
        "tokens: there are no texts to fi"
    )
    assert nereval_core.score([["B-A", "I-A"]], [["B-A", "O"]], criteria="fragment").counts("fragment").cor == 1
    assert refused(nereval_core.write, read_objects(gold), tmp_path / "x.jsonl")[0].startswith(
        "gold: spans without texts"
    )
    nereval_core.write(read_objects(gold, texts=[TEXT]), tmp_path / "x.jsonl")
    assert nereval_core.read(tmp_path / "x.jsonl").layer.digest == read_objects(gold, texts=[TEXT]).layer.digest


def test_tables_are_made_of_objects_too() -> None:
    scores = nereval_core.score([["B-PER", "I-PER", "O"], ["O"]], [["B-PER", "O", "O"], ["B-LOC"]])
    assert scores.to_frame()["f1"].tolist()[0] == 0
    rows = records(scores, "strict")
    assert rows["document"].tolist() == ["0", "1"]
    assert rows["decision"].tolist() == ["INC", "SPU"]
    assert rows["gold_text"].dropna().tolist() == [""]


Pieces = list[tuple[int, str]]
"""Tokens and the type they have together, O for none."""


def written(pieces: Pieces, scheme: str) -> list[str]:
    """Return the tags of a document."""
    single, first, inner, last = SCHEMES[scheme].written
    row: list[str] = []
    for size, kind in pieces:
        letters = single if size == 1 else first + inner * (size - 2) + last
        row += ["O"] * size if kind == "O" else [f"{letter}-{kind}" for letter in letters]
    return row


@st.composite
def both_tagged(draw: st.DrawFn) -> tuple[list[Pieces], list[Pieces]]:
    """Draw gold, and a prediction that keeps, renames, drops or splits what stands there."""
    kinds = st.sampled_from(["O", "PER", "ORG-x"])
    gold = draw(st.lists(st.lists(st.tuples(st.integers(1, 3), kinds), max_size=5), min_size=1, max_size=5))
    pred: list[Pieces] = []
    for pieces in gold:
        row: Pieces = []
        for size, kind in pieces:
            other = draw(st.just(kind) | kinds)
            cut = draw(st.integers(0, size - 1))
            row += [(part, other) for part in (cut, size - cut) if part]
        pred.append(row)
    return gold, pred


@draws(13)
@given(both=both_tagged(), scheme=st.sampled_from(["IOB2", "IOBES"]))
def test_strict_on_tags_is_seqeval(both: tuple[list[Pieces], list[Pieces]], scheme: str) -> None:
    gold, pred = ([written(pieces, scheme) for pieces in side] for side in both)
    one, two = (read_objects(side, name=name, scheme=scheme) for side, name in ((gold, "gold"), (pred, "pred")))
    counts = nereval_core.score(one, two, criteria="strict").counts("strict")
    for ours, theirs in ((counts.f1, f1_score), (counts.precision, precision_score), (counts.recall, recall_score)):
        assert (ours or 0) == pytest.approx(theirs(gold, pred, zero_division=0), abs=1e-12)


def test_malformed_tags_are_mended_on_request() -> None:
    gold, pred = [["B-A", "I-A", "O"]], [["B-A", "I-B", "O"]]
    assert refused(nereval_core.score, gold, pred)[0].startswith(
        "pred[0][1]: 'I-B' after 'B-A' is not legal in IOB2; mend"
    )
    mended = read_objects(pred, name="pred", repair="conlleval", scheme="IOB2")
    scores = nereval_core.score(gold, mended)
    assert scores.counts("strict").inc == 1
    assert scores.marks == ("pred repaired: 1 malformed chunk cut as conlleval does",)
    assert f1_score(gold, pred) == 0


@draws(13)
@given(both=sides())
def test_nervaluate_is_reproduced_from_its_own_input(both: tuple[Docs, Docs]) -> None:
    gold, pred = both
    if not gold or not any(gold) or not any(pred):
        return
    theirs = [
        [[{"start": start, "end": end - 1, "label": label} for start, end, label in document] for document in side]
        for side in both
    ]
    tags = sorted({label for side in both for document in side for *_, label in document})
    result = Evaluator(*theirs, tags=tags, loader="dict").evaluate()
    outcome = nereval_core.reproduce(dicts(gold), dicts(pred), convention="nervaluate-1.2.1")
    for schema in ("strict", "exact", "partial", "ent_type"):
        one, two = outcome.scores["overall"][schema], result["overall"][schema]
        assert [one[key] for key in ("correct", "incorrect", "partial", "missed", "spurious")] == [
            getattr(two, key) for key in ("correct", "incorrect", "partial", "missed", "spurious")
        ]
        # Where no span meets two of the other side, ours says the same.
        if apart(gold, pred):
            counts = nereval_core.score(gold, pred, criteria=SCHEMAS).counts({"ent_type": "type"}.get(schema, schema))
            assert (counts.cor, counts.inc, counts.par, counts.mis, counts.spu) == tuple(
                getattr(two, key) for key in ("correct", "incorrect", "partial", "missed", "spurious")
            )


def apart(gold: Docs, pred: Docs) -> bool:
    """Tell whether every span overlaps at most one of the other side."""

    def meets(one: list[Span], two: list[Span]) -> bool:
        return any(sum(a < d and c < b for c, d, _ in two) > 1 for a, b, _ in one)

    return not any(meets(one, two) or meets(two, one) for one, two in zip(gold, pred, strict=True))


WORDS = [["Ann", "Lee", "met", "Bob"], ["in", "Rome", "."]]
GOLD = [["B-person", "I-person", "O", "B-person"], ["O", "B-location", "O"]]
PRED = [["B-person", "O", "O", "B-person"], ["O", "B-group", "O"]]


@pytest.mark.parametrize("name", list(conventions()))
def test_published_scorers_take_objects_and_say_what_they_cannot(name: str) -> None:
    held = read_objects(GOLD, texts=WORDS)
    if not conventions()[name].takes_layers:
        assert refused(nereval_core.reproduce, held, PRED, convention=name) == [
            f"{name}: it scores files of its own format only; it needs {conventions()[name].needs}"
        ]
        return
    with_words = nereval_core.reproduce(held, PRED, convention=name)
    if conventions()[name].words:
        assert refused(nereval_core.reproduce, GOLD, PRED, convention=name) == [
            f"{name}: it looks at words, and there are no texts; it needs {conventions()[name].needs}"
        ]
        return
    without = nereval_core.reproduce(GOLD, PRED, convention=name)
    if name.startswith(("nervaluate", "pharmaconer")):
        # Characters and tokens differ, not what meets what.
        assert len(without.figures) == len(with_words.figures)
    assert without.scores == with_words.scores


UNREADABLE = [
    ({"d": []}, "dict"),
    (pd.Series([0]), "pandas"),
    (b"gold.jsonl", "bytes"),
    (3, "int"),
    ((one for one in ["gold.jsonl"]), "generator"),
]


@pytest.mark.parametrize(("given", "name"), UNREADABLE, ids=[row[1] for row in UNREADABLE])
def test_what_is_no_path_and_no_list_is_refused(given: Any, name: str) -> None:
    for call in (lambda: nereval_core.score([[]], given), lambda: nereval_core.score(given, [[]])):
        [said] = refused(call)
        assert said.startswith(f"input: {name}")
        assert "is nothing to read from; give a path, several paths, what read() returned, a layer, a list" in said


RECORDS: dict[str, dict[str, Any]] = {
    "lines": {"id": "a", "text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER"}]},
    "no id": {"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "PER"}]},
    "tokens": {"tokens": TEXT.split(), "ner_tags": ["B-PER", "O", "O", "O", "O"]},
    "doccano": {"text": TEXT, "label": [[0, 3, "PER"]]},
    "numbers of numpy": {"text": TEXT, "spans": [{"start": np.int64(0), "end": np.int64(3), "label": "PER"}]},
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_dicts_of_documents_are_read_as_lines_of_a_file(record: dict[str, Any]) -> None:
    reading = read_objects([record, record | ({"id": "b"} if "id" in record else {})])
    assert reading.layer.types == ("PER",) and reading.layer.start.tolist() == [0, 0]
    scores = nereval_core.score([record], [record])
    assert scores.counts("strict").cor == 1


def test_problems_of_dicts_of_documents_name_their_place() -> None:
    bad = RECORDS["lines"] | {"id": "b", "spans": [{"start": 5, "end": 99, "label": "PER"}]}
    (problem,) = refused(read_objects, [RECORDS["lines"], bad], name="pred")
    assert problem.startswith("pred[1]: ") and "99" in problem


def test_dicts_of_types_stay_answers() -> None:
    answers = [{"PER": ["Ann"]}, {"entities": [{"text": "Bob", "type": "PER"}]}]
    reading = read_objects(answers, texts=[TEXT, TEXT])
    assert reading.layer.start.tolist() == [0, 8]
