"""Annotators of whom not all saw all documents: published examples, another program's alphas, and the formulas."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core as nereval
from nereval_core.analysis.agreement import Agreement
from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from tests.support import FIXTURES
from tests.support.draws import draws
from tests.support.krippendorff_values import MISSING

Spans = Sequence[tuple[int, int, str]]
TEXTS = ("aaaaaaaa", "bbbb bbbb", "cc cc", "d")
VALUES = json.loads((FIXTURES / "krippendorff-0.9.0.json").read_text())["cases"]


def annotator(documents: Mapping[str, tuple[str, Spans]]) -> Layer:
    """Return the layer of an annotator who saw these documents: text and spans by id."""
    builder = Builder("made")
    for name, (text, spans) in documents.items():
        builder.document(name, text)
        for span in spans:
            builder.span(*span)
    return builder.finish("made")


def pairwise(annotators: Sequence[Mapping[str, tuple[str, Spans]]]) -> Agreement:
    layers = {f"annotator-{number}": annotator(one) for number, one in enumerate(annotators)}
    return nereval.agreement(layers, documents="pairwise", resamples=100)


def value(found: Agreement, figure: str, kind: str | None = None) -> float:
    rows = found.rows(found.everyone)
    rows = rows[rows["figure"].eq(figure) & (rows["type"].isna() if kind is None else rows["type"].eq(kind))]
    return float(rows["value"].iloc[0])


@pytest.mark.filterwarnings("ignore:.*no type is one of gold")
@pytest.mark.parametrize("case", VALUES, ids=[case["name"] for case in VALUES])
def test_alpha_is_that_of_krippendorffs_package(case: dict[str, object]) -> None:
    """A unit is a document of one token; an annotator without a value has not the document."""
    rows = [
        {f"u{at}": ("x", [(0, 1, kind)]) for at, kind in enumerate(row) if kind != MISSING}
        for row in case["rows"]  # type: ignore[attr-defined]
    ]
    assert value(pairwise(rows), "alpha") == pytest.approx(case["alpha"], abs=1e-9)


def test_published_alphas() -> None:
    """Krippendorff 2011, example C, nominal: .743; the three coders and fifteen units of the package's README: .691."""
    assert [round(case["alpha"], 3) for case in VALUES[:2]] == [0.743, 0.691]


@st.composite
def partly_seen(draw: st.DrawFn) -> list[dict[str, tuple[str, Spans]]]:
    """Draw what three or four annotators mark, without overlaps, in the TEXTS that each saw: at least the first."""
    every = []
    for _ in range(draw(st.integers(3, 4))):
        mine: dict[str, tuple[str, Spans]] = {}
        for number, text in enumerate(TEXTS):
            if number and draw(st.booleans()):
                continue
            edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=4)))
            spans = [(*pair, "X") for pair in zip(edges[::2], edges[1::2], strict=False)]
            mine[f"d{number}"] = (text, spans)
        every.append(mine)
    return every


def sections(text: str, spans: Spans) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return units and gaps as start and end."""
    edges = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(text)]
    gaps = [(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high]
    return [(start, end) for start, end, _ in spans], gaps


def unitizing_by_definition(every: Sequence[Mapping[str, tuple[str, Spans]]]) -> float:
    """Return unitizing alpha with missing values, as the module's docstring has it, document by document."""
    apart, seen, units, gaps = 0.0, 0, [], []
    for number, text in enumerate(TEXTS):
        here = [sections(*mine[f"d{number}"]) for mine in every if f"d{number}" in mine]
        if len(here) < 2:
            continue
        seen += len(here) * len(text)
        for one, other in combinations(here, 2):
            distance = 0
            for (some, _), (others, _) in ((one, other), (other, one)):
                for start, end in some:
                    met = [(low, high) for low, high in others if low < end and start < high]
                    distance += sum((start - low) ** 2 + (end - high) ** 2 for low, high in met)
                    distance += 0 if met else 2 * (end - start) ** 2
            # Pairs of units were met from both sides, and lone units counted twice.
            apart += distance / 2 * 2 / (len(here) - 1)
        units += [end - start for some, _ in here for start, end in some]
        gaps += [end - start for _, some in here for start, end in some]
    above = (len(units) - 1) / 3 * sum(n * (n - 1) * (2 * n - 1) for n in units)
    above += sum(n**2 * (gap - n + 1) for n in units for gap in gaps if gap >= n)
    below = seen * (seen - 1) - sum(n * (n - 1) for n in units)
    return 1 - (apart / seen) / (2 * above / below) if units and above else float("nan")


@draws(6)
@given(partly_seen())
def test_unitizing_with_missing_values_is_what_the_formulas_say(every: list[dict[str, tuple[str, Spans]]]) -> None:
    found = pairwise(every)
    rows = found.rows(None)
    if rows["figure"].eq("unitizing").any():
        assert value(found, "unitizing") == pytest.approx(unitizing_by_definition(every), nan_ok=True)


@draws(6)
@given(partly_seen())
def test_alphas_with_nothing_missing_are_the_plain_ones(every: list[dict[str, tuple[str, Spans]]]) -> None:
    whole = [{name: mine.get(name, (TEXTS[int(name[1:])], [])) for name in ("d0", "d1", "d2", "d3")} for mine in every]
    layers = {f"annotator-{number}": annotator(one) for number, one in enumerate(whole)}
    found = {way: nereval.agreement(layers, documents=way, resamples=100) for way in ("same", "pairwise")}
    # Ends of intervals are left out: with so few documents a rounding error moves them to the next value.
    keys = ["figure", "type", "value", "undefined", "n", "documents", "why"]
    plain, missing = (
        one.rows(None)[keys].query("figure in ('alpha', 'unitizing')").sort_values(["figure", "type"])
        for one in found.values()
    )
    pd.testing.assert_frame_equal(plain.reset_index(drop=True), missing.reset_index(drop=True))


def test_a_document_without_spans_was_seen_and_a_missing_one_was_not() -> None:
    text, span = "a b c", [(0, 1, "X")]
    empty = pairwise([{"d0": (text, span), "d1": (text, span)}] * 2 + [{"d0": (text, span), "d1": (text, [])}])
    away = pairwise([{"d0": (text, span), "d1": (text, span)}] * 2 + [{"d0": (text, span)}])
    assert value(away, "alpha") == 1 and value(away, "unitizing") == 1
    assert value(empty, "alpha") < 1 and value(empty, "unitizing") < 1
    rows = away.rows(None).query("type.isna()").set_index("figure")
    assert rows.loc["alpha", "documents"] == 2 and np.isnan(rows.loc["kappa", "value"])
    assert rows.loc["kappa", "why"] == "not all saw all documents, which Fleiss' kappa asks for"
