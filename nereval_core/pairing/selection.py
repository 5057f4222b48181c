"""What is scored of what was read: which documents, and by which names of types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Unpack

from nereval_core.corpus.subset import layer_of
from nereval_core.pairing import PairBy, Paired, Pairing, pair
from nereval_core.pairing.document_lists import DocumentIds, among, numbers_of, unknown
from nereval_core.pairing.type_names import TypeNames, mapped, unmet
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reading


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The documents that are scored, None for all, and what types of gold and of predictions are called instead."""

    documents: DocumentIds | None = None
    gold_types: TypeNames | None = None
    pred_types: TypeNames | None = None

    def __bool__(self) -> bool:
        return self != Selection()

    def of_gold(self, gold: Reading) -> Reading:
        """Return what of gold is scored.

        Raises:
            FormatError: it has none of the documents.
        """
        if self.gold_types is not None:
            gold = mapped(gold, self.gold_types)
        if self.documents is None:
            return gold
        found = among(gold, self.documents)
        if not len(found.documents):
            raise FormatError(unknown(self.documents, [gold]))
        return found

    def of_pred(self, pred: Reading, whole: Reading, *, pair_by: PairBy = "auto") -> Reading:
        """Return what of a prediction is scored against gold, of which `whole` is all.

        Documents that are not paired by their ids are all there still: `paired` chooses among them. Where some ids
        meet, those with the text of a document that the prediction has not by its id are taken too.
        """
        if self.pred_types is not None:
            pred = mapped(pred, self.pred_types)
        chosen = self.documents is not None and pair_by == "auto" and _by_ids(pred, whole)
        if self.documents is None or not chosen:
            return pred
        return among(pred, self.documents, _by_text(pred, whole, self.documents))

    def paired(self, gold: Reading, pred: Reading, whole: Reading, **pairing: Unpack[Pairing]) -> Paired:
        """Return the prediction's layer over the documents of gold that are scored.

        `gold` and `pred` are what `of_gold` and `of_pred` return. Documents that are paired by their order or their
        texts are so all of them.

        Raises:
            FormatError: as `pair`.
        """
        if self.documents is None or pred.restricted:
            return pair(gold, pred, **pairing)
        every = replace(whole, restricted=gold.restricted, mapped=gold.mapped)
        found = pair(every, pred, **pairing)
        numbers = numbers_of(whole, self.documents)
        note = f"restricted to {gold.restricted}, those of gold they are paired with"
        layer = layer_of(found.layer, numbers, gold.documents)
        return replace(found, layer=layer, notes=(*found.notes, note))

    def lacking(self, readings: Iterable[Reading]) -> Iterator[Problem]:
        """Yield a problem for each document asked for that no side has."""
        if self.documents is not None:
            yield from unknown(self.documents, readings)

    def slips(self, gold: Reading, systems: Iterable[Reading]) -> tuple[str, ...]:
        """Return notes on names of types that are mapped and that no span has, on the sides they are mapped on."""
        systems = tuple(systems)
        if self.gold_types == self.pred_types:
            sides = [(self.gold_types, (gold, *systems), "no span")]
        else:
            sides = [(self.gold_types, (gold,), "no gold span"), (self.pred_types, systems, "no prediction")]
        return tuple(
            f"{names.source}: {who} has the type {', '.join(map(quoted, lost))}"
            for names, readings, who in sides
            if names is not None and (lost := unmet(names, readings))
        )


def _by_ids(pred: Reading, whole: Reading) -> bool:
    ours, theirs = whole.documents, pred.documents
    return ours.named and theirs.named and theirs is not ours and not ours.index.keys().isdisjoint(theirs.ids)


def _by_text(pred: Reading, whole: Reading, ids: DocumentIds) -> list[int]:
    """Return the documents that gold does not know by id, and that have the text of one that is asked for."""
    ours, theirs = whole.documents, pred.documents
    wanted = {ours.texts[ours.index[name]] for name in ids.ids if name in ours.index and name not in theirs.index}
    if not wanted:
        return []
    foreign = (number for number, name in enumerate(theirs.ids) if name not in ours.index)
    return [number for number in foreign if theirs.texts[number] in wanted]
