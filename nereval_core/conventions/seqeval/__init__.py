"""seqeval 1.2.2: classification_report and accuracy_score, in default mode and in strict mode.

An entity is right where the other side has the same tokens and type. Ratios are fractions; a zero denominator gives 0
(or 1 by zero_division), which counts in the macro average. The weighted average weighs by gold entities.
Strict without a scheme takes the one that it detects in gold: IOB2, IOE2, IOBES or BILOU.
Source: seqeval 1.2.2 (Nakayama 2018), https://github.com/chakki-works/seqeval.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerOption,
    ScorerSteps,
    TagPair,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, Tables, figure_rows
from nereval_core.conventions.records import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    DecisionCounts,
    Evaluation,
    MatchRows,
    SharedTypes,
    UnitColumns,
    add_decisions,
    scope_of_type,
)
from nereval_core.conventions.seqeval.entities import (
    LETTERS,
    OTHER,
    SCHEMES,
    ParsedTags,
    default_entities,
    detect_scheme,
    parse_tags,
    strict_entities,
)
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    chunk_matches,
    in_scheme,
    number_tags,
    read_tags,
    refuse_tags,
    tags_of_layers,
    token_records,
)
from nereval_core.corpus.arrays import Array, Int32, Int64
from nereval_core.problems import FormatError, quoted
from nereval_core.readers.shared.token_tags import Tagged

ENTITIES, ACCURACY = "entities", "accuracy"
BY_TYPE, TOKENS = "types", "tokens"
AVERAGES = ("micro avg", "macro avg", "weighted avg")
EVALUATION = Evaluation(
    reasons=(
        "the same tokens and type on the other side",
        "no entity of the same tokens and type on the other side",
        "malformed in the scheme: dropped",
    ),
    counters={"support": (COR, MIS), "pred_sum": (COR, SPU), "tp_sum": (COR,)},
    by_type=True,
)
DROPPED = 2
RATIOS = RatioNames(
    precision="precision", recall="recall", f1="f1-score", correct="tp_sum", gold="support", pred="pred_sum"
)
RATIO_NAMES = (RATIOS.precision, RATIOS.recall, RATIOS.f1)


def from_layers(layers: LayerPair, options: Options, *, strict: bool) -> TagPair:
    """Return the tags that say layers, in the scheme asked for."""
    scheme = options.get("scheme") or "IOB2"
    tags = TagPair(*(in_scheme(side, scheme) for side in tags_of_layers(layers, name_of(strict))))
    if not options["suffix"]:
        return tags
    return TagPair(*(replace(side, tags=["-".join(reversed(tag.split("-", 1))) for tag in side.tags]) for side in tags))


def match(tags: TagPair, options: Options, *, strict: bool) -> MatchedSides:
    """Match entities over the same tokens.

    Raises:
        FormatError: where seqeval stops.
    """
    numbers, names = number_tags(tags.gold.tags, tags.pred.tags)
    refuse_tags(tags, numbers, names, {"": "an empty tag, at which seqeval stops with an IndexError"})
    parsed = parse_tags(names, suffix=options["suffix"], strict=strict)
    scheme = None
    if strict:
        scheme = options["scheme"] or _detected(tags.gold, parsed.letter[np.unique(numbers[0])])
        allowed = [LETTERS.index(letter) for letter in SCHEMES[scheme].letters]
        finding = f"not a tag of {scheme}, at which seqeval stops with"
        wrong = {
            name: f"{quoted(name)} is {finding} a {'KeyError' if letter == OTHER else 'ValueError'}"
            for name, letter in zip(names, parsed.letter.tolist(), strict=False)
            if letter not in allowed
        }
        refuse_tags(tags, numbers, names, wrong)
    gold, pred, rows = match_entities(numbers, tags.gold.sentences, parsed, scheme)
    same_tag = numbers[0] == numbers[1]

    def records(evaluation: str) -> pd.DataFrame:
        if evaluation == ACCURACY:
            return token_records(ACCURACY, *tags, {"tokens": np.ones(len(same_tag), bool), "correct": same_tag})
        units = [_units(tags.gold, side, own, parsed.types) for side, own in zip((gold, pred), tags, strict=True)]
        return EVALUATION.records(ENTITIES, units, _with_dropped(rows, gold, pred))

    tables: Tables = {
        BY_TYPE: decisions_by_type(gold, pred, rows, parsed),
        TOKENS: {"all": (len(same_tag), int(np.count_nonzero(same_tag)))},
    }
    matched = MatchedSides.of_tags(tags, len(gold), len(pred), tables, records)
    return replace(matched, options={**options, "scheme": scheme}) if strict else matched


def match_entities(
    numbers: Sequence[Int32], sentences: Int64, parsed: ParsedTags, scheme: str | None
) -> tuple[TagChunks, TagChunks, MatchRows]:
    """Return the entities of both sides, in strict mode where a scheme is named, and how they match."""
    gold, pred = (
        default_entities(side, sentences, parsed)
        if scheme is None
        else strict_entities(side, sentences, parsed, scheme)
        for side in numbers
    )
    return gold, pred, chunk_matches(gold, pred, len(numbers[0]))


def decisions_by_type(
    gold: TagChunks, pred: TagChunks, rows: MatchRows, parsed: ParsedTags
) -> dict[str, DecisionCounts]:
    return rows.decisions_by_type(SharedTypes(parsed.types, gold.kind, pred.kind))


def _detected(gold: Tagged, letters: Array) -> str:
    """Return the scheme that seqeval detects in gold.

    Raises:
        FormatError: it knows none.
    """
    text = "".join(letter for code, letter in enumerate((*LETTERS, "?", "?")) if code in set(letters.tolist()))
    scheme = detect_scheme(text)
    if scheme is None:
        schemes = ", ".join(SCHEMES)
        finding = (
            f"tags of the letters {', '.join(text)} show no scheme that seqeval detects: it stops with a ValueError"
        )
        raise FormatError.single(gold.source, None, finding, f"name the scheme: --scheme {schemes}")
    return scheme


def _with_dropped(rows: MatchRows, gold: TagChunks, pred: TagChunks) -> MatchRows:
    """Return rows with those of dropped chunks, which stand behind the entities of their side."""
    n_gold, n_pred = len(gold.dropped[0]), len(pred.dropped[0])
    return MatchRows(
        np.concatenate((rows.gold, np.arange(len(gold), len(gold) + n_gold), np.full(n_pred, -1))),
        np.concatenate((rows.pred, np.full(n_gold, -1), np.arange(len(pred), len(pred) + n_pred))),
        np.concatenate((rows.decision, np.full(n_gold + n_pred, IGN))),
        np.concatenate((rows.reason, np.full(n_gold + n_pred, DROPPED))),
    )


def _units(gold: Tagged, side: TagChunks, tags: Tagged, types: tuple[str, ...]) -> UnitColumns:
    """Return entities, then dropped chunks, which have the tag of their first token as their type."""
    first, last = (np.concatenate(pair) for pair in ((side.first, side.dropped[0]), (side.last, side.dropped[1])))
    # An entity that reaches over the end of a document is shown from the beginning of the one in which it ends.
    first = np.maximum(first, gold.tokens.first[gold.doc[last]])
    codes = {name: code for code, name in enumerate(types)}
    kinds = [codes.setdefault(tags.tags[token], len(codes)) for token in side.dropped[0].tolist()]
    kind = np.concatenate((side.kind, np.array(kinds, np.int64)))
    return UnitColumns.of_tokens(gold, first, last, kind, tuple(codes))


def name_of(strict: bool) -> str:
    return "seqeval-strict" if strict else "seqeval"


def figures(counts: CountTables, options: Options) -> Figures:
    """Return the figures; without any entity they are those of classification_report with output_dict."""
    by_type = dict(sorted(counts.rows(BY_TYPE).items()))
    table = {name: EVALUATION.counts(row) for name, row in by_type.items()}
    columns = np.array([list(row.values()) for row in table.values()], np.int64).reshape(-1, 3).T
    table[AVERAGES[0]] = EVALUATION.counts(add_decisions(by_type.values()))
    support, pred_sum, tp_sum = columns
    report = _report(list(by_type), support, pred_sum, tp_sum, options["zero_division"])
    rows: list[FigureRow] = []
    for name, section in report.items():
        # The micro average is of all types together; the other averages are over types, and count nothing.
        scope = OVERALL if name == AVERAGES[0] else scope_of_type(name)
        ratios = {ratio: value for ratio, value in section.items() if ratio != "support"}
        rows += figure_rows(ENTITIES, {scope: ratios | table.get(name, {})}, EVALUATION.counters)
    n_tokens, n_same = counts.rows(TOKENS)["all"]
    tokens = {"tokens": n_tokens, "correct": n_same, "accuracy_score": n_same / n_tokens}
    rows += figure_rows(ACCURACY, {OVERALL: tokens}, ("tokens", "correct"))
    scores = {
        "classification_report": report,
        "accuracy_score": tokens["accuracy_score"],
        "tokens": tokens,
        "counts": table,
    }
    return Figures(scores, rows)


def _report(
    types: list[str], support: Array, pred_sum: Array, tp_sum: Array, zero_division: str
) -> dict[str, dict[str, float | None]]:
    """Return classification_report's dictionary; the macro average of no type, which is NaN there, is None."""
    undefined = 1.0 if zero_division == "1" else 0.0
    columns = _ratios(tp_sum, pred_sum, support, undefined=undefined)
    report: dict[str, dict[str, float | None]] = {}
    for number, name in enumerate(types):
        report[name] = {ratio: float(column[number]) for ratio, column in zip(RATIO_NAMES, columns, strict=True)}
        report[name]["support"] = int(support[number])
    sums = (np.array([column.sum()]) for column in (tp_sum, pred_sum, support))
    averages: list[list[float | None]] = [[float(column[0]) for column in _ratios(*sums, undefined=undefined)]]
    averages.append([float(np.average(column)) if types else None for column in columns])
    if support.sum():
        averages.append([float(np.average(column, weights=support)) for column in columns])
    else:
        value = 0.0 if pred_sum.sum() else undefined
        averages.append([value, undefined, value])
    for name, values in zip(AVERAGES, averages, strict=True):
        report[name] = dict(zip(RATIO_NAMES, values, strict=True)) | {"support": int(support.sum())}
    return report


def _ratios(correct: Array, pred: Array, gold: Array, *, undefined: float) -> tuple[Array, Array, Array]:
    """Return precision, recall and F1 in the order of operations that gives seqeval's last digits."""
    precision, recall = (
        np.where(whole == 0, undefined, correct / np.where(whole == 0, 1, whole)) for whole in (pred, gold)
    )
    both = precision + recall
    return precision, recall, 2.0 * precision * recall / np.where(both == 0, 1.0, both)


def text(outcome: Outcome) -> str:
    """Return classification_report's text.

    Raises:
        FormatError: there is no entity, where the report stops.
    """
    report, digits = outcome.scores["classification_report"], outcome.options["digits"]
    types = [name for name in report if name not in AVERAGES]
    if not types:
        finding = (
            "no entity is left on either side: the text of seqeval's classification_report stops with a ValueError"
        )
        raise FormatError.single(outcome.convention, None, finding, "take the JSON, or give at least one entity")
    width = max(*map(len, types), len(AVERAGES[-1]), digits)
    lines = [" " * width + " " + "".join(f" {name:>9}" for name in (*RATIO_NAMES, "support")), ""]
    for names in (types, AVERAGES):
        for name in names:
            ratios = "".join(f" {report[name][ratio]:>9.{digits}f}" for ratio in RATIO_NAMES)
            lines.append(f"{name:>{width}} {ratios} {report[name]['support']:>9}")
        lines.append("")
    return "\n".join(lines)


def as_json(outcome: Outcome) -> str:
    """Return the JSON of classification_report with output_dict."""
    return json.dumps(outcome.scores["classification_report"], ensure_ascii=False, indent=1) + "\n"


OPTIONS = (
    ScorerOption("suffix", "the letter stands behind the type (PER-B)", "flag", False),
    ScorerOption("zero_division", "the value of 0/0: warn and 0 give 0", choices=("warn", "0", "1"), default="warn"),
    ScorerOption("digits", "digits after the point in the text", "integer", 2, least=0, most=99),
)
SCHEME = ScorerOption(
    "scheme", "the tag scheme; without it the one detected in gold", choices=tuple(SCHEMES), shared=True
)
CONVENTIONS = tuple(
    Convention(
        name=name_of(strict),
        family="tag sequences",
        sentence=sentence,
        needs=needs,
        source=source,
        steps=ScorerSteps(read_tags, partial(from_layers, strict=strict), partial(match, strict=strict)),
        figures=figures,
        not_by_shards=not_by_shards,
        formats=("conll",),
        options=options,
        twins={ENTITIES: "strict"},
        forms={"text": text, "json": as_json},
        ratios=RATIOS,
        other_formulas={"accuracy_score": "correct / tokens"},
    )
    for strict, sentence, needs, source, not_by_shards, options in (
        (
            False,
            "seqeval's report in default mode: as conlleval on IOB tags; knows S, but not L or U.",
            "one tag a token on both sides",
            "seqeval 1.2.2 (Nakayama 2018)",
            "",
            OPTIONS,
        ),
        (
            True,
            "seqeval's report in strict mode: what is malformed in the scheme is dropped, in gold too.",
            "one tag a token on both sides, of letters that the scheme allows",
            "seqeval 1.2.2 (Nakayama 2018), mode strict",
            "it takes its scheme from the tags of all of gold",
            (SCHEME, *OPTIONS),
        ),
    )
)
