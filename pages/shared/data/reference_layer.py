"""A layer taken as gold: the corpus with it in gold's place and the former gold among the systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.problems import name_text, quoted
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from pages.shared.data.loading import GOLD, LayerRead, Loaded
from pages.shared.data.memo import memoized
from pages.shared.view import View, state


def follow_view(loaded: Loaded, view: View) -> tuple[Loaded, View, tuple[str, ...]]:
    """Return the corpus with the view's layer in gold's place, the view, and in words the parts that were dropped."""
    name, annotators = view.reference, view.annotators
    if not name and not annotators:
        return loaded, view, ()
    by_name = layers(loaded)
    wrong = [f"reference: {quoted(name)} is not a layer of this corpus"] if name and name not in by_name else []
    wrong += [
        f"annotators: {quoted(other)} is not a layer of this corpus" for other in annotators if other not in by_name
    ]
    name = name if name in by_name and name != gold_name(loaded) else ""
    view = replace(view, reference=name, annotators=tuple(other for other in annotators if other in by_name))
    return with_reference(loaded, name), view, tuple(wrong)


def with_reference(loaded: Loaded, name: str) -> Loaded:
    """Return the corpus with a layer in gold's place, "" for gold as it was read."""
    read = as_read(loaded)
    return swap_gold(read, name) if name else read


def as_read(loaded: Loaded) -> Loaded:
    """Return the corpus with gold in its own place."""
    return loaded.origin or loaded


@memoized()
def swap_gold(read: Loaded, name: str) -> Loaded:
    """Return a corpus as read with a system's layer in gold's place; files, formats and marks move along.

    A published scorer that reads the files is told of one column for gold and one for systems: where the two differ,
    the former gold has no file any more.
    """
    corpus, former = read.corpus, former_gold(read)
    gold = corpus.system(name)
    systems = tuple(layer for layer in corpus.systems if layer is not gold)
    rows = {row.name: row for row in read.layers}
    order = {name: GOLD, GOLD: former}
    sources = {order.get(layer, layer): source for layer, source in read.sources.items()}
    options = read.options
    if options.gold_column != options.pred_column:
        sources.pop(former, None)
    mark = f"{'reference' if read.first_annotator else 'taken as gold'}: {name}"
    marks = {layer.name: (mark, *_told(read, name), *_told(read, layer.name)) for layer in systems}
    return replace(
        read,
        corpus=replace(corpus, gold=gold, systems=(*systems, corpus.gold.renamed(former))),
        layers=(
            replace(rows[name], name=GOLD, notes=(mark, *rows[name].notes)),
            *(rows[layer.name] for layer in systems),
            replace(rows[GOLD], name=former),
        ),
        marks=marks | {former: (mark, *_told(read, name))},
        start=former if read.start == name else read.start,
        sources=sources,
        options=replace(options, gold_format=options.pred_format, gold_column=options.pred_column),
        address=read.digest,
        origin=read,
        original=None if read.original is None else swap_gold(read.original, name),
        reference=name,
        reading=f"{read.reading}, {name} as gold",
    )


def _told(read: Loaded, name: str) -> tuple[str, ...]:
    return tuple(f"{name} as read: {mark}" for mark in read.marks[name])


def gold_name(loaded: Loaded) -> str:
    """Return the name of the layer that was read as gold, which no system has: that of an annotator, or gold."""
    return _free(as_read(loaded).first_annotator or GOLD, loaded)


def former_gold(loaded: Loaded) -> str:
    """Return the name of that layer while another has its place, which no system has."""
    return _free(as_read(loaded).first_annotator or "original gold", loaded)


def _free(name: str, loaded: Loaded) -> str:
    while any(layer.name == name for layer in as_read(loaded).corpus.systems):
        name += " *"
    return name


def layers(loaded: Loaded) -> Mapping[str, Layer]:
    """Return all layers by name as they were read, gold first, whatever has its place."""
    corpus = as_read(loaded).corpus
    return {gold_name(loaded): corpus.gold} | {layer.name: layer for layer in corpus.systems}


def reading_of(loaded: Loaded, reference: str) -> LayerRead | None:
    """Return how the layer in gold's place was read, by its name in the view; None for one that no file holds."""
    rows = {row.name: row for row in as_read(loaded).layers}
    return rows.get(reference or loaded.first_annotator, rows.get(GOLD))


def words_of(loaded: Loaded, system: str) -> LayerWords:
    """Return the words for the layer in gold's place and a system: their names, unless it is gold that is there."""
    if not loaded.first_annotator and not loaded.reference:
        return GOLD_AND_PREDICTION
    reference = name_text(loaded.reference or gold_name(loaded))
    return LayerWords(reference, name_text(system), annotators=bool(loaded.first_annotator))


def view_of_pair(view: View, loaded: Loaded, first: str, other: str) -> View:
    """Return the view with one layer taken as gold and another as the system."""
    gold = gold_name(loaded)
    system = former_gold(loaded) if other == gold else other
    return replace(
        view, reference="" if first == gold else first, system=system, record="", doc="", beside="", tracks=()
    )


def swapped_view(view: View, loaded: Loaded, system: str) -> View:
    """Return the view with the reference and the system in each other's place, and its filters turned likewise."""
    turned = {"MIS": "SPU", "SPU": "MIS"}
    decision = tuple(turned.get(code, code) for code in view.decision)
    swapped = view_of_pair(view, loaded, system, loaded.reference or gold_name(loaded))
    return replace(swapped, gold=view.pred, pred=view.gold, decision=decision)


def pair_of_view(view: View, loaded: Loaded) -> tuple[str, str]:
    """Return the names of the layer in gold's place and of the system as read: the reverse of `view_of_pair`."""
    gold = gold_name(loaded)
    return view.reference or gold, gold if view.system == former_gold(loaded) and view.reference else view.system


def mirror(widget: str, view: View, loaded: Loaded) -> dict[str, Any]:
    """Return arguments for a widget that shows and changes the layer taken as gold, see `state.mirror`."""

    def take(name: str) -> None:
        state.put(take_as_gold(state.view(), loaded, name))

    return state.mirror(widget, view.reference or gold_name(loaded), take)


def take_as_gold(view: View, loaded: Loaded, name: str) -> View:
    """Return the view with another layer taken as gold.

    A system that is now gold gives its place to the layer that was; a record of the former gold is given up.
    """
    before, system = pair_of_view(view, loaded)
    beside = "" if view.beside in (name, former_gold(loaded)) else view.beside
    doc = "" if view.record else view.doc
    return replace(view_of_pair(view, loaded, name, before if system == name else system), beside=beside, doc=doc)
