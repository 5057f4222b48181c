"""Ratios as formulas with their counts, and the queries behind these. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nereval_core.records.queries import Query, Side, side_query
from nereval_core.report.score_tables import undefined_words
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring import Counts
from nereval_core.scoring.averages import Average
from nereval_core.tables import RATIO_KEYS
from nereval_core.tables.glossary import DECISIONS, GLOSSARY

SIDES: tuple[Side, Side] = ("gold", "pred")
_SIDED: Mapping[Side, tuple[str, ...]] = {
    "gold": ("COR", "INC", "PAR", "MIS", "POS"),
    "pred": ("COR", "INC", "PAR", "SPU", "ACT"),
}


@dataclass(frozen=True)
class Formula:
    """A ratio with its counts: `text` is the calculation, `counts` are (label, count, query) of its terms."""

    text: str
    counts: tuple[tuple[str, int, Query], ...]


def formula(ratio: str, counts: Counts, kind: str | None = None, words: LayerWords = GOLD_AND_PREDICTION) -> Formula:
    """Return the formula of a ratio from counts, of a type where `kind` names one.

    A type's precision counts its predictions and its recall its gold spans; its F1 is 2PR / (P + R) of the two.
    Its slot error rate counts gold spans, and predictions that are spurious.
    """
    value = {"P": counts.precision, "R": counts.recall, "F1": counts.f1, "SER": counts.ser}[ratio]
    result = number(value)
    if ratio == "SER":
        used = (
            *_terms("gold", counts, ("INC", "PAR", "MIS"), kind, words),
            *_terms("pred", counts, ("SPU",), kind, words),
        )
        used += _terms("gold", counts, ("POS",), kind, words)
        inc, par, mis, spu, pos = (count for _, count, _ in used)
        calculation = f"{GLOSSARY[ratio].formula} = ({inc} + 0.5 × {par} + {mis} + {spu}) / {pos}"
        return Formula(f"{ratio} = {calculation} = {result}", used)
    gold = _terms("gold", counts, ("COR", "PAR", "POS"), kind, words)
    pred = _terms("pred", counts, ("COR", "PAR", "ACT"), kind, words)
    if ratio == "P" or ratio == "R":
        used = pred if ratio == "P" else gold
        cor, par, whole = (count for _, count, _ in used)
        calculation = f"{GLOSSARY[ratio].formula} = ({cor} + 0.5 × {par}) / {whole}"
        return Formula(f"{ratio} = {calculation} = {result}", used)
    if counts.cor is not None and counts.par is not None:
        calculation = f"2 × ({counts.cor} + 0.5 × {counts.par}) / ({counts.pos} + {counts.act})"
        used = (*gold, pred[-1]) if kind is None else (*gold, *pred)
        return Formula(f"F1 = {GLOSSARY['F1'].formula} = {calculation} = {result}", used)
    p, r = number(counts.precision), number(counts.recall)
    return Formula(f"F1 = 2 × P × R / (P + R) = 2 × {p} × {r} / ({p} + {r}) = {result}", (*gold, *pred))


def side_counts(side: Side, counts: Counts, words: LayerWords) -> tuple[tuple[str, int, Query], ...]:
    """Return (label, count, query) of one side's spans and of each of their decisions."""
    values = _values(side, counts)
    codes = (*_SIDED[side][-1:], *_SIDED[side][:-1])
    queries = {code: query for code in codes if (query := side_query(side, code)) is not None}
    return tuple((words.label(code), values[code], query) for code, query in queries.items())


def _values(side: Side, counts: Counts) -> dict[str, int]:
    """Return the counts of one side by code."""
    row, whole = (counts.gold, counts.pos) if side == "gold" else (counts.pred, counts.act)
    return dict(zip(DECISIONS, row, strict=True)) | {"POS": whole, "ACT": whole}


def _terms(
    side: Side, counts: Counts, codes: Sequence[str], kind: str | None, words: LayerWords
) -> tuple[tuple[str, int, Query], ...]:
    prefix = "" if kind is None else ("gold " if side == "gold" else "predicted ")
    if words.by_name and kind is not None:
        prefix = f"{words.side(side)}: "
    values = _values(side, counts)
    terms = []
    for code in codes:
        query = side_query(side, code, kind)
        assert query is not None, "each is a count"
        terms.append((f"{prefix}{words.label(code)}", values[code], query))
    return tuple(terms)


def number(value: float | None) -> str:
    """Return a ratio as shown: three places, an en dash where it is undefined."""
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def mean_formula(ratio: str, members: Iterable[Counts], average: Average, unit: str) -> str:
    """Return the formula of a macro average from its members' ratios; of long sums the first `members` will do."""
    if average.value is None:
        return f"{ratio} is undefined for every one of the {average.undefined} {unit}"
    values = [value for counts in members if (value := getattr(counts, RATIO_KEYS[ratio])) is not None][:_TERMS_SHOWN]
    terms = " + ".join(map(number, values)) + (" + …" if len(values) < average.n else "")
    return f"{ratio} = ({terms}) / {average.n} {unit} = {number(average.value)}" + undefined_words(average.undefined)


_TERMS_SHOWN = 12


def reconciles(
    counts: Counts, gold: int, predicted: int, words: LayerWords = GOLD_AND_PREDICTION
) -> tuple[tuple[bool, str], tuple[bool, str]]:
    """Tell of each side whether its decisions add up to the spans of its layer, and say it as a sum."""
    rows: dict[Side, tuple[int, ...]] = {"gold": counts.gold[:4], "pred": (*counts.pred[:3], counts.spu)}
    sums = {
        side: " + ".join(
            f"{words.name(code) if words.by_name else code} {value:,}"
            for code, value in zip(_SIDED[side], row, strict=False)
        )
        for side, row in rows.items()
    }
    return (
        (counts.pos == gold, f"{words.reference} {gold:,} = {sums['gold']}"),
        (counts.act == predicted, f"{words.other}{'' if words.by_name else 's'} {predicted:,} = {sums['pred']}"),
    )
