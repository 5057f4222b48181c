"""Inconsistencies within one layer by kind, ranked by the number of annotations that a decision would settle.

Tsai et al. 2006 ("Various criteria in the evaluation of biomedical named entity recognition", BMC Bioinformatics 7:92)
found "t cell" annotated as cell line in some places and as cell type in others, and "normal" inside some spans and just
outside others.

Surface forms are compared with white space as one blank and without case (see `nereval_core.analysis.running_words`),
except for spellings that `indexed_layer` tells apart. The kinds of inconsistency are the rows of `kinds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.consistency.findings import RankedFindings
from nereval_core.analysis.consistency.indexed_layer import IndexedLayer, LetterCase
from nereval_core.analysis.consistency.kinds import KINDS, check_kinds
from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.sentences import is_or_are, number_with_noun, percent
from nereval_core.analysis.surface_forms import folded_forms, masked_forms
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.masking import SAID, is_masked, masked_quotes, masked_text, unmasked
from nereval_core.problems import FormatError, name_text, one_line, one_of
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table

FIRST_FINDINGS = 10
"""Findings whose share of all places to settle a sentence gives."""
MOST_WAYS_LISTED = 8
MOST_SPANS_NAMED = 3
MOST_SPAN_CHARACTERS = 60
"""Characters of a span's text among the annotations of a place."""

FINDING_COLUMNS: Columns = {
    "kind": TEXT_DTYPE,
    "rank": "int64",
    "what": TEXT_DTYPE,
    "where": TEXT_DTYPE,
    "settles": "int64",
    "places": "int64",
    "share": "float64",
    "how": TEXT_DTYPE,
}
"""Columns of `Consistency.table`: `what` is a form or a word, `where` its edge and type. Findings are ranked by
`settles`. `how` gives the number of occurrences of each way, `places` is their sum, `share` that of the most frequent
way (NaN where each place needs settling)."""
PLACE_COLUMNS: Columns = {
    "doc": "int64",
    "document": TEXT_DTYPE,
    "start": "int64",
    "end": "int64",
    "how": TEXT_DTYPE,
    "settle": "bool",
}
"""Columns of `Consistency.places`: number and id of the document, code points, end exclusive, the way, and whether the
place would change if all were annotated in the most frequent way."""


class Inconsistency(NamedTuple):
    """One inconsistency: its subject and place, the number of occurrences of each way, and of those it would settle.

    `share` is that of the most frequent way among the occurrences that vote; None where each place needs settling.
    `form` is the value of the attribute `form` of its records, empty for findings that are not surface forms.
    """

    what: str
    where: str
    counts: dict[str, int]
    places: int
    settles: int
    share: float | None
    form: str = ""


@dataclass(frozen=True, eq=False)
class Consistency:
    """The inconsistencies of a layer by kind, without kinds that need more other layers than there are.

    Findings come from the `originals`; `layer` and `others` are the same layers with the texts to show, which may be
    masked. `marks` are changes to the data before, for the signature.
    """

    found: Mapping[str, RankedFindings]
    case: LetterCase
    originals: tuple[Layer, ...]
    layer: Layer
    others: tuple[Layer, ...]
    marks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(map(self.sentence, self.found))

    def finding(self, kind: str, number: int) -> Inconsistency:
        """Return a finding by its rank, from 0."""
        ranked = self.found[kind]
        what, where = ranked.describe(number)
        counts: dict[str, int] = {}
        for name, count in ranked.counts(number).items():
            title = self._shown(name)
            counts[title] = counts.get(title, 0) + count
        settles, form = int(ranked.settles[number]), form_of(what) if KINDS[kind].form else ""
        if is_masked(self.layer.documents):
            # A form that only other layers have shares its mask with other forms.
            form = self._masks.get(form, "")
            what = self._shown(what) if kind == "odd-ends" else form or masked_text(what)
        counted = ranked.counted(number)
        share = None if ranked.votes is None else (counted - settles) / counted
        return Inconsistency(what, where, counts, sum(counts.values()), settles, share, form)

    def _shown(self, name: str) -> str:
        return name_text(masked_quotes(name) if is_masked(self.layer.documents) else name)

    @cached_property
    def _masks(self) -> Mapping[str, str]:
        return masked_forms(folded_forms(self.layer)[1])

    def table(self, kind: str, most: int | None = None) -> pd.DataFrame:
        """Return the findings of a kind, or the first `most`, ranked by the places they settle: FINDING_COLUMNS."""
        rows = []
        for number in range(len(self.found[kind]))[:most]:
            finding = self.finding(kind, number)
            rows.append(
                (
                    kind,
                    number + 1,
                    finding.what,
                    finding.where,
                    finding.settles,
                    finding.places,
                    finding.share,
                    _ways_in_words(finding.counts),
                )
            )
        return typed_table(rows, FINDING_COLUMNS)

    def places(self, kind: str, number: int) -> pd.DataFrame:
        """Return all occurrences of a finding in the order of the texts: PLACE_COLUMNS."""
        return self._placed(self.found[kind], number, self.found[kind].places(number))

    def every_place(self, kind: str, most: int | None = None) -> Iterator[tuple[int, pd.DataFrame]]:
        """Yield the number and the occurrences of each finding, or of the first `most`."""
        ranked = self.found[kind]
        order = np.lexsort((ranked.end, ranked.start, ranked.finding))
        edges = np.searchsorted(ranked.finding[order], np.arange(len(ranked) + 1)).tolist()
        for number in range(len(ranked))[:most]:
            yield number, self._placed(ranked, number, order[edges[number] : edges[number + 1]])

    def _placed(self, ranked: RankedFindings, number: int, occurrences: Int64) -> pd.DataFrame:
        groups = ranked.group[occurrences]
        names = {group: self._shown(ranked.group_name(group)) for group in np.unique(groups).tolist()}
        settle = ranked.to_settle(number)
        documents = self.layer.documents
        # Of documents that begin at the same place, only the last is not empty.
        doc = np.searchsorted(documents.base, ranked.start[occurrences], side="right") - 1
        columns = {
            "doc": doc,
            "document": [documents.ids[number] for number in doc.tolist()],
            "start": ranked.start[occurrences] - documents.base[doc],
            "end": ranked.end[occurrences] - documents.base[doc],
            "how": [names[group] for group in groups.tolist()],
            "settle": [group in settle for group in groups.tolist()],
        }
        return pd.DataFrame(columns).astype(dict(PLACE_COLUMNS))

    def settled(self, kind: str, first: int | None = None) -> int:
        """Return the number of places that all findings of a kind, or the first ones, would settle."""
        return int(self.found[kind].settles[:first].sum())

    def sentence(self, kind: str) -> str:
        """Return the sentence on the number of findings, and on the places that the first ones would settle."""
        number, row = len(self.found[kind]), KINDS[kind]
        if not number:
            return row.none or f"No {row.singular}."
        settled, first = self.settled(kind), min(FIRST_FINDINGS, number)
        sentence = f"{number:,} {row.singular if number == 1 else row.plural}"
        whole = f"{number_with_noun('place', settled)} in question"
        if number <= FIRST_FINDINGS:
            return f"{sentence}, with {whole}."
        share = percent(self.settled(kind, first), settled)
        return f"{sentence}; settling the first {first} would settle {share} of {whole}."

    @property
    def signature(self) -> str:
        """The line that reproduces the findings: program, layers, case and documents."""
        layers = zip((self.layer, *self.others), self.originals, strict=True)
        first, *rest = (f"{each.name} sha256:{original.digest[:16]}" for each, original in layers)
        parts = (
            f"nereval {__version__}",
            f"consistency of {first}",
            f"beside {', '.join(rest) or 'none'}",
            f"case {self.case}",
        )
        masks = (SAID,) if is_masked(self.layer.documents) else ()
        return one_line(" | ".join((*parts, f"documents {len(self.layer.documents)}", *self.marks, *masks)))

    def skipped(self) -> Iterator[str]:
        """Yield a note on each kind that needs more other layers."""
        for name, kind in KINDS.items():
            if name not in self.found and len(self.others) < kind.others:
                n_others = len(self.others)
                remaining = f"there {is_or_are(n_others)} {n_others or 'none'}"
                yield f"{kind.title}: takes {kind.others} other layers, {remaining}"


def _ways_in_words(counts: Mapping[str, int]) -> str:
    """Return the most frequent ways with the number of occurrences of each."""
    parts = [f"{name} {count:,}" for name, count in counts.items()]
    more = len(parts) - MOST_WAYS_LISTED
    return ", ".join(parts[:MOST_WAYS_LISTED]) + (f", and {more} more" if more > 0 else "")


def places_in_layers(report: Consistency, places: pd.DataFrame) -> pd.DataFrame:
    """Return places (PLACE_COLUMNS) with their texts and the annotations of each layer, by its name."""
    texts = report.layer.documents.texts
    rows = zip(*(places[name].tolist() for name in ("doc", "start", "end")), strict=True)
    table = places.drop(columns="doc").assign(text=[texts[doc][start:end] for doc, start, end in rows])
    for layer in (report.layer, *report.others):
        table[layer.name if layer.name not in table else f"layer {layer.name}"] = annotations_at(layer, places)
    return table


def consistency(
    layer: Layer, others: Sequence[Layer] = (), kinds: Sequence[str] = (), case: LetterCase = "differs"
) -> Consistency:
    """Find the inconsistencies of a layer; `others` are over the same documents, `kinds` are by default all.

    `case` tells spellings in capitals and small letters apart where they are annotated differently (`differs`), never
    (`ignore`) or always (`keep`).

    Raises:
        FormatError: the layer has no texts, or there is no such kind or `case`.
    """
    check_kinds(kinds)
    check_texts(layer)
    one_of("case", case, LetterCase)
    originals = tuple(map(unmasked, (layer, *others)))
    indexed = IndexedLayer(originals[0], originals[1:], case)
    asked_kinds = [KINDS[name] for name in KINDS if name in kinds or not kinds]
    ranked = {kind.name: kind.ask(indexed) for kind in asked_kinds if len(others) >= kind.others}
    return Consistency(MappingProxyType(ranked), case, originals, layer, tuple(others))


def check_texts(layer: Layer) -> None:
    """Check that a layer has texts.

    Raises:
        FormatError: it has none.
    """
    if layer.documents.sizes is not None:
        raise FormatError.single(layer.name, None, "there are no texts to look at", "give the texts with the spans")


def annotations_at(layer: Layer, places: pd.DataFrame) -> list[str]:
    """Return the annotations of a layer at places with the columns `doc`, `start` and `end`, "" where it has none.

    A span of exactly these boundaries is given by its type alone, any other span that shares a character by its type
    and text.
    """
    columns = (places[name].tolist() for name in ("doc", "start", "end"))
    return [_annotation(layer, *place) for place in zip(*columns, strict=True)]


def span_at(layer: Layer, doc: int, start: int, end: int) -> int | None:
    """Return a span of exactly these boundaries, or else one that shares a character with the place, if any."""
    return next(_spans(layer, doc, start, end), None)


def _spans(layer: Layer, doc: int, start: int, end: int) -> Iterator[int]:
    """Yield the spans that share a character with a place, those of exactly its boundaries first."""
    low, high = layer.first[doc : doc + 2].tolist()
    high = low + int(np.searchsorted(layer.start[low:high], end, side="left"))
    near = low + np.flatnonzero(layer.end[low:high] > start)
    exact = (layer.start[near] == start) & (layer.end[near] == end)
    for span in (*near[exact].tolist(), *near[~exact].tolist()):
        # The text between fragments is not part of a span.
        parts = layer.fragments.get(span) or ((start, end),)
        if any(first < end and other > start for first, other in parts):
            yield span


def _annotation(layer: Layer, doc: int, start: int, end: int) -> str:
    types: list[str] = []
    others: list[str] = []
    for span in _spans(layer, doc, start, end):
        whole = span not in layer.fragments and (int(layer.start[span]), int(layer.end[span])) == (start, end)
        if whole:
            types.append(layer.label(span))
        else:
            text = " ".join(layer.text(span).split())
            text_shown = text if len(text) <= MOST_SPAN_CHARACTERS else text[: MOST_SPAN_CHARACTERS - 1] + "…"
            others.append(f"{layer.label(span)} “{text_shown}”")
    types = [" + ".join(dict.fromkeys(types))] if types else []
    more = len(others) - MOST_SPANS_NAMED
    return "; ".join([*types, *others[:MOST_SPANS_NAMED], *([f"and {more} more"] if more > 0 else [])])
