"""What a careful reader would question within one layer, kind by kind, ranked by how much it would settle.

Tsai et al. 2006 ("Various criteria in the evaluation of biomedical named entity recognition", BMC Bioinformatics 7:92)
found "t cell" annotated now as cell line, now as cell type, and "normal" now inside a span, now just outside.

Surface forms are compared with white space as one blank, and without case but where `cases` tells them apart: see
`nereval_core.analysis.running_words`.
The kinds are in `consistency_kinds`.
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
from nereval_core.analysis.consistency.findings import Found
from nereval_core.analysis.consistency.kinds import KINDS, check_kinds
from nereval_core.analysis.consistency.letter_case import Case
from nereval_core.analysis.consistency.occurrences import annotated_at
from nereval_core.analysis.consistency.questioned_layer import Inspected
from nereval_core.analysis.running_words import form_of
from nereval_core.analysis.sentences import percent
from nereval_core.analysis.surface_forms import masked_forms, named_forms
from nereval_core.arrays import Int64
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import SAID, is_masked, masked_quotes, masked_text, unmasked
from nereval_core.problems import FormatError, one_line, one_of

FIRST = 10
"""Findings of which a sentence says how much they would settle."""
WAYS = 8
"""Ways that a table tells of."""


FINDING_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "kind": "str",
        "rank": "int64",
        "what": "str",
        "where": "str",
        "settles": "int64",
        "places": "int64",
        "share": "float64",
        "how": "str",
    }
)
"""Columns of `Consistency.table`: `what` is a form or a word, `where` which edge of which type; `settles` is what the
findings are ranked by; `how` says the number of occurrences of each way, `places` their sum, `share` that of those done
as most are (NaN where each is one to settle)."""
PLACE_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"doc": "int64", "document": "str", "start": "int64", "end": "int64", "how": "str", "settle": "bool"}
)
"""Columns of `Consistency.places`: number and id of the document, code points, end exclusive, the way, and whether it
is among those that would change if what is done most often were done always."""


class Finding(NamedTuple):
    """Something to question: what and where, how many occurrences there are of each way, and what it would settle.

    `share` is that of the places done as most are, of those that stand for one way or another; None where each place is
    one to settle. `form` is what the attribute `form` of records calls it, empty where there is none to ask for.
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
    """What was found in a layer, by kind; a kind that takes more other layers than there are is missing.

    Where texts are masked, `given` has them as they were, to look at, and `layer` and `others` as they are to be shown.
    `marks` say what was done to the data on its way here, and stand in the signature.
    """

    given: Inspected
    found: Mapping[str, Found]
    layer: Layer
    others: tuple[Layer, ...]
    marks: tuple[str, ...] = ()

    def finding(self, kind: str, number: int) -> Finding:
        """Return a finding by its rank, from 0."""
        found = self.found[kind]
        what, where = found.what(number)
        counts: dict[str, int] = {}
        for name, count in found.counts(number).items():
            shown = self._shown(name)
            counts[shown] = counts.get(shown, 0) + count
        settles, form = int(found.settles[number]), form_of(what) if KINDS[kind].form else ""
        if is_masked(self.layer.documents):
            # A form that only other layers have is not told from others of its mask.
            form = self._masks.get(form, "")
            what = self._shown(what) if kind == "odd-ends" else form or masked_text(what)
        counted = found.counted(number)
        share = None if found.votes is None else (counted - settles) / counted
        return Finding(what, where, counts, sum(counts.values()), settles, share, form)

    def _shown(self, said: str) -> str:
        return masked_quotes(said) if is_masked(self.layer.documents) else said

    @cached_property
    def _masks(self) -> Mapping[str, str]:
        return masked_forms(named_forms(self.layer)[1])

    def table(self, kind: str, most: int | None = None) -> pd.DataFrame:
        """Return the findings of a kind, or the first of them, those that settle most first: FINDING_COLUMNS."""
        rows = []
        for number in range(len(self.found[kind]))[:most]:
            one = self.finding(kind, number)
            rows.append((kind, number + 1, one.what, one.where, one.settles, one.places, one.share, _how(one.counts)))
        return pd.DataFrame(rows, columns=list(FINDING_COLUMNS)).astype(dict(FINDING_COLUMNS))

    def places(self, kind: str, number: int) -> pd.DataFrame:
        """Return all occurrences of a finding in the order of the texts: PLACE_COLUMNS."""
        return self._placed(self.found[kind], number, self.found[kind].places(number))

    def every_place(self, kind: str, most: int | None = None) -> Iterator[tuple[int, pd.DataFrame]]:
        """Yield the number and the occurrences of each finding, or of the first of them."""
        found = self.found[kind]
        order = np.lexsort((found.end, found.start, found.finding))
        edges = np.searchsorted(found.finding[order], np.arange(len(found) + 1)).tolist()
        for number in range(len(found))[:most]:
            yield number, self._placed(found, number, order[edges[number] : edges[number + 1]])

    def _placed(self, found: Found, number: int, some: Int64) -> pd.DataFrame:
        groups = found.group[some]
        names = {group: self._shown(found.named(group)) for group in np.unique(groups).tolist()}
        settle = found.to_settle(number)
        documents = self.layer.documents
        # Where texts are empty, the last that begins at a place is the one that has it.
        doc = np.searchsorted(documents.base, found.start[some], side="right") - 1
        columns = {
            "doc": doc,
            "document": [documents.ids[number] for number in doc.tolist()],
            "start": found.start[some] - documents.base[doc],
            "end": found.end[some] - documents.base[doc],
            "how": [names[group] for group in groups.tolist()],
            "settle": [group in settle for group in groups.tolist()],
        }
        return pd.DataFrame(columns).astype(dict(PLACE_COLUMNS))

    def settled(self, kind: str, first: int | None = None) -> int:
        """Return what all findings of a kind would settle together, or the first so many."""
        return int(self.found[kind].settles[:first].sum())

    def sentence(self, kind: str) -> str:
        """Say how many findings there are, and how much the first of them would settle."""
        number, row = len(self.found[kind]), KINDS[kind]
        if not number:
            return row.none or f"No {row.one}."
        every, first = self.settled(kind), min(FIRST, number)
        said = f"{number:,} {row.one if number == 1 else row.many}"
        whole = f"{every:,} place{'' if every == 1 else 's'} in question"
        if number <= FIRST:
            return f"{said}, with {whole}."
        share = percent(self.settled(kind, first), every)
        return f"{said}; settling the first {first} would settle {share} of {whole}."

    @property
    def signature(self) -> str:
        """The line that lets another person find the same: program, layers and documents."""
        # The digests are those of what was read.
        layers = zip((self.layer, *self.others), (self.given.layer, *self.given.others), strict=True)
        first, *rest = (f"{one.name} sha256:{read.digest[:16]}" for one, read in layers)
        parts = (
            f"nereval {__version__}",
            f"consistency of {first}",
            f"beside {', '.join(rest) or 'none'}",
            f"case {self.given.case}",
        )
        masks = (SAID,) if is_masked(self.layer.documents) else ()
        return one_line(" | ".join((*parts, f"documents {len(self.layer.documents)}", *self.marks, *masks)))

    def skipped(self) -> Iterator[str]:
        """Say which kinds were not asked about, and why."""
        for name, kind in KINDS.items():
            if name not in self.found and len(self.others) < kind.others:
                yield f"{kind.title}: takes {kind.others} other layers, there {_are(len(self.others))}"


def _how(counts: Mapping[str, int]) -> str:
    """Say how many occurrences there are of each way, of many ways those with most."""
    parts = [f"{name} {count:,}" for name, count in counts.items()]
    more = len(parts) - WAYS
    return ", ".join(parts[:WAYS]) + (f", and {more} more" if more > 0 else "")


def _are(number: int) -> str:
    return f"is {number}" if number == 1 else f"are {number or 'none'}"


def in_layers(found: Consistency, places: pd.DataFrame) -> pd.DataFrame:
    """Return places (PLACE_COLUMNS) with their texts and what each layer has there, by its name."""
    texts = found.layer.documents.texts
    rows = zip(*(places[name].tolist() for name in ("doc", "start", "end")), strict=True)
    table = places.drop(columns="doc").assign(text=[texts[doc][start:end] for doc, start, end in rows])
    for layer in (found.layer, *found.others):
        table[layer.name if layer.name not in table else f"layer {layer.name}"] = annotated_at(layer, places)
    return table


def consistency(
    layer: Layer, others: Sequence[Layer] = (), kinds: Sequence[str] = (), case: Case = "differs"
) -> Consistency:
    """Ask a layer what a careful reader would; `others` are over the same documents, `kinds` by default all.

    `case` tells the spellings of a form apart in capitals or small letters: where they are annotated differently
    (`differs`), never (`ignore`) or always (`keep`).

    Raises:
        FormatError: the layer has no texts to look at, or there is no kind of a name, or no such `case`.
    """
    check_kinds(kinds)
    check_texts(layer)
    one_of("case", case, Case)
    given = Inspected(unmasked(layer), tuple(map(unmasked, others)), case)
    asked = [KINDS[name] for name in KINDS if name in kinds or not kinds]
    found = {kind.name: kind.ask(given) for kind in asked if len(others) >= kind.others}
    given.forget()
    return Consistency(given, MappingProxyType(found), layer, tuple(others))


def check_texts(layer: Layer) -> None:
    """Raises FormatError where there are no texts to look at."""
    if layer.documents.sizes is not None:
        raise FormatError.single(layer.name, None, "there are no texts to look at", "give the texts with the spans")


__all__: Sequence[str] = (
    "FINDING_COLUMNS",
    "PLACE_COLUMNS",
    "Consistency",
    "Finding",
    "check_texts",
    "consistency",
    "in_layers",
)
