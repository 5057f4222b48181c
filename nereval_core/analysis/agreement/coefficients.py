"""Agreement coefficients as rows: each figure of each group of annotators, by type, with its interval and n."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, permutations
from typing import NamedTuple

import numpy as np

from nereval_core.analysis.agreement.kappa_and_alpha import (
    PairableCounts,
    TokenCounts,
    TokenProducts,
    annotator_pairs,
    pairable_counts,
    ratio_or_nan,
    token_coefficients,
)
from nereval_core.analysis.agreement.unitizing_alpha import (
    AnnotatedUnits,
    TypeUnits,
    corpus_disagreement,
    disagreement_of_sums,
    resampling_counts,
)
from nereval_core.analysis.bootstrap import (
    Alone,
    Block,
    Bootstrap,
    DocumentCounts,
    ResampledValues,
    counts_of_types,
    document_counts,
    f1_ratios,
    mean_of_defined,
)
from nereval_core.analysis.intervals import Estimates, lacks_interval, undefined_estimates
from nereval_core.analysis.resampling_units import ResamplingUnits
from nereval_core.corpus import Documents
from nereval_core.corpus.arrays import Array, Bools, Float64, Int64
from nereval_core.problems import counted
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion

FIGURES = ("f1", "observed", "kappa", "alpha", "unitizing")
ON_TOKENS = ("observed", "kappa", "alpha")
NO_SPANS, NO_TOKENS, ONE_CATEGORY, NO_UNITS, NOTHING_EXPECTED = (
    "no spans",
    "no tokens",
    "one category only",
    "no units",
    "no disagreement is to be expected",
)

Pair = tuple[int, int]
Group = Pair | None
"""Two annotators, the first taken as gold where that matters, or all of them."""
Tokens = tuple[TokenCounts, Mapping[str, TokenCounts]] | str
"""The counts of tokens for all types together and for each type, or the reason why there are none."""

NONE_IN_COMMON = "no document in common"
MEAN_OF_PAIRS = "mean over pairs, each on the documents the two have in common: no interval"
NO_DOCUMENTS_OF_ALL = "not all saw all documents, which Fleiss' kappa asks for"


class CoefficientKey(NamedTuple):
    """The subject of a figure: `criterion` is None for all figures but F1, `type` for all types together."""

    figure: str
    criterion: str | None
    type: str | None
    group: Group


Row = tuple[CoefficientKey, float, float, float, int, int, str]
"""A key, the value, the ends of its interval, undefined resamples, n, and the reason why value or interval is
missing."""


class RowsOfSums(NamedTuple):
    """Blocks of counts to be resampled, and the rows of their sums, which are the next that the iterator gives."""

    blocks: Iterable[Block]
    rows: Callable[[Iterator[ResampledValues]], Iterator[Row]]


def resampled_rows(figures: Sequence[RowsOfSums], bootstrap: Bootstrap) -> Iterator[Row]:
    """Yield the rows of figures of several kinds, for all of which units are drawn together."""
    sums = bootstrap.resample(chain.from_iterable(of_kind.blocks for of_kind in figures))
    for of_kind in figures:
        yield from of_kind.rows(sums)


def is_symmetric(criterion: Criterion) -> bool:
    """Tell whether F1 is the same whichever of two annotators is taken as gold."""
    return criterion.boundaries not in ("core", "alternatives") and not (
        criterion.minimum and criterion.share != "union"
    )


def _rows(
    keys: Sequence[CoefficientKey],
    estimates: Estimates,
    numbers: Sequence[int],
    why: Sequence[str],
    units: ResamplingUnits | None = None,
) -> Iterator[Row]:
    """Yield the rows of figures; those without an interval although `units` were resampled have a note on it."""
    columns = (column.tolist() for column in estimates)
    for key, value, low, high, undefined, number, reason in zip(keys, *columns, numbers, why, strict=True):
        lone = units.no_interval_note("it") if units is not None and lacks_interval(value, low) else ""
        yield key, value, low, high, undefined, int(number), "; ".join(filter(None, (reason, lone)))


def annotator_groups(annotators: int) -> tuple[Group, ...]:
    """Return the group of all annotators, where these are more than two, and each pair."""
    return (*((None,) if annotators > 2 else ()), *annotator_pairs(annotators))


def f1_rows(
    scores: Mapping[Pair, Mapping[str, Scores]],
    criteria: Sequence[Criterion],
    annotators: int,
    bootstrap: Bootstrap,
) -> RowsOfSums:
    """Return F1 of each pair and its mean over all pairs under each criterion, for all types and then for each type."""
    scored = {
        criterion.name: [pair for pair in _ways(criterion, annotators) if criterion.name in scores.get(pair, {})]
        for criterion in criteria
    }
    types = {
        name: tuple(sorted({kind for pair in pairs for kind in scores[pair][name].by_type(name)}))
        for name, pairs in scored.items()
    }

    def rows(sums: Iterator[ResampledValues]) -> Iterator[Row]:
        for criterion in criteria:
            name, pairs = criterion.name, _ways(criterion, annotators)
            for pair in pairs:
                if pair not in scored[name]:
                    lacking = f"it needs {criterion.needs}"
                    yield from _rows([CoefficientKey("f1", name, None, pair)], undefined_estimates(1), [0], [lacking])
            for kind in (None, *types[name]) if scored[name] else ():
                yield from _f1_rows(name, kind, scored[name], next(sums), annotators, len(pairs), bootstrap)

    blocks = (
        _f1_blocks([scores[pair][name] for pair in pairs], name, types[name]) for name, pairs in scored.items() if pairs
    )
    return RowsOfSums(map(Alone, chain.from_iterable(blocks)), rows)


def _ways(criterion: Criterion, annotators: int) -> tuple[Pair, ...]:
    """Return the pairs that have an F1 of their own."""
    return annotator_pairs(annotators) if is_symmetric(criterion) else tuple(permutations(range(annotators), 2))


def _f1_blocks(scores: Sequence[Scores], criterion: str, types: tuple[str, ...]) -> Iterator[DocumentCounts]:
    """Yield the PARTS of each of some scores, shape (scores times 4, documents): of all types, then of each."""
    yield np.concatenate([document_counts(pair_scores, criterion) for pair_scores in scores])
    for counts in zip(*(counts_of_types(pair_scores, criterion, types) for pair_scores in scores), strict=True):
        yield np.concatenate(counts)


def _f1_rows(
    name: str,
    kind: str | None,
    pairs: Sequence[Pair],
    sums: ResampledValues,
    annotators: int,
    n_pairs: int,
    bootstrap: Bootstrap,
) -> Iterator[Row]:
    """Yield F1 of each pair from sums of PARTS, shape (pairs times 4, n), and its mean for more than two annotators."""

    def figures(sums: Array) -> Float64:
        f1 = f1_ratios(sums.reshape(len(pairs), 4, -1))
        return f1 if annotators == 2 else np.concatenate((mean_of_defined(f1)[None], f1))

    observed = sums.observed.reshape(len(pairs), 4)
    spans = {number: int(observed[row, 2 + side]) for row, pair in enumerate(pairs) for side, number in enumerate(pair)}
    numbers = [spans[left] + spans[right] for left, right in pairs]
    why = ["" if number else NO_SPANS for number in numbers]
    groups: list[Group] = [*pairs]
    if annotators > 2:
        n_defined = sum(map(bool, numbers))
        groups, numbers = [None, *groups], [sum(spans.values()), *numbers]
        why = [_undefined_pairs_note(n_pairs - n_defined, n_pairs), *why]
    keys = [CoefficientKey("f1", name, kind, group) for group in groups]
    yield from _rows(keys, bootstrap.estimate(sums.map(figures)), numbers, why, bootstrap.units)


def _undefined_pairs_note(undefined: int, pairs: int) -> str:
    if undefined == pairs:
        return NO_SPANS
    return f"{undefined} of {counted(pairs, 'pair')} undefined, left out" if undefined else ""


def token_rows(tokens: Tokens, annotators: int, bootstrap: Bootstrap) -> RowsOfSums:
    """Return the figures ON_TOKENS of each group, for all types and then for each type."""
    groups = annotator_groups(annotators)
    keys = [(group, figure) for group in groups for figure in ON_TOKENS]
    if isinstance(tokens, str):
        whole = [CoefficientKey(figure, None, None, group) for group, figure in keys]
        lacking = [tokens] * len(keys)
        return RowsOfSums((), lambda sums: _rows(whole, undefined_estimates(len(keys)), [0] * len(keys), lacking))
    together, by_type = tokens
    number = int(together.tokens.sum())

    def figures(products: TokenProducts) -> Float64:
        each = (token_coefficients(products if group is None else products.of_pair(group)) for group in groups)
        return np.array([values[figure] for values in each for figure in ON_TOKENS])

    def rows(sums: Iterator[ResampledValues]) -> Iterator[Row]:
        for kind, products, times in _resampled_products(together, by_type, sums):
            estimates = bootstrap.estimate(ResampledValues.of_stages(map(figures, products), times))
            why = [(ONE_CATEGORY if number else NO_TOKENS) if np.isnan(value) else "" for value in estimates.value]
            kinds = [CoefficientKey(figure, None, kind, group) for group, figure in keys]
            yield from _rows(kinds, estimates, [number] * len(keys), why, bootstrap.units)

    return RowsOfSums(_token_blocks(together, by_type), rows)


def _token_blocks(
    together: TokenCounts | PairableCounts, by_type: Mapping[str, TokenCounts | PairableCounts]
) -> Iterator[Block]:
    """Yield the counts of all types together, and of each: the table of one type is one block."""
    yield from together.blocks()
    for counts in by_type.values():
        yield from map(Alone, counts.blocks())


def _resampled_products(
    together: TokenCounts | PairableCounts,
    by_type: Iterable[str],
    sums: Iterator[ResampledValues],
) -> Iterator[tuple[str | None, list[TokenProducts], Int64 | None]]:
    """Yield the products of all types together and of each, in all documents, without each, and in samples.

    `sums` are those of `_token_blocks`. With the products comes the number of documents that each without stands for
    (`ResampledValues.times`).
    """
    for kind, n_blocks in ((None, together.categories.n_tables), *((kind, 1) for kind in by_type)):
        products = [together.product_sums() for _ in range(3)]
        for resampled in islice(sums, n_blocks):
            for stage, rows in zip(products, resampled.stages, strict=True):
                stage.add(rows)
            times = resampled.times
        yield kind, [stage.finish() for stage in products], times


def missing_alpha_rows(tokens: Tokens, saw: Bools, bootstrap: Bootstrap) -> RowsOfSums:
    """Return alpha of all annotators, of whom not all saw all documents, for all types and then for each type.

    `saw` has the shape (annotators, documents).
    """
    if isinstance(tokens, str):
        whole = [CoefficientKey("alpha", None, None, None)]
        return RowsOfSums((), lambda sums: _rows(whole, undefined_estimates(1), [0], [tokens]))
    together, by_type = tokens
    number = int(together.tokens.sum())
    pairable = pairable_counts(together, saw)
    of_types = {kind: pairable_counts(counts, saw) for kind, counts in by_type.items()}

    def rows(sums: Iterator[ResampledValues]) -> Iterator[Row]:
        for kind, products, times in _resampled_products(pairable, of_types, sums):
            alphas = ResampledValues.of_stages((pairable.alpha(stage)[None] for stage in products), times)
            estimates = bootstrap.estimate(alphas)
            why = (ONE_CATEGORY if number else NO_TOKENS) if np.isnan(estimates.value[0]) else ""
            yield from _rows([CoefficientKey("alpha", None, kind, None)], estimates, [number], [why], bootstrap.units)

    return RowsOfSums(_token_blocks(pairable, of_types), rows)


def unitizing_rows(
    units: TypeUnits,
    names: Sequence[str],
    documents: Documents,
    bootstrap: Bootstrap,
    saw: Bools | None = None,
) -> RowsOfSums:
    """Return unitizing alpha of each group, for all types and for each type; only all annotators have an interval.

    With `saw`, shape (annotators, documents), not all saw all documents, and only all annotators have rows. Its sums
    are the last: how many there are is not told before.
    """
    everyone, *pairs = annotator_groups(len(names)) if saw is None else (None,)
    of_everyone = _ResampledUnits(_SoundUnits(units, names, everyone, documents), documents, saw)

    def rows(sums: Iterator[ResampledValues]) -> Iterator[Row]:
        yield from _unitizing_rows(of_everyone.sound, of_everyone.disagreements(sums), bootstrap)
        for pair in pairs:
            sound = _SoundUnits(units, names, pair, documents)
            yield from _unitizing_rows(sound, _corpus_disagreements(sound, documents), bootstrap)

    return RowsOfSums(of_everyone.blocks(), rows)


@dataclass(frozen=True, eq=False)
class _SoundUnits:
    """The units of a group by type, those left out that overlap; iterating counts units and notes why some are."""

    units: TypeUnits
    names: Sequence[str]
    group: Group
    documents: Documents
    n_units: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, Sequence[AnnotatedUnits]]]:
        members = range(len(self.names)) if self.group is None else self.group
        for kind in self.units:
            of_members = [self.units.of_annotator(kind, number) for number in members]
            self.n_units[kind] = sum(len(mine.doc) for mine in of_members)
            refusals = (
                overlap_refusal(self.names[number], kind, mine, self.documents)
                for number, mine in zip(members, of_members, strict=True)
            )
            if refusal := next(filter(None, refusals), ""):
                self.refused[kind] = refusal
            else:
                yield kind, of_members


def _unitizing_rows(
    sound: _SoundUnits, disagreements: Iterable[tuple[str, _Disagreements]], bootstrap: Bootstrap
) -> Iterator[Row]:
    """Yield unitizing alpha of a group, for all types and for each, from the disagreements of its sound units."""
    group, n_units, refused = sound.group, sound.n_units, sound.refused
    total: _Disagreements | None = None
    rows: dict[str, list[Row]] = {}
    for kind, of_type in disagreements:
        total = of_type if total is None else total.plus(of_type)
        rows[kind] = list(_unitizing_row(kind, group, of_type, n_units[kind], "", bootstrap))
    refusal = next(filter(None, map(refused.get, sound.units)), "")
    yield from _unitizing_row(None, group, None if refusal else total, sum(n_units.values()), refusal, bootstrap)
    for kind in sound.units:
        yield from rows.get(kind) or _unitizing_row(kind, group, None, n_units[kind], refused[kind], bootstrap)


def overlap_refusal(name: str, kind: str, units: AnnotatedUnits, documents: Documents) -> str:
    """Return the reason why unitizing alpha is refused, "" where no units of the annotator overlap."""
    if not len(units.crossed):
        return ""
    first, more = documents.ids[int(units.crossed[0])], len(units.crossed) - 1
    place = f"in document {first}" + (f" and {more:,} more" if more else "")
    return f"refused, spans of {kind} overlap in {name} ({place})"


class _Disagreements(NamedTuple):
    """Observed and expected disagreement in all documents and, where resampled, in all but one and in samples."""

    observed: tuple[Float64, ...]
    expected: tuple[Float64, ...]

    def plus(self, other: _Disagreements) -> _Disagreements:
        """Return the sums of both: of all documents, and of the samples where both have these."""
        return _Disagreements(*(tuple(map(np.add, mine, theirs)) for mine, theirs in zip(self, other, strict=True)))


def _corpus_disagreements(
    units: Iterable[tuple[str, Sequence[AnnotatedUnits]]], documents: Documents, saw: Bools | None = None
) -> Iterator[tuple[str, _Disagreements]]:
    for kind, members in units:
        whole = corpus_disagreement(members, documents.base, saw)
        yield kind, _Disagreements((whole.observed,), (whole.expected,))


@dataclass(frozen=True, eq=False)
class _ResampledUnits:
    """Disagreements with those in samples of documents, where the counts are not too many to be resampled.

    One type is counted after another: the counts of all of many types would not fit into memory. `parts` are the types
    counted so far whose sums are not yet in use.
    """

    sound: _SoundUnits
    documents: Documents
    saw: Bools | None
    parts: deque[tuple[str, Int64, tuple[int, ...]]] = field(default_factory=deque)
    not_resampled: list[tuple[str, _Disagreements]] = field(default_factory=list)

    def blocks(self) -> Iterator[Int64]:
        for kind, members in self.sound:
            counts = resampling_counts(members, self.documents.base, self.saw)
            if counts is None:
                self.not_resampled.extend(_corpus_disagreements([(kind, members)], self.documents, self.saw))
            else:
                self.parts.append((kind, counts.lengths, counts.numbers))
                yield counts.counts

    def disagreements(self, sums: Iterable[ResampledValues]) -> Iterator[tuple[str, _Disagreements]]:
        """Yield the disagreements of each type; `sums` are those of all `blocks`."""
        for resampled in sums:
            kind, lengths, numbers = self.parts.popleft()
            stages = [disagreement_of_sums(rows, lengths, numbers) for rows in resampled.stages]
            of_type = [tuple(getattr(stage, name) for stage in stages) for name in _Disagreements._fields]
            yield kind, _Disagreements(*of_type)
        yield from self.not_resampled


def _unitizing_row(
    kind: str | None,
    group: Group,
    disagreements: _Disagreements | None,
    units: int,
    refusal: str,
    bootstrap: Bootstrap,
) -> Iterator[Row]:
    key = [CoefficientKey("unitizing", None, kind, group)]
    if disagreements is None:
        yield from _rows(key, undefined_estimates(1), [units], [refusal or NO_UNITS])
        return
    alphas = [1 - ratio_or_nan(*sums)[None] for sums in zip(*disagreements, strict=True)]
    if len(alphas) > 1:
        estimates, resampled_units = bootstrap.estimate(ResampledValues.of_stages(alphas)), bootstrap.units
    else:
        estimates, resampled_units = undefined_estimates(1)._replace(value=alphas[0][:, 0]), None
    why = "" if not np.isnan(estimates.value[0]) else NOTHING_EXPECTED if units else NO_UNITS
    yield from _rows(key, estimates, [units], [why], resampled_units)
