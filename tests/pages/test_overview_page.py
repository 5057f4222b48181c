"""Overview: types as rows with intervals and decisions, and what its counts open."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.comparison.significance import by_type_tables
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.ledger import ledger
from nereval_core.records.queries import Query, side_query
from nereval_core.report.colours import system_hues
from nereval_core.scoring import Counts, score_layers
from nereval_core.tables.glossary import DECISIONS
from pages.shared.overview.tables import CHOSEN_TYPE, MOST_TYPES
from pages.shared.view import View
from tests.support.pages import DEMO, VIEW, address, component_data, headings, opened, sentences, sound, upload


def test_the_bars_of_types_say_what_they_show_and_what_a_click_does() -> None:
    (drawn,) = (data for data in component_data(opened("Overview", VIEW)) if "axis" in data)
    assert drawn["heading"] == "F1 and decisions of rules by type under strict"
    assert drawn["about"].startswith("In brackets the gold spans; in all 157 gold spans, 133 predictions; ")
    assert drawn["hint"].startswith("Choose the F1 of a type for its errors")


def type_rows(app: AppTest) -> list[dict[str, Any]]:
    (rows,) = (data["rows"] for data in component_data(app) if "axis" in data)
    return list(rows)


def test_types_are_drawn_with_intervals_and_decisions() -> None:
    corpus = DEMO.corpus
    scores = score_layers(corpus.gold, corpus.system("rules"))
    rows = type_rows(opened("Overview", VIEW))
    by_type = scores.by_type("strict")
    kinds = sorted(by_type, key=lambda kind: -by_type[kind].pos)
    assert [row["name"] for row in rows] == [f"{kind} ({by_type[kind].pos:,})" for kind in kinds]
    intervals, _, _ = by_type_tables({"rules": scores}, "strict", ResamplingPlan(), None, document_units(20))
    of_type = intervals.set_index("type")
    hue = system_hues([layer.name for layer in corpus.systems])["rules"]
    for kind, row in zip(kinds, rows, strict=True):
        values = of_type.loc[kind]
        assert row["dot"] == {"at": values["f1"], "hue": hue, "low": values["f1_low"], "high": values["f1_high"]}
        counts = {part["code"]: part["size"] for part in row["parts"]}
        assert counts == {code: n for code, n in zip(DECISIONS, decided(by_type[kind]), strict=True) if n}


def decided(counts: Counts) -> tuple[int, ...]:
    return (*counts.gold[:4], counts.spu)


@pytest.mark.parametrize("code", ["", "INC", "MIS", "SPU"])
def test_a_row_of_a_type_opens_its_records(code: str) -> None:
    corpus = DEMO.corpus
    scores = score_layers(corpus.gold, corpus.system("rules"))
    records = ledger(scores, "strict", (corpus.gold, corpus.system("rules")))
    kind = "PROTEINAS"
    query = (side_query("pred" if code == "SPU" else "gold", code, kind) if code else None) or Query(
        types=(kind,), decision=("INC", "PAR", "MIS", "SPU")
    )
    app = opened("Overview", VIEW, **{CHOSEN_TYPE: (DEMO.digest, kind, code)})
    assert [row["chosen"] for row in type_rows(app)].count(True) == 1
    assert f": {records.total(query).records} record" in headings(app)


def test_of_sixty_types_the_most_frequent_are_drawn_at_first() -> None:
    text = "a b"
    lines = [
        {"id": f"{kind}-{number}", "text": text, "spans": [{"start": 0, "end": 1, "label": f"type-{kind:02}"}]}
        for kind in range(60)
        for number in range(1 + kind % 7)
    ]
    raw = "".join(json.dumps(line) + "\n" for line in lines)
    app = upload(opened("Start"), raw, raw)
    app = opened("Overview", View(corpus=address(app)["corpus"]))
    assert len(type_rows(app)) == MOST_TYPES
    (toggle,) = (toggle for toggle in app.toggle if toggle.label == "All 60 types")
    assert len(type_rows(sound(toggle.set_value(True).run()))) == 60


def test_a_system_that_the_demo_lacks_is_said_to_be_missing() -> None:
    app = opened("Overview", View(system="nothere"))
    said = [message.value for kind in ("warning", "info", "caption", "markdown") for message in getattr(app, kind)]
    assert any("nothere" in text and "is not a system of this corpus" in text for text in said)


def test_what_is_missed_beside_another_error_is_said() -> None:
    app = opened("Overview", VIEW)
    scores = score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules"))
    (sentence,) = (line for line in sentences(app) if line.startswith("Where it loses most: "))
    missed, beside = re.search(r"missed (\d+) \(and (\d+) beside", sentence).groups()  # type: ignore[union-attr]
    assert int(missed) + int(beside) == scores.counts("strict").mis
