"""Layers to take along: in every format that can be written, with what it cannot hold told before."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest

from nereval_core.ledger import ledger
from nereval_core.readers import ReadOptions, read
from nereval_core.records.queries import Query
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.writers import pack_layer, writers
from pages.shared.components.downloads import COPY_FORMAT, WITHOUT
from pages.shared.data.loading import load_demo
from pages.shared.view import View, keys
from tests.support.pages import opened, sound, unmarked

DEMO = load_demo("pharmacology")
RULES = DEMO.corpus.system("rules")


@pytest.mark.parametrize("format", writers())
def test_a_download_reads_as_the_layer(format: str, tmp_path: Path) -> None:
    name, raw, _ = pack_layer(RULES, format, "rules", lossy=True)
    assert pack_layer(RULES, format, "rules", lossy=True)[1] == raw or format == "docbin"
    (tmp_path / name).write_bytes(raw)
    if name.endswith(".zip"):
        assert all(not entry.startswith("/") for entry in zipfile.ZipFile(tmp_path / name).namelist())
    again = read(tmp_path / name, format=format, options=ReadOptions(scheme="IOB2")).layer
    assert len(again.documents) == len(RULES.documents) and len(again) > len(RULES) // 2


def test_start_hands_out_layers() -> None:
    view = View(corpus=DEMO.corpus.digest, system="rules")
    app = opened("Start", view)
    assert not app.get("download_button")
    app.session_state["export_layer"] = True
    app = sound(app.run())
    [layer] = [box for box in app.selectbox if box.label == "Layer"]
    assert layer.options == ["gold", *(one.name for one in DEMO.corpus.systems)]
    app = sound(layer.select("rules").run())
    assert [one.proto.label for one in app.get("download_button")] == [f"rules.jsonl · {len(RULES)} spans"]
    # What csv has no place for is listed, and the button says that the file is without it.
    app = sound(app.selectbox(key=f"{COPY_FORMAT}_rules").select("csv").run())
    assert [one.proto.label for one in app.get("download_button")] == [f"rules.csv · {len(RULES)} spans, {WITHOUT}"]
    assert "csv has no place for them, left out: the metadata of" in unmarked(app.warning[0].value)
    assert not any("no place" in one.value for one in app.caption)


def test_the_spans_of_listed_records_are_handed_out_as_a_layer() -> None:
    view = View(corpus=DEMO.corpus.digest, system="rules", decision=("MIS",))
    app = opened("Inspect", view, menu="export")
    assert [one.proto.label for one in app.get("download_button")][-1].startswith("gold-errors.jsonl · ")
    app.session_state[f"{keys.LIST}side_errors"] = "rules"
    app = sound(app.run())
    assert [one.proto.label for one in app.get("download_button")][-1].startswith("rules-errors.jsonl · ")
    scores = score_layers(DEMO.corpus.gold, RULES, Settings((CRITERIA["strict"],)))
    found = ledger(scores, "strict", (DEMO.corpus.gold, RULES))
    missed, wrong = Query(decision=("MIS",)), Query(decision=("INC",))
    assert len(found.spans(missed, "pred")) == 0
    layer = found.spans(missed, "gold")
    listed = pd.concat(list(found.pieces(missed)))
    assert set(layer.documents.ids) == set(listed["document"])
    assert [layer.text(span) for span in range(len(layer))] == listed["gold_text"].tolist()
    assert len(layer) == found.total(missed).records
    both = found.spans(wrong, "pred")
    assert len(both) == found.total(wrong).records and set(both.types) <= set(RULES.types)
