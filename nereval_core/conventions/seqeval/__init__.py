"""seqeval 1.2.2: classification_report and accuracy_score, in default mode and in strict mode.

An entity is right where the other side has the same tokens and type. Ratios are fractions; a zero denominator gives 0
(or 1 by zero_division), which counts in the macro average. The weighted average weighs by gold entities.
Strict without a scheme takes the one that it detects in gold: IOB2, IOE2, IOBES or BILOU.
Source: seqeval 1.2.2 (Nakayama 2018), https://github.com/chakki-works/seqeval.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Int32
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.outcome import (
    COR,
    IGN,
    OVERALL,
    Content,
    FigureRow,
    Outcome,
    UnitColumns,
    figures,
    record_frame,
    scope_of_type,
    with_types,
)
from nereval_core.conventions.seqeval.entities import (
    LETTERS,
    OTHER,
    SCHEMES,
    default_entities,
    detect_scheme,
    parse_tags,
    strict_entities,
)
from nereval_core.conventions.shares import NO_DOCUMENTS, ByShares, Share, without_records
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    counts_by_type,
    next_values,
    number_tags,
    previous_values,
    record_rows,
    same_spans,
    token_records,
    untokenized_note,
    with_untokenized,
)
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.shared import tag_schemes
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

ENTITIES, ACCURACY = "entities", "accuracy"
AVERAGES = ("micro avg", "macro avg", "weighted avg")
COUNTS = ("support", "pred_sum", "tp_sum")
RATIOS = ("precision", "recall", "f1-score")
WHY = (
    "the same tokens and type on the other side",
    "no entity of the same tokens and type on the other side",
    "malformed in the scheme: dropped",
)


def score(given: Given, options: Mapping[str, Any], *, strict: bool) -> Outcome:
    """Score the tags of two files, or of two columns of one."""
    return score_tags(*given.read_tags(), options, strict=strict)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, strict: bool) -> Outcome:
    """Score layers by the tags that say them, in the scheme asked for."""
    sides = _sides(gold, pred, options, strict=strict)
    return score_tags(*sides, options, strict=strict)


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Share:
    """Count the entities of a part of a corpus in default mode; a document stands in one part."""
    return with_untokenized(_counted(*_sides(gold, pred, options, strict=False), options, strict=False)[0], gold)


def _sides(gold: Layer, pred: Layer, options: Mapping[str, Any], *, strict: bool) -> tuple[Tagged, Tagged]:
    name = name_of(strict)
    one, two = (in_scheme(tags_of_layer(layer, name), options.get("scheme") or "IOB2") for layer in (gold, pred))
    if options["suffix"]:
        one, two = (
            replace(side, tags=["-".join(reversed(tag.split("-", 1))) for tag in side.tags]) for side in (one, two)
        )
    return one, two


def score_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any], *, strict: bool) -> Outcome:
    """Score tags over the same tokens.

    Counters by type and overall: `support` (gold), `pred_sum` and `tp_sum`.

    Raises:
        FormatError: where seqeval stops.
    """
    share, options, build = _counted(gold, pred, options, strict=strict)
    return replace(of_share(share, options, strict=strict), documents=gold.documents, build=build)


def _counted(
    gold: Tagged, pred: Tagged, options: Mapping[str, Any], *, strict: bool
) -> tuple[Share, Mapping[str, Any], Callable[[str], pd.DataFrame]]:
    """Count tags over the same tokens; return also the options with the scheme, and the function that makes records.

    Tables: `types` has the COUNTS of each type, `tokens` how many there are and how many of the same tag.
    """
    numbers, names = number_tags(gold.tags, pred.tags)
    sides = (gold, numbers[0]), (pred, numbers[1])
    _refuse(sides, names, {"": "an empty tag, at which seqeval stops with an IndexError"})
    parsed = parse_tags(names, suffix=options["suffix"], strict=strict)
    if strict:
        scheme = options["scheme"] or _detected(gold, parsed.letter[np.unique(numbers[0])])
        allowed = [LETTERS.index(letter) for letter in SCHEMES[scheme].letters]
        found = f"not a tag of {scheme}, at which seqeval stops with"
        wrong = {
            name: f"{quoted(name)} is {found} a {'KeyError' if letter == OTHER else 'ValueError'}"
            for name, letter in zip(names, parsed.letter.tolist(), strict=False)
            if letter not in allowed
        }
        _refuse(sides, names, wrong)
        one, two = (strict_entities(side, gold.sentences, parsed, scheme) for side in numbers)
        options = {**options, "scheme": scheme}
    else:
        one, two = (default_entities(side, gold.sentences, parsed) for side in numbers)
    g, p = same_spans(one, two, len(gold))
    types = counts_by_type(parsed.types, one.kind, two.kind, one.kind[g])
    right = int(np.count_nonzero(numbers[0] == numbers[1]))
    share = Share(
        {"types": types, "tokens": {"all": (len(gold), right)}},
        Content.of_tags(gold, len(one.last)),
        Content.of_tags(pred, len(two.last)),
        pred.source,
    )
    return share, options, partial(_records, gold, pred, numbers, (one, two), (g, p), parsed.types)


def in_scheme(iob2: Tagged, name: str) -> Tagged:
    """Return well-formed IOB2 tags in another scheme."""
    (numbers,), names = number_tags(iob2.tags)
    scheme = tag_schemes.scheme_named(name)
    letter = np.array([LETTERS.index(tag[0]) for tag in names], np.int8)[numbers]
    kinds = {tag[2:]: 0 for tag in names}
    kinds = {kind: code for code, kind in enumerate(kinds)}
    kind = np.array([kinds[tag[2:]] for tag in names], np.int64)[numbers]
    outside, begin, inside = (LETTERS.index(one) for one in "OBI")
    first, last = letter == begin, next_values(letter, iob2.sentences, outside) != inside
    place = np.where(first & last, 0, np.where(first, 1, np.where(last, 3, 2)))
    if scheme.parted:
        step = next_values if scheme.parts_end else previous_values
        touches = (step(letter, iob2.sentences, outside) != outside) & (step(kind, iob2.sentences, -1) == kind)
        place = np.where(touches & (last if scheme.parts_end else first), 4, place)
    place = np.where(letter == outside, 5, place)
    written = scheme.written + scheme.parted.ljust(1)
    table = [[f"{one}-{kind}" for one in written] + ["O"] for kind in kinds]
    tags = np.array(table, object)[kind, place] if len(kind) else np.empty(0, object)
    return replace(iob2, tags=tags.tolist())


def _refuse(sides: Iterable[tuple[Tagged, Int32]], names: Sequence[str], wrong: Mapping[str, str]) -> None:
    """Raise a FormatError with the first place of each tag at which seqeval stops."""
    problems = []
    for tags, numbers in sides:
        for code, name in enumerate(names):
            if name in wrong and len(places := np.flatnonzero(numbers == code)):
                problems.append(Problem(*tags.place(int(places[0])), wrong[name], "mend the tag, or name its scheme"))
    if problems:
        raise FormatError(problems)


def _detected(gold: Tagged, letters: NDArray[Any]) -> str:
    """Return the scheme that seqeval detects in gold.

    Raises:
        FormatError: it knows none.
    """
    text = "".join(letter for code, letter in enumerate((*LETTERS, "?", "?")) if code in set(letters.tolist()))
    scheme = detect_scheme(text)
    if scheme is None:
        known = ", ".join(SCHEMES)
        found = f"tags of the letters {', '.join(text)} show no scheme that seqeval detects: it stops with a ValueError"
        raise FormatError.single(gold.source, None, found, f"name the scheme: --scheme {known}")
    return scheme


def _records(
    gold: Tagged,
    pred: Tagged,
    numbers: list[Int32],
    sides: tuple[TagChunks, TagChunks],
    pairs: tuple[NDArray[Any], NDArray[Any]],
    types: tuple[str, ...],
    evaluation: str,
) -> pd.DataFrame:
    if evaluation == ACCURACY:
        right = numbers[0] == numbers[1]
        return token_records(ACCURACY, gold, pred, {"tokens": np.ones(len(gold), bool), "correct": right})
    one, two, decided = record_rows(*pairs, *(len(side.last) for side in sides))
    lost = [np.arange(len(side.last), len(side.last) + len(side.dropped[0])) for side in sides]
    none = [np.full(len(units), -1) for units in lost]
    one, two = np.concatenate((one, lost[0], none[1])), np.concatenate((two, none[0], lost[1]))
    scored = np.arange(len(one)) < len(decided)
    decision = np.concatenate((decided, np.full(len(one) - len(decided), IGN)))
    frame = record_frame(
        ENTITIES,
        _marks(gold, sides[0], gold, types),
        _marks(gold, sides[1], pred, types),
        one,
        two,
        decision,
        (np.select([~scored, decision == COR], [2, 0], 1), WHY),
        {"support": scored & (one >= 0), "pred_sum": scored & (two >= 0), "tp_sum": decision == COR},
    )
    return with_types(frame)


def _marks(gold: Tagged, side: TagChunks, tags: Tagged, types: tuple[str, ...]) -> UnitColumns:
    """Return entities, then dropped chunks, which have the tag of their first token as their type."""
    first, last = (np.concatenate(pair) for pair in ((side.first, side.dropped[0]), (side.last, side.dropped[1])))
    # An entity that reaches over the end of a document is shown from the beginning of the one in which it ends.
    first = np.maximum(first, gold.tokens.first[gold.doc[last]])
    known = {name: code for code, name in enumerate(types)}
    kinds = [known.setdefault(tags.tags[token], len(known)) for token in side.dropped[0].tolist()]
    return UnitColumns.of_tokens(
        gold, first, last, np.concatenate((side.kind, np.array(kinds, np.int64))), tuple(known)
    )


def name_of(strict: bool) -> str:
    return "seqeval-strict" if strict else "seqeval"


def of_share(share: Share, options: Mapping[str, Any], *, strict: bool = False) -> Outcome:
    """Return the figures of a share, without records.

    Without any entity they are those of classification_report with output_dict: no macro average, and the value of 0/0.
    """
    counts = {name: list(row) for name, row in sorted(share.tables.get("types", {}).items())}
    types = list(counts)
    columns = list(np.array(list(counts.values()), np.int64).reshape(-1, len(COUNTS)).T)
    support, pred_sum, tp_sum = columns
    counts[AVERAGES[0]] = [int(column.sum()) for column in columns]
    report = _report(types, support, pred_sum, tp_sum, options["zero_division"])
    rows = [row for name, section in report.items() for row in _rows(name, section, counts.get(name))]
    tokens, right = share.tables["tokens"]["all"]
    accuracy = {"tokens": tokens, "correct": right, "accuracy_score": right / tokens}
    rows += [(ACCURACY, OVERALL, name, value, name != "accuracy_score") for name, value in accuracy.items()]
    return Outcome(
        name_of(strict),
        options,
        NO_DOCUMENTS,
        share.gold,
        share.pred,
        {
            "classification_report": report,
            "accuracy_score": accuracy["accuracy_score"],
            "tokens": accuracy,
            "counts": {name: dict(zip(COUNTS, values, strict=True)) for name, values in counts.items()},
        },
        figures(rows),
        without_records,
        untokenized_note(share),
    )


def _report(
    types: list[str], support: NDArray[Any], pred_sum: NDArray[Any], tp_sum: NDArray[Any], zero_division: str
) -> dict[str, dict[str, float | None]]:
    """Return classification_report's dictionary; the macro average of no type, which is NaN there, is None."""
    undefined = 1.0 if zero_division == "1" else 0.0
    columns = _ratios(tp_sum, pred_sum, support, undefined=undefined)
    report: dict[str, dict[str, float | None]] = {}
    for number, name in enumerate(types):
        report[name] = {ratio: float(column[number]) for ratio, column in zip(RATIOS, columns, strict=True)}
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
        report[name] = dict(zip(RATIOS, values, strict=True)) | {"support": int(support.sum())}
    return report


def _rows(name: str, row: Mapping[str, float | None], counts: list[int] | None) -> list[FigureRow]:
    """Return a row of the report for the table: the micro average has the scope of all types."""
    scope = OVERALL if name == AVERAGES[0] else scope_of_type(name)
    found: list[FigureRow] = [(ENTITIES, scope, ratio, row[ratio], False) for ratio in RATIOS]
    # The other averages are over types, and count nothing.
    return found + [(ENTITIES, scope, *pair, True) for pair in zip(COUNTS, counts or (), strict=counts is not None)]


def _ratios(
    right: NDArray[Any], found: NDArray[Any], wanted: NDArray[Any], *, undefined: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return precision, recall and F1 in the order of operations that gives seqeval's last digits."""
    precision, recall = (
        np.where(whole == 0, undefined, right / np.where(whole == 0, 1, whole)) for whole in (found, wanted)
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
        found = "no entity is left on either side: the text of seqeval's classification_report stops with a ValueError"
        raise FormatError.single(outcome.convention, None, found, "take the JSON, or give at least one entity")
    width = max(*map(len, types), len(AVERAGES[-1]), digits)
    lines = [" " * width + " " + "".join(f" {name:>9}" for name in (*RATIOS, "support")), ""]
    for names in (types, AVERAGES):
        for name in names:
            ratios = "".join(f" {report[name][ratio]:>9.{digits}f}" for ratio in RATIOS)
            lines.append(f"{name:>{width}} {ratios} {report[name]['support']:>9}")
        lines.append("")
    return "\n".join(lines)


def as_json(outcome: Outcome) -> str:
    """Return the JSON of classification_report with output_dict."""
    return json.dumps(outcome.scores["classification_report"], ensure_ascii=False, indent=1) + "\n"


OPTIONS = (
    Option("suffix", "the letter stands behind the type (PER-B)", "flag", False),
    Option("zero_division", "the value of 0/0: warn and 0 give 0", choices=("warn", "0", "1"), default="warn"),
    Option("digits", "digits after the point in the text", "integer", 2, least=0, most=99),
)
NAMES = {"P": "precision", "R": "recall", "F1": "f1-score", "COR": "tp_sum", "POS": "support", "ACT": "pred_sum"}
FORMULAS = {
    "precision": "tp_sum / pred_sum",
    "recall": "tp_sum / support",
    "f1-score": "2 × precision × recall / (precision + recall)",
    "accuracy_score": "correct / tokens",
}
FORMS = {"text": text, "json": as_json}

CONVENTIONS = (
    Convention(
        name="seqeval",
        family="tag sequences",
        sentence="seqeval's report in default mode: as conlleval on IOB tags; knows S, but not L or U.",
        needs="one tag a token on both sides",
        source="seqeval 1.2.2 (Nakayama 2018)",
        score=partial(score, strict=False),
        of_layers=partial(of_layers, strict=False),
        by_shares=ByShares(counted, of_share),
        formats=("conll",),
        options=OPTIONS,
        twins={ENTITIES: "strict"},
        names=NAMES,
        formulas=FORMULAS,
        forms=FORMS,
    ),
    Convention(
        name="seqeval-strict",
        family="tag sequences",
        sentence="seqeval's report in strict mode: what is malformed in the scheme is dropped, in gold too.",
        needs="one tag a token on both sides, of letters that the scheme allows",
        source="seqeval 1.2.2 (Nakayama 2018), mode strict",
        score=partial(score, strict=True),
        of_layers=partial(of_layers, strict=True),
        by_shares="it takes its scheme from the tags of all of gold",
        formats=("conll",),
        options=(
            Option(
                "scheme", "the tag scheme; without it the one detected in gold", choices=tuple(SCHEMES), shared=True
            ),
            *OPTIONS,
        ),
        twins={ENTITIES: "strict"},
        names=NAMES,
        formulas=FORMULAS,
        forms=FORMS,
    ),
)
