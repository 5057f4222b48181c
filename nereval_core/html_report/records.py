"""Scored systems, and the records of them that a report shows in their text.

A record has marks: `s` with the number of the system, `c` with that of a criterion and the decision under it, `k` with
that of the error class, `g` and `p` with those of the gold and the predicted type, `g-` and `p-` for none. A record
with a current verdict has `v`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.comparison import Comparison, compare_scores
from nereval_core.analysis.errors.error_classes import CLASSES, STRICT
from nereval_core.analysis.resampling_units import ResamplingUnits, plan_for
from nereval_core.analysis.sentences import RecordCount as Said
from nereval_core.analysis.sentences import Sentence, number_with_noun
from nereval_core.corpus import Corpus, Layer
from nereval_core.corpus.masking import is_masked, masked_text
from nereval_core.html_report.page import (
    Count,
    Paragraph,
    RecordCard,
    RecordGroup,
    RecordIndex,
    ReportTable,
    RequiredMarks,
)
from nereval_core.ledger import Ledger, ledger
from nereval_core.options import RECORDS_PER_CLASS
from nereval_core.problems import name_text
from nereval_core.records.queries import ABSENT, Query
from nereval_core.report.excerpts import record_heading, record_html
from nereval_core.report.slides import shortened
from nereval_core.review.layer_words import GOLD_NAME, LayerWords
from nereval_core.review.playlists import Playlist, playlist_records
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts_on_records import attach_verdicts
from nereval_core.review.words import decision_in_words
from nereval_core.scoring import Scores
from nereval_core.tables import Cell, Column, RecordsOf, Row, Table
from nereval_core.tables.glossary import DECISIONS

ERRORS = DECISIONS[1:]
NOTE_CHARACTERS = 600
"""Characters of a note or comment that are shown."""
EACH, MOST = 10, 200
"""Records shown of each class by default, and of a query at most."""

RecordNotes = Callable[[Ledger, int], Iterable[tuple[str, str]]]
"""Gives further lines on a record, each with a name, by its position in a ledger."""


@dataclass(frozen=True, eq=False)
class ScoredSystems:
    """Systems scored under the same criteria, including `strict`; `names` are those reported, the main one first.

    `reference` is the name of the layer that stands in gold's place; with `annotators` all layers are annotators'.
    `units` are resampled, by default each document.
    """

    corpus: Corpus
    scores: Mapping[str, Scores]
    names: tuple[str, ...]
    reviewed: Reviewed = field(default_factory=Reviewed)
    reference: str = GOLD_NAME
    annotators: bool = False
    units: ResamplingUnits | None = None
    _ledgers: dict[tuple[str, str], Ledger] = field(default_factory=dict, repr=False)

    @property
    def main(self) -> str:
        return self.names[0]

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @property
    def first(self) -> Scores:
        return next(iter(self.scores.values()))

    @property
    def noun(self) -> str:
        """What a layer is that is compared with the reference."""
        return "annotator" if self.annotators else "system"

    def words(self, system: str = "") -> LayerWords:
        """Return the words for the reference and a system, "" for all of them together."""
        one = system or (self.systems[0] if len(self.systems) == 1 else "")
        other = name_text(one) if one else "the other" if self.annotators else "the system"
        return LayerWords(self.reference, other, self.annotators)

    @cached_property
    def comparison(self) -> Comparison:
        """The systems compared under all criteria: intervals, differences and ranks."""
        plan = plan_for(len(self.corpus.documents))
        return compare_scores(self.scores, names=self.names, plan=plan, units=self.units)

    def ledger(self, system: str, criterion: str) -> Ledger:
        """Return the match records of a system, made once."""
        key = (system, criterion)
        if key not in self._ledgers:
            read = (self.corpus.gold, self.corpus.system(system))
            self._ledgers[key] = ledger(self.scores[system], criterion, read, _AttributeSources(self, system))
        return self._ledgers[key]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types as scored under the main criterion, sorted."""
        return tuple(sorted({kind for scores in self.scores.values() for kind in scores.by_type(self.main)}))

    def is_by_token(self, name: str) -> bool:
        return self.first.criterion(name).unit == "token"


@dataclass(frozen=True)
class _AttributeSources:
    """The scores, layers and verdicts from which attributes of records are read."""

    scored: ScoredSystems
    system: str

    @property
    def systems(self) -> tuple[str, ...]:
        return self.scored.systems

    @property
    def gold(self) -> Layer:
        return self.scored.corpus.gold

    def scores(self, system: str | None = None, names: Sequence[str] = ()) -> Scores:
        return self.scored.scores[system or self.system]

    @property
    def layers(self) -> tuple[Layer, ...]:
        return (self.scored.corpus.gold, *self.scored.corpus.systems)

    @property
    def reviewed(self) -> Reviewed:
        return self.scored.reviewed

    def beside(self, digest: str) -> object | None:
        return None


@dataclass(frozen=True)
class RecordSelection:
    """The records shown: the first `each` of every error class, those of a `query`, or those on a `playlist`.

    A query shows at most `most` records of each system, or of the one `system` alone. Records of a playlist are in its
    order, system by system, with its comments, which are left out if texts are masked. Records of classes are strict
    records, the others are those under the main criterion.
    """

    each: int = EACH
    query: Query | None = None
    system: str = ""
    most: int = MOST
    playlist: Playlist | None = None

    def __post_init__(self) -> None:
        RECORDS_PER_CLASS.check(self.each)


class Records:
    """The records that are shown, and counts that link to them."""

    def __init__(self, scored: ScoredSystems, selection: RecordSelection, notes_on: RecordNotes) -> None:
        self.scored, self.selection, self.notes_on = scored, selection, notes_on
        by_class = (selection.query is None and selection.playlist is None) or scored.is_by_token(scored.main)
        self.by = STRICT if by_class else scored.main
        self._names = tuple(dict.fromkeys((*scored.names, self.by, STRICT)))
        self._types = {kind: number for number, kind in enumerate(self._types_of())}
        self._comments: Mapping[int, str] = {}
        self.groups = tuple(self._groups())
        self.index = RecordIndex(self.groups)

    def _types_of(self) -> Sequence[str]:
        layers = (layer for scores in self.scored.scores.values() for layer in scores.layers(self.by))
        return sorted({kind for layer in layers for kind in layer.types})

    def required_marks(self, system: str, criterion: str, query: Query) -> RequiredMarks:
        """Return the marks of the records of a query under a criterion; none if marks cannot identify them."""
        can_identify = self.by == criterion or not (query.gold or query.pred)
        classes = [value for name, value in query.having if name == "class"]
        if not can_identify or query.text or query.doc or query.types or len(classes) < len(query.having):
            return ()
        if classes and self.by != STRICT:
            return ()
        number = self._names.index(criterion)
        marks = [f"s{self.scored.systems.index(system)}"]
        if query.decision and set(query.decision) != set(DECISIONS):
            marks.append("|".join(f"c{number}{code}" for code in query.decision))
        for side, kinds in (("g", query.gold), ("p", query.pred)):
            if kinds:
                marks.append("|".join(f"{side}{self._type(kind)}" for kind in kinds))
        return (*marks, *(f"k{CLASSES.index(name)}" for name in classes))

    def _type(self, kind: str) -> str:
        return "-" if kind == ABSENT else str(self._types[kind])

    def count(self, number: int, system: str, criterion: str, query: Query, text: str = "") -> Count:
        """Return a count with the marks of its records; tokens have no records of their own."""
        required = () if self.scored.is_by_token(criterion) else self.required_marks(system, criterion, query)
        return Count(number, required, text)

    def is_linked(self, count: Count) -> bool:
        """Tell whether a count links to any of the records."""
        return bool(self.index.of(count))

    def sentence(self, system: str, head: str, sentence: Sentence, criterion: str) -> Iterator[Paragraph]:
        """Yield a sentence after its head, its numbers linked to their records; none is about two annotators."""
        if self.scored.annotators:
            return
        words = self.scored.words(system)
        parts = (
            self.count(part.number, system, criterion, part.query, part.text)
            if isinstance(part, Said)
            else words.by_names(part)
            for part in sentence
        )
        yield Paragraph((head, *parts))

    def table(self, table: Table, system: str = "", *, folded: bool = False) -> ReportTable:
        """Return a declared table, of a system where its rows have none; its counts link to their records."""
        words = self.scored.words(system if "system" not in table.keys else "")
        rows = tuple(
            tuple(
                self._cell(cell, column, words.cell(text, column), table.row(number), system)
                for cell, column, text in zip(table.rows[number], table.columns, texts, strict=True)
            )
            for number, texts in enumerate(table.texts())
        )
        right = frozenset(place for place, column in enumerate(table.columns) if not column.is_left)
        heads = max(1, len(list(takewhile(lambda column: column.kind == "name", table.columns))))
        headings = tuple(words.heading(column) for column in table.columns) if words.by_name else table.headings
        notes = tuple(map(words.by_names, table.footnotes))
        return ReportTable(table.title, headings, rows, notes, heads, folded, right)

    def _cell(self, cell: Cell, column: Column, text: str, row: Row, system: str) -> Count | str:
        target = column.opens(row) if column.opens is not None and isinstance(cell, int) else None
        if isinstance(target, RecordsOf) and isinstance(cell, int):
            return self.count(cell, target.system or system, target.criterion or self.by, target.query)
        return text

    def parts(self) -> Iterator[Paragraph | RecordGroup]:
        records = [record for group in self.groups for record in group.records]
        if self.selection.playlist is not None:
            which = f"The records on the playlist {self.selection.playlist.name}, under {self.by}"
        elif self.selection.query is None:
            which = (
                f"The first {self.selection.each:,} records of each error class and {self.scored.noun}, under {self.by}"
            )
        else:
            most = f"at most {self.selection.most:,} of each {self.scored.noun}"
            which = f"The records of the query, {most}, under {self.by}"
        words = self.scored.words()
        sides = "Gold is above the text, the prediction below it"
        if words.by_name:
            sides = f"{words.reference} is above the text, {words.other} below it"
        yield Paragraph((f"{which}: {number_with_noun('record', len(records))}. {sides}.",))
        yield from self._notes(records)
        yield from self.groups

    def _notes(self, records: Sequence[RecordCard]) -> Iterator[Paragraph]:
        """Yield notes on records with verdicts, on masked texts, and on records of a playlist that are not shown."""
        masked, playlist = is_masked(self.scored.corpus.documents), self.selection.playlist
        if playlist is not None and (n_hidden := len(playlist.items) - len(records)) > 0:
            hidden_records = number_with_noun("record", n_hidden)
            rest = "of the playlist, of other systems or without text or span here"
            yield Paragraph((f"Not shown: {hidden_records} {rest}.",))
        if number := sum("v" in record.marks for record in records):
            hidden = " Texts are masked, and so are the notes and old quotes of verdicts." if masked else ""
            yield Paragraph(
                (Count(number, ("v",)), f" of these records {'has' if number == 1 else 'have'} a verdict.{hidden}")
            )
        if masked and playlist is not None and any(item.comment for item in playlist.items):
            yield Paragraph(("Texts are masked: comments, which may quote them, are left out.",))

    def _groups(self) -> Iterator[RecordGroup]:
        for system in self.scored.systems:
            ledger, words = self.scored.ledger(system, self.by), self.scored.words(system)
            if self.selection.playlist is not None:
                starred = dict(playlist_records(self.selection.playlist, ledger.about, system))
                self._comments = {place: item.comment for place, item in starred.items()}
                yield from self._group(system, ledger, np.array(list(starred), np.int32), None, system)
            elif self.selection.query is None:
                for name in CLASSES:
                    positions = ledger.positions(Query(decision=ERRORS, having=(("class", name),)))
                    yield from self._group(
                        system, ledger, positions, self.selection.each, f"{system}: {words.error_class(name)}"
                    )
            elif self.selection.system in ("", system):
                positions = ledger.positions(self.selection.query)
                yield from self._group(system, ledger, positions, self.selection.most, system)

    def _group(
        self, system: str, ledger: Ledger, positions: NDArray[Any], most: int | None, title: str
    ) -> Iterator[RecordGroup]:
        first_positions = positions[:most]
        if not len(first_positions):
            return
        all_records = number_with_noun("record", len(positions))
        counted = (
            f"the first {len(first_positions):,} of {all_records}"
            if len(first_positions) < len(positions)
            else f"all {all_records}"
        )
        counted = all_records if len(positions) == 1 or most is None else counted
        marks = list(self._marks(system, ledger, first_positions))
        rows = [row for _, row in ledger.frame(first_positions).iterrows()]
        cards = (
            self._card(system, ledger, int(position), row, own)
            for position, row, own in zip(first_positions.tolist(), rows, marks, strict=True)
        )
        yield RecordGroup(f"{title}, {counted}", tuple(cards))

    def _card(self, system: str, ledger: Ledger, position: int, row: pd.Series, marks: frozenset[str]) -> RecordCard:
        words = self.scored.words(system)
        reason = words.reason(str(row["reason"]), row["gold_type"], row["pred_type"])
        return RecordCard(
            record_heading(row, words.of_slides),
            (system, reason, f"document {row['document']}", str(row["record"])),
            record_html(ledger.about.scores, self.by, row, self.scored.corpus.gold.types, words=words.of_slides),
            marks,
            (*verdict_lines(ledger, position, words), *self._comment(position), *self.notes_on(ledger, position)),
        )

    def _comment(self, position: int) -> Iterator[tuple[str, str]]:
        comment = self._comments.get(position, "")
        if comment and not is_masked(self.scored.corpus.documents):
            yield "comment", shortened(comment, NOTE_CHARACTERS)

    def _marks(self, system: str, ledger: Ledger, positions: NDArray[Any]) -> Iterator[frozenset[str]]:
        rows = ledger.about.rows.take(positions)
        gold, pred = ledger.about.scores.layers(self.by)
        anchored = rows.anchored.tolist()
        columns: list[list[str]] = [[f"s{self.scored.systems.index(system)}"] * len(rows)]
        for side, layer, spans in (("g", gold, rows.gold), ("p", pred, rows.pred)):
            columns.append([f"{side}{self._type(layer.label(span)) if span >= 0 else '-'}" for span in spans.tolist()])
        for number, name in enumerate(self._names):
            attribute = ledger.attribute(f"under {name}")
            if attribute is None:
                continue
            codes = [attribute.names[code] for code in attribute.codes[positions].tolist()]
            # A prediction that is aligned under that criterion has no record of its own.
            columns.append(
                [f"c{number}{code}" if own or code == "SPU" else "" for code, own in zip(codes, anchored, strict=True)]
            )
        if self.by == STRICT and (classes := ledger.attribute("class")) is not None:
            columns.append([f"k{code}" if code >= 0 else "" for code in classes.codes[positions].tolist()])
        columns.append(
            ["v" if is_decided else "" for is_decided in attach_verdicts(ledger.about).decided[positions].tolist()]
        )
        for marks in zip(*columns, strict=True):
            yield frozenset(filter(None, marks))


def verdict_lines(ledger: Ledger, position: int, words: LayerWords) -> Iterator[tuple[str, str]]:
    """Yield the verdict on a record, with reviewer, date and note; quotes and notes are masked if texts are."""
    verdicts = attach_verdicts(ledger.about)
    verdict = verdicts.of(position)
    if verdict is None:
        return
    documents = ledger.about.read[0].documents
    hidden = masked_text if is_masked(documents) else str
    stale = bool(verdicts.stale[position])
    text = None if stale else documents.texts[int(ledger.about.rows.doc[position])]
    was = f"stale, given on “{shortened(hidden(verdict.verdict.seen.quote))}”: " if stale else ""
    decision = decision_in_words(verdict.verdict.kind, verdict.verdict.right, text, words.verdicts)
    yield "verdict", f"{was}{decision}, by {verdict.who}, {verdict.at[:10]}"
    if verdict.verdict.note:
        yield "note", shortened(hidden(verdict.verdict.note), NOTE_CHARACTERS)
