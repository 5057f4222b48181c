"""FairEval: every error is counted once, as one of label, of boundary, or of both (Ortmann 2022).

`traditional` counts equal spans: every gold span with an equal prediction is right, every span without an equal one is
wrong, so that a prediction equal to a right one costs nothing. `fair` pairs spans one by one:

1. TP: equal label, first and last token, and tokens. 2. LE: equal first and last token, another label; gold spans take
the first such prediction in the order of the file.
3. BE: the same label, first or last token differ, and the hulls share a token. First gold spans, short ones first, each
take the prediction left over with most shared tokens (then the fewest tokens of gold left out, the fewest taken in, the
shorter, the first). The two lose the tokens that they share. Then gold spans left over take likewise a prediction that
is in a boundary error already and still has tokens of theirs, then predictions such gold spans. A span may so be in
several errors, and one that shares no token which is left with a paired span is FN or FP, though it overlaps.
4. LBE: the same three steps with another label, after all BE; spans of BE take part in the last two of them.
5. FN and FP: what is left over.

BE is BES where the prediction lies in the gold span, BEL where it holds it, BEO else. P is TP / (TP + FP) and R is
TP / (TP + FN) with LE, BE and LBE as half of each; `weighted` takes other weights, by default those of the paper.
An LE or LBE is counted for gold's label, with `focus system` for the prediction's. Tokens are gold's; in documents
without tokens characters stand for them. Labels EMPTY and NONE, which fill sentences of its files, are left out.
Source: FairEval.py of github.com/katrinortmann/FairEval a6172f2, and Ortmann (2022).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    PartWeights,
    ScorerOption,
    ScorerSteps,
    read_layers,
    same_layers,
)
from nereval_core.conventions.faireval.matching import (
    BEL,
    BEO,
    BES,
    CLASSES,
    FILLERS,
    FN,
    FP,
    LBE,
    LE,
    TP,
    FairMatches,
    TokenSpans,
    fair_matches,
    is_filler,
    token_keys,
)
from nereval_core.conventions.outcome import (
    CountTables,
    FigureRow,
    Figures,
    Outcome,
    RatioNames,
    figure_rows,
    harmonic_mean,
)
from nereval_core.conventions.records import (
    COR,
    IGN,
    INC,
    MIS,
    OVERALL,
    PAR,
    SPU,
    MatchRows,
    SharedTypes,
    UnitColumns,
    at,
    joined_records,
    other_units,
    record_frame,
    scope_of_type,
)
from nereval_core.corpus.arrays import Array, Int64
from nereval_core.problems import FormatError, quoted

DECISION_OF = np.array([COR, INC, PAR, PAR, PAR, INC, MIS, SPU, IGN])
REASONS = (
    "equal label and tokens",
    "equal tokens, another label",
    "the same label, smaller than the gold span",
    "the same label, larger than the gold span",
    "the same label, overlaps the gold span",
    "another label, overlaps the gold span",
    "no prediction is left for it",
    "no gold span is left for it",
    "equals a gold span: left out",
    "fills a sentence of the program's files: left out",
)
REPEATED, FILLER = len(CLASSES), len(CLASSES) + 1
COUNTS = {"traditional": ("TP", "FP", "FN")} | dict.fromkeys(
    ("fair", "weighted"), ("TP", "FP", "LE", "BE", "LBE", "FN", "BES", "BEL", "BEO")
)
"""The counts of each evaluation, in the order of the printout."""
HALVES = {"LE": (0.0, 0.5, 0.5), "BE": (0.0, 0.5, 0.5), "LBE": (0.0, 0.5, 0.5)}
WHOLE = {"TP": (1.0, 0.0, 0.0), "FP": (0.0, 1.0, 0.0), "FN": (0.0, 0.0, 1.0)}
"""What a class of errors counts as TP, FP and FN."""
PAPER = "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN, BEL = 0.5 TP + 0.5 FP, BEO = 0.5 TP + 0.25 FP + 0.25 FN, "
PAPER += "LBE = 0.5 FP + 0.5 FN"
RATIOS = RatioNames(precision="Prec", recall="Rec", f1="F1", correct="TP", fp="FP", fn="FN")
GOLD, CONFUSIONS = "gold", "conf"
NOTHING = "_"
"""The label that the confusion matrix gives to no span."""

Weights = Mapping[str, tuple[float, float, float]]


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans as the traditional and as the fair evaluation does.

    Raises:
        FormatError: spans that do not fit the tokens, weights that are no formulas.
    """
    _weights(options["weights"])
    shared = SharedTypes.of_layers(layers.gold, layers.pred)
    gold, pred = (
        TokenSpans.of_layer(layer, kind) for layer, kind in ((layers.gold, shared.gold), (layers.pred, shared.pred))
    )
    matches = fair_matches(gold, pred, shared.types)
    fillers = [np.flatnonzero(is_filler(side.kind, shared.types)) for side in (gold, pred)]
    rows = {"traditional": _traditional(gold, pred, shared.types), "fair": _fair(matches, fillers)}
    rows["weighted"] = rows["fair"]
    kinds = {}
    for name, each in rows.items():
        by_pred = each.gold < 0
        if options["focus"] == "system" and name != "traditional":
            by_pred |= np.isin(each.reason, (LE, LBE))
        kinds[name] = np.where(by_pred, at(pred.kind, each.pred), at(gold.kind, each.gold))
    added = {name: _contributions(each, COUNTS[name]) for name, each in rows.items()}
    names = [scope_of_type(name) for name in shared.types]

    def records(evaluation: str) -> pd.DataFrame:
        units = UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)
        scopes: tuple[tuple[Array, Sequence[str]] | str, ...] = (OVERALL, (kinds[evaluation], names))
        return joined_records(
            [
                record_frame(evaluation, units[0], units[1], rows[evaluation], REASONS, added[evaluation], scope=scope)
                for scope in scopes
            ]
        )

    tables: dict[str, dict[str, tuple[int, ...]]] = {
        name: _by_label(kinds[name], added[name], shared.types) for name in ("traditional", "fair")
    }
    order = gold.kind[np.sort(np.unique(gold.kind, return_index=True)[1])].tolist()
    sizes = np.bincount(gold.kind, minlength=len(shared.types)).tolist()
    tables[GOLD] = {shared.types[kind]: (sizes[kind],) for kind in order if shared.types[kind] not in FILLERS}
    tables[CONFUSIONS] = _confusions(matches, gold.kind, pred.kind, shared.types)
    return MatchedSides.of_layers(layers, tables, records)


def _by_label(kind: Int64, added: Mapping[str, Array], types: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the counts of each label that either side has."""
    sums = [np.bincount(kind, column, minlength=len(types)).astype(np.int64).tolist() for column in added.values()]
    present = set(kind.tolist())
    return {
        name: tuple(row)
        for code, (name, row) in enumerate(zip(types, zip(*sums, strict=True), strict=True))
        if code in present and name not in FILLERS
    }


def _confusions(
    matches: FairMatches, gold_kind: Int64, pred_kind: Int64, types: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return how often each label of gold met each of the predictions', by both as JSON; right spans do not count."""
    wrong = matches.error != TP
    names = (*types, NOTHING)
    sides = [
        np.where(units >= 0, at(kind, units), len(types))
        for kind, units in ((gold_kind, matches.gold[wrong]), (pred_kind, matches.pred[wrong]))
    ]
    pairs, sizes = np.unique(np.stack(sides), axis=1, return_counts=True)
    table: dict[str, tuple[int, ...]] = {}
    for (g, p), size in zip(pairs.T.tolist(), sizes.tolist(), strict=True):
        key = json.dumps([names[g], names[p]])
        table[key] = (table.get(key, (0,))[0] + size,)
    return table


def _contributions(rows: MatchRows, counts: Sequence[str]) -> dict[str, Array]:
    reasons = {name: (BES, BEL, BEO) if name == "BE" else (CLASSES.index(name),) for name in counts}
    return {name: np.isin(rows.reason, codes).astype(np.int64) for name, codes in reasons.items()}


def _traditional(gold: TokenSpans, pred: TokenSpans, types: Sequence[str]) -> MatchRows:
    """Return the gold spans, each with the first prediction that equals it, then the other predictions."""
    gold_key, pred_key = token_keys(gold, pred)
    distinct, first = np.unique(pred_key, return_index=True)
    slot = np.searchsorted(distinct, gold_key).clip(max=max(len(distinct) - 1, 0))
    equal = at(distinct, slot) == gold_key
    partner = np.where(equal, at(first, slot), -1)
    reason = np.where(equal, TP, FN)
    others = other_units(partner[equal], len(pred_key))
    repeated = np.isin(pred_key[others], gold_key)
    other_reason = np.where(repeated, REPEATED, FP)
    other_reason[is_filler(pred.kind[others], types)] = FILLER
    reason[is_filler(gold.kind, types)] = FILLER
    rows = MatchRows.of_partners(partner, reason, others, other_reason >= REPEATED, other_reason)
    rows.decision[: len(partner)][reason == FILLER] = IGN
    return rows


def _fair(matches: FairMatches, fillers: Sequence[Int64]) -> MatchRows:
    none = [np.full(len(units), -1) for units in fillers]
    reason = np.concatenate((matches.error, np.full(sum(map(len, fillers)), FILLER)))
    return MatchRows(
        np.concatenate((matches.gold, fillers[0], none[1])),
        np.concatenate((matches.pred, none[0], fillers[1])),
        DECISION_OF[np.minimum(reason, len(CLASSES))],
        reason,
    )


def figures(counts: CountTables, options: Options) -> Figures:
    weights = {"traditional": WHOLE, "fair": WHOLE | HALVES, "weighted": _weights(options["weights"])}
    labels = sorted({*counts.rows("traditional"), *counts.rows("fair")})
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    for name, names in COUNTS.items():
        table = counts.rows("traditional" if name == "traditional" else "fair")
        by_label = {label: dict(zip(names, table.get(label, (0,) * len(names)), strict=True)) for label in labels}
        total = {count: sum(row[count] for row in by_label.values()) for count in names}
        overall, *others = ({**row, **_ratios(row, weights[name])} for row in (total, *by_label.values()))
        per_label = dict(zip(labels, others, strict=True))
        scores[name] = {"overall": overall, "per_label": per_label}
        scopes = {OVERALL: overall} | {scope_of_type(label): row for label, row in per_label.items()}
        if name == "weighted":
            scopes = {scope: row | _weighted_counts(row, weights[name]) for scope, row in scopes.items()}
        rows += figure_rows(name, scopes, names)
    conf = {label: dict.fromkeys((*labels, NOTHING), 0) for label in (*labels, NOTHING)}
    for key, (number,) in counts.rows(CONFUSIONS).items():
        g, p = json.loads(key)
        conf[g][p] += number
    scores[CONFUSIONS] = conf
    scores["data_stats"] = {label: number for label, (number,) in counts.rows(GOLD).items()}
    return Figures(scores, rows)


def _ratios(counts: Mapping[str, int], weights: Weights) -> dict[str, float]:
    tp, fp, fn = _weighted_counts(counts, weights).values()
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return {"Prec": precision, "Rec": recall, "F1": harmonic_mean(precision, recall)}


def _weighted_counts(counts: Mapping[str, float], weights: Weights) -> dict[str, float]:
    """Return what errors count as TP, FP and FN."""
    return {
        f"weighted {count}": sum(row[place] * counts.get(name, 0) for name, row in weights.items())
        for place, count in enumerate(WHOLE)
    }


def _weights(text: str) -> Weights:
    """Return the weights of formulas such as `LE = 0.5 FP + 0.5 FN`, and those of TP, FP and FN where none gives them.

    Raises:
        FormatError: a formula of another form.
    """
    if text.strip() == "default":
        return WHOLE | HALVES
    weights: dict[str, tuple[float, float, float]] = {}
    for formula in text.split(","):
        name, is_formula, right = map(str.strip, formula.partition("="))
        if not is_formula or name not in {"BE", *CLASSES}:
            finding = f"{quoted(formula.strip())} is not a class of errors with its weights"
            raise FormatError.single("--weights", None, finding, f"write it as {PAPER}")
        numbers = [re.search(rf"(\d*\.?\d+)\s*\*?\s*{count}\b", right) for count in ("TP", "FP", "FN")]
        tp, fp, fn = (float(number[1]) if number else 0.0 for number in numbers)
        weights[name] = (tp, fp, fn)
    return weights | {name: row for name, row in WHOLE.items() if name not in weights}


def _printed(outcome: Outcome) -> str:
    """Return what the program prints below its settings."""
    scores = outcome.scores
    lines: list[Iterable[Any]] = []
    weighted = list(_weights(outcome.options["weights"]))
    for name, classes in (*((name, COUNTS[name][:6]) for name in ("traditional", "fair")), ("weighted", weighted)):
        lines += [(), (f"### {name.title()} evaluation:",), ("Label", *classes, *RATIO_KEYS)]
        rows = {**scores[name]["per_label"], OVERALL: scores[name]["overall"]}
        lines += [(label, *(row[count] for count in classes), *_percent(row)) for label, row in rows.items()]
    lines += [(), ("### Comparison:",), ("Version", *RATIO_KEYS)]
    lines += [(name.title(), *_percent(scores[name]["overall"])) for name in COUNTS]
    labels = sorted(scores[CONFUSIONS])
    lines += [(), ("### Confusion matrix:",), ("Target\\System", *labels)]
    lines += [(label, *(scores[CONFUSIONS][label][other] for other in labels)) for label in labels]
    total = sum(scores["data_stats"].values())
    lines += [(), ("### Target data stats:",), ("Label", "Freq", "%")]
    lines += [(label, size, f"{100 * size / total:.2f}") for label, size in scores["data_stats"].items()]
    return "\n".join("\t".join(map(str, line)) for line in lines).lstrip("\n") + "\n"


def _parts(weights: Weights) -> PartWeights:
    """Return what each class adds to P and R."""
    right = {name: tp for name, (tp, _, _) in weights.items() if tp}
    gold = {name: tp + fn for name, (tp, _, fn) in weights.items() if tp + fn}
    return PartWeights(right, right, gold, {name: tp + fp for name, (tp, fp, _) in weights.items() if tp + fp})


RATIO_KEYS = ("Prec", "Rec", "F1")


def _percent(row: Mapping[str, float]) -> list[str]:
    return [f"{100 * row[name]:.2f}" for name in RATIO_KEYS]


CONVENTIONS = (
    Convention(
        name="faireval",
        family="error analysis",
        sentence="Every error once: of label, of boundary (smaller, larger, overlapping) or of both; weighted too.",
        needs="spans that fit the tokens, in order",
        source="FairEval.py a6172f2 (Ortmann 2022)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        options=(
            ScorerOption(
                "focus", "the label that LE and LBE count for", default="target", choices=("target", "system")
            ),
            ScorerOption("weights", "what each class counts as TP, FP and FN, or default", default=PAPER),
        ),
        twins={"traditional": "strict"},
        forms={"csv": _printed},
        ratios=RATIOS,
        parts={
            "traditional": _parts(WHOLE),
            "fair": _parts(WHOLE | HALVES),
            "weighted": _parts(_weights(PAPER)),
        },
        other_formulas={
            "fair/Prec": "TP / (TP + FP + (LE + BE + LBE) × 0.5)",
            "fair/Rec": "TP / (TP + FN + (LE + BE + LBE) × 0.5)",
            "weighted/Prec": "weighted TP / (weighted TP + weighted FP)",
            "weighted/Rec": "weighted TP / (weighted TP + weighted FN)",
        },
    ),
)
