"""Tracks as plain data: which spans a lane has, and where bars and labels lie. The script runs under node."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.draws import draws
from tests.support.scripts import Run, run_scripts

# Segments are ten pixels wide, ten of them a line; a character of a label is six pixels wide.
BOXES = """
const widthOf = (text) => [...text].length * 6;
const boxOf = (line, left) => ({ line, left, right: left + 10, rtl: false });
const boxesOf = (segment) => [boxOf(Math.floor(segment / 10), 10 * (segment % 10))];
const laid = (lanes, width = 100) => layoutLanes(lanes, boxesOf, width, widthOf, 4);
"""


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return run_scripts(request, "../components/text_drawing", "tracks_layout", more=BOXES)


def mark(side: str, first: int, last: int, code: str, kind: str = "X", **fields: Any) -> dict[str, Any]:
    glyph = {"COR": "✓", "INC": "≠", "MIS": "–", "SPU": "+"}[code]
    return {"side": side, "parts": [[first, last]], "code": code, "type": kind, "glyph": glyph, "system": "", **fields}


NAMES = {"reference": "gold", "system": "b", "systems": ["a", "b", "c"]}
MARKS = [
    mark("gold", 0, 0, "COR", missed=["a"]),
    mark("gold", 2, 3, "MIS", missed=[]),
    mark("prediction", 0, 0, "COR"),
    mark("beside", 2, 3, "COR", system="a"),
    mark("beside", 0, 1, "INC", system="c"),
    mark("beside", 2, 5, "INC", system="c"),
]


def test_each_system_has_a_lane_with_what_it_predicts_and_misses(run: Run) -> None:
    lanes = run(f"lanesOfSentence({json.dumps({'marks': MARKS})}, [0, 9], {json.dumps(NAMES)})")
    assert [(lane["name"], lane["side"]) for lane in lanes] == [
        *(("gold", "gold"), ("a", "beside")),
        *(("b", "prediction"), ("c", "beside")),
    ]
    spans = {lane["name"]: [(span["mark"], span["code"], span["missedBy"]) for span in lane["spans"]] for lane in lanes}
    assert spans["a"] == [(3, "COR", ""), (0, "MIS", "a")]
    assert spans["b"] == [(2, "COR", ""), (1, "MIS", "b")]
    assert spans["c"] == [(4, "INC", ""), (5, "INC", "")]
    assert [(lane["right"], lane["wrong"]) for lane in lanes[1:]] == [(1, 1), (1, 1), (0, 2)]


def test_a_span_over_two_sentences_is_in_both_and_counts_in_the_first(run: Run) -> None:
    text = {"paragraphs": [{"texts": ["a"] * 4}, {"texts": ["b"] * 6}], "sentences": [2], "marks": MARKS}
    assert run(f"sentenceRuns({json.dumps(text)})") == [[0, 1], [2, 3], [4, 9]]
    first, second = (
        run(f"lanesOfSentence({json.dumps(text)}, {bounds}, {json.dumps(NAMES)})[3]") for bounds in ("[2, 3]", "[4, 9]")
    )
    assert [span["runs"] for span in (*first["spans"], *second["spans"])] == [[[2, 3]], [[4, 5]]]
    assert (first["wrong"], second["wrong"]) == (1, 0)
    assert second["spans"][0]["label"] == "… ≠ X"


def test_what_a_reviewer_says_is_right_has_a_lane_below_gold(run: Run) -> None:
    marks = [*MARKS, {**mark("right", 2, 4, "COR"), "code": "RIGHT", "glyph": "✎"}]
    lanes = run(f"lanesOfSentence({json.dumps({'marks': marks})}, [0, 9], {json.dumps(NAMES)})")
    assert [lane["name"] for lane in lanes] == ["gold", "corrected", "a", "b", "c"]


def lane(*spans: tuple[int, int, str]) -> dict[str, Any]:
    rows = [{"runs": [[first, last]], "label": label} for first, last, label in spans]
    return {"name": "a", "side": "gold", "spans": rows}


def test_a_label_is_whole_beside_its_span_or_on_a_further_row(run: Run) -> None:
    (apart, close) = run(
        f"laid({json.dumps([lane((0, 0, 'Person'), (6, 6, 'Place')), lane((0, 0, 'Person'), (2, 2, 'Place'))])}).lanes"
    )
    assert [label["row"] for label in apart["labels"]] == [0, 0]
    assert [label["row"] for label in close["labels"]] == [0, 1]
    assert close["tops"][0] > apart["tops"][0] == 0
    # At the end of a line it moves back.
    (end,) = run(f"laid({json.dumps([lane((9, 9, 'Person'))])}).lanes")
    assert end["labels"][0]["left"] == 100 - 36 and end["labels"][0]["text"] == "Person"
    # A span over the end of a line has a bar on each line, and its label on the first.
    (wrapped,) = run(f"laid({json.dumps([lane((8, 12, 'Person'))])}).lanes")
    assert [(bar["line"], bar["left"], bar["right"]) for bar in wrapped["bars"]] == [(0, 80, 100), (1, 0, 30)]
    assert [label["line"] for label in wrapped["labels"]] == [0]


def test_each_line_has_the_room_that_its_own_spans_need(run: Run) -> None:
    full = lane((0, 0, "Person"), (2, 2, "Place"), (4, 4, "Other"), (12, 12, "Person"))
    laid = run(f"laid({json.dumps([full, lane()])})")
    first, second, *bare = laid["heights"]
    assert first > second > 0 and bare == [0, 0]
    # The second lane begins where the first ends, which is higher up where that has fewer rows.
    (_, empty) = laid["lanes"]
    assert empty["tops"][0] > empty["tops"][1] > empty["tops"][2] == 0
    rows = {label["row"] for label in laid["lanes"][0]["labels"] if label["line"] == 1}
    assert rows == {0}


def test_labels_are_cut_last_and_never_alike(run: Run) -> None:
    kinds = [
        f"organisation.{kind}"
        for kind in ("political", "commercial", "portal", "sports", "media", "state", "local", "army")
    ]
    crowded = [lane(*((0, 9, kind) for kind in kinds))]
    (laid,) = run(f"laid({json.dumps(crowded)}, 100).lanes")
    texts = [label["text"] for label in laid["labels"]]
    assert len(set(texts)) == len(kinds) and all(len(text) * 6 <= 100 for text in texts)
    assert all("…" in text for text in texts)
    assert run("cutLabel('ab', 6, widthOf, ['ab', 'ac'])") == "ab"
    # Where both begin alike the end is what tells them apart.
    pair = "['location.national', 'location.rational']"
    assert run(f"{pair}.map((name) => cutLabel(name, 60, widthOf, {pair}))") == ["l…national", "l…rational"]


@draws(8)
@given(
    st.lists(
        st.tuples(st.integers(0, 29), st.integers(0, 4), st.sampled_from(["X", "Person", "a long type"])), max_size=14
    )
)
def test_no_two_bars_or_labels_of_a_row_overlap(run: Run, drawn: list[tuple[int, int, str]]) -> None:
    spans = [(first, min(29, first + more), kind) for first, more, kind in drawn]
    (laid,) = run(f"laid({json.dumps([lane(*spans)])}).lanes")
    assert len(laid["labels"]) == len(spans)
    boxes = [(bar["row"], bar["line"], bar["left"], bar["right"], bar["span"]) for bar in laid["bars"]]
    boxes += [
        (each["row"], each["line"], each["left"], each["left"] + each["width"], each["span"]) for each in laid["labels"]
    ]
    for one, other in combinations(boxes, 2):
        if one[:2] == other[:2] and one[4] != other[4] and max(box[0] for box in boxes) < 5:
            assert one[3] <= other[2] or other[3] <= one[2]
