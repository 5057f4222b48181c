"""What a careful reader would question within one layer, kind by kind, ranked by how much it would settle.

Tsai et al. 2006 ("Various criteria in the evaluation of biomedical named entity recognition", BMC Bioinformatics 7:92)
found "t cell" annotated now as cell line, now as cell type, and "normal" now inside a span, now just outside.

Surface forms are compared without case and with white space as one blank: see `nereval_core.analysis.running_words`.
A new kind is one function and one row of KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.analysis.consistency_against import LEAST, against_all
from nereval_core.analysis.consistency_edges import edge_words, odd_ends
from nereval_core.analysis.consistency_forms import LEAST_SHARE, not_everywhere, several_types
from nereval_core.analysis.consistency_nesting import nested_differently
from nereval_core.analysis.inspected import Found, Inspected
from nereval_core.analysis.sentences import percent
from nereval_core.corpus import Layer
from nereval_core.errors import FormatError, quoted

FIRST = 10
"""Findings of which a sentence says how much they would settle."""


@dataclass(frozen=True)
class Kind:
    """A question to a layer: its name in links and options, title, the question itself, and what it is called to find
    one or many. `counted` says what a finding would settle, `form` whether findings are surface forms, `others` how
    many other layers the question takes."""

    name: str
    title: str
    question: str
    one: str
    many: str
    counted: str
    ask: Callable[[Inspected], Found]
    form: bool = False
    others: int = 0


_LESS = "The annotations that would change if what is done most often were done always."
_ALL = "Every one of them is a place to decide."
_ROWS = (
    Kind(
        "types",
        "Several types",
        "Which surface forms are annotated now with one type, now with another?",
        "form has several types",
        "forms have several types",
        _LESS,
        several_types,
        form=True,
    ),
    Kind(
        "not-everywhere",
        "Here, not there",
        "Which surface forms are annotated at some places and stand at others without any annotation?",
        "form is annotated here and not there",
        "forms are annotated here and not there",
        f"{_LESS} Places inside another span are listed, but count for neither. Left out are forms of one letter or "
        f"without any, and forms annotated in under {LEAST_SHARE:.0%} of their places.",
        not_everywhere,
        form=True,
    ),
    Kind(
        "edges",
        "Edge words",
        "Which words stand at an edge of spans, now inside, now just outside?",
        "word stands at an edge now inside, now just outside",
        "words stand at an edge now inside, now just outside",
        _LESS,
        edge_words,
    ),
    Kind(
        "nesting",
        "Nested differently",
        "Which texts are annotated as a whole here, in parts there, or with other spans inside?",
        "text is nested or parted differently",
        "texts are nested or parted differently",
        _LESS,
        nested_differently,
        form=True,
    ),
    Kind(
        "odd-ends",
        "Odd ends",
        "Which spans have white space or punctuation at an edge, half of a pair of brackets, or an edge inside a word?",
        "kind of odd ends",
        "kinds of odd ends",
        _ALL,
        odd_ends,
    ),
    Kind(
        "against-all",
        "Against all others",
        "Where do all other layers agree against this one?",
        "form on which all others agree against this layer",
        "forms on which all others agree against this layer",
        _ALL,
        against_all,
        form=True,
        others=LEAST,
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ROWS})

FINDING_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"kind": "str", "rank": "int64", "what": "str", "where": "str", "how": "str", "places": "int64", "settles": "int64"}
)
"""Columns of `Consistency.table`: `what` is a form or a word, `where` which edge of which type; `how` says the number
of occurrences of each way, `places` their sum; `settles` is what the findings are ranked by."""
PLACE_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"doc": "int64", "document": "str", "start": "int64", "end": "int64", "how": "str"}
)
"""Columns of `Consistency.places`: number and id of the document, code points, end exclusive, and the way."""


class Finding(NamedTuple):
    """Something to question: what and where, how many occurrences there are of each way, and what it would settle."""

    what: str
    where: str
    counts: dict[str, int]
    places: int
    settles: int


@dataclass(frozen=True, eq=False)
class Consistency:
    """What was found in a layer, by kind; a kind that takes more other layers than there are is missing."""

    given: Inspected
    found: Mapping[str, Found]

    @property
    def layer(self) -> Layer:
        return self.given.layer

    @property
    def others(self) -> tuple[Layer, ...]:
        return self.given.others

    def finding(self, kind: str, number: int) -> Finding:
        """Return a finding by its rank, from 0."""
        found = self.found[kind]
        counts = found.counts(number)
        return Finding(*found.what(number), counts, sum(counts.values()), int(found.settles[number]))

    def table(self, kind: str, most: int | None = None) -> pd.DataFrame:
        """Return the findings of a kind, or the first of them, those that settle most first: FINDING_COLUMNS."""
        rows = []
        for number in range(len(self.found[kind]))[:most]:
            one = self.finding(kind, number)
            how = ", ".join(f"{name} {count:,}" for name, count in one.counts.items())
            rows.append((kind, number + 1, one.what, one.where, how, one.places, one.settles))
        return pd.DataFrame(rows, columns=list(FINDING_COLUMNS)).astype(dict(FINDING_COLUMNS))

    def places(self, kind: str, number: int, how: str | None = None) -> pd.DataFrame:
        """Return all occurrences of a finding, or those of one way, in the order of the texts: PLACE_COLUMNS."""
        found = self.found[kind]
        some = found.places(number)
        groups = found.group[some]
        names = {group: found.named(group) for group in np.unique(groups).tolist()}
        documents = self.layer.documents
        # Where texts are empty, the last that begins at a place is the one that has it.
        doc = np.searchsorted(documents.base, found.start[some], side="right") - 1
        columns = {
            "doc": doc,
            "document": [documents.ids[number] for number in doc.tolist()],
            "start": found.start[some] - documents.base[doc],
            "end": found.end[some] - documents.base[doc],
            "how": [names[group] for group in groups.tolist()],
        }
        table = pd.DataFrame(columns).astype(dict(PLACE_COLUMNS))
        return table if how is None else table[(table["how"] == how).to_numpy()].reset_index(drop=True)

    def settled(self, kind: str, first: int | None = None) -> int:
        """Return what all findings of a kind would settle together, or the first so many."""
        return int(self.found[kind].settles[:first].sum())

    def sentence(self, kind: str) -> str:
        """Say how many findings there are, and how much the first of them would settle."""
        number, row = len(self.found[kind]), KINDS[kind]
        if not number:
            return f"No {row.one}."
        every, first = self.settled(kind), min(FIRST, number)
        said = f"{number:,} {row.one if number == 1 else row.many}"
        whole = f"{every:,} annotation{'' if every == 1 else 's'}"
        if number <= FIRST:
            return f"{said}; settling {'it' if number == 1 else 'them'} would settle {whole}."
        share = percent(self.settled(kind, first), every)
        return f"{said}; settling the first {first} would settle {share} of {whole}."

    def skipped(self) -> Iterator[str]:
        """Say which kinds were not asked about, and why."""
        for name, kind in KINDS.items():
            if name not in self.found and len(self.others) < kind.others:
                yield f"{kind.title}: takes {kind.others} other layers, there {_are(len(self.others))}"


def _are(number: int) -> str:
    return f"is {number}" if number == 1 else f"are {number or 'none'}"


def consistency(layer: Layer, others: Sequence[Layer] = (), kinds: Sequence[str] = ()) -> Consistency:
    """Ask a layer what a careful reader would; `others` are over the same documents, `kinds` by default all.

    Raises:
        FormatError: the layer has no texts to look at, or there is no kind of a name.
    """
    check_kinds(kinds)
    if layer.documents.sizes is not None:
        raise FormatError.single(layer.name, None, "there are no texts to look at", "give the texts with the spans")
    given = Inspected(layer, tuple(others))
    asked = [KINDS[name] for name in KINDS if name in kinds or not kinds]
    found = {kind.name: kind.ask(given) for kind in asked if len(others) >= kind.others}
    return Consistency(given, MappingProxyType(found))


def check_kinds(names: Sequence[str]) -> None:
    """Raises FormatError where there is no kind of one of these names."""
    for name in names:
        if name not in KINDS:
            raise FormatError.single("--kinds", None, f"{quoted(name)} is no kind", f"choose among {', '.join(KINDS)}")


__all__: Sequence[str] = (
    "FINDING_COLUMNS",
    "KINDS",
    "PLACE_COLUMNS",
    "Consistency",
    "Finding",
    "Kind",
    "check_kinds",
    "consistency",
)
