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
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerOption,
    ScorerSteps,
    read_layers,
    same_layers,
)
from nereval_core.conventions.faireval.figures import (
    CONFUSIONS,
    COUNTS,
    GOLD,
    HALVES,
    NOTHING,
    PAPER,
    RATIOS,
    WHOLE,
    figures,
    part_weights,
    printout,
    weights_of,
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
    PairedSides,
    TokenSpans,
    is_filler,
    token_keys,
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
    UnitColumns,
    at,
    joined_records,
    other_units,
    record_frame,
    scope_of_type,
)
from nereval_core.corpus.arrays import Array, Int64

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


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans as the traditional and as the fair evaluation does.

    Raises:
        FormatError: spans that do not fit the tokens, weights that are no formulas.
    """
    weights_of(options["weights"])
    return match_paired(layers, PairedSides.of_layers(layers.gold, layers.pred), options)


def match_paired(layers: LayerPair, paired: PairedSides, options: Options) -> MatchedSides:
    """Return the match of sides whose spans are paired already."""
    gold, pred, types, matches = paired
    fillers = [np.flatnonzero(is_filler(side.kind, types)) for side in (gold, pred)]
    rows = {"traditional": _traditional(gold, pred, types), "fair": _fair(matches, fillers)}
    rows["weighted"] = rows["fair"]
    kinds = {}
    for name, each in rows.items():
        by_pred = each.gold < 0
        if options["focus"] == "system" and name != "traditional":
            by_pred |= np.isin(each.reason, (LE, LBE))
        kinds[name] = np.where(by_pred, at(pred.kind, each.pred), at(gold.kind, each.gold))
    added = {name: _contributions(each, COUNTS[name]) for name, each in rows.items()}
    names = [scope_of_type(name) for name in types]

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
        name: _by_label(kinds[name], added[name], types) for name in ("traditional", "fair")
    }
    order = gold.kind[np.sort(np.unique(gold.kind, return_index=True)[1])].tolist()
    sizes = np.bincount(gold.kind, minlength=len(types)).tolist()
    tables[GOLD] = {types[kind]: (sizes[kind],) for kind in order if types[kind] not in FILLERS}
    tables[CONFUSIONS] = _confusions(matches, gold.kind, pred.kind, types)
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
        forms={"csv": printout},
        ratios=RATIOS,
        parts={
            "traditional": part_weights(WHOLE),
            "fair": part_weights(WHOLE | HALVES),
            "weighted": part_weights(weights_of(PAPER)),
        },
        other_formulas={
            "fair/Prec": "TP / (TP + FP + (LE + BE + LBE) × 0.5)",
            "fair/Rec": "TP / (TP + FN + (LE + BE + LBE) × 0.5)",
            "weighted/Prec": "weighted TP / (weighted TP + weighted FP)",
            "weighted/Rec": "weighted TP / (weighted TP + weighted FN)",
        },
    ),
)
