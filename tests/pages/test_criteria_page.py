"""The Criteria page: the ladder and what it opens, published scorers beside it, and the table of all numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.criteria.convention_differences import (
    TABLE_COLUMNS,
    convention_rows,
    criteria_rows,
    criteria_table,
    order_rows,
)
from nereval_core.analysis.criteria.gap import KINDS
from nereval_core.analysis.criteria.steps import ladder_steps, piece_table, step_between
from nereval_core.conventions import conventions
from nereval_core.readers import Source
from nereval_core.report.figures.criteria import ladder_bars
from pages.shared.criteria.ladder import KEY, axis_of
from pages.shared.criteria.published import Progress, reason_without
from pages.shared.data import caches
from pages.shared.data.convention_results import counts_of
from pages.shared.data.loading import load, load_demo
from pages.shared.view import View, keys
from pages.shared.view.queries import query_of
from tests.pages.test_published_pages import FOUND, TAGS, loaded_of, outcomes
from tests.support.pages import DEMO, VIEW, address, cell, choose, headings, opened, sound, title

SETTINGS = caches.as_read(DEMO)
SCORES = caches.scores(DEMO, "rules", SETTINGS)
STEPS = ladder_steps(SCORES)
ORDER = [step.criterion for step in STEPS]
FOUND_ROWS, REFUSED = caches.published_rows(DEMO, "rules")
OURS = tuple(sorted(criteria_rows(SCORES), key=lambda row: [*ORDER, "fragment"].index(row.name)))
SCORERS = tuple(row for row in FOUND_ROWS if not reason_without(row, OURS))
ROWS = order_rows(OURS, SCORERS)
TABLE = "table_every"
EVERY = replace(VIEW, layout=("published",))
"""The view with published scorers beside the criteria that mean the same."""
NUMBERS = {f"{keys.LIST}numbers": True}
BIOLOGY = load_demo("biology")
LINK = View(corpus=BIOLOGY.corpus.digest, system="rules")


FORMULA = re.compile(r"F1 = \(2 × (\d+) COR(?: \+ (\d+) PAR)?\) / \((\d+) gold spans \+ (\d+) predictions\)")


def ladder(app: AppTest) -> dict[str, Any]:
    """Return the data of the ladder."""
    sent = [
        json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.WhichOneof("data") == "json"
    ]
    return next(data for data in sent if "steps" in data)


def tell(app: AppTest, **event: Any) -> AppTest:
    """Send an event as the ladder does."""
    number = app.session_state[keys.EVENTS][KEY].last + 1 if keys.EVENTS in app.session_state else 1
    app.session_state[KEY] = {"out": {"mount": "test", "events": [{"seq": number, **event}]}}
    return sound(app.run())


def test_the_ladder_is_that_of_the_core() -> None:
    data = ladder(opened("Criteria", VIEW))
    assert [step["criterion"] for step in data["steps"]] == ORDER and data["first"] == "strict"
    for step, sent in zip(STEPS, data["steps"], strict=True):
        assert sent["f1"] == float(step.f1 or 0) and sent["above"] == step.above
        assert [(part["kind"], part["gains"], part["spans"], part["f1"]) for part in sent["parts"]] == [
            (part.kind, part.gains, part.spans, float(part.f1)) for part in step.parts
        ]
        counts = SCORES.counts(step.criterion)
        numbers = {decision["code"]: decision["number"] for decision in sent["decisions"]}
        assert numbers == {code: getattr(counts, code.lower()) for code in ("COR", "INC", "PAR", "MIS", "SPU")}
        cor, par, pos, act = (int(number or 0) for number in FORMULA.fullmatch(sent["formula"]).groups())
        assert (2 * cor + par) / (pos + act) == sent["f1"]
    assert [(aside["label"], aside["f1"]) for aside in data["asides"]] == [("fragment", SCORES.counts("fragment").f1)]


def test_every_part_has_two_examples_if_it_has_two_spans() -> None:
    gold = SCORES.layers("strict")[0]
    for step in ladder(opened("Criteria", VIEW))["steps"]:
        for part in step["parts"]:
            examples = part["examples"]
            assert len(examples) == min(part["spans"], 2)
            assert len({(one["document"], one["record"]) for one in examples}) == len(examples)
            for one in examples:
                text = "".join(text for text, sign in one["pieces"] if sign != "+")
                assert text in {" ".join(gold.text(span).split()) for span in range(len(gold))}
                above, now = (word.split()[1] for word in one["decisions"])
                credit = {"COR": 2, "PAR": 1}
                assert (credit.get(now, 0) > credit.get(above, 0)) == part["gains"]


def test_the_open_step_is_that_of_the_link_or_of_the_bar_or_the_largest() -> None:
    largest = max(STEPS, key=lambda step: step.difference).criterion
    for view, expected in (
        (VIEW, largest),
        (replace(VIEW, criterion="partial"), "partial"),
        (replace(VIEW, step="muc"), "muc"),
        (replace(VIEW, criterion="partial", step="left"), "left"),
        (replace(VIEW, criterion="fragment"), largest),
    ):
        data = ladder(opened("Criteria", view))
        assert data["open"] == data["whole"]["criterion"] == expected
        whole = step_between(SCORES, "strict", expected)
        assert sum(part["spans"] for part in data["whole"]["parts"]) == whole.changed
        assert data["whole"]["difference"] == float(whole.difference)
    app = opened("Criteria", replace(VIEW, step="no such"))
    assert any("no such" in box.value for box in app.warning) and ladder(app)["open"] == largest


def test_a_step_that_is_opened_is_in_the_link_until_another_criterion_is_chosen() -> None:
    app = tell(opened("Criteria", VIEW), act="open", step="muc")
    assert address(app)["step"] == "muc" and ladder(app)["open"] == ladder(app)["whole"]["criterion"] == "muc"
    app = choose(app, "criterion", "partial")
    assert "step" not in address(app) and ladder(app)["open"] == "partial"
    assert ladder(tell(app, act="open", step="no such"))["open"] == "partial"


def opened_records(event: Mapping[str, Any], base: View = LINK) -> tuple[View, int]:
    """Return the view that an event of the ladder leads to on Inspect, and how many records it lists."""
    app = tell(opened("Criteria", base), **event)
    assert title(app) == "Inspect"
    view: View = app.session_state[keys.VIEW]
    settings = caches.settings_in(BIOLOGY, view)
    return view, caches.ledger(BIOLOGY, "rules", settings, view.criterion).total(query_of(view)).records


def test_steps_parts_and_decisions_open_their_records() -> None:
    scores = caches.scores(BIOLOGY, "rules", caches.as_read(BIOLOGY))
    steps = {step.criterion: step for step in ladder_steps(scores)}
    muc = steps["muc"]
    assert opened_records({"act": "step", "step": "muc"})[1] == muc.changed
    assert {part.gains for part in muc.parts} == {True, False}
    for part in muc.parts:
        event = {"act": "part", "step": "muc", "against": muc.above, "kind": part.kind, "gains": part.gains}
        view, records = opened_records(event)
        assert (view.criterion, records) == ("strict", part.spans), "the chosen criterion stays"
    for part in step_between(scores, "strict", "lenient").parts:
        event = {"act": "part", "step": "lenient", "against": "strict", "kind": part.kind, "gains": part.gains}
        assert opened_records(event)[1] == part.spans
    for code in ("PAR", "SPU"):
        event = {"act": "decision", "step": "muc", "code": code}
        view, records = opened_records(event)
        assert (view.criterion, records) == ("muc", getattr(scores.counts("muc"), code.lower()))
    strict = scores.counts("strict")
    errors = (strict.inc or 0) + (strict.par or 0) + strict.mis + strict.spu
    assert opened_records({"act": "step", "step": "strict"})[1] == errors


def test_an_example_opens_in_its_text_and_a_scorer_on_overview() -> None:
    app = opened("Criteria", LINK)
    part = next(step for step in ladder(app)["steps"] if step["criterion"] == "exact")["parts"][0]
    one = part["examples"][0]
    view, _ = opened_records({"act": "record", "step": "exact", "doc": one["document"], "record": one["record"]})
    assert (view.criterion, view.doc, view.record) == ("strict", one["document"], one["record"])
    app = tell(app, act="scorer", name="nervaluate-1.2.1")
    assert title(app) == "Overview" and app.session_state[keys.VIEW].criterion == "nervaluate-1.2.1"


def test_merged_types_change_no_step_and_the_records_are_those_without() -> None:
    merged = replace(LINK, merge=(("DNA", "nucleic"), ("RNA", "nucleic")))
    app = opened("Criteria", merged)
    assert any("All types as annotated" in caption.value for caption in app.caption)
    assert ladder(app)["steps"] == ladder(opened("Criteria", LINK))["steps"]
    view, records = opened_records({"act": "step", "step": "exact"}, merged)
    assert view.merge == () and records == next(
        step["changed"] for step in ladder(app)["steps"] if step["criterion"] == "exact"
    )


def test_the_axis_holds_all_ends_and_not_every_outlier() -> None:
    axis = axis_of([Fraction(3, 4), Fraction(4, 5)], [Fraction(77, 100), Fraction(1, 100)])
    assert axis == {"low": 0.7, "high": 0.8, "ticks": [0.7, 0.75, 0.8]}
    assert axis_of([Fraction(0)]) == {"low": 0.0, "high": 0.05, "ticks": [0.0, 0.05]}
    assert axis_of([Fraction(1)]) == {"low": 0.95, "high": 1.0, "ticks": [0.95, 1.0]}
    assert axis_of([Fraction(0), Fraction(1)])["ticks"] == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def of_lines(gold: Iterable[dict[str, Any]], pred: Iterable[dict[str, Any]]) -> View:
    """Have the server keep a corpus of JSONL; return the view of it."""
    sides = ["\n".join(map(json.dumps, lines)).encode() for lines in (gold, pred)]
    sources = [Source.of_uploads([("a.jsonl", content)]) for content in sides]
    loaded = load("x", sources[0], {"s": sources[1]})
    caches.shelf().put(loaded)
    return View(corpus=loaded.digest)


def test_a_corpus_without_spans_says_so() -> None:
    line = {"id": "d", "text": "Aspirin helps.", "spans": []}
    app = opened("Criteria", of_lines([line], [line]))
    assert any("neither gold spans nor predictions" in caption.value for caption in app.caption)


def test_hostile_names_and_texts_are_sent_as_text() -> None:
    kinds = ["<b>x</b>", "\u202etxt"]
    text = "<script>alert(1)</script> & <i>aspirin</i>"
    lines = [[{"id": "<d>", "text": text, "spans": [{"start": 0, "end": 8, "label": kind}]}] for kind in kinds]
    steps = ladder(opened("Criteria", of_lines(*lines)))["steps"]
    (example,) = [one for step in steps for part in step["parts"] for one in part["examples"]]
    # The component writes texts as such; a name that turns the direction of writing is an escape.
    assert example["types"] == ["<b>x</b>", r"\u202etxt"] and example["pieces"] == [["<script>", ""]]


def test_published_scorers_stand_beside_their_step() -> None:
    app = opened("Criteria", VIEW)
    assert not any(step["scorers"] for step in ladder(app)["steps"])
    (switch,) = (box for box in app.toggle if box.label == "Published scorers")
    app = sound(switch.set_value(True).run())
    assert address(app)["layout"] == "published"
    labels = {
        step["criterion"]: {name["label"] for group in step["scorers"] for name in group["names"]}
        for step in ladder(app)["steps"]
    }
    for criterion in ORDER:
        assert labels[criterion] == {row.label for row in SCORERS if row.criterion == criterion}
    for step in ladder(app)["steps"]:
        assert [group["f1"] for group in step["scorers"]] == sorted(
            (group["f1"] for group in step["scorers"]), reverse=True
        )


def test_every_scorer_has_a_figure_or_a_reason() -> None:
    app = opened("Criteria", EVERY)
    reasons = next(frame.value for frame in app.dataframe if "needs" in frame.value)
    drawn = {name["name"] for step in ladder(app)["steps"] for group in step["scorers"] for name in group["names"]}
    assert drawn | {name.partition(":")[0] for name in reasons["scorer"]} == set(conventions())
    assert set(REFUSED) <= set(reasons["scorer"]) and reasons["here"].astype(bool).all()


def test_a_scorer_without_f1_or_that_finds_nothing_says_why() -> None:
    row = next(row for row in FOUND_ROWS if row.ratios[2])
    nothing = replace(row, ratios=(0.0, 0.0, 0.0))
    assert "its rules do not fit" in reason_without(nothing, OURS)
    # Where the criterion that means the same finds nothing either, 0 is a result.
    ours = [replace(criterion, ratios=(0.0, 0.0, 0.0)) for criterion in OURS]
    assert reason_without(nothing, ours) == reason_without(row, OURS) == ""
    assert "no F1 here" in reason_without(replace(row, ratios=(None, None, None)), OURS)


def test_slow_scorers_come_one_after_another_and_stop_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.shared.criteria.published.AT_ONCE", -1.0)
    asked: list[str] = []
    sessions: list[Progress] = []
    rows_of = caches.scorer_rows

    def fresh() -> Progress:
        sessions.append(Progress())
        return sessions[-1]

    def scored(loaded: Any, system: str, name: str) -> Any:
        if name not in asked and len(set(asked)) == 2:
            # As if the reader pressed Stop meanwhile.
            sessions[-1].stopped = True
        asked.append(name)
        return rows_of(loaded, system, name)

    monkeypatch.setattr("pages.shared.criteria.published.Progress", fresh)
    monkeypatch.setattr(caches, "scorer_rows", scored)
    app = opened("Criteria", EVERY)
    names = caches.scorer_names()
    assert list(dict.fromkeys(asked)) == list(names[:3]) and sessions[-1].done == set(names[:3])
    assert any(f"Stopped after 3 of {len(names)}" in caption.value for caption in app.caption)
    app = sound(app.button(key="published_go_on").click().run())
    assert sessions[-1].done == set(names) and len(sessions[-1].seconds) == len(names) and len(sessions) == 1
    assert not any("Stopped" in caption.value for caption in app.caption)
    # Another system has a progress of its own.
    choose(app, "system", "perceptron")
    assert len(sessions) == 2


def test_ratios_are_those_of_the_scorer_on_a_scale_to_one() -> None:
    loaded = loaded_of(TAGS, FOUND.replace("I-Drug", "O").replace("cure\tI-Pain", "cure\tB-Pain"))
    seen = 0
    for name, outcome in outcomes(loaded):
        convention = conventions()[name]
        figures = outcome.figures.set_index(["evaluation", "scope", "figure"])["value"]
        for row in convention_rows(convention, outcome):
            for code, value in zip(("P", "R", "F1"), row.ratios, strict=True):
                theirs = figures[row.evaluation, "overall", convention.ratios.names[code]]
                if value is None:
                    assert np.isnan(theirs)
                    continue
                assert value == theirs / (100 if convention.ratios.percent else 1) and 0 <= value <= 1
                seen += 1
            # The F1 is that of P and R, so the names are the right way round.
            p, r, f1 = row.ratios
            if p is None or r is None or f1 is None:
                continue
            assert f1 == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    assert seen > 30


def test_a_scorer_stands_below_the_criterion_that_means_the_same() -> None:
    above = ""
    for row in ROWS:
        above = row.name if not row.evaluation else above
        assert row.criterion == above
    found = criteria_table(ROWS)
    assert dict(found.dtypes) == dict(TABLE_COLUMNS)
    assert order_rows(OURS, ()) == OURS == tuple(row for row in ROWS if not row.evaluation)


def shown(place: int, column: str, view: View = EVERY) -> AppTest:
    return opened("Criteria", view, **NUMBERS, **{TABLE: cell(place, column)})


def numbers(app: AppTest) -> pd.DataFrame:
    """Return the table of all numbers."""
    return next(frame.value for frame in app.dataframe if "criterion or scorer" in frame.value)


def test_the_table_says_what_the_ladder_says() -> None:
    table = numbers(opened("Criteria", EVERY, **NUMBERS))
    assert table["criterion or scorer"].tolist() == [row.label for row in ROWS]
    places = {row.label: place for place, row in enumerate(ROWS)}
    for step in STEPS[1:]:
        row = table.iloc[places[step.criterion]]
        assert row["against above"] == float(step.difference)
        kinds = [row[kind] for kind in KINDS if kind in table and not pd.isna(row[kind])]
        assert sum(kinds) == pytest.approx(float(step.difference))
        assert row["gain"] + row["lose"] == step.changed
    assert table["gain"].notna().sum() == len(STEPS) - 1


STEP = next(step for step in STEPS if {part.gains for part in step.parts} == {True, False})
PLACE = [row.label for row in ROWS].index(STEP.criterion)


@pytest.mark.parametrize(
    ("column", "records"),
    [
        ("gain", sum(part.spans for part in STEP.parts if part.gains)),
        ("lose", sum(part.spans for part in STEP.parts if not part.gains)),
        ("boundaries", sum(part.spans for part in STEP.parts if part.kind == "boundaries")),
        ("against above", STEP.changed),
        ("criterion or scorer", STEP.changed),
    ],
)
def test_a_number_of_a_step_opens_its_records(column: str, records: int) -> None:
    assert f": {records} record" in headings(shown(PLACE, column))


def test_the_first_step_is_compared_with_nothing() -> None:
    assert any("no step above" in caption.value for caption in shown(0, "gain").caption)


@pytest.mark.parametrize("place", [place for place, row in enumerate(ROWS) if row.evaluation][::4])
def test_a_scorer_opens_the_spans_that_it_decides_otherwise(place: int) -> None:
    row = ROWS[place]
    differing = caches.differing(DEMO, "rules", row.name, row.evaluation, row.criterion)
    app = shown(place, "criterion or scorer")
    if len(differing):
        assert f"Where they part: {len(differing)} span" in headings(app)
    else:
        assert any("decide every span alike" in box.value for box in app.success)


def counted(app: AppTest) -> int:
    """Return what the records on this page of a scorer's list count for."""
    records = next(frame.value for frame in app.dataframe if "decision" in frame.value)
    return int(records.iloc[:, 1].sum())


@pytest.mark.parametrize("column", ["COR", "POS", "ACT"])
@pytest.mark.parametrize("place", [0, 1, 3, 8])
def test_a_count_opens_its_records(place: int, column: str) -> None:
    app = shown(place, column)
    value = numbers(app)[column].iat[place]
    if pd.isna(value):
        # A scorer that does not count it.
        assert column not in conventions()[ROWS[place].name].ratios.names and "record" not in headings(app)
    elif any("not made of records" in caption.value for caption in app.caption):
        row = ROWS[place]
        outcome = caches.outcome(DEMO, "rules", row.name)
        assert ("overall", conventions()[row.name].ratios.names[column]) not in counts_of(outcome, row.evaluation)
    elif ROWS[place].evaluation:
        pages_of_list = next((box for box in app.number_input if box.label.startswith("Page of")), None)
        first = counted(app)
        # What the first page leaves is on the second, and there is no third.
        assert pages_of_list is None or pages_of_list.max == 2
        second = 0 if pages_of_list is None else counted(sound(pages_of_list.set_value(2).run()))
        assert first + second == int(value)
    else:
        assert f": {int(value)} record" in headings(app)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_ratio_opens_its_formula(place: int) -> None:
    app = shown(place, "F1")
    value = numbers(app)["F1"].iat[place]
    assert any(code.value.endswith((f"= {value:.3f}", f"= {value:.4f}")) for code in app.code)


def test_the_figure_has_the_pieces_of_the_steps_and_all_else() -> None:
    table = criteria_table(ROWS)
    figure = ladder_bars(piece_table(STEPS), table, "<b>x</b>", (157, 133, 20))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    drawn = sorted(
        (round(base, 9), round(base + x, 9), y)
        for bar in bars
        for base, x, y in zip(bar.base, bar.x, bar.y, strict=True)
    )
    places = {row.label: place for place, row in enumerate(ROWS)}
    assert drawn == sorted(
        (round(float(piece.start), 9), round(float(piece.end), 9), places[step.criterion])
        for step in STEPS
        for piece in step.pieces
    )
    dots = {y: x for trace in figure.data if trace.type == "scatter" for x, y in zip(trace.x, trace.y, strict=True)}
    assert dots == {place: row.ratios[2] for place, row in enumerate(ROWS) if row.label not in ORDER}
    assert "&lt;b&gt;" in figure.layout.title.text and "157 gold spans, 133 predictions, 20 documents" in (
        figure.layout.title.text
    )
    assert [text.rpartition(" ")[0] for text in figure.layout.yaxis.ticktext] == [row.label for row in ROWS]
