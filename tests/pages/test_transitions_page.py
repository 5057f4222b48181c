"""From one system to another on Compare: each number is the number of records it opens, of the system it names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from nereval_core.analysis.crosstab import (
    ALL,
    FROM_HEAD,
    STATES,
    count_transitions,
    right_count_table,
    transition_matrix,
    transition_records,
    transition_sentence,
    transition_tables,
)
from nereval_core.analysis.sentences import RecordCount, percent, sentence_text
from nereval_core.cli import main
from nereval_core.report.figures.comparison import right_bars
from pages.shared.systems.pair import cell_queries
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from pages.shared.view.text import count, plain
from tests.support import ROOT
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address, cell, headings, opened, sentence_links, sound

BESIDE = replace(VIEW, beside="perceptron")


@cache
def demo(name: str) -> Demo:
    return Demo(name, ("strict", "partial", "type"))


def listed(there: Demo, view: View) -> int:
    """Return how many records a link lists."""
    read, wrong = read_link(write_link(view))
    assert not wrong
    return there.ledger(read.system, read.criterion).total(query_of(read)).records


@pytest.mark.parametrize("name", ["pharmacology", "biology"])
@pytest.mark.parametrize("criterion", ["strict", "partial"])
def test_every_cell_and_margin_counts_what_it_opens(name: str, criterion: str) -> None:
    there = demo(name)
    moved = count_transitions(there.scores("rules"), there.scores("perceptron"), criterion)
    for side, states in STATES.items():
        table = transition_matrix(getattr(moved, side), states)
        every = (*states, ALL)
        for row, state in enumerate(every):
            for column, then in enumerate(every, start=1):
                found = cell_queries("rules", "perceptron", side, state, then)
                value = table.iat[row, column]
                if side == "pred" and state == then == ALL:
                    # Records of two systems: the sum of its row and of its column.
                    assert value == table.iloc[row, 1:-1].sum() == table.iloc[:-1, column].sum()
                elif found is None:
                    assert value == 0
                else:
                    view = view_of(View(system=found[0], criterion=criterion), found[1])
                    assert listed(there, view) == value, (side, state, then)


@pytest.mark.parametrize("name", ["pharmacology", "biology", "newspapers"])
def test_the_sentence_counts_what_it_opens(name: str) -> None:
    there = demo(name)
    moved = count_transitions(there.scores("rules"), there.scores("perceptron"), "type")
    said = transition_sentence(moved, "rules", "perceptron")
    counts = [part for part in said if isinstance(part, RecordCount)]
    assert sum(part.number for part in counts) == len(there.gold)
    for part in counts:
        view = view_of(View(system="rules", criterion="type"), part.query)
        assert listed(there, view) == part.number
        assert part.text.startswith(f"{part.number:,}")
    assert sentence_text(said).startswith(
        f"Of {len(there.gold):,} gold spans, perceptron gets right {counts[0].number:,}"
    )


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 0, "0%"), (0, 9, "0%"), (1, 1_000, "1%"), (999, 1_000, "99%"), (7, 7, "100%"), (1, 3, "33%"), (2, 3, "67%")],
)
def test_no_share_is_rounded_to_none_or_all(part: int, whole: int, said: str) -> None:
    assert percent(part, whole) == said


def test_compare_shows_the_matrices_and_its_sentence_leads_to_the_records() -> None:
    app = opened("Systems", replace(BESIDE, systems_tab="from-a-to-b"))
    there = demo("pharmacology")
    moved = count_transitions(there.scores("rules"), there.scores("perceptron"), "strict")
    tables = {str(frame.key): frame.value for frame in app.dataframe}
    for side, states in STATES.items():
        (shown,) = (table for key, table in tables.items() if key.startswith(f"table_moved_{side}"))
        table = transition_matrix(getattr(moved, side), states)
        assert shown.iloc[:, 1:].to_numpy().tolist() == table.iloc[:, 1:].to_numpy().tolist()
        assert list(shown.columns) == list(table.columns) and shown.columns[0] == FROM_HEAD
    numbers = [(label, view) for label, view in sentence_links(app) if re.match(r"\d+($| )", label)]
    assert len(numbers) >= 4
    for label, view in numbers:
        said = int(re.search(r"[\d,]+", label)[0].replace(",", ""))  # type: ignore[index]
        assert listed(there, view) == said, label
        assert view.beside == "perceptron"


@pytest.mark.parametrize(
    ("side", "row", "column", "system"),
    [("gold", 0, "MIS", "rules"), ("pred", 4, "COR", "perceptron"), ("pred", 0, "not predicted", "rules")],
)
def test_a_cell_opens_its_records(side: str, row: int, column: str, system: str) -> None:
    key = f"table_moved_{side}"
    app = opened("Systems", replace(BESIDE, systems_tab="from-a-to-b"), **{key: cell(row, column)})
    table = next(frame.value for frame in app.dataframe if frame.key == key)
    assert f": {count(int(table.at[row, column]), 'record')}" in headings(app)
    (link,) = (link.proto for link in app.get("page_link") if link.proto.label == ":primary[Open in Inspect →]")
    view, _ = read_link(dict(parse_qsl(link.query_string)))
    assert view.system == system and listed(demo("pharmacology"), view) == table.at[row, column]


def test_the_other_system_is_chosen_and_stands_in_the_link() -> None:
    app = opened("Systems", replace(VIEW, systems_tab="from-a-to-b", layout=("with-annotators",)))
    app.selectbox(key="widget_beside").select("annotator-2")
    sound(app.run())
    assert address(app)["beside"] == "annotator-2"
    assert plain("annotator-2 across") in headings(app)


def test_a_criterion_that_counts_tokens_is_not_compared_span_by_span() -> None:
    app = opened("Systems", replace(BESIDE, criterion="fragment"))
    assert any("counts tokens" in caption.value for caption in app.caption)


def test_bars_of_how_many_systems_are_right() -> None:
    there = demo("pharmacology")
    every = [there.scores(system) for system in there.systems]
    table = right_count_table(every, "strict")
    figure = right_bars(table, "<i>", len(every), 20)
    (bars,) = figure.data
    assert list(bars.y) == table["gold_spans"].tolist() and [one[0] for one in bars.customdata] == list(bars.x)
    assert f"{len(there.gold):,} gold spans in 20 documents" in figure.layout.title.text
    assert "<i>" not in figure.layout.title.text
    app = opened("Systems", replace(BESIDE, systems_tab="from-a-to-b"), list_right_by="2")
    number = int(table.set_index("right_by").at["2", "gold_spans"])
    assert f"Gold spans that 2 systems get right: {count(number, 'record')}" in headings(app)


def test_the_command_line_says_what_becomes_of_each_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = ROOT / "demo_data" / "pharmacology"
    files = [str(folder / f"{name}.jsonl") for name in ("gold", "rules", "perceptron", "annotator-1")]
    settings = ("--criteria", "strict,type,fragment", "--resamples", "100", "-q", "--json", "c.json", "--csv", "c.csv")
    assert main(["compare", *files, *settings]) == 0
    assert "transitions" not in json.loads(Path("c.json").read_text(encoding="utf-8"))
    assert main(["compare", *files, *settings, "--by", "span", "--markdown", "c.md"]) == 0
    found = json.loads(Path("c.json").read_text(encoding="utf-8"))
    there = demo("pharmacology")
    systems = {name: there.scores(name) for name in ("rules", "perceptron", "annotator-1")}
    cells, right = transition_records(systems, ("strict", "type"), "rules")
    assert (found["transitions"], found["right_by"]) == (cells, right)
    text = Path("c.md").read_text(encoding="utf-8")
    for sheet in transition_tables(systems, ("strict", "type"), "rules"):
        assert f"## {sheet.title}" in text
    moved = count_transitions(systems["rules"], systems["perceptron"], "strict")
    assert sum(cell["count"] for cell in cells if cell["side"] == "gold" and cell["criterion"] == "strict") == (
        2 * int(moved.gold.sum())
    )
    assert main(["compare", *files, "--by", "word"]) == 2
