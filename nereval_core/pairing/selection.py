"""The selection of documents that are scored, and the renaming of types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Unpack

from nereval_core.pairing import PairBy, Paired, Pairing, pair
from nereval_core.pairing.document_lists import DocumentIds, listed_numbers, select_listed, unknown_ids
from nereval_core.pairing.type_names import TypeNames, mapped, unused_names
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reading


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The documents that are scored, None for all, and other names for the types of gold and of predictions."""

    documents: DocumentIds | None = None
    gold_types: TypeNames | None = None
    pred_types: TypeNames | None = None

    def __bool__(self) -> bool:
        return self != Selection()

    def of_gold(self, gold: Reading) -> Reading:
        """Return the selected part of gold.

        Raises:
            FormatError: it has none of the selected documents.
        """
        if self.gold_types is not None:
            gold = mapped(gold, self.gold_types)
        if self.documents is None:
            return gold
        found = select_listed(gold, self.documents)
        if not len(found.documents):
            raise FormatError(unknown_ids(self.documents, [gold]))
        return found

    def of_pred(self, pred: Reading, whole: Reading, *, pair_by: PairBy = "auto") -> Reading:
        """Return the selected part of a prediction, which is paired by id with `whole`, all of gold.

        Documents that are not paired by id all stay: `paired` selects among them. Where some ids match, documents stay
        whose text is that of a selected document that the prediction does not have by id.
        """
        if self.pred_types is not None:
            pred = mapped(pred, self.pred_types)
        if self.documents is None or pair_by != "auto" or not _paired_by_id(pred, whole):
            return pred
        return select_listed(pred, self.documents, _with_selected_text(pred, whole, self.documents))

    def paired(self, gold: Reading, pred: Reading, whole: Reading, **pairing: Unpack[Pairing]) -> Paired:
        """Return the prediction's layer over the selected documents of gold.

        `gold` and `pred` are the results of `of_gold` and `of_pred`. Where documents are paired by order or by text,
        all of them are paired before the selection.

        Raises:
            FormatError: as `pair`.
        """
        if self.documents is None or pred.restricted:
            return pair(gold, pred, **pairing)
        from nereval_core.corpus.subset import select_spans

        every = replace(whole, restricted=gold.restricted, mapped=gold.mapped)
        found = pair(every, pred, **pairing)
        numbers = listed_numbers(whole, self.documents)
        note = f"restricted to {gold.restricted}, those of gold they are paired with"
        layer = select_spans(found.layer, numbers, gold.documents)
        return replace(found, layer=layer, notes=(*found.notes, note))

    def unknown_documents(self, readings: Iterable[Reading]) -> Iterator[Problem]:
        """Yield a problem for each selected document that no reading has."""
        if self.documents is not None:
            yield from unknown_ids(self.documents, readings)

    def unused_names(self, gold: Reading, systems: Iterable[Reading]) -> tuple[str, ...]:
        """Return notes on renamed types that no span has, on the sides where they are renamed."""
        systems = tuple(systems)
        if self.gold_types == self.pred_types:
            sides = [(self.gold_types, (gold, *systems), "no span")]
        else:
            sides = [(self.gold_types, (gold,), "no gold span"), (self.pred_types, systems, "no prediction")]
        return tuple(
            f"{names.source}: {who} has the type {', '.join(map(quoted, lost))}"
            for names, readings, who in sides
            if names is not None and (lost := unused_names(names, readings))
        )


def _paired_by_id(pred: Reading, whole: Reading) -> bool:
    ours, theirs = whole.documents, pred.documents
    return ours.named and theirs.named and theirs is not ours and not ours.index.keys().isdisjoint(theirs.ids)


def _with_selected_text(pred: Reading, whole: Reading, ids: DocumentIds) -> list[int]:
    """Return the documents whose id gold does not have, but whose text is that of a selected document."""
    ours, theirs = whole.documents, pred.documents
    wanted = {ours.texts[ours.index[name]] for name in ids.ids if name in ours.index and name not in theirs.index}
    if not wanted:
        return []
    foreign = (number for number, name in enumerate(theirs.ids) if name not in ours.index)
    return [number for number in foreign if theirs.texts[number] in wanted]
