"""Published scorers in the app: applied to what was uploaded, their counts opened, their ratios as formulas."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from nereval_core.analysis.criteria.convention_differences import twin_criterion
from nereval_core.api.load_options import LoadOptions
from nereval_core.conventions import Outcome, conventions, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from pages.shared.data import caches
from pages.shared.data.convention_results import (
    counts_of,
    figures_table,
    formula,
    in_numbers,
    ordered_evaluations,
    records_of_count,
    values_of,
)
from pages.shared.data.loading import Loaded, load
from pages.shared.view import View
from pages.shared.view.text import plain
from tests.analysis.criteria.test_convention_differences import flat
from tests.pages.test_pages import EVERY
from tests.support.pages import VIEW, address, cell, choose, headings, menus, opened, sound

TAGS = "Aspirin\tB-Drug\nhelps\tO\nagainst\tO\nbad\tB-Pain\nback\tI-Pain\npain\tI-Pain\n\nNo\tO\ncure\tB-Drug\n\n"
FOUND = "Aspirin\tB-Drug\nhelps\tO\nagainst\tO\nbad\tO\nback\tB-Pain\npain\tI-Pain\n\nNo\tI-Drug\ncure\tI-Pain\n\n"


def loaded_of(gold: str, pred: str, name: str = "a.tsv", options: LoadOptions | None = None) -> Loaded:
    one, two = (Source.of_uploads([(name, text.encode())]) for text in (gold, pred))
    found = load("tags", one, {"system": two}, options)
    assert not found.problems
    caches.shelf().put(found)
    return found


@pytest.fixture(scope="module")
def tags() -> Loaded:
    return loaded_of(TAGS, FOUND, options=LoadOptions(repair="conlleval"))


@pytest.fixture(scope="module")
def drawn() -> Loaded:
    """A corpus of flat spans with tokens, in a format that no scorer reads itself."""
    import json

    def lines(layer: Any) -> str:
        over = layer.documents
        rows = []
        for doc in range(len(over)):
            spans = [
                {"start": int(layer.start[i]), "end": int(layer.end[i]), "label": layer.label(i)}
                for i in range(int(layer.first[doc]), int(layer.first[doc + 1]))
            ]
            row = {"id": over.ids[doc], "text": over.texts[doc], "spans": spans, "tokens": over.tokens.of_document(doc)}
            rows.append(json.dumps(row))
        return "\n".join(rows) + "\n"

    gold, pred = flat(5)
    return loaded_of(lines(gold), lines(pred), "a.jsonl")


def outcomes(loaded: Loaded) -> Iterator[tuple[str, Outcome]]:
    for name in conventions():
        try:
            yield name, caches.outcome(loaded, "system", name)
        except FormatError as error:
            assert error.problems[0].remedy


def view_of(loaded: Loaded, name: str) -> View:
    return View(corpus=loaded.corpus.digest, system="system", criterion=name)


def test_files_are_scored_as_the_scorer_reads_them(tags: Loaded) -> None:
    # Mended, the prediction has other tags: conlleval reads the orphan I itself, seven tags of eight as they stand.
    found = caches.outcome(tags, "system", "conlleval")
    assert found.scores["tokens"]["tokens"] == 8
    assert found.scores["phrases"]["overall"]["found"] == 4 and found.scores["phrases"]["overall"]["correct"] == 1


def test_every_count_is_the_sum_of_what_is_listed(drawn: Loaded, tags: Loaded) -> None:
    seen = 0
    for loaded in (drawn, tags):
        for name, outcome in outcomes(loaded):
            for evaluation in ordered_evaluations(outcome, conventions()[name]):
                table = figures_table(outcome, evaluation).set_index("scope")
                records = caches.outcome_records(loaded, "system", name, evaluation)
                for scope, figure in counts_of(outcome, evaluation):
                    listed = records_of_count(records, scope, figure)
                    assert (listed[figure] != 0).all()
                    assert listed[figure].sum() == table.at[scope, figure], (name, evaluation, scope, figure)
                    seen += 1
    assert seen > 50


SUMS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def computed(text: str) -> float:
    """Return the value of sums of numbers; a zero denominator makes 0, as in the scorers."""

    def of(node: Any) -> float:
        if isinstance(node, ast.Constant):
            return float(node.value)
        assert isinstance(node, ast.BinOp)
        return float(SUMS[type(node.op)](of(node.left), of(node.right)))

    try:
        return of(ast.parse(text.replace("×", "*").replace(",", ""), mode="eval").body)
    except ZeroDivisionError:
        return 0.0


def test_every_ratio_is_what_its_formula_says(drawn: Loaded, tags: Loaded) -> None:
    seen = set()
    for loaded in (drawn, tags):
        for name, outcome in outcomes(loaded):
            convention = conventions()[name]
            for evaluation in outcome.evaluations:
                table = figures_table(outcome, evaluation)
                for _, row in table.iterrows():
                    values = values_of(row)
                    for figure in (name for name, value in values.items() if value == value):
                        made = formula(convention, evaluation, figure, values)
                        if made is None:
                            continue
                        rule = made.split(" = ")[1]
                        exact = computed(in_numbers(rule, values, exact=True))
                        assert exact == pytest.approx(values[figure], abs=1e-9), (name, evaluation, made)
                        seen.add(name)
    assert {"conlleval", "nervaluate-1.2.1", "hipe-2022", "seqeval", "pharmaconer"} <= seen


def test_every_scorer_says_which_figures_are_its_ratios(drawn: Loaded) -> None:
    for name, convention in conventions().items():
        assert {"P", "R", "F1"} <= set(convention.ratios.names), name
    for name, outcome in outcomes(drawn):
        known = set(outcome.figures["figure"])
        assert set(conventions()[name].ratios.names.values()) <= known, name


@pytest.mark.parametrize("page", [*EVERY])
def test_a_page_under_a_published_scorer_says_what_it_counts_by(tags: Loaded, page: str) -> None:
    app = opened(page, view_of(tags, "conlleval"))
    assert not app.warning and not app.error
    assert address(app)["criterion"] == "conlleval"
    assert any("The figures of conlleval" in caption.value and "strict" in caption.value for caption in app.caption)
    assert menus(app)[0] == "conlleval"
    assert "criterion" not in address(choose(app, "criterion", "strict"))


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("figure", ["correct", "phrases", "found"])
def test_a_published_count_opens_its_records(tags: Loaded, row: int, figure: str) -> None:
    view = view_of(tags, "conlleval")
    key = "table_published"
    app = opened("Overview", view, **{key: cell(row, figure)})
    table = app.dataframe[0].value
    value = int(table[figure].iat[row])
    assert f"{figure} of conlleval, {table['scope'].iat[row]}: {value} record" in headings(app)
    assert not value or app.dataframe[1].value[figure].sum() == value


@pytest.mark.parametrize("figure", ["precision", "recall", "FB1"])
def test_a_published_ratio_opens_its_formula(tags: Loaded, figure: str) -> None:
    view = view_of(tags, "conlleval")
    app = opened("Overview", view, table_published=cell(0, figure))
    assert any(code.value.startswith(f"{figure} = ") for code in app.code)
    assert any("conlleval\\.pl" in caption.value for caption in app.caption)


def test_where_the_two_part_opens_its_spans_and_the_text(tags: Loaded) -> None:
    view = view_of(tags, "conlleval")
    found = caches.differing(tags, "system", "conlleval", "phrase", "strict")
    assert len(found) > 1
    key = "table_differences"
    app = opened("Overview", view, **{key: cell(0, "spans")})
    assert f"Where they part: {len(found)} spans" in headings(app)
    table = next(frame.value for frame in app.dataframe if "credit" in frame.value and "spans" in frame.value)
    assert table["spans"].sum() == len(found)
    spans = next(frame.value for frame in app.dataframe if "our reason" in frame.value)
    assert len(spans) == table["spans"].iat[0]


def test_merged_types_are_not_compared_span_by_span_with_a_scorer_that_merges_none(tags: Loaded) -> None:
    """Ours had more correct spans than the scorer, "yet 0 of them with another credit"."""
    kinds = tuple(tags.corpus.gold.types[:2])
    app = opened("Overview", replace(view_of(tags, "conlleval"), merge=tuple((kind, "ONE") for kind in kinds)))
    assert not any("Where they part" in heading for heading in headings(app))
    assert any("where the two part" in caption.value for caption in app.caption)


def test_a_layer_is_not_compared_with_a_column_that_it_does_not_hold() -> None:
    """Our figures of literal entities stood beside those of metonymic ones."""
    hipe = find_convention("hipe-2020")
    assert twin_criterion(hipe, "NE-COARSE-LIT/strict") == "strict"
    assert twin_criterion(hipe, "NE-COARSE-METO/strict") is None


def test_of_a_large_corpus_the_menu_tries_no_scorer(drawn: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    system = drawn.start
    small = set(caches.refused_scorers(drawn, system))
    caches.forget()
    monkeypatch.setattr(caches, "is_small", lambda loaded: False)
    monkeypatch.setattr(caches, "published_rows", lambda *arguments: pytest.fail("all scorers were tried"))
    refused = caches.refused_scorers(drawn, system)
    caches.forget()
    assert refused and set(refused) <= small
    assert all("these data are" in error.problems[0].found for error in refused.values())


def test_scorers_are_offered_and_those_that_do_not_apply_say_what_they_need(tags: Loaded) -> None:
    app = opened("Overview", view_of(tags, "strict"), menu="criteria")
    box = app.selectbox(key="widget_criterion")
    assert set(conventions()) & {option.partition(" · ")[0] for option in box.options}
    app = sound(box.set_value("conlleval").run())
    assert address(app)["criterion"] == "conlleval"
    convention = conventions()["conlleval"]
    assert any(plain(convention.sentence, 400)[:100] in caption.value for caption in app.caption)
    app = opened("Overview", VIEW, menu="criteria")
    assert not any(option.startswith("conlleval ·") for option in app.selectbox(key="widget_criterion").options)
    assert any("conlleval: it needs" in caption.value for caption in app.caption)
    assert any("which cannot say that" in caption.value for caption in app.caption)
