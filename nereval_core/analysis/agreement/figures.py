"""The rows of an agreement: each figure of each group of annotators, by type, with its interval and n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from nereval_core.analysis.agreement.chance import Numbers, share
from nereval_core.analysis.agreement.token_agreement import TokenCounts, pairs_of
from nereval_core.analysis.agreement.token_agreement import figures as token_figures
from nereval_core.analysis.agreement.unitizing import Units, countable, of_sums, whole
from nereval_core.analysis.comparison.significance import F1, lacks_interval
from nereval_core.analysis.estimates import Estimates, Stages, estimated, staged, unknown
from nereval_core.analysis.resampling import Plan, document_counts, ratios, type_counts
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.arrays import Float64
from nereval_core.corpus import Documents
from nereval_core.problems import counted
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion

FIGURES = ("f1", "observed", "kappa", "alpha", "unitizing")
ON_TOKENS = ("observed", "kappa", "alpha")
NO_SPANS, NO_TOKENS, ONE_CATEGORY, NO_UNITS, NOTHING_EXPECTED, NO_TEXT = (
    "no spans",
    "no tokens",
    "one category only",
    "no units",
    "no disagreement is to be expected",
    "no text",
)

Pair = tuple[int, int]
Group = Pair | None
"""Two annotators, the first taken as gold where that matters, or all of them."""
Tokens = tuple[TokenCounts, Mapping[str, TokenCounts]] | str
"""The tokens of all types together and of each type, or why there are none."""

NONE_IN_COMMON = "no document in common"
MEAN_OF_PAIRS = "mean over pairs, each on the documents the two have in common: no interval"
NO_DOCUMENTS_OF_ALL = "each pair was compared on documents of its own"


class Key(NamedTuple):
    """What a figure is about: `criterion` is None but for F1, `type` for all types together."""

    figure: str
    criterion: str | None
    type: str | None
    group: Group


Row = tuple[Key, float, float, float, int, int, str]
"""A key, the value, the ends of its interval, undefined resamples, n, and what keeps the value from being defined."""


def symmetric(criterion: Criterion) -> bool:
    """Tell whether F1 is the same whichever of the two is taken as gold."""
    return criterion.boundaries not in ("core", "alternatives") and not (
        criterion.minimum and criterion.share != "union"
    )


def _rows(
    keys: Sequence[Key],
    found: Estimates,
    numbers: Sequence[int],
    why: Sequence[str],
    units: ResamplingUnits | None = None,
) -> Iterator[Row]:
    """Yield the rows of figures; where intervals were made of `units`, say what has none."""
    columns = (column.tolist() for column in found)
    for key, value, low, *rest, number, said in zip(keys, *columns, numbers, why, strict=True):
        lone = units.lone("it") if units is not None and lacks_interval(value, low) else ""
        yield (key, value, low, *rest, int(number), "; ".join(filter(None, (said, lone))))


def groups_of(annotators: int) -> tuple[Group, ...]:
    """Return all annotators together, where they are more than two, and each pair."""
    return (*((None,) if annotators > 2 else ()), *pairs_of(annotators))


def f1(
    scores: Mapping[Pair, Mapping[str, Scores]],
    criteria: Sequence[Criterion],
    annotators: int,
    plan: Plan,
    units: ResamplingUnits,
) -> Iterator[Row]:
    """Yield F1 of each pair, and of all of them the mean, under each criterion: of all types, then of each."""
    for criterion in criteria:
        name = criterion.name
        asked = pairs_of(annotators) if symmetric(criterion) else tuple(permutations(range(annotators), 2))
        there = [pair for pair in asked if name in scores.get(pair, {})]
        for pair in asked:
            if pair not in there:
                lacking = f"it needs {criterion.needs}"
                yield from _rows([Key("f1", name, None, pair)], unknown(1), [0], [lacking])
        if not there:
            continue
        types = tuple(sorted({kind for pair in there for kind in scores[pair][name].by_type(name)}))
        whole = np.stack([document_counts(scores[pair][name], name) for pair in there])
        by_type = np.stack([type_counts(scores[pair][name], name, types) for pair in there])
        counts = np.concatenate((whole[None], np.moveaxis(by_type, 1, 0)))
        blocks = [some.reshape(-1, some.shape[-1]) for some in counts]
        for kind, sums in zip((None, *types), staged(blocks, plan, units), strict=True):
            yield from _f1_rows(name, kind, there, sums, annotators, len(asked), plan, units)


def _f1_rows(
    name: str,
    kind: str | None,
    pairs: Sequence[Pair],
    sums: Stages,
    annotators: int,
    asked: int,
    plan: Plan,
    units: ResamplingUnits,
) -> Iterator[Row]:
    """Yield F1 of each pair from sums of PARTS, shape (pairs times 4, n), and for all of them the mean."""

    def figures(sums: Numbers) -> Float64:
        found: Float64 = ratios(sums.reshape(len(pairs), 4, -1))[:, F1]
        return found if annotators == 2 else np.concatenate((mean(found), found))

    whole = sums.whole.reshape(len(pairs), 4)
    spans = {number: int(whole[row, 2 + side]) for row, pair in enumerate(pairs) for side, number in enumerate(pair)}
    numbers = [spans[one] + spans[other] for one, other in pairs]
    why = ["" if number else NO_SPANS for number in numbers]
    groups: list[Group] = [*pairs]
    if annotators > 2:
        defined = sum(map(bool, numbers))
        groups, numbers = [None, *groups], [sum(spans.values()), *numbers]
        why = [_left_out(asked - defined, asked), *why]
    found = estimated(Stages(*map(figures, sums)), plan)
    yield from _rows([Key("f1", name, kind, group) for group in groups], found, numbers, why, units)


def mean(values: Float64) -> Float64:
    """Return the mean of those that are defined, shape (rows, n) to (1, n)."""
    known = ~np.isnan(values)
    found = np.full((1, values.shape[-1]), np.nan)
    number = known.sum(axis=0, keepdims=True)
    np.divide(np.where(known, values, 0).sum(axis=0, keepdims=True), number, out=found, where=number > 0)
    return found


def _left_out(undefined: int, pairs: int) -> str:
    if undefined == pairs:
        return NO_SPANS
    return f"{undefined} of {counted(pairs, 'pair')} undefined, left out" if undefined else ""


def on_tokens(tokens: Tokens, annotators: int, plan: Plan, units: ResamplingUnits) -> Iterator[Row]:
    """Yield the figures ON_TOKENS of each group: of all types, then of each."""
    groups = groups_of(annotators)
    keys = [(group, figure) for group in groups for figure in ON_TOKENS]
    if isinstance(tokens, str):
        whole = [Key(figure, None, None, group) for group, figure in keys]
        yield from _rows(whole, unknown(len(keys)), [0] * len(keys), [tokens] * len(keys))
        return
    together, by_type = tokens
    counted: dict[str | None, TokenCounts] = {None: together} | dict(by_type)
    blocks = (counts.rows() for counts in counted.values())
    for kind, sums in zip(counted, staged(blocks, plan, units), strict=True):
        counts = counted[kind]

        def figures(rows: Numbers, counts: TokenCounts = counts) -> Float64:
            summed = counts.of_rows(rows)
            each = (token_figures(summed if group is None else summed.of_pair(group)) for group in groups)
            return np.array([values[figure] for values in each for figure in ON_TOKENS])

        found = estimated(Stages(*map(figures, sums)), plan)
        number = int(counts.tokens.sum())
        why = [(ONE_CATEGORY if number else NO_TOKENS) if np.isnan(value) else "" for value in found.value]
        kinds = [Key(figure, None, kind, group) for group, figure in keys]
        yield from _rows(kinds, found, [number] * len(keys), why, units)


def unitized(
    units: Mapping[str, tuple[Units, ...]],
    names: Sequence[str],
    documents: Documents,
    plan: Plan,
    resampled: ResamplingUnits,
) -> Iterator[Row]:
    """Yield unitizing alpha of each group by type and of all types; that of all annotators with its interval."""
    for group in groups_of(len(names)):
        members = range(len(names)) if group is None else group
        chosen = {kind: [every[number] for number in members] for kind, every in units.items()}
        refused = {
            kind: next(filter(None, (refusal(names[one], kind, units[kind][one], documents) for one in members)), "")
            for kind in units
        }
        sound = {kind: each for kind, each in chosen.items() if not refused[kind]}
        drawn = group is None or len(names) == 2
        apart = _resampled(sound, documents, plan, resampled) if drawn else _plain(sound, documents)
        numbers = {kind: sum(len(one.doc) for one in each) for kind, each in chosen.items()}
        said = next(filter(None, refused.values()), "")
        total = _Apart(*map(_sum, zip(*apart.values(), strict=True))) if apart and not said else None
        yield from _unitized_row(None, group, total, sum(numbers.values()), said, plan, resampled)
        for kind in units:
            yield from _unitized_row(kind, group, apart.get(kind), numbers[kind], refused[kind], plan, resampled)


def refusal(name: str, kind: str, units: Units, documents: Documents) -> str:
    """Say that units of an annotator overlap, "" where none do."""
    if not len(units.crossed):
        return ""
    first, more = documents.ids[int(units.crossed[0])], len(units.crossed) - 1
    place = f"in document {first}" + (f" and {more:,} more" if more else "")
    return f"refused, spans of {kind} overlap in {name} ({place})"


class _Apart(NamedTuple):
    """Observed and expected disagreement: of all documents, and where resampled of all but one and of samples."""

    observed: tuple[Float64, ...]
    expected: tuple[Float64, ...]


def _sum(stages: Sequence[tuple[Float64, ...]]) -> tuple[Float64, ...]:
    """Return sums over types, stage by stage; what one type lacks, all lack."""
    return tuple(np.sum(stage, axis=0) for stage in zip(*stages, strict=False))


def _plain(units: Mapping[str, Sequence[Units]], documents: Documents) -> dict[str, _Apart]:
    found = {kind: whole(each, documents.base) for kind, each in units.items()}
    return {kind: _Apart((one.observed,), (one.expected,)) for kind, one in found.items()}


def _resampled(
    units: Mapping[str, Sequence[Units]], documents: Documents, plan: Plan, resampled: ResamplingUnits
) -> dict[str, _Apart]:
    """Return disagreements with those of samples of documents, where these are not too many to be drawn."""
    found = _plain(units, documents)
    counted = {kind: countable(each, documents.base) for kind, each in units.items()}
    known = {kind: counts for kind, counts in counted.items() if counts is not None}
    for (kind, (_, lengths)), sums in zip(
        known.items(), staged([counts for counts, _ in known.values()], plan, resampled), strict=True
    ):
        three = [of_sums(rows, lengths, len(units[kind])) for rows in sums]
        found[kind] = _Apart(tuple(one.observed for one in three), tuple(one.expected for one in three))
    return found


def _unitized_row(
    kind: str | None,
    group: Group,
    apart: _Apart | None,
    units: int,
    refused: str,
    plan: Plan,
    resampled: ResamplingUnits,
) -> Iterator[Row]:
    key = [Key("unitizing", None, kind, group)]
    if apart is None:
        yield from _rows(key, unknown(1), [units], [refused or NO_UNITS])
        return
    values = [1 - share(*both)[None] for both in zip(*apart, strict=True)]
    drawn = len(values) > 1
    found = estimated(Stages(*values), plan) if drawn else unknown(1)._replace(value=values[0][:, 0])
    why = "" if not np.isnan(found.value[0]) else NOTHING_EXPECTED if units else NO_UNITS
    yield from _rows(key, found, [units], [why], resampled if drawn else None)
