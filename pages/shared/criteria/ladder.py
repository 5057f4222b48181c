"""The ladder, the front of Criteria: each criterion's F1, what it forgives against the one above, with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from nereval_core.analysis.criteria.convention_differences import CriterionRow
from nereval_core.analysis.criteria.gap import KINDS
from nereval_core.analysis.criteria.steps import Step, StepPart, ladder_sentence, ladder_steps, step_between
from nereval_core.analysis.errors.group_words import record_examples, varied_spans
from nereval_core.problems import name_text
from nereval_core.records.queries import Query, overall_query
from nereval_core.report.colours import LOOKS
from nereval_core.scoring import Scores
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import CRITERIA, Criterion, Decision
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import navigation, sentence
from pages.shared.components.component_events import EVENTS, Event, acknowledged, apply_events
from pages.shared.components.highlighted_text import DRAWING
from pages.shared.data.computations import compare
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.server.component_files import component
from pages.shared.view import keys, state
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import plain

_HERE = Path(__file__).parent
_INSPECT = _HERE.parent / "inspect"
KEY = f"{keys.WIDGET}ladder"
EXAMPLES = 2
"""Examples of each part of a step."""
GRID = Fraction(1, 20)
"""Distance of two marks of the axis of F1, at least."""
MOST_MARKS = 6
_mount = component(
    "nereval_ladder",
    css="".join(path.read_text(encoding="utf-8") for path in (_INSPECT / "difference.css", _HERE / "ladder.css")),
    js=DRAWING
    + EVENTS
    + "".join(
        path.read_text(encoding="utf-8")
        for path in (
            _INSPECT / "difference.js",
            *(_HERE / f"{name}.js" for name in ("ladder_state", "ladder_drawing", "ladder")),
        )
    ),
)


def follow_event(page: PageContext) -> PageContext:
    """Do what the reader has asked for in the ladder since the last run; return the page with the step then open."""
    if apply_events(KEY, partial(_follow, page)):
        return replace(page, view=replace(page.view, step=state.view().step))
    return page


def draw_sentence(page: PageContext) -> None:
    """Show in words how much F1 the last criterion of the ladder forgives, and what it comes from."""
    if steps := steps_of(page):
        sentence.draw(page, _sentence(page), "ladder", listed_under(page, steps[-1]))


def draw_ladder(page: PageContext, rows: Sequence[CriterionRow]) -> None:
    """Show the ladder; `rows` are the criteria, and the published scorers that stand beside them."""
    steps = steps_of(page)
    if not steps:
        st.caption("No two criteria decide over the same spans here: the table has the numbers of each.")
    elif steps[0].f1 is None:
        message = "There are neither gold spans nor predictions, so no criterion has an F1."
        st.caption(plain(page.words.by_names(message), 400))
    else:
        st.caption(
            "Each row is a criterion, from strict to lenient. Coloured is the F1 that it gains over the row above, by "
            "what it forgives; dashed is what it loses again."
        )
        _mount(data=ladder_data(page, rows), key=KEY, on_out_change=lambda: None)


@memoized("Comparing the criteria …")
def steps_of(page: PageContext) -> tuple[Step, ...]:
    """Return the steps of the system under all criteria that pair spans."""
    return compare(page.scores(), "Comparing all criteria", ladder_steps, page.scores())


@memoized("Comparing the criteria …")
def _between(page: PageContext, above: str, name: str) -> Step:
    return compare(page.scores(), "Comparing criteria", step_between, page.scores(), above, name)


@memoized()
def _sentence(page: PageContext) -> Any:
    steps = steps_of(page)
    return ladder_sentence(steps, _between(page, steps[0].criterion, steps[-1].criterion) if steps[1:] else None)


def listed_under(page: PageContext, step: Step) -> str:
    """Return the criterion that the records of a step are listed under.

    It is the chosen one, wherever that decides over the same spans: whoever looks at a step has not chosen another.
    """
    return page.by if page.by in {each.criterion for each in steps_of(page)} else step.criterion


def open_step(page: PageContext, steps: Sequence[Step]) -> str:
    """Return the step that is open: that of the link, or of the chosen criterion, or the one with the largest gain."""
    names = [step.criterion for step in steps]
    if page.view.step in names:
        return page.view.step
    if page.by in names[1:]:
        return page.by
    return max(steps, key=lambda step: step.difference).criterion


def ladder_data(page: PageContext, rows: Sequence[CriterionRow]) -> dict[str, Any]:
    """Return all that the component is sent."""
    steps = steps_of(page)
    scorer_f1 = [Fraction(row.ratios[2]) for row in rows if row.evaluation and row.ratios[2] is not None]
    first, chosen = steps[0].criterion, open_step(page, steps)
    whole = _between(page, first, chosen) if chosen != first else None
    names = {step.criterion for step in steps}
    scorers = {name: _scorers(rows, name) for name in {row.criterion for row in rows}}
    others = [row for row in rows if not row.evaluation and row.name not in names]
    without = sorted({row.criterion for row in rows if row.evaluation} - names - {row.name for row in others})
    return {
        **acknowledged(KEY),
        "facts": repr((page.loaded.id, page.system, page.settings, page.view.mask)),
        "kinds": list(KINDS),
        "spans": [page.words.by_names("gold span"), page.words.spans("gold")],
        "axis": axis_of([piece.end for step in steps for piece in step.pieces], scorer_f1),
        "first": first,
        "firstLabel": name_text(first),
        "steps": [step | {"scorers": scorers.get(step["criterion"], [])} for step in _descriptions(page)],
        "asides": [
            *(_aside(row.name, row.ratios[2], _why(page, row.name), scorers) for row in others),
            *(_aside(name, None, "does not apply here", scorers) for name in without),
        ],
        "open": chosen,
        "whole": {
            "criterion": chosen,
            "difference": float(whole.difference) if whole else 0.0,
            "parts": [_part(part) for part in whole.parts] if whole else [],
        },
    }


def _aside(name: str, f1: float | None, why: str, scorers: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {"label": name_text(name), "f1": f1, "why": why, "scorers": scorers.get(name, [])}


def axis_of(ends: Sequence[Fraction], others: Sequence[Fraction] = ()) -> dict[str, Any]:
    """Return the axis of F1 on which pieces end: its own ends, and where marks stand.

    It begins a mark below the least end, not at 0: steps differ by little. Of the others, those stand on it that do not
    make it more than three times as long; those beyond are drawn at its edge.
    """
    low, high = min(ends), max(ends)
    values = [*ends, *(other for other in others if 2 * low - high <= other <= 2 * high - low)]
    size = GRID
    while (max(values) - min(values)) / size > MOST_MARKS - 1:
        size *= 2
    low = max(Fraction(0), (min(values) // size - (min(values) % size == 0)) * size)
    high = min(Fraction(1), -(-max(values) // size) * size) if max(values) <= 1 else max(values)
    high = max(high, low + size)
    marks = [low + size * number for number in range(int((high - low) / size) + 1)]
    return {"low": float(low), "high": float(high), "ticks": [float(mark) for mark in marks]}


def _scorers(rows: Sequence[CriterionRow], criterion: str) -> list[dict[str, Any]]:
    """Return the published scorers that mean the same as a criterion, those of one F1 together, high ones first."""
    groups: dict[float | None, list[dict[str, str]]] = {}
    for row in rows:
        if row.evaluation and row.criterion == criterion:
            f1 = row.ratios[2]
            label = {"name": row.name, "label": row.label}
            groups.setdefault(None if f1 is None else round(f1, 4), []).append(label)
    ordered = sorted(groups.items(), key=lambda group: -1 if group[0] is None else group[0], reverse=True)
    return [{"f1": f1, "names": names} for f1, names in ordered]


def _why(page: PageContext, name: str) -> str:
    """Return why a criterion is no step of the ladder."""
    rule = next(rule for rule in page.settings.criteria if rule.name == name)
    return "counts tokens, not spans: no step" if rule.unit == "token" else "has types of its own: no step"


@memoized()
def _descriptions(page: PageContext) -> list[dict[str, Any]]:
    """Return the steps as they are drawn, without the scorers beside them."""
    scores = page.scores()
    return [
        {
            "criterion": step.criterion,
            "label": name_text(step.criterion),
            "above": step.above,
            "aboveLabel": name_text(step.above),
            "rule": rule_words(scores.criterion(step.criterion)),
            "f1": None if step.f1 is None else float(step.f1),
            "difference": float(step.difference),
            "changed": step.changed,
            "pieces": [[piece.kind, piece.effect, float(piece.start), float(piece.end)] for piece in step.pieces],
            "formula": page.words.by_names(f1_formula(scores.counts(step.criterion))),
            "decisions": _decisions(page, scores, step.criterion),
            "parts": [_part(part) | {"examples": _examples(page, scores, step, part)} for part in step.parts],
        }
        for step in steps_of(page)
    ]


def rule_words(criterion: Criterion) -> str:
    """Return the rule of a criterion as a sentence; one's own has no sentence of its own."""
    if criterion.name in CRITERIA and criterion == CRITERIA[criterion.name]:
        return criterion.sentence
    return f"A pair is correct where {criterion.rule()}."


def f1_formula(counts: Counts) -> str:
    """Return F1 with the counts that it is made of."""
    half = f" + {counts.par:,} PAR" if counts.par else ""
    return f"F1 = (2 × {counts.cor:,} COR{half}) / ({counts.pos:,} gold spans + {counts.act:,} predictions)"


def _decisions(page: PageContext, scores: Scores, name: str) -> list[dict[str, Any]]:
    counts = scores.counts(name)
    return [
        {
            "code": code,
            "text": f"{LOOKS[code].glyph} {page.words.name(code) if page.words.by_name else LOOKS[code].word}",
            "title": page.words.label(code),
            "number": getattr(counts, code.lower()),
            "fill": LOOKS[code].colour.fill,
            "ink": LOOKS[code].colour.ink,
        }
        for code in DECISIONS
    ]


def _part(part: StepPart) -> dict[str, Any]:
    return {"kind": part.kind, "gains": part.gains, "spans": part.spans, "f1": float(part.f1)}


def _examples(page: PageContext, scores: Scores, step: Step, part: StepPart) -> list[dict[str, Any]]:
    """Return some records of a part in their text, each with its decisions under the step above and under this one."""
    if scores.gold.documents.sizes is not None:
        return []
    decisions = [scores.decisions(name)[0] for name in (step.above, step.criterion)]
    examples = []
    for gold in varied_spans(scores.layers(step.criterion)[0], part.first, EXAMPLES):
        (example,) = record_examples(scores, step.criterion, "gold", [gold])
        words = [_decision_text(codes[gold]) for codes in decisions]
        examples.append(example._asdict() | {"decisions": words})
    return examples


def _decision_text(code: np.uint8) -> str:
    name = Decision(int(code)).name
    return f"{LOOKS[name].glyph} {name}"


def _follow(page: PageContext, _: Event, event: Event) -> None:
    """Do what the reader asked for in the ladder: open a step, or go to the records of what was clicked."""
    act = event["act"]
    if act == "scorer":
        state.go(navigation.pages()["Overview"], replace(state.view(), criterion=str(event["name"]), overview_tab=""))
    step = next((step for step in steps_of(page) if step.criterion == event["step"]), None)
    if step is not None and act == "open":
        state.put(replace(state.view(), step=step.criterion))
        state.write_address()
    elif step is not None:
        # Its decisions are those under its own criterion.
        is_own = event["act"] == "decision" or not step.above
        view = page.view if not is_own and listed_under(page, step) == page.by else page.view.under(step.criterion)
        view = view_of(view, _query(page, step, event))
        if act == "record":
            view = replace(view, doc=str(event["doc"]), record=str(event["record"]))
        state.go(navigation.pages()["Inspect"], replace(view, inspect_tab="records"))


def _query(page: PageContext, step: Step, event: Event) -> Query:
    """Return the query behind what was clicked: a step, a part of it, or a decision."""
    if event["act"] == "decision":
        return overall_query(str(event["code"])) or Query(decision=ERRORS)
    if event["act"] == "part":
        above = str(event["against"])
        parts = step.parts if above == step.above else _between(page, above, step.criterion).parts
        for part in parts:
            if part.kind == event["kind"] and part.gains == bool(event["gains"]):
                return part.query(above, step.criterion)
    return step.query() if step.above else Query(decision=ERRORS)
