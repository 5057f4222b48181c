"""What each class of errors costs: the predictions with some classes mended, scored anew.

Mending a record of `nereval_core.analysis.errors.error_classes` is the same for all classes. Of an aligned pair, the
prediction takes the boundaries of its gold span where these differ, and its type where the types differ as scored
(`type only`: the type; `boundary only`: the boundaries; `split` and `merged`: whatever differs). A prediction aligned
with nothing goes (`duplicate`, `spurious`, what is left over of `split`), and a gold span aligned with nothing is
predicted (`missed`, what is left over of `merged`). With all classes mended the predictions equal gold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.error_classes import CLASSES, ENDS, STRICT, Taxonomy, over, taxonomy
from nereval_core.corpus import Labels, Layer, frozen
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.counts import Counts

CLASS_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "class": "str",
        "records": "int64",
        "share": "float64",
        "precision": "float64",
        "recall": "float64",
        "f1": "float64",
        "gain": "float64",
        "cumulative_f1": "float64",
        "cumulative_gain": "float64",
    }
)
"""Columns of `class_table` and their dtypes. `records` counts strict records, `share` is theirs of all that are not
correct. `precision`, `recall` and `f1` are those reached if this class alone were mended, `gain` is `f1` less the
present one; the cumulative ones are with all classes above mended too. Undefined ratios are NaN."""

TYPE_COLUMNS: Mapping[str, str] = MappingProxyType({"class": "str", "type": "str", "records": "int64"})
"""Columns of `class_types`; the type is that of the record's gold span, else of its prediction."""

END_COLUMNS: Mapping[str, str] = MappingProxyType({"class": "str", "ends": "str", "records": "int64"})
"""Columns of `class_ends`."""


def mended(scores: Scores, classes: Collection[str], *, name: str | None = None) -> Layer:
    """Return the predictions as they were read, with some of CLASSES mended.

    What was predicted stays in its reading order with all it has; a span that moves loses core and alternatives, and
    those that are added have boundaries, fragments and type only and stand last. Types that scoring merges keep their
    own names, spans of types left out stay as they are.

    Raises:
        FormatError: there would be more types than can be told apart.
    """
    assert set(classes) <= set(CLASSES)
    found = taxonomy(scores)
    chosen = np.append(np.isin(CLASSES, list(classes)), False)
    gold, pred = scores.read
    g, p = np.flatnonzero(chosen[found.gold]), np.flatnonzero(chosen[found.pred] & found.alone)
    to = found.partner[g]
    own, theirs = scores.layers(STRICT)
    pairs, added = g[to >= 0], g[to < 0]
    places = [_places(*layers) for layers in ((own, gold), (theirs, pred))]
    moved, source = places[1][to[to >= 0]], places[0][pairs]
    kept = np.ones(len(pred), bool)
    kept[places[1][p]] = False
    retyped = np.array(own.types, object)[own.type[pairs]] != np.array(theirs.types, object)[theirs.type[to[to >= 0]]]
    return _changed(gold, pred, kept, moved, source, retyped, places[0][added]).renamed(name or pred.name)


def _places(scored: Layer, read: Layer) -> NDArray[np.int64]:
    """Return the index of each scored span in the layer as it was read."""
    return over(np.arange(len(read)), read, scored)


def _changed(
    gold: Layer,
    pred: Layer,
    kept: NDArray[np.bool_],
    moved: NDArray[Any],
    source: NDArray[Any],
    retyped: NDArray[np.bool_],
    added: NDArray[Any],
) -> Layer:
    """Return the predictions that are kept, those `moved` with the boundaries of the gold spans `source`, and more.

    Where `retyped` they take gold's type too. The gold spans `added` are predicted as well.
    """
    start, end = pred.start.copy(), pred.end.copy()
    start[moved], end[moved] = gold.start[source], gold.end[source]
    names = tuple(dict.fromkeys((*pred.types, *gold.types)))
    of_gold = np.array([names.index(kind) for kind in gold.types], np.int64)
    kind = pred.type.astype(np.int64)
    kind[moved[retyped]] = of_gold[gold.type[source[retyped]]]
    order = np.arange(len(pred), dtype=np.int32) if pred.order is None else pred.order
    last = int(order.max(initial=-1)) + 1

    spans = np.flatnonzero(kept)
    columns: dict[str, Any] = {
        "doc": np.concatenate((pred.doc[spans], gold.doc[added])),
        "start": np.concatenate((start[spans], gold.start[added])),
        "end": np.concatenate((end[spans], gold.end[added])),
        "order": np.concatenate((order[spans], np.arange(last, last + len(added), dtype=np.int32))),
    }
    codes = np.concatenate((kind[spans], of_gold[gold.type[added]]))
    used, types = Labels(codes, names).sorted()
    if len(types) > np.iinfo(np.int16).max:
        raise FormatError.single(pred.name, None, f"{len(types)} types", "at most 32,767 types can be told apart")

    back, place = _in_order(pred, columns, used, len(types))
    of_kept, of_added = (np.full(len(layer), -1, np.int64) for layer in (pred, gold))
    of_kept[spans] = back[: len(spans)]
    of_added[added] = back[len(spans) :]
    extras = {key: _at(values, of_kept) for key, values in _extras(gold, pred, moved, source).items()}
    extras["fragments"] |= _at(gold.fragments, of_added)
    placed: dict[str, Any] = {key: frozen(values[place]) for key, values in columns.items()}
    placed |= {key: MappingProxyType(values) for key, values in extras.items()}
    made = replace(pred, **placed)
    return made.retyped(used[place].astype(np.int16), types)


def _in_order(
    pred: Layer, columns: Mapping[str, NDArray[Any]], kind: NDArray[Any], kinds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each span goes by document, start, end and type, and which span stands at each place."""
    key = pred.documents.base[columns["doc"]] + columns["start"]
    length = columns["end"] - columns["start"]
    longest = int(length.max(initial=0)) + 1
    # What a few records change is nearly in order: a sort of one number that finds runs is all but free. Where the
    # number would be too large, `retyped` has more to sort.
    if int(key.max(initial=0)) < (1 << 62) // (longest * max(kinds, 1)):
        key = (key * longest + length) * max(kinds, 1) + kind
    place = np.argsort(key, kind="stable")
    back = np.empty(len(place), np.int64)
    back[place] = np.arange(len(place))
    return back, place


def _extras(gold: Layer, pred: Layer, moved: NDArray[Any], source: NDArray[Any]) -> dict[str, dict[int, Any]]:
    """Return what some predictions have, by span: those that move have the fragments of their gold span."""
    found = {key: dict(getattr(pred, key)) for key in ("fragments", "cores", "alternatives")}
    if not gold.fragments and not any(found.values()):
        return found | _rest(pred)
    for span, model in zip(moved.tolist(), source.tolist(), strict=True):
        same = (pred.start[span], pred.end[span]) == (gold.start[model], gold.end[model])
        if same and pred.fragments.get(span) == gold.fragments.get(model):
            continue
        for values in found.values():
            values.pop(span, None)
        if model in gold.fragments:
            found["fragments"][span] = gold.fragments[model]
    return found | _rest(pred)


def _rest(pred: Layer) -> dict[str, dict[int, Any]]:
    return {key: dict(getattr(pred, key)) for key in ("ids", "links", "scores", "meta")}


def _at(values: Mapping[int, Any], number: NDArray[np.int64]) -> dict[int, Any]:
    """Return values by span under the spans' new numbers; spans that went are left out."""
    return {int(number[span]): value for span, value in values.items() if number[span] >= 0}


def class_table(
    scores: Scores, criterion: str = STRICT, *, progress: Callable[[int, int], None] | None = None
) -> pd.DataFrame:
    """Return what each class costs under a criterion, those that gain most first: CLASS_COLUMNS, one row a class.

    Classes are those of the strict records under any criterion; those that gain the same stand by their number, then
    in the order of CLASSES. `progress` is called with the re-scorings done and their total.
    """
    number = taxonomy(scores).counts()
    every = int(number.sum())
    present = [name for name, count in zip(CLASSES, number.tolist(), strict=True) if count]
    total = 2 * len(present) - 1
    done = 0

    def reached(classes: Sequence[str]) -> Counts:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)
        return rescored(scores, mended(scores, classes), criterion)

    now = scores.counts(criterion)
    alone = {name: reached([name]) for name in present}
    costs = {name: _ratio(alone.get(name, now).f1) for name in CLASSES}
    order = sorted(
        CLASSES, key=lambda name: (-np.nan_to_num(costs[name]), -number[CLASSES.index(name)], CLASSES.index(name))
    )
    before = _ratio(now.f1)
    rows = []
    above: list[str] = []
    sofar = now
    for name in order:
        if name in present:
            above.append(name)
            sofar = alone[name] if len(above) == 1 else reached(above)
        counts = alone.get(name, now)
        records = int(number[CLASSES.index(name)])
        f1, cumulative = _ratio(counts.f1), _ratio(sofar.f1)
        share = records / every if every else float("nan")
        ratios = (_ratio(counts.precision), _ratio(counts.recall), f1)
        rows.append((name, records, share, *ratios, f1 - before, cumulative, cumulative - before))
    return pd.DataFrame(rows, columns=list(CLASS_COLUMNS)).astype(dict(CLASS_COLUMNS))


def rescored(scores: Scores, layer: Layer, criterion: str) -> Counts:
    """Return the counts of another layer of predictions, scored as these were."""
    rule = scores.criterion(criterion)
    return score_layers(scores.read[0], layer, replace(scores.settings, criteria=(rule,))).counts(criterion)


def _ratio(value: float | None) -> float:
    return float("nan") if value is None else value


def class_types(scores: Scores) -> pd.DataFrame:
    """Return how many records each class has of each type, zeros left out: TYPE_COLUMNS, in the order of CLASSES."""
    found = taxonomy(scores)
    gold, pred = scores.layers(STRICT)
    names = tuple(sorted({*gold.types, *pred.types}))
    rows = []
    cells = np.zeros((len(CLASSES), len(names)), np.int64)
    for layer, codes in ((gold, found.gold), (pred, np.where(found.alone, found.pred, -1))):
        kind = np.array([names.index(name) for name in layer.types], np.int64)
        some = np.flatnonzero(codes >= 0)
        np.add.at(cells, (codes[some], kind[layer.type[some]]), 1)
    rows = [(CLASSES[i], names[j], int(cells[i, j])) for i, j in np.argwhere(cells).tolist()]
    return pd.DataFrame(rows, columns=list(TYPE_COLUMNS)).astype(dict(TYPE_COLUMNS))


def class_ends(scores: Scores) -> pd.DataFrame:
    """Return where the boundaries of `boundary only` and `type and boundary` are wrong, zeros too: END_COLUMNS."""
    found: Taxonomy = taxonomy(scores)
    some = found.gold_ends >= 0
    rows = []
    for name in ("boundary only", "type and boundary"):
        codes = found.gold_ends[some & (found.gold == CLASSES.index(name))]
        counts = np.bincount(codes, minlength=len(ENDS)).tolist()
        rows += [(name, ends, count) for ends, count in zip(ENDS, counts, strict=True)]
    return pd.DataFrame(rows, columns=list(END_COLUMNS)).astype(dict(END_COLUMNS))


__all__: Sequence[str] = (
    "CLASS_COLUMNS",
    "END_COLUMNS",
    "TYPE_COLUMNS",
    "class_ends",
    "class_table",
    "class_types",
    "mended",
    "rescored",
)
