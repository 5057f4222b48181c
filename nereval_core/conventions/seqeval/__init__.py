"""seqeval 1.2.2: classification_report and accuracy_score, in default mode and in strict mode.

An entity is right where the other side has the same tokens and type. Ratios are fractions; a zero denominator gives 0
(or 1 by zero_division), which counts in the macro average. The weighted average weighs by gold entities.
Strict without a scheme takes the one that it detects in gold: IOB2, IOE2, IOBES or BILOU.
Source: seqeval 1.2.2 (Nakayama 2018), https://github.com/chakki-works/seqeval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Int32
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.outcome import COR, IGN, Content, Marks, Outcome, record_frame, with_types
from nereval_core.conventions.seqeval.figures import ACCURACY, ENTITIES, as_json, name_of, of_share, text
from nereval_core.conventions.seqeval.tags import (
    LETTERS,
    OTHER,
    SCHEMES,
    default_entities,
    detected,
    parse,
    strict_entities,
)
from nereval_core.conventions.shares import ByShares, Share
from nereval_core.conventions.tag_rows import Spans, after, before, judged, numbered, same_spans, token_records
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import conll
from nereval_core.readers.shared import tag_schemes
from nereval_core.readers.shared.token_tags import Tagged, matched, tagged, without_tokens

WHY = (
    "the same tokens and type on the other side",
    "no entity of the same tokens and type on the other side",
    "malformed in the scheme: dropped",
)


def score(given: Given, options: Mapping[str, Any], *, strict: bool) -> Outcome:
    """Score the tags of two files, or of two columns of one."""
    gold = conll.tagged(given.gold, column=given.gold_column)
    pred = matched(gold, conll.tagged(given.pred, column=given.pred_column))
    return score_tags(gold, pred, options, strict=strict)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, strict: bool) -> Outcome:
    """Score layers by the tags that say them, in the scheme asked for."""
    sides = _sides(gold, pred, options, strict=strict)
    return score_tags(*sides, options, strict=strict)


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Share:
    """Count the entities of a part of a corpus in default mode; a document stands in one part."""
    share = _counted(*_sides(gold, pred, options, strict=False), options, strict=False)[0]
    bare = int(np.count_nonzero(without_tokens(gold.documents)))
    return replace(share, tables={**share.tables, "bare": {"documents": (bare,)}})


def _sides(gold: Layer, pred: Layer, options: Mapping[str, Any], *, strict: bool) -> tuple[Tagged, Tagged]:
    name = name_of(strict)
    sides = [in_scheme(tagged(layer, name), options.get("scheme") or "IOB2") for layer in (gold, pred)]
    if options["suffix"]:
        turned = ["-".join(reversed(tag.split("-", 1))) for tag in sides[0].tags]
        sides = [replace(sides[0], tags=turned), sides[1]]
        sides[1] = replace(sides[1], tags=["-".join(reversed(tag.split("-", 1))) for tag in sides[1].tags])
    return sides[0], sides[1]


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
    """Count tags over the same tokens; return also the options, the scheme among them, and what makes the records.

    Tables: `types` has the COUNTS of each type, `tokens` how many there are and how many of the same tag.
    """
    numbers, names = numbered(gold.tags, pred.tags)
    sides = (gold, numbers[0]), (pred, numbers[1])
    _refuse(
        [(tags, side, {"": "an empty tag, at which seqeval stops with an IndexError"}) for tags, side in sides], names
    )
    parsed = parse(names, suffix=options["suffix"], strict=strict)
    if strict:
        scheme = options["scheme"] or _detected(gold, parsed.letter[np.unique(numbers[0])])
        allowed = [LETTERS.index(letter) for letter in SCHEMES[scheme].letters]
        found = f"no tag of {scheme}, at which seqeval stops with"
        wrong = {
            name: f"{quoted(name)} is {found} a {'KeyError' if letter == OTHER else 'ValueError'}"
            for name, letter in zip(names, parsed.letter.tolist(), strict=False)
            if letter not in allowed
        }
        _refuse([(tags, side, wrong) for tags, side in sides], names)
        one, two = (strict_entities(side, gold.sentences, parsed, scheme) for side in numbers)
        options = {**options, "scheme": scheme}
    else:
        one, two = (default_entities(side, gold.sentences, parsed) for side in numbers)
    g, p = same_spans(one, two, len(gold))
    size = len(parsed.types)
    columns = np.array([np.bincount(kind, minlength=size) for kind in (one.kind, two.kind, one.kind[g])]).T
    rows = zip(parsed.types, columns.tolist(), strict=True)
    right = int(np.count_nonzero(numbers[0] == numbers[1]))
    share = Share(
        {"types": {name: tuple(row) for name, row in rows if any(row)}, "tokens": {"all": (len(gold), right)}},
        Content.of_tags(gold, len(one.last)),
        Content.of_tags(pred, len(two.last)),
        pred.source,
    )
    return share, options, partial(_records, gold, pred, numbers, (one, two), (g, p), parsed.types)


def in_scheme(iob2: Tagged, name: str) -> Tagged:
    """Return well-formed IOB2 tags in another scheme."""
    (numbers,), names = numbered(iob2.tags)
    scheme = tag_schemes.scheme_named(name)
    letter = np.array([LETTERS.index(tag[0]) for tag in names], np.int8)[numbers]
    kinds = {tag[2:]: 0 for tag in names}
    kinds = {kind: code for code, kind in enumerate(kinds)}
    kind = np.array([kinds[tag[2:]] for tag in names], np.int64)[numbers]
    outside, begin, inside = (LETTERS.index(one) for one in "OBI")
    first, last = letter == begin, after(letter, iob2.sentences, outside) != inside
    place = np.where(first & last, 0, np.where(first, 1, np.where(last, 3, 2)))
    if scheme.parted:
        step = after if scheme.parts_end else before
        touches = (step(letter, iob2.sentences, outside) != outside) & (step(kind, iob2.sentences, -1) == kind)
        place = np.where(touches & (last if scheme.parts_end else first), 4, place)
    place = np.where(letter == outside, 5, place)
    written = scheme.written + scheme.parted.ljust(1)
    table = [[f"{one}-{kind}" for one in written] + ["O"] for kind in kinds]
    tags = np.array(table, object)[kind, place] if len(kind) else np.empty(0, object)
    return replace(iob2, tags=tags.tolist())


def _refuse(sides: list[tuple[Tagged, Int32, Mapping[str, str]]], names: tuple[str, ...]) -> None:
    """Raise a FormatError with the first place of each tag at which seqeval stops."""
    problems = []
    for tags, numbers, wrong in sides:
        for tag, found in wrong.items():
            code = names.index(tag) if tag in names else -1
            places = np.flatnonzero(numbers == code)
            if len(places):
                problems.append(Problem(*tags.place(int(places[0])), found, "mend the tag, or name its scheme"))
    if problems:
        raise FormatError(problems)


def _detected(gold: Tagged, letters: NDArray[Any]) -> str:
    """Return the scheme that seqeval detects in gold.

    Raises:
        FormatError: it knows none.
    """
    text = "".join(letter for code, letter in enumerate((*LETTERS, "?", "?")) if code in set(letters.tolist()))
    scheme = detected(text)
    if scheme is None:
        known = ", ".join(SCHEMES)
        found = f"tags of the letters {', '.join(text)} show no scheme that seqeval detects: it stops with a ValueError"
        raise FormatError.single(gold.source, None, found, f"name the scheme: --scheme {known}")
    return scheme


def _records(
    gold: Tagged,
    pred: Tagged,
    numbers: list[Int32],
    sides: tuple[Spans, Spans],
    pairs: tuple[NDArray[Any], NDArray[Any]],
    types: tuple[str, ...],
    evaluation: str,
) -> pd.DataFrame:
    if evaluation == ACCURACY:
        right = numbers[0] == numbers[1]
        return token_records(ACCURACY, gold, pred, {"tokens": np.ones(len(gold), bool), "correct": right})
    one, two, decided = judged(*pairs, *(len(side.last) for side in sides))
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


def _marks(gold: Tagged, side: Spans, tags: Tagged, types: tuple[str, ...]) -> Marks:
    """Return entities, then what was dropped, which is called by the tag of its first token."""
    first, last = (np.concatenate(pair) for pair in ((side.first, side.dropped[0]), (side.last, side.dropped[1])))
    # What reaches over the end of a document is shown from the beginning of the one in which it ends.
    first = np.maximum(first, gold.tokens.first[gold.doc[last]])
    known = {name: code for code, name in enumerate(types)}
    kinds = [known.setdefault(tags.tags[token], len(known)) for token in side.dropped[0].tolist()]
    return Marks.of_tokens(gold, first, last, np.concatenate((side.kind, np.array(kinds, np.int64))), tuple(known))


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
            Option("scheme", "the tag scheme; without it the one detected in gold", choices=tuple(SCHEMES)),
            *OPTIONS,
        ),
        twins={ENTITIES: "strict"},
        names=NAMES,
        formulas=FORMULAS,
        forms=FORMS,
    ),
)
